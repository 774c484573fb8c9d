// Package conversations finds out what users struggle with, from their conversations with support people and assistants:
//
//	Extract:          one conversation → its issues, each with its words, its language and an impact
//	Method.Assign:    issues and the clusters that there are → groups: new clusters, joined issues, merged clusters
//	Method.Describe:  some issues of a cluster → its label, icon, subject and typical titles
//
// All are pure functions: they do no I/O, know no clock and use no randomness. The order of the issues does not count.
//
// Two issues are as alike as the mean of two cosines: of their words (TF-IDF), and of their meanings (package embedding). Without
// that model, words alone are compared. What counts is how much more alike than usual two issues are: the similarity less the mean
// similarity of each to its nearest neighbors (cross-domain similarity local scaling). Groups are joined by average linkage down to
// one threshold. Then each issue goes once more where it fits best.
//
// The job gives Assign the latest issues again, which may move to another cluster, with a row in the history of both. Older ones
// stand still, as profiles of their clusters.
//
// TestCorpus prints the figures, and says which sets chose the parameters. The method takes problems of one thing for one problem
// ("webhooks have stopped" and "webhooks time out"), and a problem that is told in many ways for several.
//
// It imports schema only, and hands results back: api stores them by store.
package conversations
