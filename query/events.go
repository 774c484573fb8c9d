package query

import "time"

// scope resolves the scope of a report that only filters events.
func (q *scopeRequest) scope(of Site, now time.Time) (s scope, err error) {
	in, err := q.when(ceil(now))
	if err != nil {
		return s, err
	}
	s = in.scope(of)
	s.where, err = resolveEvents(q.filters)
	return s, err
}

// resolveEvents resolves conditions on events, and refuses conditions on metrics.
func resolveEvents(list []conditionRequest) (where []condition, err error) {
	for _, r := range list {
		c, err := resolveCondition(r, true)
		if err != nil {
			return nil, err
		}
		where = append(where, c)
	}
	return where, nil
}
