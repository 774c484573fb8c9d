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
	// Git reaches the repositories of imports and exports.
	Git *gitsync.Client
	// Renderer makes PDFs; nil without a renderer. PDFMemory is the largest estimated memory that the renderer may need
	// for a part of a PDF.
	Renderer  book.Renderer
	PDFMemory int64
	// FrontEnds notifies front ends of changes; nil without front ends.
	FrontEnds FrontEnds
	// Translator translates spaces; nil without a translator.
	Translator translation.Provider
	// Tunnels receive the events of integrations in development mode; nil if this node does not send events.
	Tunnels Tunnels
	// View presents the resources that jobs send, like answers to requests.
	View view.Presenter
	// Specs reads OpenAPI specifications; nil if this node does not fetch specifications.
	Specs Specs
	// SpecsInterval is the time between two fetches of a specification. With 0, a specification is fetched only when it
	// is set.
	SpecsInterval time.Duration
	// Webhooks delivers events; nil delivers none.
	Webhooks Webhooks
	// Encoder opens the model that compares issues of conversations. It is nil without a model: then only their words
	// are compared.
	Encoder func() (Encoder, error)
	// Refiner writes titles and summaries for clusters of issues. It is nil without a language model: then the built-in
	// method writes the titles.
	Refiner Refiner
	// Mail sends mails; nil without a mail server.
	Mail Mailer
}

// Kind is a row of the table: the properties of the kind's jobs, and the function that runs one.
type Kind struct {
	schema.JobKind
	add func(schema.JobKind, *river.Workers, *Runner) error
}

// kind makes a row from the function that does a job's work. The function must end soon after its context ends. A job
// may be stopped at any point, and must be able to continue from there.
func kind[A schema.JobArgs](work func(context.Context, Deps, A) error) Kind {
	var args A
	return Kind{JobKind: args.JobKind(), add: func(row schema.JobKind, workers *river.Workers, r *Runner) error {
		return river.AddWorkerSafely(workers, &worker[A]{row: row, runner: r, work: work})
	}}
}

// Names are the names of all kinds.
func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}
