package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/octavo-docs/octavo/api/remote/openapi"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/apispecs"
)

// Specs fetches OpenAPI specifications. `known` has the state of each fetched document at the last fetch. Errors are of
// type openapi.Problems, or the error of a canceled context.
type Specs interface {
	Fetch(ctx context.Context, address string, known []schema.OpenAPISourceState) (openapi.Fetched, error)
}

const (
	// specsAtOnce is the number of specifications that one job fetches concurrently. So a slow server delays the
	// fetches from other servers less.
	specsAtOnce = 4
	// specsTime is the time after which a job starts no further fetch. The fetches that have started may use the rest
	// of the job's time.
	specsTime = 5 * time.Minute
	// firstSpecPause is the first pause after a temporary failure. It doubles with each further failure, up to the
	// interval.
	firstSpecPause = time.Minute
	// unpolledSpecs is used instead of Deps.SpecsInterval if specifications are not fetched periodically.
	unpolledSpecs = 24 * time.Hour
)

// fetchOpenAPI fetches the specifications of an organization that are due. If a specification cannot be read, its
// problem is stored with it, and the job does not fail. If the job is stopped, its next attempt fetches the
// specifications that are still due.
func fetchOpenAPI(ctx context.Context, d Deps, args schema.FetchOpenAPI) error {
	if d.Specs == nil {
		return GiveUp(&schema.Error{Code: schema.CodeUnavailable, Message: "the node that ran the job fetches no specifications"})
	}
	var begun []string
	var group errgroup.Group // A group without a context: one failure does not stop the other fetches.
	group.SetLimit(specsAtOnce)
	for end := time.Now().Add(specsTime); time.Now().Before(end); {
		spec, found, err := d.Store.Specs.StartFetch(ctx, args.Organization, begun)
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		if !found {
			break
		}
		begun = append(begun, spec.ID)
		group.Go(func() error { return fetchSpec(ctx, d, spec) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return d.Store.Specs.ContinueFetches(ctx, args.Organization)
}

func fetchSpec(ctx context.Context, d Deps, spec apispecs.Spec) (err error) {
	defer schema.CatchPanic(&err)
	known, err := schema.DecodeJSON[[]schema.OpenAPISourceState](spec.Fetched)
	if err != nil {
		return err
	}
	fetched, err := d.Specs.Fetch(ctx, schema.Or(spec.SourceUrl, ""), known)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	result, interval := apispecs.Fetch{Document: fetched.Document, Sources: fetched.Sources}, d.SpecsInterval
	if interval <= 0 {
		interval = unpolledSpecs
	}
	if err != nil {
		problems, ok := errors.AsType[openapi.Problems](err)
		if !ok {
			return err
		}
		for _, problem := range problems {
			result.Errors = append(result.Errors, schema.OpenAPISpecError{Message: problem.Error(), Code: problem.Code})
		}
		if problems[0].Retryable {
			interval = min(interval, firstSpecPause<<min(spec.FetchFailures, 10))
		}
	}
	// The pause is extended by up to a tenth at random. So specifications that were set at the same time are later
	// fetched at different times.
	result.Pause = interval + rand.N(interval/10+1)
	return d.Store.Specs.EndFetch(ctx, spec, result)
}
