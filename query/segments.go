package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Segment is a group of a site's visitors who share the same claims.
type Segment struct {
	Title    string         `json:"title"`
	Claims   map[string]any `json:"claims"`
	Events   uint64         `json:"events"`
	Visitors uint64         `json:"visitors"`
	Sessions uint64         `json:"sessions"`
}

const (
	// anonymous is the title of the segment of visitors without claims. identified is the title of the segment of
	// visitors who have claims, if none of these claims is a shared claim.
	anonymous, identified = "Anonymous", "Identified"
	// maxTitle limits a title's length in runes.
	maxTitle = 120
)

// VisitorSegments lists the claims that a site's visitors of the last days share. The segment with the most visitors
// comes first.
//
// Only shared claims become segments. A claim is shared if it has few values, or at most half as many values as
// visitors. A claim that identifies a visitor (an id, an e-mail address, the time of issue) becomes no segment. A
// visitor whose claims changed is in several segments. All pages cover the days of the first page, and repeat the total
// number of the first page. The answer is JSON: a schema.List of Segment.
func (s *Service) VisitorSegments(
	ctx context.Context, who Caller, site string, page schema.PageRequest, now time.Time,
) ([]byte, map[string]string, error) {
	q := s.query(kindSegments, who, site)
	q.spills = true
	within, err := s.reach(ctx, who, site, now)
	var part segmentPage
	if err == nil {
		part, err = readSegmentPage(within.site, page, now)
	}
	if err == nil {
		part, err = part.within(within)
	}
	var key string
	if err == nil {
		key, err = within.key(nil)
	}
	if err != nil {
		return nil, nil, q.invalid(ctx, err)
	}
	longest := part
	longest.days = cmp.Or(part.days, segmentDays[0])
	if err := q.lacks([]scope{longest.scope()}); err != nil {
		return nil, nil, q.failed(ctx, err).public
	}
	q.weighSegments(part)
	q.visitors(part.scope())
	key = fmt.Sprintf("limit %d, page %q\n%s", part.limit, page.Page, key)
	return q.shared(ctx, key, func(ctx context.Context) ([]byte, error) {
		list, err := q.segments(ctx, &part)
		if err != nil {
			return nil, err
		}
		q.within = part.scope()
		q.assigned = q.service.assigned(ctx, q.within)
		return json.Marshal(list, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	})
}

// weighSegments sets the query's cost. The rows of the scope are counted twice, because two statements read them: for
// the claims, and then for the visitors.
func (q *query) weighSegments(part segmentPage) {
	if part.days == 0 {
		part.days = segmentDays[0]
	}
	sc := part.scope()
	q.weigh(segmentReads, insights.CountExact, sc, sc)
}

// segments builds a page over as many days as can be counted. Each attempt except the last gets half of the remaining
// time.
func (q *query) segments(ctx context.Context, part *segmentPage) (schema.List[Segment], error) {
	tries := segmentDays
	if part.days > 0 {
		tries = []int{part.days}
	}
	ends := q.ends
	var err error
	for i, days := range tries {
		part.days = days
		q.ends = ends
		if left := time.Until(ends); i < len(tries)-1 {
			q.ends = time.Now().Add(left / 2)
		}
		var list schema.List[Segment]
		if list, err = q.segmentsPage(ctx, part); err == nil {
			return list, nil
		}
		public, class := engineError(ctx, err)
		if class != classTooHeavy || public.Message == tooLarge { // fewer days make the answer hardly smaller
			return list, err
		}
	}
	return schema.List[Segment]{}, errors.Join(errSegments, err)
}

// segmentsPage lists and counts the segments of the page `part`.
func (q *query) segmentsPage(ctx context.Context, part *segmentPage) (list schema.List[Segment], err error) {
	err = q.from(ctx, part.scope(), segmentReads, insights.CountExact, func(sc scope) error {
		q.held = 0
		list, err = q.segmentsOf(ctx, sc, part)
		return err
	})
	return list, err
}

func (q *query) segmentsOf(ctx context.Context, sc scope, part *segmentPage) (schema.List[Segment], error) {
	list := schema.List[Segment]{Items: []Segment{}}
	shared, err := q.sharedClaims(ctx, sc)
	if err != nil {
		return list, err
	}
	var rows []segmentRow
	err = q.count(sc, func(sc scope) error {
		q.approximate = sc.env.Counting
		rows, err = q.segmentRows(ctx, sc, shared, *part)
		return err
	})
	if err != nil {
		return list, err
	}
	more := len(rows) > part.limit
	if part.after == nil {
		part.total = int64(len(rows))
		if more {
			var total uint64
			if err := q.rows(ctx, lowerSegmentCount(sc, shared), []any{&total}, func() int {
				part.total = int64(total)
				return 0
			}); err != nil {
				return list, err
			}
		}
	}
	list.Count = part.total
	rows = rows[:min(len(rows), part.limit)]
	for _, r := range rows {
		list.Items = append(list.Items, r.Segment)
	}
	if more && len(rows) > 0 {
		next := *part
		next.after = &rows[len(rows)-1].key
		list.Next = &schema.Next{Page: next.token(q.site)}
	}
	return list, nil
}

// sharedClaims finds the claims that segments are made of.
func (q *query) sharedClaims(ctx context.Context, sc scope) ([]string, error) {
	var path string
	var values, visitors uint64
	paths := []string{}
	err := q.rows(ctx, lowerSharedClaims(sc), []any{&path, &values, &visitors}, func() int {
		paths = append(paths, path)
		return len(path)
	})
	slices.Sort(paths)
	return paths, err
}

type segmentRow struct {
	Segment
	key segmentKey
}

func (q *query) segmentRows(ctx context.Context, sc scope, shared []string, part segmentPage) ([]segmentRow, error) {
	var list []segmentRow
	var claims map[string]string
	var known uint8
	var notes, id string
	var events, visitors, sessions uint64
	targets := []any{&claims, &known, &notes, &events, &visitors, &sessions, &id}
	err := q.rows(ctx, lowerSegments(sc, shared, part), targets, func() (stored int) {
		list = append(list, segmentRow{
			Segment{
				Title: segmentTitle(claims, known == 1), Claims: insights.ClaimsObject(claims, notes),
				Events: events, Visitors: visitors, Sessions: sessions,
			},
			segmentKey{visitors, events, id},
		})
		for name, value := range claims {
			stored += jsonBytes(name) + jsonBytes(value)
		}
		claims = nil // otherwise the driver adds the next row's claims to this map
		return stored + jsonBytes(notes)
	})
	return list, err
}

// segmentTitle lists the claims for people: "beta: true, plan: pro".
func segmentTitle(claims map[string]string, known bool) string {
	switch {
	case len(claims) == 0 && known:
		return identified
	case len(claims) == 0:
		return anonymous
	}
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(claims)) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + ": " + claims[name])
	}
	runes := []rune(b.String())
	if len(runes) > maxTitle {
		return string(runes[:maxTitle-1]) + "…"
	}
	return string(runes)
}
