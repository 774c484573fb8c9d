// Package content has the operations on collections and spaces, and on their content: pages, change requests, reviews,
// comments, search, exports, Git, translations and glossaries.
//
// It imports the frame, access, view and mergerules. It must not import another domain. Documents and trees of pages,
// as values, are in schema/content.
package content
