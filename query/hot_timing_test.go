package query

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// fillHot stores the last day of a busy site: 2 million events, 500,000 sessions, 80,000 visitors and 3,000 pages.
func fillHot(b testing.TB, conn driver.Conn) {
	b.Helper()
	const parts, rows, sessions = 4, 500_000, 125_000
	for part := range parts {
		execute(b, conn, fmt.Sprintf(`INSERT INTO events (site, time, received, log_partition, log_offset, log_index,
			type, url, visitor, session, space, page, country, browser, referrer, referrer_domain)
			WITH %d + sipHash64(number, 1) %% %d AS s, sipHash64(s, 2) %% 80000 AS v,
			floor(3000 * pow((sipHash64(number, 3) %% 1000003) / 1000003, 2)) AS p,
			toDateTime64('2026-03-14 12:30:46', 3, 'UTC') AS first, toInt64(s) * 86400000 / %d AS begin,
			['page_view', 'page_view', 'page_view', 'page_leave', 'link_click'][1 + sipHash64(number, 5) %% 5] AS kind
			SELECT '%s',
			first + toIntervalMillisecond(least(toInt64(begin) + sipHash64(number, 4) %% 1200000, 86399000)),
			toDateTime('2026-03-15 12:00:00', 'UTC'), number %% 2, intDiv(number, 100), number %% 100, kind,
			'https://docs.example.com/page-' || toString(p), sipHash64(v, 7), sipHash64(s, 8),
			'space_' || toString(p %% 12), 'page_' || toString(p),
			substring('DEFRUSGBJPBRINCAITESPLNLSECHATBEDKFINOCZ', 1 + 2 * (sipHash64(v, 9) %% 20), 2),
			['chrome', 'safari', 'firefox', 'edge'][1 + sipHash64(v, 11) %% 4],
			'https://google.com/' || toString(sipHash64(s, 16) %% 300), 'google.com'
			FROM numbers(%d, %d)`, part*sessions, sessions, parts*sessions, testSite, part*rows, rows))
	}
}

// BenchmarkSessions measures each metric of sessions over the last day of a busy site. It reports the time relative to
// visitorsCount by the same dimension.
func BenchmarkSessions(b *testing.B) {
	conn := store(b)
	fillHot(b, conn)
	service := newService(conn)
	if _, err := service.sources.best(
		context.Background(), newScope(testSite, testNow.Add(-24*time.Hour), testNow, nil), nil, 0, time.Minute,
	); err != nil {
		b.Fatal(err)
	}
	for name, group := range map[string]string{
		"nothing": "", "country": `{"column":"visitorGeoCountry"},`, "browser": `{"column":"visitorBrowser"},`,
		"referrer": `{"column":"referrer"},`, "page": `{"column":"page"},`, "url": `{"column":"url"},`,
		"hour":  `{"column":"datetime","interval":"hour"},`,
		"entry": `{"column":"entryPage"},`, "exit": `{"column":"exitPage"},`,
	} {
		ask := func(metric string) time.Duration {
			body := `{"range":"last24Hours","select":[` + group + `{"column":"` + metric + `"}]}`
			start := time.Now()
			_, _, err := service.Aggregate(context.Background(), Caller{}, testSite, []byte(body), testNow)
			if err != nil {
				b.Fatal(err)
			}
			return time.Since(start)
		}
		for _, metric := range []string{"bounceRate", "sessionDuration", "pagesPerSession"} {
			b.Run(name+"/"+metric, func(b *testing.B) {
				var ours, visitors []time.Duration
				for b.Loop() {
					ours, visitors = append(ours, ask(metric)), append(visitors, ask("visitorsCount"))
				}
				p50 := func(list []time.Duration) float64 {
					slices.Sort(list)
					return float64(list[len(list)/2])
				}
				b.ReportMetric(p50(ours)/1e6, "ms/p50")
				b.ReportMetric(p50(ours)/p50(visitors), "x-visitors")
			})
		}
	}
}
