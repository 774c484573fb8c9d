// Package merge merges two sides' versions of the same content: the documents of a page by block and word, and the
// pages of a space by field. Ours is the main content, theirs the change request. The result has every change of one
// side, and every equal change of both. Different changes are conflicts, with ours in the result until a user chooses.
// Every text that a side wrote is in the result or in a conflict. Different blocks that both sides add to a list stay
// both, unless they stand for a block that both deleted, which is a conflict. Equal ones are one block, and near-equal
// ones a conflict, wherever in the list they stand. Two new lists, tables or blocks of code at one place are a conflict
// if they have an equal part. So are the text that one side edited and the blocks of the same
// list in which the other side says it instead.
//
// The package does no I/O. Its result depends on its input only, so a merge computed again has the same conflicts under
// the same ids. Of this module it imports schema, schema/condition, schema/content and its packages keys, diff, tree.
package merge
