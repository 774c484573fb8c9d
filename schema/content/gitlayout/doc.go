// Package gitlayout maps the files of a repository to the pages of a space, and back. It is pure: it reads a
// repository through functions that it is given, makes no ids, and imports of this module only schema and the packages
// of schema/content.
//
// # Reading
//
// The content is below the project directory and the `root` of its .gitbook.yaml. With a SUMMARY.md (or what
// `structure.summary` names) its nested lists are the pages, its headings are groups, a rule ends a group, and entries
// without a file are pages without text. A file that is only ever named with an anchor is the page of the first entry
// that names it; other entries with anchors are links. The id of a group's heading is its slug, the title of an
// entry's link its label. Without a table of contents, folders are: README.md is the page of its folder, the others
// follow by name; names that begin with a dot are left out. A page's title is the text of its entry, or its front
// matter's `title`, or its first heading of level 1, or its file name. The heading is no part of the document if it is
// the title. Of the front matter, `title`, `description`, `icon`, `emoji`, `hidden`, `noIndex`, `noRobotsIndex` and
// `if` are attributes of the page. `cover`, `layout` and `vars` are read and never written. Everything else stays in
// the file as it is.
//
// Relative links to files of pages, and links from the root of the content or of the repository, become references to
// these pages, and links to other files, which then are files of the space, references to the files. Other links, for
// example to source code outside of the root, get the prefix of the repository's tree if there is one. A reusable
// content that a page includes, a file of .gitbook/includes, is a file of the space too, and so are the variables of
// .gitbook/vars.yaml and the tags of .gitbook/tags.yaml. The `redirects` of .gitbook.yaml lead from paths of the space
// to pages, by their ids: so they follow a moved page. The file itself is never written.
//
// An entry of the table of contents, or a name that ends with .md, may belong to an unusable file. That is an entry
// that is left, a binary file, text that is not UTF-8 or too long, or a path that cannot be written. Its page is
// read-only (tree.Page.Kept): the text gives the reason, and nothing is ever written to the path.
//
// # Writing
//
// A file is written only if its page has changed since the last synchronisation, and then only its changed parts: the
// line of the front matter, the heading, the blocks (markdown.Edit). References are spelled as the file spelled them. A
// page keeps its file when it is moved or renamed. SUMMARY.md changes only in the lines of pages that are new, deleted,
// renamed or moved. Comments, rules, blank lines, labels and other contents of a line stay. New entries have the style
// of the entries next to them. Without SUMMARY.md, an export creates it once the folders no longer match the pages.
package gitlayout
