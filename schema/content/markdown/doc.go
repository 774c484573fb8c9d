// Package markdown reads Markdown as rich documents and writes documents as Markdown: CommonMark and GFM, with GitBook's
// dialect. It is pure, does no I/O, and imports of this module only schema, schema/content and schema/content/diff.
//
// Reading what was written gives the same document, up to its normal form, which is what Read returns. In it:
//   - there are no keys, and tables have counters for the names of their columns, rows and cells;
//   - marks that Markdown writes with delimiters neither begin nor end at white space, and lines of code are one span each;
//   - empty paragraphs are only where a block would have no content otherwise;
//   - a paragraph of nothing but images is a block of images, unless they have a size;
//   - code lines hold text, and cells hold text, lists, headings, quotes, images and code;
//   - what the grammar of documents does not allow is kept as fit describes;
//   - comments and tags in a line are leaves without text that keep their source, and a block of HTML is a paragraph
//     with its text.
//
// Text is never lost. Writing what was read is stable: the second time gives the same bytes. Edit keeps the bytes of what
// nobody touched.
package markdown
