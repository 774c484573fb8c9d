package query

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Segment is the visitors of a site who have the same claims.
type Segment struct {
	Title    string         `json:"title"`
	Claims   map[string]any `json:"claims"`
	Events   uint64         `json:"events"`
	Visitors uint64         `json:"visitors"`
	Sessions uint64         `json:"sessions"`
}

const (
	// segmentDays is how far back segments are looked for.
	segmentDays = 30
	// maxSegments is how many are listed: the largest ones.
	maxSegments = 100
	// anonymous is the title of the visitors without claims.
	anonymous = "Anonymous"
	// maxTitle is a title's length in runes.
	maxTitle = 120
)

// VisitorSegments lists the sets of claims that a site's visitors had in the
// 30 days before now, from the one with most visitors. A visitor whose claims
// changed is counted in each of the sets.
func (s *Service) VisitorSegments(ctx context.Context, who Asker, site string, now time.Time) (schema.List[Segment], error) {
	start := time.Now()
	var list []Segment
	var rowsRead uint64
	err := s.answer(ctx, who, KindSegments, site, func(ctx context.Context, q *question) (err error) {
		list, rowsRead, err = s.segments(ctx, q, segmentsPlan(site, now))
		if err != nil && outOfMemory(err) {
			s.metrics.bounded.Inc()
			list, rowsRead, err = s.segments(ctx, q, segmentsPlan(site, now).bounded())
		}
		return err
	})
	if err != nil {
		return schema.List[Segment]{}, err
	}
	s.metrics.done(KindSegments, start, rowsRead)
	return schema.List[Segment]{Items: list, Count: int64(len(list))}, nil
}

func segmentsPlan(site string, now time.Time) plan {
	from, to := ceil(daysBefore(segmentDays)(now.UTC())), ceil(now.UTC())
	return bounds(table(plan{site: site, from: from, to: to, limit: maxSegments}))
}

func (s *Service) segments(ctx context.Context, q *question, p plan) ([]Segment, uint64, error) {
	claims := map[string]string{}
	events, visitors, sessions := new(uint64), new(uint64), new(uint64)
	list := []Segment{}
	rowsRead, err := s.rows(ctx, q, lowerSegments(p), []any{&claims, events, visitors, sessions}, func() {
		list = append(list, Segment{
			Title: segmentTitle(claims), Claims: nest(claims), Events: *events, Visitors: *visitors, Sessions: *sessions,
		})
		claims = nil
	})
	return list, rowsRead, err
}

func lowerSegments(p plan) sqltree.Statement {
	a := insights.Arguments{Estimate: p.estimate}
	claims := sqltree.Col("claim_set")
	tree := &sqltree.Select{
		Columns: []sqltree.Aliased{
			{Expr: insights.ClaimSet(), As: "claim_set"},
			{Expr: insights.Events(a), As: "events_count"},
			{Expr: insights.Visitors(a), As: "visitors_count"},
			{Expr: insights.Sessions(a), As: "sessions_count"},
		},
		Table: p.table, Where: sqltree.AllOf(p.scope()...), GroupBy: []sqltree.Expr{claims}, Limit: p.limit,
		OrderBy: []sqltree.Order{
			{Expr: sqltree.Col("visitors_count"), Desc: true},
			{Expr: sqltree.Col("events_count"), Desc: true},
			// Maps have no order, their parts have.
			{Expr: sqltree.Call("mapKeys", claims)}, {Expr: sqltree.Call("mapValues", claims)},
		},
	}
	return tree.Print()
}

// segmentTitle is the claims as people read them: "beta: true, plan: pro".
func segmentTitle(claims map[string]string) string {
	if len(claims) == 0 {
		return anonymous
	}
	var b strings.Builder
	for i, name := range sortedNames(claims) {
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

// nest rebuilds an object from claims that were flattened to dotted paths. A
// name below another claim's value stays dotted: {"a": "1", "a.b": "2"} has no
// other form.
func nest(claims map[string]string) map[string]any {
	root := map[string]any{}
	for _, name := range sortedNames(claims) {
		object, rest := root, name
		for {
			head, tail, dotted := strings.Cut(rest, ".")
			if !dotted || head == "" || tail == "" {
				break
			}
			child, exists := object[head]
			if !exists {
				child = map[string]any{}
				object[head] = child
			}
			below, isObject := child.(map[string]any)
			if !isObject {
				break
			}
			object, rest = below, tail
		}
		object[rest] = claims[name]
	}
	return root
}

func sortedNames(claims map[string]string) []string {
	names := make([]string, 0, len(claims))
	for name := range claims {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
