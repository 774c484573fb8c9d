// Package markdown reads Markdown as rich documents and writes documents as Markdown: CommonMark and GFM, with
// GitBook's dialect. Its functions do no I/O. The only other packages of this module that it imports are schema,
// schema/content, diff and respell.
//
// If a document is written and read, the result is the document in its normal form. Read always returns the normal
// form. In the normal form:
//   - nodes have no keys, and the names of a table's columns, rows and cells are counters;
//   - marks that Markdown writes with delimiters begin and end at characters that are not white space, and each line of
//     code is one span;
//   - a paragraph is empty only if its block would otherwise have no content;
//   - a paragraph with only images is a block of images, if the images have no size;
//   - code lines contain only text, and cells contain text, lists, headings, quotes, images and code;
//   - content that the grammar of documents does not allow has the form that the function `fit` describes;
//   - comments and tags in a line are leaves that have no text but store the source, and a block of HTML is a paragraph
//     with the block's text.
//
// Reading and writing lose no text. They are stable: if a written text is read and written again, the bytes are the
// same. Edit keeps the bytes of untouched blocks.
//
// A file calls only functions of the same file and of files further down in this list. There are a few exceptions:
// writing also reads its own result to check it.
//
//   - Uses: edit.go, safe.go, shown.go, refs.go and conditions.go work on texts and documents. kinds.go has the
//     tables of block readers and block writers.
//   - Write: write.go writes blocks, and write_inline.go writes inlines. inline_writer.go and escape.go write text.
//   - Read: read.go and read_inline.go read goldmark's tree, and html_read.go and inline_tags.go read HTML. raw.go and
//     fit.go make the result a document.
//   - Parse: parser.go lists the parsers. nodes.go has the nodes that they add to goldmark's tree, and bounds.go has
//     their limits.
//   - Share: reader.go, writer.go, piece.go, hidden.go, members.go, style.go, tags.go, scan.go and html.go.
package markdown
