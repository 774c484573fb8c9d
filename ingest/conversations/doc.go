// Package conversations finds out what users struggle with, from their conversations with support people and assistants:
//
//	Extract: one conversation → its issues, each with words and an impact
//	Cluster: all issues of an organization → groups of issues about the same thing, with label and icon
//	Match:   groups and the clusters of last time → which cluster each group is from now on
//
// All three are pure functions of what they are given: they do no I/O, know no clock and use no randomness. Equal sets of
// conversations give equal groups, whatever order the conversations came in. The method is plain text statistics and made
// for English; other languages are clustered by their words too, but without stop words and cues.
//
// It imports schema only, and hands results back: api keeps them by store.
package conversations
