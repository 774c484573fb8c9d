// Package words takes texts and queries apart into the words that search compares: case, accents and widths are folded,
// identifiers are split, and scripts without blanks between words become pairs of letters. It builds the search vectors and
// queries of Postgres of them. Stems come from the caller, because Postgres has the dictionaries. The package does no I/O, and
// its results depend on its input only; it imports nothing of this module.
package words
