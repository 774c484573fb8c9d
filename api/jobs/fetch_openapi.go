package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/octavo-docs/octavo/api/remote/openapi"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Specs reads OpenAPI specifications. Its errors are openapi.Problems, or that of a canceled context.
type Specs interface {
	Fetch(ctx context.Context, address string, known []schema.OpenAPISourceState) (openapi.Fetched, error)
}

const (
	// specsAtOnce is how many specifications one job fetches side by side: a slow server holds up no other.
	specsAtOnce = 4
	// specsTime is for how long a job begins with further specifications. It leaves room for those that it has begun with.
	specsTime = 5 * time.Minute
	// firstSpecPause doubles with each failure that may be over soon, up to the interval.
	firstSpecPause = time.Minute
	// unpolledSpecs is in place of the interval if nothing is polled.
	unpolledSpecs = 24 * time.Hour
)

// fetchOpenAPI fetches what an organization wants to be fetched. A specification that cannot be read fails no job: it says so itself.
// Stopped in the middle, the job begins anew with those that it had not done.
func fetchOpenAPI(ctx context.Context, d Deps, args schema.FetchOpenAPI) error {
	if d.Specs == nil {
		return GiveUp(&schema.Error{Code: schema.CodeUnavailable, Message: "the node that ran the job fetches no specifications"})
	}
	var begun []string
	var group errgroup.Group // One that fails leaves the others alone.
	group.SetLimit(specsAtOnce)
	for end := time.Now().Add(specsTime); time.Now().Before(end); {
		spec, found, err := d.Store.StartOpenAPIFetch(ctx, args.Organization, begun)
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
	return d.Store.ContinueOpenAPIFetches(ctx, args.Organization)
}

func fetchSpec(ctx context.Context, d Deps, spec store.OpenAPISpec) (err error) {
	defer func() {
		if p := recover(); p != nil { // Outside of the worker's goroutine, it would end the process.
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	known, err := schema.DecodeJSON[[]schema.OpenAPISourceState](spec.Fetched)
	if err != nil {
		return err
	}
	fetched, err := d.Specs.Fetch(ctx, schema.Or(spec.SourceUrl, ""), known)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	result, interval := store.OpenAPIFetch{Document: fetched.Document, Sources: fetched.Sources}, d.SpecsInterval
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
	// Up to a tenth more, so that what was set together is not fetched together for ever.
	result.Next = time.Now().Add(interval + rand.N(interval/10+1))
	return d.Store.EndOpenAPIFetch(ctx, spec, result)
}
