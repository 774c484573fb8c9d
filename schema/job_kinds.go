package schema

import "time"

// The kinds of jobs that package store asks for in its own transactions. The others are beside their workers in api/jobs.

// IndexSpace brings the search of a space up to date with its content.
type IndexSpace struct {
	Organization string `json:"organization"`
	Space        string `json:"space"`
}

// Kind is the name of the kind.
func (IndexSpace) Kind() string { return "index_space" }

// JobKind is the kind's row.
func (j IndexSpace) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Brings the search of a space up to date with its content.",
		Order: NewestJob, Workers: 2, Attempts: 12, Timeout: 15 * time.Minute,
	}
}

// Subject is what the job is about.
func (j IndexSpace) Subject() JobSubject {
	return JobSubject(j)
}

// ClusterConversations brings the clusters of an organization's issues up to date with its conversations.
type ClusterConversations struct {
	Organization string `json:"organization"`
}

// Kind is the name of the kind.
func (ClusterConversations) Kind() string { return "cluster_conversations" }

// JobKind is the kind's row.
func (j ClusterConversations) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Brings the clusters of an organization's issues up to date with its conversations.",
		Order: NewestJob, Workers: 1, Attempts: 12, Timeout: 2 * time.Minute,
	}
}

// Subject is what the job is about.
func (j ClusterConversations) Subject() JobSubject { return JobSubject{Organization: j.Organization} }
