// Package conversations finds users' problems in their conversations with support people and assistants:
//
//	Extract:          one conversation → its issues, each with its words, its language and an impact
//	Method.Assign:    issues and the clusters that there are → groups: new clusters, joined issues, merged clusters
//	Method.Describe:  some issues of a cluster → its label, icon, subject and typical titles
//
// All are pure functions. They do no I/O, read no clock and use no randomness. The order of the issues does not count.
//
// The similarity of two issues is a weighted mean of two cosines. The cosine of their words (TF-IDF) counts once, and
// the cosine of their meanings (package embedding) counts twice. Without a model, only words are compared. The meanings
// of issues with equal words, and of the most similar issues, are added to the meaning of an issue (compare.go). Two
// issues are compared by their excess: their similarity, less the mean similarity of each issue to its nearest
// neighbors. Groups are joined by average linkage down to one threshold (cluster.go). Then issues move to the groups
// that they fit better.
//
// The job gives Assign the latest issues again. They may move to another cluster, with a row in the history of both.
// Older issues stay: profiles of their clusters stand for them.
//
// TestCorpus prints the figures, and says which sets chose the parameters. Two mistakes are frequent. Problems of one
// thing become one cluster ("webhooks have stopped", "webhooks time out"). A problem told in many ways becomes several.
//
// The package imports schema only, and hands results back: api stores them by store.
package conversations
