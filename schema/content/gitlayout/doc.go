// Package gitlayout maps the files of a repository to the pages of a space, and back. It does no I/O: the caller passes
// the functions that read a repository and make ids. The only other packages of this module that it imports are schema,
// schema/condition, schema/content and packages in schema/content.
//
// # Reading
//
// The content is below the project directory and the `root` of its .gitbook.yaml. The table of contents is SUMMARY.md,
// or the file that `structure.summary` names. The items of its nested lists are the pages, and its headings are groups
// of pages. A horizontal rule ends a group. Entries without a file are pages without text. If all entries for a file
// have an anchor, the file's page is the first of these entries. Other entries with anchors are links. The id of a
// group's heading is the group's slug. The title attribute of an entry's link is the label of the page. Without a table
// of contents, the tree of pages follows the folders. README.md is the page of its folder, and the other files follow,
// sorted by name. Files and folders whose names begin with a dot are left out. A page's title is the first of these
// that exists: the text of its entry, the `title` of its front matter, its first heading of level 1, its file name. If
// a heading is the page's title, the document does not contain this heading. The attributes of a page come from these
// fields of the front matter: `title`, `description`, `icon`, `emoji`, `hidden`, `noIndex`, `noRobotsIndex` and `if`.
// `cover`, `layout` and `vars` are read and never written. Other front matter stays unchanged in the file.
//
// Links are relative, or begin at the root of the content or of the repository. Links to files of pages become
// references to the pages. Links to other files become references to files, and these files are added to the space. All
// other links, for example to source code outside of the root, begin with Tools.TreeURL if it is set. The space also
// gets these files: reusable contents in .gitbook/includes that a page includes, .gitbook/vars.yaml with variables, and
// .gitbook/tags.yaml with tags. The `redirects` of .gitbook.yaml lead from paths of the space to pages. A redirect
// stores the page's id, so it still leads to the page after the page is moved. .gitbook.yaml is never written.
//
// An entry of the table of contents, or a file whose name ends with .md, may be unusable. Examples are a binary file,
// text that is too long or not UTF-8, and a path that cannot be written. The page of such a file is read-only
// (tree.Page.Kept). The text of the page is the reason, and the file is never written.
//
// # Writing
//
// A file is written only if its page has changed since the last synchronisation. Only the changed parts are written: a
// line of the front matter, the heading, or blocks (markdown.Edit). References keep the spelling of the file. A page
// keeps its file when it is moved or renamed. SUMMARY.md changes only in the lines of pages that are new, deleted,
// renamed or moved. Comments, rules, blank lines, labels and other contents of a line stay unchanged. New entries have
// the form of the neighbouring entries. If SUMMARY.md does not exist, an export creates it as soon as the folders no
// longer match the pages.
package gitlayout
