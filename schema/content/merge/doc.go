// Package merge merges what two sides made of the same content: the documents of a page by block and word, and the
// pages of a space by field. Ours is the main content, theirs the change request. A change of one side is taken, the
// same change of both is no conflict, and different changes are reported, with ours in the result until somebody
// chooses. Nothing that a side wrote is lost: it is in the result or in a conflict. Different blocks that both sides
// add to a list stay both, unless they stand for a block that both deleted, which is a conflict. Equal ones are one
// block, and near-equal ones a conflict, wherever in the list they stand. So are the text that one side edited and
// the blocks of the same list in which the other side says it instead.
//
// The package does no I/O. Its result depends on its input only, so a merge computed again has the same conflicts under
// the same ids. Of this module it imports schema, schema/condition, schema/content and its packages keys, diff, tree.
package merge
