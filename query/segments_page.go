package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// defaultSegments is the number of segments on a page if the request has no limit.
const defaultSegments = 100

// segmentDays has the numbers of days to try for segments: 30 days, or fewer on sites with more events than a query may
// read. The request has no range, so a client cannot request fewer days.
var segmentDays = []int{30, 7, 1}

// segmentReads are the columns that the statements read.
var segmentReads = []ref{
	{column: insights.EventsCount}, {column: insights.VisitorsCount}, {column: insights.SessionsCount},
	{column: insights.ClaimProperty},
}

// segmentPage is the requested part of the list. Its token contains everything except the limit.
type segmentPage struct {
	to    time.Time // time of the first page's request, in whole milliseconds
	days  int       // number of days; 0 means that it is not yet decided
	total int64     // total number, as counted for the first page
	after *segmentKey
	limit int
	zone  *time.Location // the zone in which the page's days begin; nil means UTC
	reach reach
	where []condition // conditions of the caller's view
}

// segmentKey has the values that order the list.
type segmentKey struct {
	visitors, events uint64
	id               string // segmentID of the claims
}

// within returns the page for a caller with this reach. It fails if the caller's view shows no day of the page's
// longest range.
func (p segmentPage) within(of reach) (_ segmentPage, err error) {
	p.reach = of
	if p.where, err = resolveEvents(of.where); err != nil {
		return p, err
	}
	most := p
	most.days = cmp.Or(p.days, segmentDays[0])
	_, err = of.limit(most.period(), of.now)
	return p, err
}

func (p segmentPage) period() period {
	to := p.to
	if p.zone != nil {
		to = to.In(p.zone)
	}
	return period{from: daysBefore(p.days)(to), to: p.to, zone: time.UTC}
}

// scope selects the events of the page's days that the caller may read. If the caller's view shows none of these days,
// it selects no event.
func (p segmentPage) scope() scope {
	in, err := p.reach.limit(p.period(), p.reach.now)
	if err != nil {
		in.from = in.to
	}
	s := newScope(p.reach.site.ID, in.from, in.to, nil)
	s.where = p.where
	return s.joining(segmentReads)
}

// list returns the name of the list in page tokens. The name contains the time zone, so that the token of another zone
// is refused: its days begin at other times.
func (p segmentPage) list(site string) string {
	name := "visitor-segments/" + site
	if zone := p.zone.String(); zone != insights.UTC.String() {
		name += " " + zone
	}
	return name
}

func (p segmentPage) token(site string) string {
	return schema.PageToken(p.list(site), strconv.FormatInt(p.to.UnixMilli(), 10), strconv.Itoa(p.days),
		strconv.FormatInt(p.total, 10),
		strconv.FormatUint(p.after.visitors, 10), strconv.FormatUint(p.after.events, 10), p.after.id)
}

func readSegmentPage(of Site, page schema.PageRequest, now time.Time) (segmentPage, error) {
	zone, err := insights.Location(of.timezone())
	if err != nil {
		return segmentPage{}, fmt.Errorf("%w: %w", errSite, err)
	}
	now = ceil(now.UTC())
	part := segmentPage{to: now, limit: defaultSegments, zone: zone}
	if page.Limit != nil {
		part.limit = *page.Limit
	}
	keys, err := schema.PageKeys(part.list(of.ID), page.Page, 6)
	if err != nil || keys == nil {
		return part, err
	}
	to, err1 := strconv.ParseInt(keys[0], 10, 64)
	days, err2 := strconv.Atoi(keys[1])
	total, err3 := strconv.ParseInt(keys[2], 10, 64)
	visitors, err4 := strconv.ParseUint(keys[3], 10, 64)
	events, err5 := strconv.ParseUint(keys[4], 10, 64)
	part.to, part.days, part.total, part.after = time.UnixMilli(to).UTC(), days, total, &segmentKey{visitors, events, keys[5]}
	if errors.Join(err1, err2, err3, err4, err5) != nil || !slices.Contains(segmentDays, days) || total < 0 || part.to.After(now) {
		return part, schema.BadPage()
	}
	return part, nil
}
