// Package content has the operations on collections and spaces, and on their content: pages, change requests, reviews,
// comments, search, exports, Git, translations and glossaries.
//
// It imports the packages frame, access, view and mergerules. It must not import a package with operations on other
// objects. Documents and trees of pages, as values, are in schema/content.
package content
