// Package insights has the operations on a site's events. It reaches events, queries and balances through interfaces that it
// declares and cmd implements: it must not import ingest, and it imports query only for the vocabulary that describes
// queries, and to check the parts of queries that it keeps.
//
// Of api it imports the frame, access, view, and the clients of remote with which it loads pages of sites. It imports
// no other domain.
package insights
