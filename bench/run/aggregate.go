package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/query"
)

// questions has typical queries of a dashboard.
var questions = []struct{ name, body string }{
	{"visits by day", `{"range":"last30Days","select":[{"column":"datetime","interval":"day"},{"column":"eventsCount"},{"column":"visitorsCount"}],"groupBy":[{"column":"datetime","interval":"day"}]}`},
	{"top pages", `{"range":"last30Days","select":[{"column":"page"},{"column":"eventsCount"},{"column":"visitorsCount"}],"groupBy":[{"column":"page"}],"where":[{"column":"eventType","values":["page_view"],"operator":"in"}],"order":{"by":{"column":"eventsCount"},"direction":"desc"},"limit":50}`},
	{"searches", `{"range":"last30Days","select":[{"column":"eventSearchQuery"},{"column":"eventsCount"}],"groupBy":[{"column":"eventSearchQuery"}],"limit":100}`},
	{"devices and browsers", `{"range":"last7Days","select":[{"column":"visitorDevice"},{"column":"visitorBrowser"},{"column":"sessionsCount"}],"groupBy":[{"column":"visitorDevice"},{"column":"visitorBrowser"}]}`},
	{"referrers", `{"range":"last30Days","select":[{"column":"referrerDomain"},{"column":"sessionsCount"}],"groupBy":[{"column":"referrerDomain"}],"limit":20}`},
	{"plans", `{"range":"last30Days","select":[{"column":"visitorClaim","claim":"plan"},{"column":"visitorsCount"}],"groupBy":[{"column":"visitorClaim","claim":"plan"}]}`},
	{"last day by hour", `{"range":"last24Hours","select":[{"column":"datetime","interval":"hour"},{"column":"eventsCount"}],"groupBy":[{"column":"datetime","interval":"hour"}]}`},
	{"feedback", `{"range":"last30Days","select":[{"column":"page"},{"column":"pageFeedbackRating"}],"groupBy":[{"column":"page"}],"where":[{"column":"eventType","values":["page_post_feedback"],"operator":"in"}],"limit":50}`},
}

// aggregateRow compares requests to the aggregate endpoint with the same SQL statements sent directly to ClickHouse.
func (b *bench) aggregateRow(ctx context.Context) error {
	if err := b.fill(ctx); err != nil {
		return err
	}
	conn, err := b.store()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	var notes []string
	var ours, alone, ratios []float64
	for _, q := range questions {
		sql, err := statementOf(ctx, conn, b.data.site, []byte(q.body))
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		endpoint, done, err := b.rig.again(http.MethodPost, b.data.insights()+"/events/aggregate", []byte(q.body), http.StatusOK)
		if err != nil {
			return err
		}
		c, err := b.alternate(b.asks, endpoint, func() error { return sql.run(conn) })
		done()
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		notes = append(notes, fmt.Sprintf("%s: %s ms, SQL alone %s ms, ratio %s", q.name, c.ours.text(), c.ceiling.text(), c.ratio.text()))
		ours, alone, ratios = append(ours, c.ours.Median), append(alone, c.ceiling.Median), append(ratios, c.ratio.Median)
	}
	notes = append(notes, fmt.Sprintf("on %d events of 30 days of one site; the row is the median, lowest and highest of these %d questions", b.dataset, len(questions)))
	all := compared{spreadOf(ours), spreadOf(alone), spreadOf(ratios)}
	b.report.compare("aggregate endpoint, p50", "its SQL over the native protocol, rows read but not decoded", "ms", all, &budget{AtMost: 1.1}, notes...)
	return nil
}

// alternate calls `ours` and `ceiling` alternately. In each round it compares the medians of their durations, in
// milliseconds.
func (b *bench) alternate(times int, ours, ceiling func() error) (compared, error) {
	c, err := b.alternateAt([]float64{0.5}, times, ours, ceiling)
	if err != nil {
		return compared{}, err
	}
	return c[0], nil
}

// alternateAt is like alternate, and compares several quantiles of the durations.
func (b *bench) alternateAt(quantiles []float64, times int, ours, ceiling func() error) ([]compared, error) {
	a, c := make([][]float64, len(quantiles)), make([][]float64, len(quantiles))
	for round := range b.rounds + 1 {
		var x, y []float64
		for range times {
			for _, side := range []struct {
				f  func() error
				to *[]float64
			}{{ours, &x}, {ceiling, &y}} {
				began := time.Now()
				if err := side.f(); err != nil {
					return nil, err
				}
				*side.to = append(*side.to, millis(time.Since(began)))
			}
		}
		// The first round only fills caches.
		if round == 0 {
			continue
		}
		for i, q := range quantiles {
			a[i], c[i] = append(a[i], quantile(x, q)), append(c[i], quantile(y, q))
		}
	}
	all := make([]compared, len(quantiles))
	for i := range quantiles {
		all[i] = paired(a[i], c[i])
	}
	return all, nil
}

// statement is an SQL statement that the query service sent.
type statement struct {
	ctx  context.Context // ctx has the statement's ClickHouse settings
	sql  string
	args []any
}

// statementOf sends a request to the query service and returns the last SQL statement that the service sends.
func statementOf(ctx context.Context, conn driver.Conn, site string, body []byte) (*statement, error) {
	heard, _, err := statementsOf(&listening{Conn: conn}, query.DefaultConfig(), func(s *query.Service) (map[string]string, error) {
		_, headers, err := s.Answer(ctx, query.Caller{}, query.Aggregate, site, body, time.Now())
		return headers, err
	})
	if err != nil {
		return nil, err
	}
	return &heard[len(heard)-1], nil
}

// statementsOf builds a query service and calls `ask` with it. It returns all statements that the service sends, and
// the headers that `ask` returns.
func statementsOf(listener *listening, c query.Config, ask func(*query.Service) (map[string]string, error)) ([]statement, map[string]string, error) {
	headers, err := ask(query.New(c, listener, query.NewMetrics(prometheus.NewRegistry())))
	if err == nil && len(listener.heard) == 0 {
		err = errors.New("the query service sent no statement")
	}
	return listener.heard, headers, err
}

type listening struct {
	driver.Conn
	heard []statement
	// A statement that contains this text fails. If it is "", no statement fails.
	refused string
}

func (l *listening) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if l.refused != "" && strings.Contains(sql, l.refused) {
		return nil, errors.New("refused by the benchmark")
	}
	l.heard = append(l.heard, statement{context.WithoutCancel(ctx), sql, args})
	return l.Conn.Query(ctx, sql, args...)
}

func (s *statement) run(conn driver.Conn) error {
	rows, err := conn.Query(s.ctx, s.sql, s.args...)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

// runAll runs statements one after the other and returns the total time in milliseconds.
func runAll(list []statement, conn driver.Conn) (float64, error) {
	began := time.Now()
	for _, s := range list {
		if err := s.run(conn); err != nil {
			return 0, fmt.Errorf("%.200s: %w", s.sql, err)
		}
	}
	return millis(time.Since(began)), nil
}
