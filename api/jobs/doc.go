// Package jobs runs work that takes longer than a request: jobs on Postgres, with river. Each kind of job has a file.
// The table of kinds is in table.go. The runner, the metrics, the enum of kinds in the API, commands and tests all read
// this table. Package api/orgs has the operations on jobs. Package store has the database tables and the SQL.
//
// # What is promised
//
// A change enqueues the job that it needs in its own transaction (postgres.Enqueue). So a crash loses no job, and a
// rollback leaves no job. A job runs at least once. It runs again if the process is killed after the work and before
// the job is recorded as done. So the work of a job must be idempotent. A failed attempt is retried after a growing
// pause (runner.go), until the kind's number of attempts is reached. Then the job stays failed until a user retries it,
// or until it is deleted after schema.JobFailedKept. Finished jobs are deleted after schema.JobDoneKept. GiveUp marks a
// failure that another attempt would repeat, such as a wrong password. A job with such a failure is not retried
// automatically. A user can retry it by an API operation when the cause is removed.
//
// # Order
//
// The jobs of a kind are divided into sequences: a sequence has the jobs about one part of a space or an organization.
// If a job names no part, its sequence has the jobs about its space. If it names no space either, its sequence has the
// jobs about its organization. Jobs of a sequence run one at a time, in the order in which they were enqueued. A job
// that waits for its next attempt blocks its sequence. A job that has failed and is not retried does not block its
// sequence. If a user retries a failed job, it runs before jobs that were enqueued later. Jobs of different sequences
// run concurrently. On each node, a kind has a fixed number of workers, and each worker runs one job at a time.
//
// # Turns
//
// Organizations, and the users within an organization, take turns at the workers of a kind. A job that no user made is
// assigned to the first administrator of its organization. Postgres decides which job runs next (give_job_turns in
// store/functions/jobs.sql). It takes a job whose organization and user have waited longest since their last turns.
// Retries wait for a turn, too. An organization or a user gets several workers only if no other organization or user
// waits. If a job has its turn and finds no free worker, surplus jobs of others are stopped and wait for their next
// turn. A stopped attempt is not counted as one of the job's attempts. A job is slow if it runs longer than its kind's
// row allows, or if one of its transfers is slow (outbound.WhenSlow). All slow jobs of a kind together take turns like
// the jobs of one user. While other jobs wait, slow jobs share one worker.
//
// # When a node ends
//
// When a node stops, it waits for its running jobs for a limited time. Then it cancels the unfinished jobs and returns
// them to the queue. The cancelled attempt is not counted. Each node has a lock in Postgres while it runs. If a node
// has lost its lock, the other nodes let its jobs run again, and the interrupted attempt is counted. Sometimes the lock
// does not show that a node is lost, for example after a network failure. Then river lets the job run again some time
// after its timeout.
//
// # Reasons
//
// The API shows why a job failed: the message of a schema.Error, or only that there was an internal error. The log has
// the cause with the job's id.
//
// # Adding a kind
//
//  1. Add the kind's row and the type of its arguments to schema/job_kinds.go.
//  2. Add a file with the function that does the work to this package, and a line to table.go.
//  3. Call Enqueue in package store, in the transaction that needs the job.
//
// After go run ./cmd/gen, documents, metrics and alerts include the new kind. TestKinds checks its row.
package jobs
