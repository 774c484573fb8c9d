// Package content has the operations on collections and spaces and on what is in them: pages, change requests, reviews, comments,
// search, exports, Git, translations and glossaries.
//
// It imports the frame, access, view and mergerules, and no other domain. Documents and trees of pages, as values, are in
// schema/content.
package content
