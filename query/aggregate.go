package query

import (
	"context"
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
	headers, err := q.answer(ctx, p.source, func(ctx context.Context) error {
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
	now, keys, err := cursorTime(site, r, now)
	if err != nil {
		return plan{}, err
	}
	p, err := resolve(site, r, now)
	if err != nil {
		return plan{}, err
	}
	return decide(p).continued(keys)
}

// aggregate runs a plan.
func (q *question) aggregate(ctx context.Context, p plan) (answer []byte, err error) {
	var e *encoder
	collect := func(sc scope) error {
		p.scope = sc
		st := lower(p)
		e = newEncoder(p, st)
		if err := q.rows(ctx, st.Statement, st.targets, e.row); err != nil {
			return err
		}
		q.approximate, q.truncated = e.approximate, e.more
		return nil
	}
	if p.counts() {
		err = q.count(p.scope, collect)
	} else {
		err = collect(p.scope)
	}
	if err != nil {
		return nil, err
	}
	var compared []byte
	if p.compare != nil {
		if compared, err = q.compared(ctx, p, e); err != nil {
			return nil, err
		}
	}
	return e.result(compared), nil
}
