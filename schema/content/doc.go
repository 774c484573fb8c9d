// Package content reads the text of rich documents: their plain text, and the visible text of a node, a reference, a
// mark or a table. Its functions do no I/O. The only other package of this module that it imports is schema. The
// packages below it use it:
//
//	markdown     Markdown to documents and back
//	frontmatter  the fields at the start of a Markdown file
//	respell      edited text in the spelling of its source
//	tree         the pages of a revision: find, change, merge
//	merge        three-way merges of documents and pages
//	diff         lines up two lists
//	keys         the keys of blocks and the anchors of headings
//	gitlayout    a repository's files as pages, and back
//	pagelinks    links between pages
//	filerefs     the files that a document names
//	imagesize    the width and height of an image
//	includes     reusable contents
//	words        texts and queries as the words that search compares
//	pdf          the renderer's input
//	pdf/join     one PDF of the parts of a book
//	contenttest  documents that tests share
package content
