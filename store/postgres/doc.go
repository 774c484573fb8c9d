// Package postgres has the code that all packages of the store share: the pool, transactions, the actor of a change,
// and rules about rows. Each other package below store reads and writes rows through its DB. The only other packages of
// this module that it imports are schema and store/db. It must not import store or another package below store, because
// those packages import it.
//
// Its files by subject:
//
//	postgres, config, planned         the pool, transactions and how statements are planned
//	actor                             the actor of a change, for the audit log
//	errors                            the conversion of a driver's error to a schema.Error
//	page, cursor, pieces              lists and stored bytes, part by part
//	order                             positions of items among their siblings
//	quotas                            the table of quotas and their checks
//	group                             concurrent calls that share a statement
//	batch, purge, values              statements in batches, deletions in steps, values of columns
//	enqueue                           jobs that a transaction enqueues
//	access                            facts that determine a member's access to content
//	domains                           records that prove who owns a domain
//	cache                             a cache of the most recently used values
//	lock                              locks that only one process of all nodes can hold
//	secrets                           keys of the installation, encryption of secrets, hashes
package postgres
