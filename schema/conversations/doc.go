// Package conversations finds users' problems in their conversations with support people and assistants:
//
//	Extract:          one conversation → its issues, each with its words, its language and an impact
//	Method.Assign:    issues and the clusters that there are → groups: new clusters, joined issues, merged clusters
//	Method.Describe:  some issues of a cluster → its label, icon, subject and typical titles
//
// All functions are pure. They do no I/O, read no clock and use no randomness. The order of the issues does not matter.
//
// The similarity of two issues is a weighted mean of two cosines. The cosine of their words (TF-IDF) counts once, and
// the cosine of their meanings (package embedding) counts twice. Without a model, only words are compared. The meaning
// of an issue also includes the meanings of issues with equal words, and of the most similar issues (compare.go). Two
// issues are compared by their excess: their similarity, less the mean similarity of each issue to its nearest
// neighbors. Groups are joined by average linkage down to one threshold (cluster.go). Then issues move to the groups
// that they fit better.
//
// The job passes the latest issues to Assign again. They may move to another cluster, which is recorded in the history
// of both clusters. Older issues do not move: the profiles of their clusters represent them.
//
// TestCorpus prints the figures, and says which sets chose the parameters. Two mistakes are frequent. Problems of one
// thing become one cluster ("webhooks have stopped", "webhooks time out"). A problem that is told in many ways becomes
// several clusters.
//
// The package imports schema only, and hands results back: api stores them by store.
package conversations
