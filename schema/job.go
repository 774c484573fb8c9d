package schema

import "time"

// JobState is the state of a job that users see.
type JobState string

// These are the states of a job. A job that must wait for another job of its sequence is also in the state waiting.
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

// These are the times for which jobs are stored after they have ended. Failed jobs stay longer than a usual holiday, so
// that an administrator can still see them.
const (
	JobDoneKept   = 24 * time.Hour
	JobFailedKept = 30 * 24 * time.Hour
)

// JobOrder defines what happens to a new job if jobs of its kind and subject have not yet ended.
type JobOrder int

const (
	// JobsInOrder means that all jobs run, one after the other, in the order in which they were enqueued.
	JobsInOrder JobOrder = iota
	// NewestJob is for jobs that always bring their subject up to date. Requests for a job then share a single waiting
	// job until it starts.
	NewestJob
)

// JobKind has the properties of all jobs of a kind. Package api/jobs has the table of kinds.
type JobKind struct {
	// Name is in snake case. It is stored with each job, and is also the name of the kind's queue and a label in
	// metrics.
	Name string
	// Doc describes these jobs in one sentence.
	Doc string
	// Order applies to jobs of the same kind and subject. Jobs with different subjects may run concurrently.
	Order JobOrder
	// Yields is true if a job that waits for its next attempt does not block later jobs of its subject.
	Yields bool
	// Workers is the number of jobs that can run concurrently on one node. It is at least two, so that a slow job does
	// not block the others.
	Workers int
	// Slow is the time after which a running job is reported as slow.
	Slow time.Duration
	// Attempts is the largest number of attempts. After the last of them, a failed job is not retried.
	Attempts int
	// Final is true if a job that exceeds its time limit is not retried, because another attempt would take as long.
	Final bool
	// Timeout bounds one attempt.
	Timeout time.Duration
}

// JobSubject is the subject of a job. If it has no space, the subject is the organization.
type JobSubject struct {
	Organization string
	Space        string
	// Part is the id of a part of the organization or the space. It is set for kinds of jobs in which each part has its
	// own sequence of jobs.
	Part string
}

// JobArgs are the arguments of a job, which are stored as JSON. They only identify the task. The worker reads the
// present data when it runs.
type JobArgs interface {
	// Kind returns the name of the kind. The library River requires this method, and requires that JSON can encode the
	// arguments.
	Kind() string
	JobKind() JobKind
	Subject() JobSubject
}

// Job is a job in the form that administrators of its organization see.
type Job struct {
	Object       string   `json:"object"`
	ID           string   `json:"id"`
	Kind         string   `json:"kind" rules:"enum=jobKind"`
	State        JobState `json:"state" rules:"enum=jobState"`
	Organization string   `json:"organization"`
	Space        string   `json:"space,omitempty"`
	// Attempt is the number of attempts that have begun. It is zero again if a user retries a failed job.
	Attempt int `json:"attempt"`
	// NextAttemptAt is the earliest time at which the job runs, if it is waiting or retrying.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitempty"`
	// Reason is the cause for which the last attempt failed.
	Reason     string     `json:"reason,omitempty"`
	CreatedAt  time.Time  `json:"createdAt"`
	StartedAt  *time.Time `json:"startedAt,omitempty"`
	FinishedAt *time.Time `json:"finishedAt,omitempty"`
}
