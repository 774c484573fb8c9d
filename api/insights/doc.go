// Package insights has the operations on a site's events. It declares the interfaces through which it reaches events,
// queries and balances, and cmd implements them. It must not import ingest. It imports query only for the vocabulary of
// queries, and to check stored parts of queries.
//
// Of api it imports the frame, access, view, and the clients of remote that load pages of sites. It must not import
// another domain.
package insights
