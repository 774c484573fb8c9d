// Package conversations finds users' problems in their conversations with support staff and assistants:
//
//	Extract:          one conversation → its issues, each with its words, its language and an impact
//	Method.Assign:    issues and the existing clusters → groups: new clusters, joined issues, merged clusters
//	Method.Describe:  some issues of a cluster → its label, icon, subject and typical titles
//
// All functions are pure. They do no I/O, read no clock and use no randomness. The order of the issues does not matter.
//
// The similarity of two issues is a weighted mean of two cosines. The cosine of their meanings (package embedding) has
// twice the weight of the cosine of their words (TF-IDF). If there is no model, only words are compared. The meaning of
// an issue also includes the meanings of issues with equal words, and of the most similar issues (compare.go). Two
// issues are compared by their excess: their similarity, less the mean similarity of each issue to its nearest
// neighbors. Groups are joined by average linkage down to one threshold (cluster.go). Then issues move to the groups
// that they fit better.
//
// The job passes the latest issues to Assign again. An issue may move to another cluster. The histories of both
// clusters record the move. Older issues do not move: the profiles of their clusters represent them.
//
// TestCorpus prints the measured quality, and says on which data sets the parameters were chosen. Two mistakes are
// frequent. Different problems of one thing become one cluster ("webhooks have stopped", "webhooks time out"). A
// problem that users describe in many ways becomes several clusters.
//
// The package imports only schema. It returns its results, and package api stores them with package store.
package conversations
