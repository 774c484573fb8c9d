// Package postgres is the kernel of the store. It has the pool, transactions, the actor of a change, and the rules
// about rows that all packages of the store share. Each other package below store that reads or writes rows is built on
// its DB. It imports only schema and store/db. It must not import store or another package below store, because these
// import it.
//
// Its files by subject:
//
//	postgres, config, planned         the pool, transactions and how statements are planned
//	actor                             who makes a change, for the audit log
//	errors                            a driver's error becomes a schema.Error
//	page, cursor, pieces              lists and stored bytes, part by part
//	order                             positions of items among their siblings
//	quotas                            the table of quotas and their checks
//	group                             concurrent calls that share a statement
//	batch, purge, values              statements in batches, deletions in steps, values of columns
//	enqueue                           jobs that a transaction enqueues
//	access                            members who list content, and the facts that determine their access
//	domains                           records that prove who owns a domain
//	cache                             values that were read last
//	lock                              locks that only one process of all nodes can hold
//	secrets                           keys of the installation, the secrets that they seal, hashes of tokens
package postgres
