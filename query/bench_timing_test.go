package query

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// BenchmarkAggregate reports the p50 of an aggregate request as a ratio to the p50 of its bare SQL. The request and the
// bare SQL alternate on the same connection.
func BenchmarkAggregate(b *testing.B) {
	conn := store(b)
	fill(b, conn, testSite, 300_000)
	service := newService(conn)
	for name, body := range map[string]string{
		"country":  byCountry,
		"hours":    `{"range":"last30Days","groupBy":[{"column":"datetime","interval":"hour"}]}`,
		"top_1000": `{"range":"last30Days","select":[{"column":"urlPath"},{"column":"datetime","interval":"day"},{"column":"eventsCount"}]}`,
		"total":    `{"range":"last30Days"}`,
	} {
		b.Run(name, func(b *testing.B) {
			p, err := compile(Site{ID: testSite}, []byte(body), testNow)
			if err != nil {
				b.Fatal(err)
			}
			st := lower(p).Statement
			var ours, bare []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, _, err := service.Aggregate(
					context.Background(), Caller{}, testSite, []byte(body), testNow,
				); err != nil {
					b.Fatal(err)
				}
				ours = append(ours, time.Since(start))
				start = time.Now()
				runBare(b, service, st)
				bare = append(bare, time.Since(start))
			}
			p50 := func(list []time.Duration) float64 {
				slices.Sort(list)
				return float64(list[len(list)/2])
			}
			b.ReportMetric(p50(ours)/1e6, "ms/p50")
			b.ReportMetric(p50(ours)/p50(bare), "x-bare-sql")
		})
	}
}

// runBare runs a statement with the settings of a query, and does not scan its rows.
func runBare(b *testing.B, s *Service, st sqltree.Statement) {
	ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(s.config.settings(s.config.MaxTime)))
	rows, err := s.conn.Query(ctx, st.SQL, arguments(st.Params)...)
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
	}
	if err := rows.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCompile measures the work before the engine: turning a request's bytes into SQL.
func BenchmarkCompile(b *testing.B) {
	body := []byte(`{"range":"last30Days","select":[{"column":"datetime","interval":"day"},{"column":"visitorsCount"}],"where":[{"column":"visitorGeoCountry","values":["DE","FR",null]}]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		p, err := compile(Site{ID: testSite}, body, testNow)
		if err != nil {
			b.Fatal(err)
		}
		_ = lower(p)
	}
}
