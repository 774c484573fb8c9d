// Package tree works on the pages of a revision as values: it finds pages, applies changes and merges. Trees are
// immutable: applying changes returns a new one. The package does no I/O, makes no ids, and imports nothing of this
// module but schema.
package tree
