package schema

import "time"

// JobState is a state of a job, as users see it.
type JobState string

// These are the states of a job. If a job must wait until another job of its sequence ends, it is also in the state
// `waiting`.
const (
	JobWaiting  JobState = "waiting"
	JobRunning  JobState = "running"
	JobRetrying JobState = "retrying"
	JobFailed   JobState = "failed"
	JobDone     JobState = "done"
)

// JobStates returns the values of a job's `state`.
func JobStates() []string {
	return []string{string(JobWaiting), string(JobRunning), string(JobRetrying), string(JobFailed), string(JobDone)}
}

// These are the times for which jobs are stored after they have ended. Failed jobs are stored longer than a usual
// holiday lasts, so that an administrator can still see them afterwards.
const (
	JobDoneKept   = 24 * time.Hour
	JobFailedKept = 30 * 24 * time.Hour
)

// JobOrder says what happens to a new job if earlier jobs of its kind and subject have not ended yet.
type JobOrder int

const (
	// JobsInOrder means that all jobs run, one after the other, in the order in which they were enqueued.
	JobsInOrder JobOrder = iota
	// NewestJob means that a single waiting job is enough, because each job brings its subject up to date. All requests
	// for a job then share this waiting job until it starts.
	NewestJob
)

// JobKind has the properties of all jobs of a kind. Package api/jobs has the table of kinds.
type JobKind struct {
	// Name is in snake case. It is stored with each job. It is also the name of the queue for this kind, and a label in
	// metrics.
	Name string
	// Doc describes jobs of this kind in one sentence.
	Doc string
	// Order applies to jobs of the same kind and subject. Jobs with different subjects may run concurrently.
	Order JobOrder
	// Yields is true if a job that waits for its next attempt does not block later jobs of its subject.
	Yields bool
	// Workers is the number of jobs of this kind that can run concurrently on one node. It is at least two, so that a
	// slow job does not block all others.
	Workers int
	// Slow is the time after which a running job is reported as slow.
	Slow time.Duration
	// Attempts is the largest number of attempts. If the last attempt fails, the job is not retried.
	Attempts int
	// Final is true if a job that exceeds its time limit is not retried. Another attempt would take as long.
	Final bool
	// Timeout is the time limit of one attempt.
	Timeout time.Duration
}

// JobSubject is the object that a job is about. It is a space, or an organization if Space is empty.
type JobSubject struct {
	Organization string
	Space        string
	// Part is the id of a part of the organization or the space. It is set if, for this kind of job, each part has its
	// own sequence of jobs.
	Part string
}

// JobArgs are the arguments of a job, which are stored as JSON. The arguments only identify the task. When the worker
// runs, it reads the present data.
type JobArgs interface {
	// Kind returns the name of the kind. The library River requires this method. River also requires that the arguments
	// can be encoded as JSON.
	Kind() string
	JobKind() JobKind
	Subject() JobSubject
}

// Job is a job as administrators of its organization see it.
type Job struct {
	Object       string   `json:"object"`
	ID           string   `json:"id"`
	Kind         string   `json:"kind" rules:"enum=jobKind"`
	State        JobState `json:"state" rules:"enum=jobState"`
	Organization string   `json:"organization"`
	Space        string   `json:"space,omitempty"`
	// Attempt is the number of attempts that have begun. If a user retries a failed job, it becomes zero again.
	Attempt int `json:"attempt"`
	// NextAttemptAt is the earliest time at which a waiting or retrying job runs.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitempty"`
	// Reason says why the last attempt failed.
	Reason     string     `json:"reason,omitempty"`
	CreatedAt  time.Time  `json:"createdAt"`
	StartedAt  *time.Time `json:"startedAt,omitempty"`
	FinishedAt *time.Time `json:"finishedAt,omitempty"`
}
