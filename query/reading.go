package query

import (
	"context"
	"fmt"

	"github.com/octavo-docs/octavo/schema/insights"
)

// from runs statements over the best source of a scope. refs and estimate are as in [sources.choose].
func (
	q *query,
) from(ctx context.Context, sc scope, refs []ref, estimate insights.Counting, run func(scope) error) error {
	return q.over(ctx, q.service.sources.choose(ctx, sc, refs, estimate), sc, run)
}

// over runs statements over the best source of a scope, if that source can still be read.
func (q *query) over(ctx context.Context, best, sc scope, run func(scope) error) error {
	if best.source.visits != nil && !q.service.sources.whole(ctx, q.site) {
		best = sc
	}
	q.source = best.source
	err := run(best)
	if best.source != rawEvents && err != nil {
		// No request can cause such an error. But the projection may just have been dropped, or may be broken.
		if _, class := engineError(ctx, err); class == classInternal {
			const reads = "A query reads events, because visits could not be read."
			q.service.log.WarnContext(ctx, reads, "site", q.site, "error", err)
			q.source = rawEvents
			err = run(sc)
		}
	}
	if q.source != rawEvents {
		q.summary = q.source.name
	}
	return err
}

// count runs a statement that counts distinct values over a scope. If an exact count exceeds the query's memory, it
// runs the statement again in bounded memory. The error stays if the answer must be exact, or must use the previous
// page's counting.
func (q *query) count(sc scope, run func(scope) error) error {
	err := run(sc)
	if !outOfMemory(err) || sc.env.Counting != insights.CountExact {
		return err
	}
	switch {
	case sc.exact:
		return fmt.Errorf("%w: %w", errExact, err)
	case sc.counted:
		return fmt.Errorf("%w: %w", errPage, err)
	}
	q.service.metrics.bounded.Inc()
	return run(sc.bounded())
}

// weigh sets the query's cost of reading the scopes. The first scope is the request's scope. Events that are joined
// with their sessions are read twice, and events around the range once.
func (q *query) weigh(refs []ref, estimate insights.Counting, scopes ...scope) {
	q.size = size{known: true, length: scopes[0].to.Sub(scopes[0].from)}
	for _, sc := range scopes {
		rows, known := q.service.sources.cost(sc, refs, estimate)
		if len(sc.sessions) > 0 {
			around := rows // if the rows are unknown, twice as many are as good a guess
			if known {
				around, _ = q.service.sources.cost(sc.around(), refs, estimate)
			}
			rows += around
		}
		q.cost, q.known = q.cost+rows, q.known && known
	}
}

// visitors prepares the query for as many groups as the scope has visitors.
func (q *query) visitors(sc scope) {
	q.spills, q.joins = true, len(sc.sessions) > 0
}
