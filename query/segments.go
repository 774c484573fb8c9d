package query

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Segment is the visitors of a site who share claims.
type Segment struct {
	Title    string         `json:"title"`
	Claims   map[string]any `json:"claims"`
	Events   uint64         `json:"events"`
	Visitors uint64         `json:"visitors"`
	Sessions uint64         `json:"sessions"`
}

// HeaderRange is which events were looked at: from and to.
const HeaderRange = "Octavo-Range"

// segmentDays is how far back segments are looked for: 30 days, and less where
// so many events are more than a query may read. The request names no range, so
// its sender could not ask for less.
var segmentDays = []int{30, 7, 1}

const (
	// DefaultSegments is how many segments a page has if the request does not say.
	DefaultSegments = 100
	// anonymous is the title of the visitors without claims, and identified of
	// those of whom no claim is shared.
	anonymous, identified = "Anonymous", "Identified"
	// maxTitle is a title's length in runes.
	maxTitle = 120
	// fewValues is how many values a claim may have whoever they are shared by.
	fewValues = 10
	// maxShared is how many claims segments are made of: those of most visitors.
	maxShared = 1000
)

// segmentPage is which part of the list is asked for. Its token holds all of it
// but the limit.
type segmentPage struct {
	to    time.Time // the present of the first page
	days  int       // 0: not yet decided
	total int64     // as counted for the first page
	after *segmentKey
	limit int
}

// segmentKey is what the list is ordered by.
type segmentKey struct {
	visitors, events uint64
	id               string // of the claims
}

// VisitorSegments lists what claims a site's visitors of the last days share,
// from the segment with most visitors.
//
// A claim that tells who a visitor is (an id, an e-mail address, a time of
// issue) makes no segments: one is shared if it has few values, or half as many
// as visitors, or fewer. A visitor whose claims changed is in each of the
// segments. All pages are of the days that the first one saw, and count is what
// it counted.
func (s *Service) VisitorSegments(ctx context.Context, who Asker, site string, page schema.PageRequest, now time.Time) (schema.List[Segment], map[string]string, error) {
	start := time.Now()
	part, err := readSegmentPage(site, page, now)
	if err != nil {
		s.metrics.errors[KindSegments][ClassInvalid].Inc()
		return schema.List[Segment]{}, nil, err
	}
	var list schema.List[Segment]
	var headers map[string]string
	work := segmentsWork{service: s}
	err = s.answer(ctx, who, KindSegments, site, func(ctx context.Context, q *question) error {
		headers = s.headers(ctx, site)
		work.question = q
		list, err = work.run(ctx, site, &part)
		return err
	})
	if err != nil {
		return schema.List[Segment]{}, nil, err
	}
	plan := segmentsPlan(site, part)
	headers[HeaderRange] = plan.from.Format(time.RFC3339) + "/" + plan.to.Format(time.RFC3339)
	headers[HeaderResult] = "exact"
	if work.estimated {
		headers[HeaderResult] = "approximate"
	}
	headers[HeaderRowsRead] = strconv.FormatUint(work.rowsRead, 10)
	s.metrics.done(KindSegments, start, work.rowsRead)
	return list, headers, nil
}

// segmentsWork is one call's work.
type segmentsWork struct {
	service   *Service
	question  *question
	rowsRead  uint64
	estimated bool
}

// errSegments is the end of the last try. Nothing in the request could be
// changed to make it lighter, so it is the service's to answer for.
var errSegments = errors.New("the visitors of a single day cannot be counted in time")

// run makes a page of as many days as can be counted: half of the time that is
// left is for each try but the last.
func (w *segmentsWork) run(ctx context.Context, site string, part *segmentPage) (schema.List[Segment], error) {
	tries := segmentDays
	if part.days > 0 {
		tries = []int{part.days}
	}
	w.question.spills = true
	ends := w.question.ends
	var err error
	for i, days := range tries {
		part.days = days
		w.question.ends = ends
		if left := time.Until(ends); i < len(tries)-1 {
			w.question.ends = time.Now().Add(left / 2)
		}
		var list schema.List[Segment]
		if list, err = w.page(ctx, site, part); err == nil {
			return list, nil
		}
		if _, class := engineError(ctx, err); class != ClassTooHeavy {
			return list, err
		}
	}
	return schema.List[Segment]{}, errors.Join(errSegments, err)
}

// page lists and counts the segments of part.
func (w *segmentsWork) page(ctx context.Context, site string, part *segmentPage) (schema.List[Segment], error) {
	p := segmentsPlan(site, *part)
	shared, err := w.shared(ctx, p)
	if err != nil {
		return schema.List[Segment]{}, err
	}
	rows, err := w.segments(ctx, p, shared, *part)
	if err != nil && outOfMemory(err) {
		w.service.metrics.bounded.Inc()
		w.estimated = true
		rows, err = w.segments(ctx, p.bounded(), shared, *part)
	}
	if err != nil {
		return schema.List[Segment]{}, err
	}
	more := len(rows) > part.limit
	if part.after == nil {
		part.total = int64(len(rows))
		if more {
			if err := w.rows(ctx, lowerSegmentCount(p, shared), []any{new(uint64)}, func(row []any) { part.total = int64(*row[0].(*uint64)) }); err != nil {
				return schema.List[Segment]{}, err
			}
		}
	}
	list := schema.List[Segment]{Items: []Segment{}, Count: part.total}
	rows = rows[:min(len(rows), part.limit)]
	for _, r := range rows {
		list.Items = append(list.Items, r.Segment)
	}
	if more && len(rows) > 0 {
		next := *part
		next.after = &rows[len(rows)-1].key
		list.Next = &schema.Next{Page: next.token(site)}
	}
	return list, nil
}

func (w *segmentsWork) rows(ctx context.Context, st sqltree.Statement, targets []any, each func(row []any)) error {
	n, err := w.service.rows(ctx, w.question, st, targets, func() { each(targets) })
	w.rowsRead += n
	return err
}

// shared finds the claims that segments are made of.
func (w *segmentsWork) shared(ctx context.Context, p plan) ([]string, error) {
	paths := []string{}
	err := w.rows(ctx, lowerShared(p), []any{new(string), new(uint64), new(uint64)}, func(row []any) { paths = append(paths, *row[0].(*string)) })
	slices.Sort(paths)
	return paths, err
}

type segmentRow struct {
	Segment
	key segmentKey
}

func (w *segmentsWork) segments(ctx context.Context, p plan, shared []string, part segmentPage) ([]segmentRow, error) {
	var list []segmentRow
	claims, known, notes, id := map[string]string{}, new(uint8), new(string), new(string)
	events, visitors, sessions := new(uint64), new(uint64), new(uint64)
	err := w.rows(ctx, lowerSegments(p, shared, part), []any{&claims, known, notes, events, visitors, sessions, id}, func([]any) {
		list = append(list, segmentRow{
			Segment{
				Title: segmentTitle(claims, *known == 1), Claims: insights.ClaimsObject(claims, *notes),
				Events: *events, Visitors: *visitors, Sessions: *sessions,
			},
			segmentKey{*visitors, *events, *id},
		})
		claims = nil
	})
	return list, err
}

func segmentsPlan(site string, part segmentPage) plan {
	from, to := ceil(daysBefore(part.days)(part.to)), ceil(part.to)
	return bounds(table(plan{site: site, from: from, to: to}))
}

// lowerShared reads the claims that several visitors have a value of in common.
// Sketches count alike whatever the order of the rows, so the answer is stable.
func lowerShared(p plan) sqltree.Statement {
	path, values, visitors := sqltree.Col("path"), sqltree.Col("values_count"), sqltree.Col("visitors_count")
	tree := &sqltree.Select{
		Columns: []sqltree.Aliased{
			{Expr: insights.ClaimNames(), As: "path"},
			{Expr: sqltree.Call("uniqCombined64(14)", insights.ClaimOf(path)), As: "values_count"},
			{Expr: sqltree.Call("uniqCombined64(14)", insights.VisitorHash()), As: "visitors_count"},
		},
		Table: p.table, Where: sqltree.AllOf(append(p.scope(), insights.HasClaims())...), GroupBy: []sqltree.Expr{path}, Limit: maxShared,
		Having: sqltree.AnyOf(sqltree.Bin(sqltree.Le, values, sqltree.Int(fewValues)),
			sqltree.Bin(sqltree.Le, sqltree.Bin(sqltree.Mul, values, sqltree.Int(2)), visitors)),
		OrderBy: []sqltree.Order{{Expr: visitors, Desc: true}, {Expr: path}},
	}
	return tree.Print()
}

// segmentID tells sets of claims apart.
func segmentID(claims, known sqltree.Expr) sqltree.Expr {
	return sqltree.Call("sipHash128", known, sqltree.Call("toString", claims))
}

func lowerSegments(p plan, shared []string, part segmentPage) sqltree.Statement {
	read := func(c *insights.Column) sqltree.Expr {
		return c.Expr(insights.Arguments{}, insights.Env{Zone: insights.UTC, Estimate: p.estimate})
	}
	claims, known := sqltree.Col("claim_set"), sqltree.Col("known")
	visitors, events, id := sqltree.Col("visitors_count"), sqltree.Col("events_count"), sqltree.Col("id")
	tree := &sqltree.Select{
		Columns: []sqltree.Aliased{
			{Expr: insights.ClaimSet(shared), As: "claim_set"},
			{Expr: insights.HasClaims(), As: "known"},
			// Of equal texts of several types any will do, but always the same.
			{Expr: sqltree.Call("max", insights.ClaimNotes()), As: "notes"},
			{Expr: read(insights.EventsCount), As: "events_count"},
			{Expr: read(insights.VisitorsCount), As: "visitors_count"},
			{Expr: read(insights.SessionsCount), As: "sessions_count"},
			{Expr: sqltree.Call("hex", segmentID(claims, known)), As: "id"},
		},
		Table: p.table, Where: sqltree.AllOf(p.scope()...), GroupBy: []sqltree.Expr{claims, known}, Limit: part.limit + 1,
		OrderBy: []sqltree.Order{{Expr: visitors, Desc: true}, {Expr: events, Desc: true}, {Expr: id}},
	}
	if k := part.after; k != nil {
		number := func(n uint64) sqltree.Expr { return sqltree.Param(sqltree.T("UInt64"), n) }
		tree.Having = sqltree.AnyOf(
			sqltree.Bin(sqltree.Lt, visitors, number(k.visitors)),
			sqltree.AllOf(sqltree.Bin(sqltree.Eq, visitors, number(k.visitors)), sqltree.Bin(sqltree.Lt, events, number(k.events))),
			sqltree.AllOf(sqltree.Bin(sqltree.Eq, visitors, number(k.visitors)), sqltree.Bin(sqltree.Eq, events, number(k.events)),
				sqltree.Bin(sqltree.Gt, id, sqltree.Param(sqltree.T("String"), k.id))))
	}
	return tree.Print()
}

// lowerSegmentCount counts the segments of all pages.
func lowerSegmentCount(p plan, shared []string) sqltree.Statement {
	tree := &sqltree.Select{
		Columns: []sqltree.Aliased{{Expr: sqltree.Call("uniqExact", segmentID(insights.ClaimSet(shared), insights.HasClaims())), As: "segments"}},
		Table:   p.table, Where: sqltree.AllOf(p.scope()...), Limit: 1,
	}
	return tree.Print()
}

const segmentList = "visitor-segments/"

func (p segmentPage) token(site string) string {
	return schema.PageToken(segmentList+site, strconv.FormatInt(p.to.UnixMilli(), 10), strconv.Itoa(p.days), strconv.FormatInt(p.total, 10),
		strconv.FormatUint(p.after.visitors, 10), strconv.FormatUint(p.after.events, 10), p.after.id)
}

func readSegmentPage(site string, page schema.PageRequest, now time.Time) (segmentPage, error) {
	part := segmentPage{to: now.UTC(), limit: DefaultSegments}
	if page.Limit != nil {
		part.limit = *page.Limit
	}
	keys, err := schema.PageKeys(segmentList+site, page.Page, 6)
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

// segmentTitle is the claims as people read them: "beta: true, plan: pro".
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
