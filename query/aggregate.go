package query

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// compilePlan turns a request into the plan of its statement.
func compilePlan(of reach, body []byte, now time.Time) (plan, error) {
	r, err := decode(of, body)
	if err != nil {
		return plan{}, err
	}
	now, keys, err := cursorTime(cursorList+of.site.ID, schema.Or(r.cursor, ""), ceil(now))
	if err != nil {
		return plan{}, err
	}
	p, err := resolve(r, now)
	if err != nil {
		return plan{}, err
	}
	p = decide(p)
	p.mark, p.key = p.hash(), p.keyOf(r)
	return p.continued(keys)
}

// answer runs the plan.
func (p plan) answer(ctx context.Context, q *query) ([]byte, error) {
	e, err := q.collect(ctx, p)
	if err != nil {
		return nil, err
	}
	q.truncated = e.more
	var compared []byte
	if p.compare != nil {
		if compared, err = q.compared(ctx, p, e); err != nil {
			return nil, err
		}
	}
	var others []byte
	if p.others && e.more {
		if others, err = q.readOthers(ctx, p, e); err != nil {
			return nil, err
		}
	}
	return e.result(compared, others), nil
}

// keyOf returns the cache key of a request's plan. The key is the plan's description, but it has the request's words
// for times (for example a preset) instead of the plan's times.
func (p plan) keyOf(r request) string {
	p.scope, p.fill, p.compare = p.timeless(), nil, nil
	compared, cursor := "-", "-"
	if r.compare != nil {
		compared = r.compare.String()
	}
	if r.cursor != nil {
		cursor = strconv.Quote(*r.cursor)
	}
	return keyed(p, p.scope, r.timeRange) +
		fmt.Sprintf("compare: %s\nfill: %v\ncursor: %s\n", compared, r.fill, cursor)
}

// weigh sets the query's cost: the number of rows in the range and in the compared range, or a smaller number if states
// are cached.
func (p plan) weigh(q *query) {
	plans, scans := []plan{p}, p.scans()
	if p.compare != nil {
		other := p.compare.of(p)
		plans, scans = append(plans, other), append(scans, other.scans()...)
	}
	if p.others { // the statement for the row of others reads no states
		scans = append(scans, p.scans()...)
	}
	refs, estimate := p.sourceRefs(), p.estimate()
	q.weighScans(p.scope, estimate, scans)
	for _, p := range plans {
		if best, rows, known := q.service.sources.expect(p.scope, refs, estimate); known {
			q.cost = max(0, q.cost+q.service.costOfStates(p, best, rows)-cost(rows))
		}
	}
	q.groups, q.exact = len(p.groups), p.exact && p.counts()
}
