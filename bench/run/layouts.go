package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/ingest/eventgen"
	"github.com/octavo-docs/octavo/schema/insights"
)

// layout is a candidate for the events table: today's statement with some of its
// text replaced.
type layout struct {
	name    string
	replace []string // old and new texts of the CREATE statement, in turns
	site    string   // how statements read the site that a parameter names, if not as it is
	copied  string   // what rows are copied with: SELECT * and this
}

// Replacements that several layouts share.
var (
	byDay     = []string{"toStartOfHour(time)", "toDate(time)"}
	finer     = []string{"index_granularity = 8192", "index_granularity = 1024"}
	statistic = []string{", auto_statistics_types = ''", ""}
	plain     = []string{"LowCardinality(String)", "String"}
	smallSite = []string{"\n    site LowCardinality(String)", "\n    site UInt32"}
	noVisits  = func() []string {
		_, definition, _ := strings.Cut(insights.CreateStatements(insights.Topology{})[0], ",\n    PROJECTION ")
		definition, _, _ = strings.Cut(definition, "\n)\nENGINE")
		return []string{",\n    PROJECTION " + definition, ""}
	}()
)

// layouts are the candidates, today's first.
var layouts = []layout{
	{name: "today"},
	{name: "no visits", replace: noVisits},
	{name: "plain strings", replace: plain},
	{name: "until 1e7d817", replace: slices.Concat(plain, statistic)},
	{name: "day in the key", replace: byDay},
	{name: "day, plain strings", replace: slices.Concat(byDay, plain)},
	{name: "statistics", replace: statistic},
	{name: "day, granules of 1024", replace: slices.Concat(byDay, finer)},
	{
		name: "day, site as a number", replace: slices.Concat(byDay, smallSite),
		site: "toUInt32(sipHash64($1))", copied: "REPLACE (toUInt32(sipHash64(site)) AS site)",
	},
	{name: "day, no claims (what moving them to visits could gain)", replace: byDay, copied: "REPLACE (CAST(map(), 'Map(String, String)') AS claims)"},
}

// chosenLayouts are today's and those that --compare names, or all.
func (b *bench) chosenLayouts() ([]layout, error) {
	if len(b.compare) == 0 {
		return layouts, nil
	}
	list := layouts[:1:1]
	for _, name := range b.compare {
		i := slices.IndexFunc(layouts, func(l layout) bool { return l.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no layout %q", name)
		}
		if i > 0 {
			list = append(list, layouts[i])
		}
	}
	return list, nil
}

const (
	layoutSites  = 20
	layoutSpan   = 396 * 24 * time.Hour // 13 months
	layoutUnique = 1_000_000            // events that are generated; the rest are copies by other visitors
)

// layoutRows compares the candidates on the same rows: the sink's inserts, space, time
// to copy the rows in and merge them, and a dashboard's questions, candidate after candidate in each
// round.
func (b *bench) layoutRows(ctx context.Context) error {
	layouts, err := b.chosenLayouts()
	if err != nil {
		return err
	}
	conn, err := b.store()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	rows, err := b.layoutBase(ctx, conn)
	if err != nil {
		return err
	}
	if err := b.layoutInserts(ctx, conn, layouts); err != nil {
		return fmt.Errorf("inserts: %w", err)
	}
	filled := make([]filledLayout, len(layouts))
	for i, l := range layouts {
		if filled[i], err = l.fill(ctx, conn, layoutTable(i), rows); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	asked, err := layoutQuestions(ctx, conn)
	if err != nil {
		return err
	}
	times := make([][][]float64, len(layouts)) // by layout, round and question, in milliseconds
	for round := range b.rounds + 1 {
		progress("round %d of %d, %d questions", round, b.rounds, len(asked))
		for i, l := range layouts {
			table := layoutTable(i)
			took := make([]float64, len(asked))
			for j, q := range asked {
				s, err := l.statement(table, q.statement)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", l.name, q.name, err)
				}
				began := time.Now()
				if err := s.run(conn); err != nil {
					return fmt.Errorf("%s: %s: %w", l.name, q.name, err)
				}
				took[j] = millis(time.Since(began))
			}
			if round > 0 { // the first only fills caches
				times[i] = append(times[i], took)
			}
		}
	}
	for i, l := range layouts {
		b.report.add(row{What: "layout " + l.name + ": disk", Unit: "B per event", Ours: spreadOf([]float64{filled[i].perEvent}), Notes: []string{filled[i].text}})
		for _, p := range []float64{0.5, 0.95} {
			var ours, today []float64
			for round := range times[i] {
				ours, today = append(ours, quantile(times[i][round], p)), append(today, quantile(times[0][round], p))
			}
			b.report.compare(fmt.Sprintf("layout %s: p%.0f of %d questions", l.name, p*100, len(asked)), "today's", "ms", paired(ours, today), nil)
		}
		for _, days := range []int{30, 365} {
			var texts []string
			for j, q := range asked {
				if q.site == 1 && q.days == days {
					texts = append(texts, q.name+" "+number(spreadOf(column(times[i], j)).Median))
				}
			}
			b.report.note(fmt.Sprintf("largest site, %d days, ms: %s", days, strings.Join(texts, ", ")))
		}
	}
	return nil
}

func column(rounds [][]float64, i int) []float64 {
	var list []float64
	for _, r := range rounds {
		list = append(list, r[i])
	}
	return list
}

// layoutTable is the table of a candidate; that of the first is layoutBase's.
func layoutTable(i int) string { return fmt.Sprintf("layout_%d", i) }

type filledLayout struct {
	perEvent float64 // bytes on disk
	text     string
}

// create is the statement that creates the candidate's table.
func (l layout) create(table string) (string, error) {
	create := strings.Replace(insights.CreateStatements(insights.Topology{Statistics: true})[0], "EXISTS "+insights.Table, "EXISTS "+table, 1)
	for r := 0; r < len(l.replace); r += 2 {
		if !strings.Contains(create, l.replace[r]) {
			return "", fmt.Errorf("today's statement has no %q", l.replace[r])
		}
		create = strings.ReplaceAll(create, l.replace[r], l.replace[r+1])
	}
	return create, nil
}

// fill creates the candidate's table and copies the rows into it, unless it has
// them, and merges it.
func (l layout) fill(ctx context.Context, conn driver.Conn, table string, rows uint64) (f filledLayout, err error) {
	create, err := l.create(table)
	if err != nil {
		return f, err
	}
	if err := conn.Exec(ctx, create); err != nil {
		return f, err
	}
	progress("copying and merging %d rows: %s", rows, l.name)
	began := time.Now()
	if table != layoutTable(0) {
		if err := conn.Exec(ctx, "INSERT INTO "+table+" SELECT * "+l.copied+" FROM "+layoutTable(0)+" SETTINGS max_insert_threads = 1"); err != nil {
			return f, err
		}
	}
	copied := time.Since(began)
	if err := conn.Exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
		return f, err
	}
	merged := time.Since(began) - copied
	var bytes, stored uint64
	if err := conn.QueryRow(ctx, "SELECT sum(bytes_on_disk), sum(rows) FROM system.parts WHERE active AND database = currentDatabase() AND table = ?", table).
		Scan(&bytes, &stored); err != nil {
		return f, err
	}
	if stored != rows {
		return f, fmt.Errorf("the table has %d rows, not %d", stored, rows)
	}
	f.perEvent = float64(bytes) / float64(rows)
	f.text = fmt.Sprintf("%d rows, merged in %s s", rows, number(merged.Seconds()))
	if table != layoutTable(0) {
		f.text += fmt.Sprintf(", copied from today's at %s rows/s in one thread", number(float64(rows)/copied.Seconds()))
	}
	return f, nil
}

var (
	siteParameter = regexp.MustCompile(`site = (\{p\d+:String\})`)
	presetRange   = regexp.MustCompile(`"range":"\w+"`)
)

// statement is a statement of the query service on the candidate's table.
func (l layout) statement(table string, s *statement) (*statement, error) {
	from := "FROM " + insights.Table + "\n"
	if strings.Count(s.sql, from) != 1 || len(siteParameter.FindAllString(s.sql, -1)) != 1 {
		return nil, fmt.Errorf("the statement does not read one site of one table: %s", s.sql)
	}
	sql := strings.Replace(s.sql, from, "FROM "+table+"\n", 1)
	if l.site != "" {
		sql = siteParameter.ReplaceAllString(sql, "site = "+l.site)
	}
	return &statement{s.ctx, sql, s.args}, nil
}

// layoutQuestion is one question about one site and range.
type layoutQuestion struct {
	name, body string
	site, days int
	*statement
}

// The sites by size, and the days of their questions.
var (
	layoutAsked = []int{1, 5, layoutSites}
	layoutDays  = []int{1, 30, 365}
)

func layoutQuestions(ctx context.Context, conn driver.Conn) ([]layoutQuestion, error) {
	var list []layoutQuestion
	for _, site := range layoutAsked {
		for _, days := range layoutDays {
			now := time.Now().UTC()
			span := fmt.Sprintf(`{"from":%q,"to":%q}`, now.AddDate(0, 0, -days).Format(time.RFC3339), now.Format(time.RFC3339))
			for _, q := range questions {
				body := presetRange.ReplaceAllString(q.body, `"range":`+span)
				s, err := statementOf(ctx, conn, fmt.Sprint("site", site), []byte(body))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", q.name, err)
				}
				list = append(list, layoutQuestion{q.name, body, site, days, s})
			}
		}
	}
	return list, nil
}

// layoutBase makes the table of today's layout: events of 13 months of twenty sites
// by Zipf's law, which arrived when they happened. A part is generated and posted; the
// rest are copies by other visitors, who came up to three days later.
func (b *bench) layoutBase(ctx context.Context, conn driver.Conn) (rows uint64, err error) {
	t, end := b.rig.target, time.Now()
	if t.site, err = b.rig.newSite(ctx); err != nil {
		return 0, err
	}
	sent, err := b.postUnique(ctx, t, min(layoutUnique, b.layoutEvents), end)
	if err != nil {
		return 0, err
	}
	create, err := layouts[0].create(layoutTable(0))
	if err == nil {
		err = conn.Exec(ctx, create)
	}
	if err != nil {
		return 0, err
	}
	names := make([]string, layoutSites)
	for i := range names {
		names[i] = fmt.Sprint("site", i+1)
	}
	copies := max(1, b.layoutEvents/sent)
	progress("making %d copies of them by other visitors", copies)
	for n := range copies {
		// The dedupe tokens of inserts have to differ, and so do the rows.
		err := conn.Exec(ctx, fmt.Sprintf(`INSERT INTO %[1]s SELECT * EXCEPT (other, at) REPLACE (%[2]s AS site, other AS visitor, sipHash64(session, %[3]d) AS session,
			log_offset + %[4]d AS log_offset, at AS time, toDateTime(toStartOfDay(at), 'UTC') AS received)
			FROM (SELECT *, sipHash64(visitor, %[3]d) AS other, fromUnixTimestamp64Milli(%[5]d + (toUnixTimestamp64Milli(time) - %[5]d + other %% 259200000) %% %[6]d, 'UTC') AS at
				FROM %[7]s WHERE site = {site:String})`,
			layoutTable(0), siteByZipf(names), n, n*layoutUnique, end.Add(-layoutSpan).UnixMilli(), layoutSpan.Milliseconds(), insights.Table),
			driver.NamedValue{Name: "site", Value: t.site})
		if err != nil {
			return 0, err
		}
	}
	if err := conn.QueryRow(ctx, "SELECT count() FROM "+layoutTable(0)).Scan(&rows); err != nil {
		return 0, err
	}
	if rows != uint64(copies*sent) {
		return rows, errors.New("copies were taken for repeats")
	}
	return rows, nil
}

// postUnique posts generated events of 13 months to a site, at least count of them, and
// waits until they are stored.
func (b *bench) postUnique(ctx context.Context, t target, count int, end time.Time) (sent int, err error) {
	progress("posting %d events", count)
	generator := eventgen.New(eventgen.Options{Seed: 1, Events: count, Visitors: max(1, count*136/1000), End: end, Span: layoutSpan})
	const perRequest = 500
	for ; sent < count; sent += perRequest {
		if err := b.rig.Call(ctx, http.MethodPost, t.insights()+"/events", generator.AppendBatch(nil, perRequest), http.StatusNoContent, nil); err != nil {
			return sent, err
		}
	}
	return sent, b.rig.awaitEvents(ctx, t, sent, stallLimit)
}

// siteByZipf is an expression that gives each visitor, the column other, one of the
// sites: most of them the first.
func siteByZipf(sites []string) string {
	all, sum, list := 0.0, 0.0, "multiIf("
	for n := range sites {
		all += 1 / float64(n+1)
	}
	for n, site := range sites[:len(sites)-1] {
		sum += 1 / float64(n+1)
		list += fmt.Sprintf("intDiv(other, 4096) %% 1000000 < %d, '%s', ", uint64(sum/all*1e6), site)
	}
	return list + "'" + sites[len(sites)-1] + "')"
}
