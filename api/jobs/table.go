package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/octavo-docs/octavo/api/jobs/book"
	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/api/remote/translation"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Kinds is the table of all kinds of jobs.
func Kinds() []Kind {
	return []Kind{
		kind(indexSpace),
		kind(clusterConversations),
		kind(refineClusters),
		kind(syncGit),
		kind(renderPDF),
		kind(revalidateFrontEnds),
		kind(translateSpace),
		kind(sendIntegrationEvent),
		kind(fetchOpenAPI),
		kind(deliverWebhooks),
		kind(sendInvites),
	}
}

// Deps are the dependencies of jobs. They are separate from the dependencies of requests, so that jobs cannot block
// requests.
type Deps struct {
	Store *store.Store
	// Git is the client for the repositories of imports and exports.
	Git *gitsync.Client
	// Renderer makes PDFs; it is nil if the node has no renderer. PDFMemory is the largest estimated memory that the
	// renderer may need for a part of a PDF.
	Renderer  book.Renderer
	PDFMemory int64
	// FrontEnds notifies front ends of changes; it is nil if there are no front ends.
	FrontEnds FrontEnds
	// Translator translates spaces; it is nil if there is no translator.
	Translator translation.Provider
	// Tunnels sends the events of integrations in development mode; it is nil if this node does not send them.
	Tunnels Tunnels
	// View returns the API form of the resources that jobs send. Answers to requests have the same form.
	View view.Presenter
	// Specs fetches OpenAPI specifications; it is nil if this node does not fetch them.
	Specs Specs
	// SpecsInterval is the time between two fetches of a specification. If it is 0, a specification is fetched only
	// when a user sets it.
	SpecsInterval time.Duration
	// Webhooks sends events to webhooks; it is nil if this node sends none.
	Webhooks Webhooks
	// Encoder opens the model that compares issues of conversations. It is nil if the node has no model. Then only the
	// words of issues are compared.
	Encoder func() (Encoder, error)
	// Refiner writes titles and summaries for clusters of issues. It is nil if there is no language model. Then the
	// built-in method writes them.
	Refiner Refiner
	// Mail sends mails; it is nil if there is no mail server.
	Mail Mailer
}

// Kind is a row of the table of kinds of jobs: the properties of the kind's jobs, and the function that runs a job.
type Kind struct {
	schema.JobKind
	add func(schema.JobKind, *river.Workers, *Runner) error
}

// kind returns the row for a kind of job in the table of kinds. `work` does the work of a job of this kind. `work` must
// return soon after its context ends. A job may be stopped at any point, and its next attempt must then be able to
// finish the work.
func kind[A schema.JobArgs](work func(context.Context, Deps, A) error) Kind {
	var args A
	return Kind{JobKind: args.JobKind(), add: func(row schema.JobKind, workers *river.Workers, r *Runner) error {
		return river.AddWorkerSafely(workers, &worker[A]{row: row, runner: r, work: work})
	}}
}

// Names returns the names of all kinds.
func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}
