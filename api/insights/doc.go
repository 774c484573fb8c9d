// Package insights has the operations on a site's events. It declares the interfaces by which it takes in events,
// answers queries and reads balances. Packages outside api implement them, and cmd passes them in. Package insights
// must not import ingest. It imports query only for the vocabulary of queries and for the checks of stored queries.
//
// Of the packages below api, it imports the frame, access, view, and the packages of remote that load pages of sites.
// It must not import another package of operations.
package insights
