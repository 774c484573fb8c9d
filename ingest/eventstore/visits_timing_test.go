package eventstore

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// source is a statement that creates a table in memory with one day's events of a site. It has 260,000 sessions for
// each million events. A session lasts up to 20 minutes.
const source = `CREATE TABLE source ENGINE = Memory AS
	SELECT number, intDiv(number * 4, 15) + sipHash64(number) %% 64 AS s,
	toDateTime64('2026-03-14 12:00:00', 3, 'UTC') + toIntervalMillisecond(number * 80 + sipHash64(number, 4) %% 1200000)
		AS time,
	['page_view', 'page_view', 'page_view', 'page_leave', 'link_click'][1 + sipHash64(number, 5) %% 5] AS type,
	'https://docs.example.com/page-' || toString(sipHash64(number, 3) %% 3000) AS url,
	sipHash64(sipHash64(s, 2) %% 40000, 7) AS visitor, sipHash64(s, 8) AS session,
	substring('DEFRUSGBJPBRINCAITESPLNLSECHATBEDKFINOCZ', 1 + 2 * (visitor %% 20), 2) AS country,
	['chrome', 'safari', 'firefox', 'edge'][1 + visitor %% 4] AS browser,
	if(session %% 2 = 0, '', 'https://google.com/' || toString(session %% 300)) AS referrer
	FROM numbers(%d)`

// fromSource inserts a range of the rows in the table `source` into the events table, as events of a log partition.
const fromSource = `INSERT INTO events (site, time, type, url, visitor, session, country, browser, referrer,
	log_partition, log_offset, log_index)
	SELECT 'site', time, type, url, visitor, session, country, browser, referrer, %d, intDiv(number, 100), number %% 100
	FROM source WHERE number >= %d AND number < %d`

// BenchmarkVisitsInsert measures what quads save in the projection of visits. The same events are inserted alternately
// into a table with quads and a table with a column for each counter. Then the engine merges each table. For each
// table, the benchmark reports ClickHouse's processor time and the bytes on disk per event.
func BenchmarkVisitsInsert(b *testing.B) {
	older, err := os.ReadFile("testdata/visits_f3b29400.sql")
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{500, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			engine := startEngine(b, "")
			b.Cleanup(func() { _ = engine.Stop() })
			b.Setenv(enginetest.EnvClickHouse, engine.ClickHouseURL)
			var conns [2]driver.Conn
			for i := range conns {
				_, conns[i] = newTestStore(b)
				execute(b, conns[i], "SYSTEM STOP MERGES events")
				execute(b, conns[i], fmt.Sprintf(source, 1_000_000))
			}
			execute(b, conns[0], "ALTER TABLE events DROP PROJECTION "+insights.VisitsProjection())
			execute(b, conns[0], string(older))
			cpu := func(do func()) time.Duration {
				before := processorTime(b, engine.PIDs["clickhouse"])
				do()
				return processorTime(b, engine.PIDs["clickhouse"]) - before
			}
			perRound := 40 * min(size, 2500)
			var inserts, merges [2][]float64
			rounds := 0
			for b.Loop() {
				first := rounds % 10 * 100_000
				for turn := range 2 {
					at := (turn + rounds) % 2
					took := cpu(func() {
						for from := first; from < first+perRound; from += size {
							execute(b, conns[at], fmt.Sprintf(fromSource, rounds, from, from+size))
						}
					})
					inserts[at] = append(inserts[at], float64(took.Nanoseconds())/float64(perRound)/1e3)
				}
				rounds++
			}
			for turn := range 2 {
				execute(b, conns[turn], "SYSTEM START MERGES events")
				took := cpu(func() { execute(b, conns[turn], "OPTIMIZE TABLE events FINAL") })
				merges[turn] = append(merges[turn], float64(took.Nanoseconds())/float64(rounds*perRound)/1e3)
			}
			for at, name := range []string{"apart", "quads"} {
				slices.Sort(inserts[at])
				var bytes, ofVisits uint64
				row := conns[at].QueryRow(b.Context(), `SELECT sum(bytes_on_disk), (SELECT sum(bytes_on_disk)
					FROM system.projection_parts WHERE database = currentDatabase() AND active) FROM system.parts
					WHERE database = currentDatabase() AND table = 'events' AND active`)
				if err := row.Scan(&bytes, &ofVisits); err != nil {
					b.Fatal(err)
				}
				b.Logf("%s: insert µs/event %.2f, merge %.2f, bytes/event %.2f, of them visits %.2f", name,
					inserts[at], merges[at], float64(bytes)/float64(rounds*perRound),
					float64(ofVisits)/float64(rounds*perRound))
				b.ReportMetric(inserts[at][len(inserts[at])/2], name+"-µs/event")
			}
		})
	}
}

func execute(t testing.TB, conn driver.Conn, statement string) {
	t.Helper()
	// Without a deadline, the driver waits only five minutes for an answer.
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%v: %s", err, statement)
	}
}

// processorTime returns the processor time of a process, in steps of ten milliseconds.
func processorTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
