package query

import (
	"context"
	"fmt"

	"github.com/octavo-docs/octavo/schema/insights"
)

// from runs statements over the best source of a scope. `refs` and `estimate` are as in [sources.choose].
func (
	q *query,
) from(ctx context.Context, sc scope, refs []ref, estimate insights.Counting, run func(scope) error) error {
	return q.over(ctx, q.service.sources.choose(ctx, sc, refs, estimate), sc, run)
}

// over runs statements on `best`, which is `sc` with its best source. If this source cannot be read, it runs the
// statements on the scope `sc` itself.
func (q *query) over(ctx context.Context, best, sc scope, run func(scope) error) error {
	if best.source.visits != nil && !q.service.sources.whole(ctx, q.site) {
		best = sc
	}
	q.source = best.source
	err := run(best)
	if best.source != rawEvents && err != nil {
		// The request is not the cause of such an error: the projection may just have been dropped, or may be broken.
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
// runs the statement again in bounded memory. It returns an error instead if the answer must be exact, or must use the
// previous page's counting method.
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

// scan is one reading of the events or visits of a scope.
type scan struct {
	scope
	refs []ref // the columns that determine the source
}

// scans returns the readings of a statement that reads the columns `refs` in the scope. A join of events with their
// sessions reads the range's events, and then all events of the range and around it.
func (s scope) scans(refs []ref) []scan {
	if len(s.sessions) == 0 {
		return []scan{{s, refs}}
	}
	return []scan{{s, refs}, {s.around(), refs}}
}

// weigh sets the query's cost of reading the scopes. The first scope is the request's scope. Events that are joined
// with their sessions are read twice, and events around the range once.
func (q *query) weigh(refs []ref, estimate insights.Counting, scopes ...scope) {
	var scans []scan
	for _, sc := range scopes {
		scans = append(scans, sc.scans(refs)...)
	}
	q.weighScans(scopes[0], estimate, scans)
}

// weighScans sets the query's cost to the estimated number of rows that all scans read. `sc` is the request's scope.
func (q *query) weighScans(sc scope, estimate insights.Counting, scans []scan) {
	q.size = size{known: true, length: sc.to.Sub(sc.from)}
	for _, s := range scans {
		rows, known := q.service.sources.cost(s.scope, s.refs, estimate)
		q.cost, q.known = q.cost+rows, q.known && known
	}
}

// visitors lets the query write its groups to disk, because its statement has a group for each visitor.
func (q *query) visitors(sc scope) {
	q.spills, q.joins = true, len(sc.sessions) > 0
}
