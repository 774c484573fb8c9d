// Package tree works on the pages of a revision as values: it finds pages, applies changes and merges. Trees are
// immutable: applying changes returns a new tree. The package does no I/O and does not make ids. Of this module it
// imports only schema.
package tree
