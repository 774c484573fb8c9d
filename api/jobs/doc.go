// Package jobs runs what takes longer than a request: jobs on Postgres, with river. There is one file per kind of job, and
// one table of them (table.go), which the runner, metrics, the API's enumeration, commands and tests loop over. The operations
// on jobs are in api/orgs; the statements, and the tables, are those of package store.
//
// # What is promised
//
// A job is asked for in the transaction of the change that needs it (postgres.Enqueue), so a crash loses none and a
// rollback leaves none. It runs at least once: a process may be killed after the work and before the note of it, so the
// work of a job must be idempotent. A job that fails is tried again with growing pauses, up to its kind's number of
// attempts; then it is failed, until somebody retries it or until it is deleted after schema.JobFailedKept. Jobs that
// are done are deleted after schema.JobDoneKept. A failure that another attempt would only repeat, such as a wrong
// password, is marked with GiveUp: the job is failed at once, and one call retries it once the cause is gone.
//
// # Order
//
// Jobs of one kind about one part of a space or an organization (or about one space, if the kind knows no parts, or else about one
// organization) are a sequence: one of them is at work at a
// time, and the others are pending in the order in which they were asked for. A job that waits for its next attempt
// holds up its sequence; a job that failed for good does not. A retried job goes before jobs that were asked for later.
// Different sequences run side by side, as many on one node as their kind has workers.
//
// # Turns
//
// Jobs of a kind take turns by organization and by who made them. A job that no user made counts for the first
// administrator of its organization. Postgres decides whose turn it is (give_job_turns): the organization and the user
// whose last turn is longest ago. Retries wait for a turn, too. An organization or a user gets several workers only if
// nobody else waits. As soon as a job with a turn finds no worker, surplus jobs are stopped and wait for their next
// turn; the attempt does not count. A job is slow after the time in its kind's row, or when one of its transfers is
// slow (outbound.WhenSlow). The slow jobs of a kind are one party: while others wait, they have one worker together.
//
// # When a node ends
//
// A node that stops lets running jobs finish for a bounded time, cancels the rest, and gives them back without counting the
// attempt. A node holds a lock in Postgres as long as it lives; the jobs of one without its lock are lost, and the other nodes
// let them run again, which counts the attempt. If the lock cannot tell, as when a machine lost its network, river rescues a
// job some time after its timeout.
//
// # Reasons
//
// The reason of a failure is public: the message of a schema.Error, or that there was an internal error. The cause goes to
// the log, with the job's id.
//
// # Adding a kind
//
//  1. Add the kind's row and the type of its arguments to schema/job_kinds.go.
//  2. Add a file with the function that does the work to this package, and a line to table.go.
//  3. Call Enqueue in package store, in the transaction that needs the job.
//
// Documents, metrics and alerts then know it (go run ./cmd/gen), and TestKinds checks the row.
package jobs
