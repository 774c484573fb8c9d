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

// Deps are what the work of jobs needs. They are not those of requests, which jobs must not keep from working.
type Deps struct {
	Store *store.Store
	// Git reaches the repositories of imports and exports.
	Git *gitsync.Client
	// Renderer makes PDFs; nil if there is none. PDFMemory is what it probably needs at most for a part of one.
	Renderer  book.Renderer
	PDFMemory int64
	// FrontEnds hear of what has changed; nil if there are none.
	FrontEnds FrontEnds
	// Translator translates spaces; nil if there is none.
	Translator translation.Provider
	// Tunnels take the events of integrations in development mode; nil if this node sends none.
	Tunnels Tunnels
	// View presents what jobs send, as answers to requests present it.
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

// Kind is a row of the table: what holds for all jobs of the kind, and how one is done.
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
