// Package words splits texts and queries into the words that search compares. Case, accents and widths are folded, and
// identifiers are split. Scripts without blanks between words become pairs of letters. From the words it builds
// Postgres's search vectors and queries. The caller provides the stems, because Postgres has the dictionaries. The
// package does no I/O, and its results depend only on its input. It imports no other package of this module.
package words
