// Package markdown reads Markdown as rich documents and writes documents as Markdown: CommonMark and GFM, with
// GitBook's dialect. It is pure and does no I/O. Of this module it imports only schema, schema/content and its packages
// diff and respell.
//
// Reading a written document gives an equal document, up to its normal form. Read returns the normal form. In it:
//   - there are no keys, and tables have counters for the names of their columns, rows and cells;
//   - marks that Markdown writes with delimiters begin and end at characters that are not white space, and each line of
//     code is one span;
//   - empty paragraphs are only where a block would have no content otherwise;
//   - a paragraph with only images is a block of images, if the images have no size;
//   - code lines hold text, and cells hold text, lists, headings, quotes, images and code;
//   - content that the grammar of documents does not allow is kept as fit describes;
//   - comments and tags in a line are leaves without text that keep their source, and a block of HTML is a paragraph
//     with its text.
//
// Reading and writing lose no text. Reading and writing a text is stable: a second round gives the same bytes. Edit
// keeps the bytes of untouched blocks.
//
// A file only calls files further down in this list. A few files are exceptions, because writing reads its own result:
//
//   - Uses: edit.go, safe.go, shown.go, refs.go and conditions.go work on texts and documents. kinds.go has the
//     tables of block readers and block writers.
//   - Write: write.go writes blocks, write_inline.go inlines. inline_writer.go and escape.go write text.
//   - Read: read.go and read_inline.go read goldmark's tree, html_read.go and inline_tags.go HTML. raw.go and fit.go
//     make the result a document.
//   - Parse: parser.go lists the parsers. nodes.go has the nodes that they add to goldmark's tree, bounds.go their
//     limits.
//   - Share: reader.go, writer.go, piece.go, hidden.go, members.go, style.go, tags.go, scan.go and html.go.
package markdown
