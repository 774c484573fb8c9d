package query

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// dashboard returns the queries of an overview: totals with a comparison, a graph, and lists.
func dashboard() map[string]string {
	questions := map[string]string{
		"totals": `"select":[{"column":"peopleCount"},{"column":"eventsCount"},{"column":"sessionsCount"}],"compare":"previousPeriod"`,
		"graph":  `"groupBy":[{"column":"datetime","interval":"day"}],"select":[{"column":"datetime"},{"column":"visitorsCount"},{"column":"eventsCount"}],"fill":true`,
	}
	for _, column := range []string{
		"page", "referrerDomain", "visitorGeoCountry", "visitorDevice", "visitorBrowser", "visitorOS", "visitorLanguage",
		"visitorBot", "utmSource", "eventType",
	} {
		questions[column] = fmt.Sprintf(`"groupBy":[{"column":%[1]q}],"limit":10,`+
			`"select":[{"column":%[1]q},{"column":"visitorsCount"},{"column":"eventsCount"}]`, column)
	}
	return questions
}

// BenchmarkBatch compares a batch of a dashboard's twelve queries with twelve single queries. It reports the engine's
// processor time, and the time until all answers have arrived.
func BenchmarkBatch(b *testing.B) {
	conn := store(b)
	fill(b, conn, testSite, 1_000_000)
	service := newService(conn)
	var members []string
	for name, body := range dashboard() {
		members = append(members, fmt.Sprintf(`%q:{"range":"last30Days",%s}`, name, body))
	}
	batch := []byte(`{"queries":{` + strings.Join(members, ",") + `}}`)
	var took, alone time.Duration
	var cpu, cpuAlone float64
	for b.Loop() {
		cpu += engineTime(b, conn, func() {
			begin := time.Now()
			if _, _, err := service.Batch(context.Background(), Caller{}, testSite, batch, testNow); err != nil {
				b.Fatal(err)
			}
			took += time.Since(begin)
		})
		cpuAlone += engineTime(b, conn, func() {
			begin := time.Now()
			for _, body := range dashboard() {
				if _, _, err := service.Aggregate(
					context.Background(), Caller{}, testSite, []byte(`{"range":"last30Days",`+body+`}`), testNow,
				); err != nil {
					b.Fatal(err)
				}
			}
			alone += time.Since(begin)
		})
	}
	n := float64(b.N)
	b.ReportMetric(took.Seconds()*1000/n, "ms/batch")
	b.ReportMetric(alone.Seconds()*1000/n, "ms/alone")
	b.ReportMetric(cpu/cpuAlone, "cpu/alone")
}

// engineTime returns the engine's processor time, in microseconds, while `run` runs.
func engineTime(b *testing.B, conn driver.Conn, run func()) float64 {
	read := func() (total float64) {
		row := conn.QueryRow(context.Background(),
			"SELECT toFloat64(sum(value)) FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')")
		if err := row.Scan(&total); err != nil {
			b.Fatal(err)
		}
		return total
	}
	before := read()
	run()
	return read() - before
}
