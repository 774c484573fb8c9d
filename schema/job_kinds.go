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
	return JobSubject{Organization: j.Organization, Space: j.Space}
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

// RefineClusters lets a language model name and sum up the clusters of an organization.
type RefineClusters struct {
	Organization string `json:"organization"`
}

// Kind is the name of the kind.
func (RefineClusters) Kind() string { return "refine_clusters" }

// JobKind is the kind's row.
func (j RefineClusters) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Lets a language model name and sum up clusters of issues, if the operator has named one.",
		Order: NewestJob, Workers: 1, Attempts: 6, Timeout: 30 * time.Minute,
	}
}

// Subject is what the job is about.
func (j RefineClusters) Subject() JobSubject { return JobSubject{Organization: j.Organization} }

// SyncGit runs a Git operation of a space: an import or an export.
type SyncGit struct {
	Organization string `json:"organization"`
	Space        string `json:"space"`
	Operation    string `json:"operation"`
}

// Kind is the name of the kind.
func (SyncGit) Kind() string { return "sync_git" }

// JobKind is the kind's row. Imports and exports are one kind, so that those of a space run one after the other. The migration
// 00034 asks for such jobs as well.
func (j SyncGit) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Imports a branch of a Git repository into a space, or exports a space to one.",
		Order: JobsInOrder, Workers: 2, Attempts: 6, Timeout: 30 * time.Minute,
	}
}

// Subject is what the job is about.
func (j SyncGit) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Space: j.Space}
}

// RenderPDF makes a PDF that was asked for.
type RenderPDF struct {
	Organization string `json:"organization"`
	Space        string `json:"space"`
	// Key names the PDF within the space.
	Key string `json:"key"`
}

// Kind is the name of the kind.
func (RenderPDF) Kind() string { return "render_pdf" }

// JobKind is the kind's row. The renderer may take a gigabyte, so a node runs one at a time.
func (j RenderPDF) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Renders pages of a space or of a change request as a PDF.",
		Order: JobsInOrder, Workers: 1, Attempts: 3, Timeout: 10 * time.Minute,
	}
}

// Subject is what the job is about.
func (j RenderPDF) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Space: j.Space}
}

// RevalidateFrontEnds tells the front ends of an organization's sites what has changed.
type RevalidateFrontEnds struct {
	Organization string `json:"organization"`
}

// Kind is the name of the kind.
func (RevalidateFrontEnds) Kind() string { return "revalidate_front_ends" }

// JobKind is the kind's row.
func (j RevalidateFrontEnds) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Tells the front ends of sites what has changed, so that readers see it.",
		Order: NewestJob, Workers: 1, Attempts: 12, Timeout: 5 * time.Minute,
	}
}

// Subject is what the job is about.
func (j RevalidateFrontEnds) Subject() JobSubject { return JobSubject{Organization: j.Organization} }

// TranslateSpace runs a translation of a space.
type TranslateSpace struct {
	Organization string `json:"organization"`
	// Space is the source.
	Space       string `json:"space"`
	Translation string `json:"translation"`
	Run         string `json:"run"`
}

// Kind is the name of the kind.
func (TranslateSpace) Kind() string { return "translate_space" }

// JobKind is the kind's row. What a run has translated is kept, so an attempt that is too late or fails loses nothing.
func (j TranslateSpace) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Brings the translation of a space up to date with the space.",
		Order: JobsInOrder, Workers: 2, Attempts: 12, Timeout: time.Hour,
	}
}

// Subject is what the job is about.
func (j TranslateSpace) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Space: j.Space}
}

// SendIntegrationEvent sends an event of an integration in development mode to its tunnel.
type SendIntegrationEvent struct {
	// Organization is the one that published the integration.
	Organization string `json:"organization"`
	Integration  string `json:"integration"`
	Event        string `json:"event"`
}

// Kind is the name of the kind.
func (SendIntegrationEvent) Kind() string { return "send_integration_event" }

// JobKind is the kind's row. A tunnel that is not there for some minutes has ended: the events of other integrations do not wait for it.
func (j SendIntegrationEvent) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Sends an event of an integration in development mode to its tunnel.",
		Order: JobsInOrder, Workers: 2, Attempts: 4, Timeout: time.Minute,
	}
}

// Subject is what the job is about.
func (j SendIntegrationEvent) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Part: j.Integration}
}

// FetchOpenAPI fetches the OpenAPI specifications of an organization whose time has come.
type FetchOpenAPI struct {
	Organization string `json:"organization"`
}

// Kind is the name of the kind.
func (FetchOpenAPI) Kind() string { return "fetch_openapi" }

// JobKind is the kind's row. A specification that cannot be fetched says so itself, and is tried again later: that fails no job.
func (j FetchOpenAPI) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Fetches the OpenAPI specifications of an organization from their URLs.",
		Order: NewestJob, Workers: 2, Attempts: 12, Timeout: 10 * time.Minute,
	}
}

// Subject is what the job is about.
func (j FetchOpenAPI) Subject() JobSubject { return JobSubject{Organization: j.Organization} }

// DeliverWebhooks sends an organization's webhook what it is to hear.
type DeliverWebhooks struct {
	Organization string `json:"organization"`
	Webhook      string `json:"webhook"`
}

// Kind is the name of the kind.
func (DeliverWebhooks) Kind() string { return "deliver_webhooks" }

// JobKind is the kind's row. A job ends soon, and another one goes on with the rest, so that receivers take turns. Most of the time
// workers wait for receivers.
func (j DeliverWebhooks) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Delivers events to a webhook.",
		Order: NewestJob, Workers: 8, Attempts: 12, Timeout: 2 * time.Minute,
	}
}

// Subject is what the job is about.
func (j DeliverWebhooks) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Part: j.Webhook}
}

// SendInvites sends the mails of an organization's invites that wait.
type SendInvites struct {
	Organization string `json:"organization"`
}

// Kind is the name of the kind.
func (SendInvites) Kind() string { return "send_invites" }

// JobKind is the kind's row. The mails give up by themselves, before the job has failed so often: see store.InviteMailNotSent.
func (j SendInvites) JobKind() JobKind {
	return JobKind{
		Name: j.Kind(), Doc: "Sends the mails of an organization's invites.",
		Order: NewestJob, Workers: 2, Attempts: 60, Timeout: 30 * time.Minute,
	}
}

// Subject is what the job is about.
func (j SendInvites) Subject() JobSubject { return JobSubject{Organization: j.Organization} }
