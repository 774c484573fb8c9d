// Package jobs runs work that takes longer than a request: jobs on Postgres, with river. Each kind of job has a file.
// The table of kinds is in table.go. The runner, metrics, the API's enumeration, commands and tests loop over it.
// Package api/orgs has the operations on jobs. Package store has the tables and the statements.
//
// # What is promised
//
// The transaction of a change enqueues the job that the change needs (postgres.Enqueue). So a crash loses no job, and a
// rollback leaves no job. A job runs at least once, because a process may be killed between the end of the work and its
// record. So the work of a job must be idempotent. A failed attempt is retried after a growing pause (runner.go), up to
// the kind's number of attempts. Then the job stays failed until a user retries it, or until it is deleted after
// schema.JobFailedKept. Finished jobs are deleted after schema.JobDoneKept. GiveUp marks a failure that another attempt
// would repeat, such as a wrong password. Such a job fails immediately. An operation retries the job when the cause is
// removed.
//
// # Order
//
// Jobs of one kind form sequences: a sequence has the jobs about one part of a space or an organization. If the kind
// has no parts, a sequence has the jobs about one space, and otherwise about one organization. Jobs of a sequence run
// one at a time. The other jobs of the sequence wait, in the order in which they were enqueued. A job that waits for
// its next attempt blocks its sequence. A job that has failed and is not retried does not block its sequence. A retried
// job runs before jobs that were enqueued later. Different sequences run concurrently. On each node, the number of a
// kind's workers limits how many of its jobs run.
//
// # Turns
//
// Jobs of a kind take turns by organization and by the user who made them. A job that no user made counts for the first
// administrator of its organization. Postgres decides which job runs next (give_job_turns in store/functions/jobs.sql):
// a job of the organization and the user whose last turn is longest ago. Retries wait for a turn, too. An organization
// or a user gets several workers only if no other organization or user waits. As soon as a job with a turn finds no
// worker, surplus jobs are stopped and wait for their next turn. A stopped attempt does not count. A job is slow after
// the time in its kind's row, or if one of its transfers is slow (outbound.WhenSlow). All slow jobs of a kind share
// their turns, like the jobs of one user. While other jobs wait, slow jobs share one worker.
//
// # When a node ends
//
// A stopping node lets running jobs finish for a bounded time. Then it cancels the unfinished jobs and returns them to
// the queue. The cancelled attempt does not count. A node holds a lock in Postgres while it lives. Jobs of a node
// without its lock are lost, and the other nodes let them run again; this attempt counts. If the lock does not show the
// loss, for example after a network failure, river rescues the job some time after its timeout.
//
// # Reasons
//
// The reason of a failure is public: the message of a schema.Error, or that there was an internal error. The cause is
// logged with the job's id.
//
// # Adding a kind
//
//  1. Add the kind's row and the type of its arguments to schema/job_kinds.go.
//  2. Add a file with the function that does the work to this package, and a line to table.go.
//  3. Call Enqueue in package store, in the transaction that needs the job.
//
// Documents, metrics and alerts then know it (go run ./cmd/gen), and TestKinds checks the row.
package jobs
