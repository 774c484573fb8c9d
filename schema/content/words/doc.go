// Package words splits texts and queries into the words that search compares. Words are compared without case, accents
// and character widths, and identifiers are split into their words. Text in a script without spaces between words
// becomes pairs of letters. From the words it builds Postgres's search vectors and queries. The caller provides the
// stems, because Postgres has the dictionaries. The package does no I/O, and its results depend only on its input. It
// imports no other package of this module.
package words
