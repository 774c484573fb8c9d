// Package tree works on the pages of a revision as values: it finds pages, applies changes and merges. A tree never changes in
// place: applying changes gives a new one. The package does no I/O, makes no ids, and imports nothing of this module but schema.
package tree
