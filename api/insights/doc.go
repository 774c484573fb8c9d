// Package insights has the operations on a site's events. It reaches events, queries and balances through interfaces that it
// declares and cmd implements: it must not import ingest, and it imports query only for the vocabulary that describes
// queries, and to check the parts of queries that it keeps.
//
// Of api it imports the frame, access and view, and no other domain.
package insights
