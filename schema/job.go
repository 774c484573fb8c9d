package schema

import "time"

// JobState is the state of a job for users.
type JobState string

// These are the states of a job. A job behind another job of its sequence is also waiting.
const (
	JobWaiting  JobState = "waiting"
	JobRunning  JobState = "running"
	JobRetrying JobState = "retrying"
	JobFailed   JobState = "failed"
	JobDone     JobState = "done"
)

// JobStates are the values of a job's `state`.
func JobStates() []string {
	return []string{string(JobWaiting), string(JobRunning), string(JobRetrying), string(JobFailed), string(JobDone)}
}

// These are the times for which jobs are stored after their end. Failed jobs stay for longer than a usual holiday.
const (
	JobDoneKept   = 24 * time.Hour
	JobFailedKept = 30 * 24 * time.Hour
)

// JobOrder decides about a job that is enqueued while jobs of its kind and subject are unfinished.
type JobOrder int

const (
	// JobsInOrder means that all jobs run, one after the other, in the order in which they were enqueued.
	JobsInOrder JobOrder = iota
	// NewestJob is for work that always brings its subject up to date. A single waiting job then serves all requests
	// until it starts.
	NewestJob
)

// JobKind has the properties of all jobs of a kind. Package api/jobs has the table of kinds.
type JobKind struct {
	// Name is in snake case. It is stored with each job. It is also the name of the kind's queue, and a label of
	// metrics.
	Name string
	// Doc describes these jobs in one sentence.
	Doc string
	// Order is the order of the jobs of one kind and subject. Jobs about different subjects run concurrently.
	Order JobOrder
	// Yields means that a job that waits for its next attempt does not block later jobs of its subject.
	Yields bool
	// Workers is the number of jobs that can run concurrently on one node. It is at least two, so that a slow job does
	// not block the others.
	Workers int
	// Slow is the running time after which a job counts as slow.
	Slow time.Duration
	// Attempts is the number of attempts after which a failed job is not retried.
	Attempts int
	// Final means that a job that exceeds its time limit is not retried, because another attempt would take as long.
	Final bool
	// Timeout bounds one attempt.
	Timeout time.Duration
}

// JobSubject is the subject of a job. Without a space, the subject is the organization.
type JobSubject struct {
	Organization string
	Space        string
	// Part is the id of a part of the organization or the space. It is set if the jobs about each part are a separate
	// sequence.
	Part string
}

// JobArgs are the arguments of a job, which are stored as JSON. They identify the task and contain no state, because
// the worker reads the state when it runs.
type JobArgs interface {
	// Kind is the name of the kind. River requires this method, and arguments that JSON can encode.
	Kind() string
	JobKind() JobKind
	Subject() JobSubject
}

// Job is a job as it is shown to those who administer its organization.
type Job struct {
	Object       string   `json:"object"`
	ID           string   `json:"id"`
	Kind         string   `json:"kind" rules:"enum=jobKind"`
	State        JobState `json:"state" rules:"enum=jobState"`
	Organization string   `json:"organization"`
	Space        string   `json:"space,omitempty"`
	// Attempt counts the attempts that began. It restarts at zero when a failed job is retried.
	Attempt int `json:"attempt"`
	// NextAttemptAt is the earliest time at which the job runs, if it is waiting or retrying.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitempty"`
	// Reason is the cause of the last attempt's failure.
	Reason     string     `json:"reason,omitempty"`
	CreatedAt  time.Time  `json:"createdAt"`
	StartedAt  *time.Time `json:"startedAt,omitempty"`
	FinishedAt *time.Time `json:"finishedAt,omitempty"`
}
