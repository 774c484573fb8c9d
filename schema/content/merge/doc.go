// Package merge merges what two sides made of the same content: the documents of a page by block and word, and the pages of a
// space by field. Ours is the main content, theirs the change request. What only one side changed is taken, what both changed
// alike is no conflict, and what both changed differently is reported, with ours in the result until somebody chooses. Nothing
// that a side wrote is lost: it is in the result or in a conflict. Blocks that both sides add at one place stay both,
// unless they are near-equal, or stand for a block that both deleted: each of these is a conflict.
//
// The package does no I/O. Its result depends on its input only, so a merge computed again has the same conflicts under
// the same ids. Of this module it imports schema, schema/condition, schema/content and its packages keys, diff, tree.
package merge
