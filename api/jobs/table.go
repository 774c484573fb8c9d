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
	// Renderer makes PDFs; nil if there is none. PDFMemory is the estimated most memory that it needs for a part of a
	// PDF.
	Renderer  book.Renderer
	PDFMemory int64
	// FrontEnds notifies front ends of changes; nil without front ends.
	FrontEnds FrontEnds
	// Translator translates spaces; nil without a translator.
	Translator translation.Provider
	// Tunnels take the events of integrations in development mode; nil if this node sends none.
	Tunnels Tunnels
	// View presents the resources that jobs send, like answers to requests.
	View view.Presenter
	// Specs reads OpenAPI specifications; nil if this node fetches none.
	Specs Specs
	// SpecsInterval is the time between two fetches of a specification; 0 fetches one only when it is set.
	SpecsInterval time.Duration
	// Webhooks delivers events; nil delivers none.
	Webhooks Webhooks
	// Encoder opens the model by which issues of conversations are compared; nil if there is none: then only their words are.
	Encoder func() (Encoder, error)
	// Refiner names and sums up clusters of issues; nil if there is no language model: they keep the titles of the built-in method.
	Refiner Refiner
	// Mail sends mails; nil if there is no server for them.
	Mail Mailer
}

// Kind is a row of the table: the properties of all jobs of the kind, and the function that does one.
type Kind struct {
	schema.JobKind
	add func(schema.JobKind, *river.Workers, *Runner) error
}

// kind makes a row of the function that does the work. The function must end soon after its context, and must be fit to run
// again at any point at which it was stopped.
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
