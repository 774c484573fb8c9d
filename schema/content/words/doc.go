// Package words splits texts and queries into the words that search compares. Words are compared without case, accents
// and character widths, and identifiers are split into their words. Text in a script without spaces between words
// becomes pairs of letters. The package makes Postgres's search vectors and queries from the words. The caller provides
// the stems of words, because the dictionaries are in Postgres. The package does no I/O, and its results depend only on
// its input. It imports no other package of this module.
package words
