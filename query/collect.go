package query

import (
	"context"
	"time"
)

// collect runs a plan's statement. If memory does not suffice, it runs the statement again in bounded memory.
func (q *query) collect(ctx context.Context, p plan) (e *encoder, err error) {
	pass := p.onePass()
	q.joins, q.passes = len(p.sessions) > 0 && pass == joined, pass != joined
	q.spills = q.spills || q.joins && q.service.sources.joinSpills(p.scope)
	held := q.held
	run := func(p plan) error {
		q.held = held // the rows of an earlier run are no part of the answer
		st := lower(p)
		e = newEncoder(p, st)
		err := q.rows(ctx, st.Statement, st.targets, e.row)
		if (q.joins || q.passes) && !q.spills && outOfMemory(err) {
			q.spills = true // spilling makes a statement slower, so only the retry spills
			if q.joins {
				q.service.sources.joinDied(p.scope)
			}
			e = newEncoder(p, st)
			err = q.rows(ctx, st.Statement, st.targets, e.row)
		}
		return err
	}
	begin, all := time.Now(), p.scope
	best := q.service.sources.choose(ctx, all, p.sourceRefs(), p.estimate())
	cached, err := q.readStates(ctx, p, best, run)
	if err == nil && !cached {
		runOver := func(sc scope) error {
			p.scope = sc
			return run(p)
		}
		err = q.over(ctx, best, all, func(sc scope) error {
			if p.counts() {
				return q.count(sc, runOver)
			}
			return runOver(sc)
		})
	}
	if err != nil {
		return nil, err
	}
	q.service.states.Answered(q.later, time.Since(begin))
	q.later = nil
	if e.approximate {
		q.approximate = max(q.approximate, e.plan.env.Counting)
	}
	return e, nil
}
