// Package conversations finds users' problems in their conversations with support staff and assistants:
//
//	Extract:          one conversation → its issues, each with its words, its language and an impact
//	Method.Assign:    issues and the existing clusters → groups: new clusters, joined issues, merged clusters
//	Method.Describe:  some issues of a cluster → its label, icon, subject and typical titles
//
// All functions are pure. They do no I/O, read no clock and use no randomness. The order of the issues does not matter.
//
// The similarity of two issues is a weighted mean of two cosines. The cosine of their meanings has twice the weight of
// the cosine of their words. Meanings come from package embedding, and words are weighed by TF-IDF. If there is no
// model, only words are compared. The meaning of an issue also includes the meanings of issues with equal words, and of
// the most similar issues (compare.go). Two issues are compared by their excess: their similarity, less the mean
// similarity of each issue to its nearest neighbors. Groups are joined by average linkage down to one threshold
// (cluster.go). After that, an issue moves to another group if it fits this group better.
//
// For each analysis, the job passes the latest issues to Assign again. So an issue may move to another cluster. The
// histories of both clusters record the move. Older issues do not move: the profiles of their clusters are compared in
// their place.
//
// TestCorpus prints the measured quality, and says with which data sets the parameters were chosen. Two mistakes are
// frequent. First, different problems with the same thing become one cluster ("webhooks have stopped", "webhooks time
// out"). Second, a problem that users describe in many ways becomes several clusters.
//
// The package imports only schema. It returns its results, and package api stores them with package store.
package conversations
