// Package gitlayout maps the files of a repository to the pages of a space, and back. It does no I/O: the caller passes
// the functions that read a repository and make ids. Of this module it imports only schema and the packages of
// schema/content.
//
// # Reading
//
// The content is below the project directory and the `root` of its .gitbook.yaml. The table of contents is SUMMARY.md,
// or the file that `structure.summary` names. Its nested lists are the pages, and its headings are groups. A horizontal
// rule ends a group. Entries without a file are pages without text. If all entries for a file have an anchor, the
// file's page is the first of these entries. Other entries with anchors are links. The id of a group's heading is the
// group's slug. The title attribute of an entry's link is the label of the page. Without a table of contents, the
// folders are the tree of pages. README.md is the page of its folder, and the other files follow in the order of their
// names. Names that begin with a dot are left out. A page's title is the first of these that exists: the text of its
// entry, the `title` of its front matter, its first heading of level 1, its file name. A heading that is the title does
// not belong to the document. Attributes of the page are the front matter's `title`, `description`, `icon`, `emoji`,
// `hidden`, `noIndex`, `noRobotsIndex` and `if`. `cover`, `layout` and `vars` are read and never written. Other front
// matter stays unchanged in the file.
//
// Links are relative, or begin at the root of the content or of the repository. Links to files of pages become
// references to the pages. Links to other files become references to files, and these files are added to the space.
// Other links, for example to source code outside of the root, get the prefix of the repository's tree if the prefix is
// set. The space also gets these files: reusable contents in .gitbook/includes that a page includes, .gitbook/vars.yaml
// with variables, and .gitbook/tags.yaml with tags. The `redirects` of .gitbook.yaml lead from paths of the space to
// pages. They have the pages' ids, so they follow moved pages. .gitbook.yaml is never written.
//
// An entry of the table of contents, or a name that ends with .md, may belong to an unusable file. Examples are a
// binary file, text that is too long or not UTF-8, and a path that cannot be written. The page of such a file is
// read-only (tree.Page.Kept). The text of the page is the reason, and the file is never written.
//
// # Writing
//
// A file is written only if its page has changed since the last synchronisation. Only the changed parts are written: a
// line of the front matter, the heading, or blocks (markdown.Edit). References keep the spelling of the file. A page
// keeps its file when it is moved or renamed. SUMMARY.md changes only in the lines of pages that are new, deleted,
// renamed or moved. Comments, rules, blank lines, labels and other contents of a line stay. New entries have the form
// of the neighbouring entries. Without SUMMARY.md, an export creates it once the folders no longer match the pages.
package gitlayout
