// Package insights has the operations on a site's events. It declares the interfaces for events, queries and balances.
// cmd implements the interfaces. It must not import ingest. It imports query only for the vocabulary of queries and for
// the checks of stored queries.
//
// In api it imports the frame, access, view, and the clients of remote that load pages of sites. It must not import
// another domain.
package insights
