// Package conversations finds out what users struggle with, from their conversations with support people and assistants:
//
//	Extract:          one conversation → its issues, each with its words, its language and an impact
//	Method.Assign:    new issues and the clusters that there are → what joins which cluster, and the clusters that are new or merged
//	Method.Describe:  some issues of a cluster → its label, icon, subject and summary
//
// All are pure functions of what they are given: they do no I/O, know no clock and use no randomness. Within one call of Assign the
// order of the issues does not count, since they are sorted first. Between calls it does: what joined a cluster stays, so issues that
// come one by one are grouped worse than all at once.
//
// The method is text statistics with a lexicon and cues that were written by hand (lexicon.txt). Lexicon and parameters were fitted
// to one half of the corpus in testdata: on the other half it finds far less (TestCorpus prints both), and that is what to expect of
// it elsewhere. Issues in different languages do not join each other, unless the language of one is not known.
//
// It imports schema only, and hands results back: api keeps them by store.
package conversations
