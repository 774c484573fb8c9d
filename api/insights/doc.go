// Package insights has the operations on a site's events. It reaches events, queries and balances through interfaces that it
// declares and cmd implements: it must not import ingest, and it imports query only for the vocabulary that describes queries.
//
// Of api it imports the frame, access, and the clients of remote with which it loads pages of sites. It imports no
// other domain.
package insights
