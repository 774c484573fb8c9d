package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/bench/loadgen"
)

// queryPart is the name of the part that measures queries. This part runs without other parts, on a data folder that a
// later run can use again.
const queryPart = "query"

type queryOptions struct {
	events  []int // numbers of events in the tables, in ascending order
	hot     int   // number of events of the hot site
	clients int
	only    []string // names of parts that are measured; empty means all parts
}

func (c *benchCmd) queryOptions() queryOptions {
	events := slices.Sorted(slices.Values(c.Events))
	if len(events) == 0 {
		events = []int{1_000_000, 10_000_000, 100_000_000}
	}
	return queryOptions{events: events, hot: c.Hot, clients: c.Clients, only: c.Only}
}

func (o queryOptions) wants(part string) bool {
	return len(o.only) == 0 || slices.Contains(o.only, part)
}

// wantsOnly reports whether only this part is measured.
func (o queryOptions) wantsOnly(part string) bool { return len(o.only) == 1 && o.wants(part) }

// goalAll and goalLong are goals in milliseconds for the 95th percentile of the response times, with one client.
// goalAll is for all queries, and goalLong is for queries about 12 months of the largest site.
var goalAll, goalLong = budget{AtMost: 150}, budget{AtMost: 250}

// judged reports whether the goals apply to the table. They apply only to large tables.
func (s *querySize) judged() bool { return s.events >= 100_000_000 }

// goal returns the goal g, or nil if the goals do not apply to the table.
func (s *querySize) goal(g budget) *budget {
	if !s.judged() {
		return nil
	}
	return &g
}

// queryRows runs a dashboard's queries on tables of several sizes. For each size, it compares two times: the time of
// queries with warm caches, and the time of SQL statements that read only events, for the same queries. For the
// largest table, it adds further rows to the report. The hot site is measured first, and has a separate table.
func (b *bench) queryRows(ctx context.Context) error {
	d, err := b.openData(ctx)
	if err != nil {
		return err
	}
	if b.query.wants(hotPart) || b.query.wants(boardsPart) {
		if err := b.hot(ctx, d); err != nil || b.query.wantsOnly(hotPart) || b.query.wantsOnly(boardsPart) {
			return err
		}
	}
	for i, events := range b.query.events {
		largest := i == len(b.query.events)-1
		s, err := b.openSize(ctx, d, events)
		if err != nil {
			return err
		}
		err = func() error {
			defer func() { _ = s.conn.Close() }()
			if b.query.wantsOnly("build") || !largest && !b.query.wants("warm") {
				return nil
			}
			return b.askSize(ctx, s, largest)
		}()
		if err != nil {
			return fmt.Errorf("%d events: %w", events, err)
		}
	}
	return nil
}

func (b *bench) askSize(ctx context.Context, s *querySize, largest bool) error {
	panels, err := b.panels(ctx, s)
	if err != nil {
		return err
	}
	if s.judged() {
		if err := s.old(ctx); err != nil {
			return err
		}
	}
	if !b.query.wants("warm") {
		if err := b.fillCaches(panels); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name string
		of   bool
		run  func(context.Context, *querySize, []panel) error
	}{
		{"warm", true, b.warm},
		{"overhead", largest, b.overhead},
		{"clients", largest, b.crowded},
		{"intake", largest, b.besideIntake},
		{"cold", largest, b.cold}, // must be last, because it restarts the engines
	} {
		if !part.of || !b.query.wants(part.name) {
			continue
		}
		progress("%d events: %s, %d questions", s.events, part.name, len(panels))
		began := time.Now()
		if err := part.run(ctx, s, panels); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		b.report.note(fmt.Sprintf("%s took %s", part.name, time.Since(began).Round(time.Second)))
	}
	return nil
}

// askedSites has the ranks of the sites that are queried; 1 is the largest site. askedDays has the ranges of the
// queries in days.
var (
	askedSites = []int{1, 5, dataSites}
	askedDays  = []int{1, 30, 365}
)

// asked has the response times of panels in milliseconds, by round.
type asked struct {
	panels []panel
	rounds [][]float64
}

// of returns, for each round, a quantile of the response times of the panels for which `which` returns true.
func (a asked) of(q float64, which func(panel) bool) (list []float64) {
	for _, round := range a.rounds {
		var some []float64
		for i, p := range a.panels {
			if which(p) {
				some = append(some, round[i])
			}
		}
		list = append(list, quantile(some, q))
	}
	return list
}

// inGoals and longOfLargest select the panels of a row.
func inGoals(p panel) bool { return !p.apart() }

func longOfLargest(p panel) bool {
	return inGoals(p) && p.site == askedSites[0] && p.days == askedDays[len(askedDays)-1]
}

// group is a group of panels, for example the panels of one site and one range.
type group struct {
	what  string
	panel func(panel) bool
}

// groups returns the groups that have at least one queried panel.
func (a asked) groups() (list []group) {
	sites := map[int]string{askedSites[0]: "largest site", askedSites[1]: "middle site", askedSites[2]: "small site"}
	ranges := map[int]string{1: "24 hours", 30: "30 days", 365: "12 months"}
	for _, site := range askedSites {
		for _, days := range askedDays {
			list = append(list, group{sites[site] + ", " + ranges[days], func(p panel) bool { return inGoals(p) && p.site == site && p.days == days }})
		}
		list = append(list, group{sites[site] + ", 12 months, filters on what visits do not have", func(p panel) bool { return p.apart() && p.site == site }})
	}
	list = append(list, group{"all of it", inGoals})
	return slices.DeleteFunc(list, func(g group) bool { return !slices.ContainsFunc(a.panels, g.panel) })
}

// unmeasured is the number of rounds that only fill caches. It is 2, because the node caches aggregate states when a
// query is sent for the second time.
const unmeasured = 2

// fillCaches sends the queries of all panels, `unmeasured` times.
func (b *bench) fillCaches(panels []panel) error {
	conn, err := loadgen.Dial(b.rig.Address, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	for range unmeasured {
		for _, p := range panels {
			if _, err := p.ask(conn); err != nil {
				return err
			}
		}
	}
	return nil
}

// warm compares two times for each panel, with one client: the time of its query, and the time of the SQL statements
// that read only events.
func (b *bench) warm(ctx context.Context, s *querySize, panels []panel) error {
	conn, err := loadgen.Dial(b.rig.Address, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	ours, raw := asked{panels: panels}, asked{panels: panels}
	var first []asked
	for round := range b.rounds + unmeasured {
		progress("round %d of %d", round+1, b.rounds+unmeasured)
		took, alone := make([]float64, len(panels)), make([]float64, len(panels))
		for i, p := range panels {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for _, side := range []int{round % 2, 1 - round%2} {
				if side == 0 {
					took[i], err = p.ask(conn)
				} else {
					alone[i], err = runAll(p.raw, s.conn)
				}
				if err != nil {
					return err
				}
			}
		}
		if round < unmeasured {
			first = append(first, asked{panels: panels, rounds: [][]float64{took}})
		} else {
			ours.rounds, raw.rounds = append(ours.rounds, took), append(raw.rounds, alone)
		}
	}
	name := number(float64(s.events)) + " events, warm: "
	for i, a := range first {
		b.report.add(row{What: fmt.Sprintf("%s12 months of the largest site, asked for time %d, p95", name, i+1), Unit: "ms", Ours: spreadOf(a.of(0.95, longOfLargest))})
	}
	for _, g := range ours.groups() {
		for _, q := range []float64{0.5, 0.95} {
			x, y := ours.of(q, g.panel), raw.of(q, g.panel)
			b.report.compare(fmt.Sprintf("%s%s: p%.0f", name, g.what, q*100), "raw SQL", "ms", paired(x, y), nil)
		}
	}
	b.goals(s, name, ours, raw)
	return nil
}

// goals adds the rows with goals to the report.
func (b *bench) goals(s *querySize, name string, ours, raw asked) {
	b.report.add(row{What: name + "one client, all of it, p95", Unit: "ms", Ours: spreadOf(ours.of(0.95, inGoals)), Budget: s.goal(goalAll)})
	b.report.add(row{What: name + "12 months of the largest site, p95", Unit: "ms", Ours: spreadOf(ours.of(0.95, longOfLargest)), Budget: s.goal(goalLong)})
	segments := func(p panel) bool { return p.path != "" && p.site == askedSites[0] }
	if slices.ContainsFunc(ours.panels, segments) {
		b.report.add(row{What: name + "visitor segments of the largest site, 30 days", Unit: "ms", Ours: spreadOf(ours.of(0.95, segments)), Budget: s.goal(budget{AtMost: 500})})
	}
	var faster []float64
	var texts []string
	for i, p := range ours.panels {
		x, y := spreadOf(column(ours.rounds, i)).Median, spreadOf(column(raw.rounds, i)).Median
		if p.site != askedSites[0] || p.days != askedDays[len(askedDays)-1] {
			continue
		}
		if inGoals(p) {
			faster = append(faster, y/x)
		}
		texts = append(texts, fmt.Sprintf("%s %s / %s (%s)", p.name, number(x), number(y), p.source))
	}
	b.report.add(row{
		What: name + "12 months of the largest site, times faster than raw SQL", Unit: "×", Ours: spreadOf(faster), Budget: s.goal(budget{AtLeast: 10}),
		Notes: []string{fmt.Sprintf("median, lowest and highest of %d questions", len(faster)), "ms / raw ms (source when first asked): " + strings.Join(texts, ", ")},
	})
}

func column(rounds [][]float64, i int) []float64 {
	var list []float64
	for _, r := range rounds {
		list = append(list, r[i])
	}
	return list
}

// overhead measures the node's own work for small answers: the response time of a query, compared with the time of the
// statements that the node sends for it.
func (b *bench) overhead(ctx context.Context, s *querySize, panels []panel) error {
	conn, err := loadgen.Dial(b.rig.Address, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	var more, ours, bare []float64
	var texts []string
	for _, p := range panels {
		if p.site != askedSites[len(askedSites)-1] || p.days != askedDays[0] {
			continue
		}
		c, err := b.alternate(b.asks, func() error {
			_, err := p.ask(conn)
			return cmp.Or(err, ctx.Err())
		}, func() error {
			_, err := runAll(p.bare, s.conn)
			return err
		})
		if err != nil {
			return err
		}
		more, ours, bare = append(more, c.ours.Median-c.ceiling.Median), append(ours, c.ours.Median), append(bare, c.ceiling.Median)
		texts = append(texts, fmt.Sprintf("%s %s / %s", p.name, number(c.ours.Median), number(c.ceiling.Median)))
	}
	b.report.add(row{
		What: number(float64(s.events)) + " events, warm: small answers, p50 over the bare statement's", Unit: "ms", Ours: spreadOf(more), Budget: s.goal(budget{AtMost: 1}),
		Notes: []string{
			fmt.Sprintf("24 hours of the small site; median, lowest and highest of %d questions; p50 over all of them %s ms, bare %s ms", len(more), number(spreadOf(ours).Median), number(spreadOf(bare).Median)),
			"p50 ms / bare ms: " + strings.Join(texts, ", "),
		},
	})
	return nil
}
