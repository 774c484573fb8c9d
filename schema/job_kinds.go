package schema

import "time"

// These variables are the kinds of jobs. They are in this package because two packages use them: package store enqueues
// jobs in its transactions, and package api/jobs has the workers.
var (
	indexSpace = JobKind{
		Name: "index_space", Doc: "Updates the search index of a space.",
		Order: NewestJob, Workers: 2, Slow: time.Minute,
		Attempts: 12, Timeout: 15 * time.Minute,
	}
	clusterConversations = JobKind{
		Name: "cluster_conversations", Doc: "Updates the clusters of an organization's issues from its conversations.",
		Order: NewestJob, Workers: 2, Slow: 15 * time.Second,
		Attempts: 12, Timeout: 2 * time.Minute,
	}
	refineClusters = JobKind{
		Name: "refine_clusters", Doc: "Names and summarises clusters of issues with a language model, if set.",
		Order: NewestJob, Workers: 2, Slow: time.Minute,
		Attempts: 6, Timeout: 30 * time.Minute,
	}
	// Imports and exports are one kind, so that a space's operations run in order. An operation that waits for a retry
	// does not block the next operation. If the transfer is slow, the job is reported as slow even before the time
	// `Slow` has passed.
	syncGit = JobKind{
		Name: "sync_git", Doc: "Imports a branch of a Git repository into a space, or exports a space to a branch.",
		Order: JobsInOrder, Yields: true, Workers: 2, Slow: 5 * time.Minute,
		Attempts: 6, Timeout: 30 * time.Minute, Final: true,
	}
	// The renderer may need a gigabyte of memory. So a node runs at most two of these jobs at the same time.
	renderPDF = JobKind{
		Name: "render_pdf", Doc: "Renders pages of a space or of a change request as a PDF.",
		Order: JobsInOrder, Workers: 2, Slow: 15 * time.Second,
		Attempts: 3, Timeout: 30 * time.Minute, Final: true,
	}
	revalidateFrontEnds = JobKind{
		Name: "revalidate_front_ends", Doc: "Notifies the front ends of sites about changes for readers.",
		Order: NewestJob, Workers: 2, Slow: 15 * time.Second,
		Attempts: 12, Timeout: 5 * time.Minute,
	}
	// Each run stores the segments that it has translated. So after a failure or a time-out, the next attempt continues
	// there.
	translateSpace = JobKind{
		Name: "translate_space", Doc: "Updates the translation of a space.",
		Order: JobsInOrder, Workers: 2, Slow: 2 * time.Minute,
		Attempts: 12, Timeout: time.Hour,
	}
	// The number of attempts is small: if a tunnel was not connected for minutes, it has ended. Each integration has
	// its own sequence of jobs, so a slow tunnel delays only its own integration.
	sendIntegrationEvent = JobKind{
		Name: "send_integration_event", Doc: "Sends an event of an integration in development mode to its tunnel.",
		Order: JobsInOrder, Workers: 2, Slow: 15 * time.Second,
		Attempts: 4, Timeout: time.Minute,
	}
	// If a fetch fails, the job still succeeds: it stores the error of the specification and the time of the next
	// fetch.
	fetchOpenAPI = JobKind{
		Name: "fetch_openapi", Doc: "Fetches the OpenAPI specifications of an organization from their URLs.",
		Order: NewestJob, Workers: 2, Slow: 15 * time.Second,
		Attempts: 12, Timeout: 10 * time.Minute,
	}
	// If there is much to send, a job ends early and another job continues. So all receivers get their turn. There are
	// more workers than for other kinds, because these workers mostly wait for receivers.
	deliverWebhooks = JobKind{
		Name: "deliver_webhooks", Doc: "Delivers events to a webhook.",
		Order: NewestJob, Workers: 8, Slow: 15 * time.Second,
		Attempts: 12, Timeout: 2 * time.Minute,
	}
	// A mail fails permanently before the last attempt of its job: see store.InviteMailNotSent.
	sendInvites = JobKind{
		Name: "send_invites", Doc: "Sends the mails of an organization's invites.",
		Order: NewestJob, Workers: 2, Slow: 15 * time.Second,
		Attempts: 60, Timeout: 30 * time.Minute,
	}
)

// These types are the arguments of jobs. Each kind has one type.
type (
	IndexSpace struct {
		Organization string `json:"organization"`
		Space        string `json:"space"`
	}
	ClusterConversations struct {
		Organization string `json:"organization"`
	}
	RefineClusters struct {
		Organization string `json:"organization"`
	}
	SyncGit struct {
		Organization string `json:"organization"`
		Space        string `json:"space"`
		Operation    string `json:"operation"`
	}
	// Key identifies the PDF among the PDFs of the space. User is a user who may see all objects in other spaces whose
	// names the PDF contains.
	RenderPDF struct {
		Organization string `json:"organization"`
		Space        string `json:"space"`
		Key          string `json:"key"`
		User         string `json:"user,omitempty"`
	}
	RevalidateFrontEnds struct {
		Organization string `json:"organization"`
	}
	// Space is the space with the translation.
	TranslateSpace struct {
		Organization string `json:"organization"`
		Space        string `json:"space"`
		Translation  string `json:"translation"`
		Run          string `json:"run"`
	}
	// Organization is the publisher of the integration.
	SendIntegrationEvent struct {
		Organization string `json:"organization"`
		Integration  string `json:"integration"`
		Event        string `json:"event"`
	}
	FetchOpenAPI struct {
		Organization string `json:"organization"`
	}
	DeliverWebhooks struct {
		Organization string `json:"organization"`
		Webhook      string `json:"webhook"`
	}
	SendInvites struct {
		Organization string `json:"organization"`
	}
)

// Kind returns the name of the kind of job to which the arguments belong.

func (IndexSpace) Kind() string           { return indexSpace.Name }
func (ClusterConversations) Kind() string { return clusterConversations.Name }
func (RefineClusters) Kind() string       { return refineClusters.Name }
func (SyncGit) Kind() string              { return syncGit.Name }
func (RenderPDF) Kind() string            { return renderPDF.Name }
func (RevalidateFrontEnds) Kind() string  { return revalidateFrontEnds.Name }
func (TranslateSpace) Kind() string       { return translateSpace.Name }
func (SendIntegrationEvent) Kind() string { return sendIntegrationEvent.Name }
func (FetchOpenAPI) Kind() string         { return fetchOpenAPI.Name }
func (DeliverWebhooks) Kind() string      { return deliverWebhooks.Name }
func (SendInvites) Kind() string          { return sendInvites.Name }

// JobKind returns the kind of job to which the arguments belong.

func (IndexSpace) JobKind() JobKind           { return indexSpace }
func (ClusterConversations) JobKind() JobKind { return clusterConversations }
func (RefineClusters) JobKind() JobKind       { return refineClusters }
func (SyncGit) JobKind() JobKind              { return syncGit }
func (RenderPDF) JobKind() JobKind            { return renderPDF }
func (RevalidateFrontEnds) JobKind() JobKind  { return revalidateFrontEnds }
func (TranslateSpace) JobKind() JobKind       { return translateSpace }
func (SendIntegrationEvent) JobKind() JobKind { return sendIntegrationEvent }
func (FetchOpenAPI) JobKind() JobKind         { return fetchOpenAPI }
func (DeliverWebhooks) JobKind() JobKind      { return deliverWebhooks }
func (SendInvites) JobKind() JobKind          { return sendInvites }

// Subject returns the subject of the job: an organization, a space or a part.

func (j IndexSpace) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Space: j.Space}
}
func (j ClusterConversations) Subject() JobSubject { return JobSubject{Organization: j.Organization} }
func (j RefineClusters) Subject() JobSubject       { return JobSubject{Organization: j.Organization} }
func (j SyncGit) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Space: j.Space}
}
func (j RenderPDF) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Space: j.Space}
}
func (j RevalidateFrontEnds) Subject() JobSubject { return JobSubject{Organization: j.Organization} }
func (j TranslateSpace) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Space: j.Space}
}
func (j SendIntegrationEvent) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Part: j.Integration}
}
func (j FetchOpenAPI) Subject() JobSubject { return JobSubject{Organization: j.Organization} }
func (j DeliverWebhooks) Subject() JobSubject {
	return JobSubject{Organization: j.Organization, Part: j.Webhook}
}
func (j SendInvites) Subject() JobSubject { return JobSubject{Organization: j.Organization} }
