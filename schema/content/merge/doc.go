// Package merge merges two versions of content, called the sides. It merges the documents of a page block by block, and
// changed texts word by word. It merges the pages of a space field by field. The side `ours` is the main content, and
// the side `theirs` is the change request. The result has every change that only one side made, and every equal change
// of both sides. If the sides changed a part in different ways, there is a conflict. The result then has the version of
// `ours` until a user chooses. Every text that a side wrote is in the result or in a conflict. If both sides add
// different blocks to a list, both blocks stay. But if the added blocks replace a block that both sides deleted, they
// are in conflict. Equal added blocks become one block. Added blocks that are nearly equal are in conflict. At
// different places in the list, this is only so if they share most words of the longer block. Two new lists, tables or
// blocks of code at one place are a conflict if they have an equal part. A text is also in conflict if one side edits
// it, and the other side moves it to other blocks of the list.
//
// The package does no I/O. Its result depends only on its input, so merging again gives the same conflicts with the
// same ids. The only other packages of this module that it imports are schema, schema/condition, schema/content, keys,
// diff and tree.
package merge
