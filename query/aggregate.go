package query

import (
	"context"
	"slices"
	"time"
)

// Aggregate answers the aggregate request in body about a site. The result is
// JSON and the headers that go with it; every error is a *schema.Error.
func (s *Service) Aggregate(ctx context.Context, who Asker, site string, body []byte, now time.Time) ([]byte, map[string]string, error) {
	q := s.question(kindAggregate, who, site)
	p, err := compile(site, body, now)
	if err != nil {
		return nil, nil, q.invalid(err)
	}
	var answer []byte
	headers, err := q.answer(ctx, func(ctx context.Context) error {
		answer, err = q.aggregate(ctx, p)
		return err
	})
	return answer, headers, err
}

// compile turns a request into the plan of its statement.
func compile(site string, body []byte, now time.Time) (plan, error) {
	r, err := decode(body)
	if err != nil {
		return plan{}, err
	}
	now, keys, err := cursorTime(site, r, ceil(now))
	if err != nil {
		return plan{}, err
	}
	p, err := resolve(site, r, now)
	if err != nil {
		return plan{}, err
	}
	p = decide(p)
	p.mark = p.hash()
	return p.continued(keys)
}

// aggregate runs a plan.
func (q *question) aggregate(ctx context.Context, p plan) ([]byte, error) {
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
	return e.result(compared), nil
}

// collect runs a plan's statement, and again in bounded memory if it must.
func (q *question) collect(ctx context.Context, p plan) (e *encoder, err error) {
	run := func(sc scope) error {
		p.scope = sc
		st := lower(p)
		e = newEncoder(p, st)
		return q.rows(ctx, st.Statement, st.targets, e.row)
	}
	err = q.from(ctx, p.scope, slices.Concat(p.groups, p.measures()), p.counts(), func(sc scope) error {
		if p.counts() {
			return q.count(sc, run)
		}
		return run(sc)
	})
	if e.approximate {
		q.approximate = max(q.approximate, e.plan.env.Counting)
	}
	return e, err
}
