package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/schema/insights"
)

// hotPart measures queries about one busy site. All its events are of the last day.
const hotPart = "hot"

// hotVisitors, hotSessions and hotPages are the numbers of visitors, sessions and pages of a hot site with a million
// events.
const (
	hotVisitors = 40_000
	hotSessions = 260_000
	hotPages    = 3_000
)

// hotDimensions has the dimensions by which a dashboard shows sessions. `wide` marks dimensions that depend on a
// session's pages. Queries by these dimensions have a different goal.
var hotDimensions = []struct {
	name, column string
	wide         bool
}{
	{"nothing", "", false},
	{"hour", `{"column":"datetime","interval":"hour"}`, false},
	{"day", `{"column":"datetime","interval":"day"}`, false},
	{"country", `{"column":"visitorGeoCountry"}`, false},
	{"device", `{"column":"visitorDevice"}`, false},
	{"browser", `{"column":"visitorBrowser"}`, false},
	{"system", `{"column":"visitorOS"}`, false},
	{"language", `{"column":"visitorLanguage"}`, false},
	{"channel", `{"column":"channel"}`, false},
	{"referrer's domain", `{"column":"referrerDomain"}`, false},
	{"referrer", `{"column":"referrer"}`, false},
	{"campaign", `{"column":"utmCampaign"}`, false},
	{"page", `{"column":"page"}`, false},
	{"url", `{"column":"url"}`, false},
	{"entry page", `{"column":"entryPage"}`, true},
	{"exit page", `{"column":"exitPage"}`, true},
}

// hotMetrics are the metrics of sessions. For each metric and dimension, a query is compared with a query for
// hotCeiling by the same dimension.
var hotMetrics = []string{"sessionsCount", "bounceRate", "pagesPerSession", "sessionDuration"}

const hotCeiling = "visitorsCount"

// hotDays are the ranges of the queries. Each range ends at the time of the query.
var hotDays = []struct {
	name, preset string
}{{"24 hours", "last24Hours"}, {"7 days", "last7Days"}, {"30 days", "last30Days"}}

// goalSessions and goalSessionPages are goals for the ratio of a query for a metric to the query for hotCeiling.
// goalSessionPages is for wide dimensions.
var goalSessions, goalSessionPages = budget{AtMost: 2}, budget{AtMost: 3}

// hot fills a site with the events of a busy day, and reports each metric of sessions as a ratio to the number of
// visitors by the same dimension. The two queries alternate.
func (b *bench) hot(ctx context.Context, d *queryData) error {
	s := &querySize{queryData: d, events: b.query.hot, database: fmt.Sprintf("hot_%d", b.query.hot)}
	if err := b.rig.stopNode(); err != nil {
		return err
	}
	began := time.Now()
	if err := b.makeHot(ctx, s); err != nil {
		return fmt.Errorf("cannot make the hot site's events: %w", err)
	}
	defer func() { _ = s.conn.Close() }()
	b.report.add(row{
		What: number(float64(s.events)) + " events of a day: made", Unit: "s",
		Ours: spreadOf([]float64{time.Since(began).Seconds()}),
		Notes: []string{fmt.Sprintf("%s visitors, %s sessions, %d pages", number(perMillion(s.events, hotVisitors)),
			number(perMillion(s.events, hotSessions)), hotPages)},
	})
	b.rig.database = s.database
	if err := b.rig.restart(ctx, allRoles); err != nil {
		return err
	}
	if b.query.wants(hotPart) {
		for _, days := range hotDays {
			if err := b.hotRange(ctx, s, days.name, days.preset); err != nil {
				return fmt.Errorf("%s: %w", days.name, err)
			}
		}
	}
	if !b.query.wants(boardsPart) {
		return nil
	}
	// Dashboards read cached answers, so the node gets its default cache.
	b.rig.cached = true
	defer func() { b.rig.cached = false }()
	if err := b.rig.restart(ctx, allRoles); err != nil {
		return err
	}
	return b.hotBoards(ctx, s)
}

func perMillion(events, number int) float64 { return float64(events) / 1e6 * float64(number) }

// makeHot creates a new table in each run, because all its events must be of the last day.
func (b *bench) makeHot(ctx context.Context, s *querySize) error {
	conn, err := b.store()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + s.database, "CREATE DATABASE " + s.database} {
		if err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if s.conn, err = b.storeIn(s.database); err != nil {
		return err
	}
	for _, statement := range insights.CreateStatements(insights.Topology{Statistics: true}) {
		if err := s.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	end := time.Now().UTC()
	parts := max(1, s.events/insertedRows)
	each := s.events / parts
	for part := range parts {
		if err := s.conn.Exec(ctx, hotInsert(s, end, part, parts, each)); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

// hotInsert returns the statement that inserts the sessions that begin in one of the equal parts of the day. A session
// has events for up to 20 minutes. All dimensions except the page are the same for all events of a session.
func hotInsert(s *querySize, end time.Time, part, parts, each int) string {
	sessions := max(1, int(perMillion(s.events, hotSessions))/parts)
	visitors := max(1, int(perMillion(s.events, hotVisitors)))
	word := func(seed int, words ...string) string {
		return fmt.Sprintf("['%s'][1 + sipHash64(v, %d) %% %d]", strings.Join(words, "','"), seed, len(words))
	}
	return fmt.Sprintf(`INSERT INTO %[1]s (site, time, received, log_partition, log_offset, log_index, type, url,
			visitor, session, space, page, country, device, browser, os, language, referrer, referrer_domain,
			utm_source, utm_campaign)
		WITH %[2]d + sipHash64(number, 1) %% %[3]d AS s, sipHash64(s, 2) %% %[4]d AS v,
			floor(%[5]d * pow((sipHash64(number, 3) %% 1000003) / 1000003, 2)) AS p,
			['page_view', 'page_view', 'page_view', 'page_leave', 'link_click'][1 + sipHash64(number, 5) %% 5] AS kind,
			sipHash64(s, 16) AS source
		SELECT '%[6]s', fromUnixTimestamp64Milli(%[7]d + least(toInt64(intDiv(s * 86400000, %[8]d)
				+ sipHash64(number, 4) %% 1200000), 86399000), 'UTC'),
			toDateTime(%[9]d, 'UTC'), %[10]d + number %% 2, intDiv(number, 100), number %% 100, kind,
			'https://docs.example.com/page-' || toString(p), sipHash64(v, 7), sipHash64(s, 8),
			'space_' || toString(p %% 12), 'page_' || toString(p),
			substring('DEFRUSGBJPBRINCAITESPLNLSECHATBEDKFINOCZ', 1 + 2 * (sipHash64(v, 9) %% 20), 2),
			%[11]s, %[12]s, %[13]s, %[14]s,
			if(source %% 2 = 0, '', 'https://google.com/' || toString(source %% 300)),
			if(source %% 2 = 0, '', 'google.com'),
			if(source %% 5 = 0, 'newsletter', ''), if(source %% 5 = 0, 'week-' || toString(source %% 50), '')
		FROM numbers(%[15]d, %[16]d) SETTINGS insert_deduplicate = 0`,
		insights.Table, part*sessions, sessions, visitors, hotPages,
		s.Sites[0], end.Add(-day).UnixMilli(), parts*sessions, end.Unix(), copiedPartition,
		word(10, "desktop", "mobile", "tablet"), word(11, "chrome", "safari", "firefox", "edge"),
		word(12, "windows", "macos", "linux", "android", "ios"), word(13, "en", "de", "fr", "es", "ja", "pt"),
		part*each, each)
}

// hotTook has the cost of an answer: response time and processor time. `refused` is true if the query exceeded the
// limit of time or memory.
type hotTook struct {
	millis, cpu float64
	refused     bool
}

// hotRange adds a row for each metric of sessions over a range. The ratios compare processor time of the engine,
// because other programs on the machine do not change it.
func (b *bench) hotRange(ctx context.Context, s *querySize, name, preset string) error {
	conn, err := loadgen.Dial(b.rig.Address, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	engine := machine.Process(b.rig.engines.PIDs["clickhouse"])
	ask := func(metric, column string) (hotTook, error) {
		body := hotQuestion(preset, metric, column)
		path := target{org: s.Org, site: s.Sites[0]}.insights() + "/events/aggregate"
		request := loadgen.Request(http.MethodPost, b.rig.Address, path, b.rig.Token, body, uncached)
		began, before := time.Now(), engine.CPU()
		status, answer, err := conn.Exchange(request)
		took := hotTook{millis(time.Since(began)), (engine.CPU() - before) * 1000, status != http.StatusOK}
		if err == nil && took.refused && status != http.StatusBadRequest {
			err = fmt.Errorf("status %d: %.500s", status, answer)
		}
		if err != nil {
			return hotTook{}, fmt.Errorf("%s: %w", body, err)
		}
		return took, ctx.Err()
	}
	metrics := append(slices.Clone(hotMetrics), hotCeiling)
	all := make([][][]hotTook, len(hotDimensions)) // costs, by dimension, round and metric
	for round := range b.rounds + 1 {
		progress("%s, round %d of %d", name, round, b.rounds)
		for i, dimension := range hotDimensions {
			took := make([]hotTook, len(metrics))
			for j := range metrics {
				at := (j + round) % len(metrics)
				if took[at], err = ask(metrics[at], dimension.column); err != nil {
					return err
				}
			}
			if round > 0 { // the first round only fills the kernel's file cache
				all[i] = append(all[i], took)
			}
		}
	}
	for j, metric := range hotMetrics {
		b.hotRow(fmt.Sprintf("%s events of a day, %s: %s", number(float64(s.events)), name, metric), all, j, false)
		b.hotRow(fmt.Sprintf("%s events of a day, %s: %s by entry or exit page",
			number(float64(s.events)), name, metric), all, j, true)
	}
	return nil
}

// hotRow adds the row of a metric. The row has the ratio of each dimension, and the largest ratio.
func (b *bench) hotRow(what string, all [][][]hotTook, metric int, wide bool) {
	goal := goalSessions
	if wide {
		goal = goalSessionPages
	}
	median := func(rounds [][]hotTook, metric int, of func(hotTook) float64) float64 {
		var list []float64
		for _, round := range rounds {
			list = append(list, of(round[metric]))
		}
		return spreadOf(list).Median
	}
	cpu, clock := func(t hotTook) float64 { return t.cpu }, func(t hotTook) float64 { return t.millis }
	type one struct {
		ratio      float64
		text       string
		ours, most float64
	}
	var list []one
	for i, dimension := range hotDimensions {
		if dimension.wide != wide {
			continue
		}
		ours, visitors := median(all[i], metric, cpu), median(all[i], len(hotMetrics), cpu)
		ratio := ours / max(visitors, 10) // the kernel counts processor time in steps of 10 ms
		text := fmt.Sprintf("%s %s (%s / %s ms; on the clock %s / %s ms)", dimension.name,
			number(ratio), number(ours), number(visitors), number(median(all[i], metric, clock)),
			number(median(all[i], len(hotMetrics), clock)))
		for _, round := range all[i] {
			if round[metric].refused || round[len(hotMetrics)].refused {
				text += " **refused**"
			}
		}
		list = append(list, one{ratio, text, ours, visitors})
	}
	slices.SortFunc(list, func(a, b one) int { return cmp.Compare(b.ratio, a.ratio) })
	var ours, visitors, ratios []float64
	var texts []string
	for _, x := range list {
		ours, visitors = append(ours, x.ours), append(visitors, x.most)
		ratios, texts = append(ratios, x.ratio), append(texts, x.text)
	}
	c := compared{spreadOf(ours), spreadOf(visitors), spreadOf(ratios)}
	judged := c.ratio
	judged.Median = judged.Max // every dimension must reach the goal, so the largest ratio is judged
	c.ratio = judged
	b.report.compare(what+", worst dimension", hotCeiling+" by the same dimension, processor time of the engine",
		"ms", c, &goal, "ratio by dimension: "+strings.Join(texts, ", "))
}
