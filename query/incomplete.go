package query

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// These headers are for answers about ranges in which events are known to be missing or doubled in the store. Other
// answers do not have them.
const (
	// headerComplete has the value "false" if events are missing.
	headerComplete = "Octavo-Complete"
	// headerMissing is the number of missing events that may belong to the site. Every site's number includes the
	// missing events of unknown sites.
	headerMissing = "Octavo-Missing-Rows"
	// headerMissingRange has the first and the last day of the missing events, in UTC: 2026-11-02..2026-11-30.
	headerMissingRange = "Octavo-Missing-Range"
	// headerDoubled is the number of events, of all sites, that are in the store twice. The answer may count them
	// twice. headerDoubledRange has the days of the first and last of these events.
	headerDoubled      = "Octavo-Doubled-Rows"
	headerDoubledRange = "Octavo-Doubled-Range"
)

// missingMargin is the time by which sessions may extend beyond a range.
const missingMargin = 12 * time.Hour

// lacks finds the missing and doubled rows that may belong to the query's ranges. It returns an error if the answer
// must be exact.
func (q *query) lacks(ranges []scope) error {
	q.ranges = ranges
	return q.lacksNow()
}

// lacksNow finds the rows that are missing now. It runs before and after the read, because the events table may lose or
// regain rows during the read. The answer reports the larger loss.
func (q *query) lacksNow() error {
	if q.service.config.Missing == nil {
		return nil
	}
	var found []schema.MissingRows
	for _, m := range q.service.config.Missing() {
		touches := func(s scope) bool {
			return s.from.Before(m.Last.Add(missingMargin)) && s.to.After(m.First.Add(-missingMargin))
		}
		if (m.Site == "" || m.Site == q.site) && slices.ContainsFunc(q.ranges, touches) {
			found = append(found, m)
		}
	}
	rows := func(list []schema.MissingRows) int64 { return schema.MissingTotal(list) + schema.DoubledTotal(list) }
	if rows(found) > rows(q.missing) {
		q.missing = found
	}
	// If an operator has accepted a loss, exact answers are allowed, and count the remaining events.
	open, doubled := schema.MissingOpen(q.missing), schema.DoubledTotal(q.missing)
	if open+doubled > 0 && slices.ContainsFunc(q.ranges, func(s scope) bool { return s.exact }) {
		return schema.Damaged(schema.StoreEvents, fmt.Errorf(
			"%d events are missing and %d are there twice, and the answer must be exact", open, doubled))
	}
	return nil
}

// incomplete adds the headers about missing and doubled rows. They are not part of cached answers, so that a cached
// answer reports a loss that was found later.
func (q *query) incomplete(headers map[string]string) {
	if missing := schema.MissingTotal(q.missing); missing > 0 {
		headers[headerComplete] = "false"
		headers[headerMissing] = strconv.FormatInt(missing, 10)
		headers[headerMissingRange] = q.days(func(m schema.MissingRows) bool { return m.Rows > 0 })
	}
	if doubled := schema.DoubledTotal(q.missing); doubled > 0 {
		headers[headerDoubled] = strconv.FormatInt(doubled, 10)
		headers[headerDoubledRange] = q.days(func(m schema.MissingRows) bool { return m.Doubled > 0 })
	}
}

// days returns the first and the last day of the missing rows that `of` selects.
func (q *query) days(of func(schema.MissingRows) bool) string {
	var first, last time.Time
	for _, m := range q.missing {
		if !of(m) {
			continue
		}
		if first.IsZero() || m.First.Before(first) {
			first = m.First
		}
		if m.Last.After(last) {
			last = m.Last
		}
	}
	return first.Format(time.DateOnly) + ".." + last.Format(time.DateOnly)
}

// ranges returns the ranges whose events a report reads.
func (s scope) ranges() []scope { return []scope{s} }

func (p plan) ranges() []scope {
	if p.compare == nil {
		return []scope{p.scope}
	}
	return []scope{p.scope, p.compare.of(p).scope}
}
