// Package tree works on the pages of a revision as values: it finds pages, applies changes and compares revisions. The
// functions do not change their arguments: they return new values. The package does no I/O and does not make ids. Of
// this module it imports only schema.
package tree
