package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema/insights"
)

// sourceRows compares a dashboard's questions, as the query service answers them, with
// the bare statements on events, in turns on the same rows.
func (b *bench) sourceRows(ctx context.Context) error {
	conn, err := b.store()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	rows, err := b.layoutBase(ctx, conn)
	if err != nil {
		return err
	}
	asked, err := layoutQuestions(ctx, conn) // of sites without rows, so on events
	if err != nil {
		return err
	}
	progress("merging %d rows", rows)
	for _, statement := range []string{"EXCHANGE TABLES " + insights.Table + " AND " + layoutTable(0), "OPTIMIZE TABLE " + insights.Table + " FINAL"} {
		if err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	service := query.New(query.DefaultConfig(), conn, query.NewMetrics(prometheus.NewRegistry()))
	sources := make([]string, len(asked))
	var bare, ours [][]float64 // by round and question, in milliseconds
	for round := range b.rounds + 1 {
		progress("round %d of %d, %d questions", round, b.rounds, len(asked))
		took := [2][]float64{make([]float64, len(asked)), make([]float64, len(asked))}
		for i, q := range asked {
			for _, side := range []int{round % 2, 1 - round%2} {
				began := time.Now()
				if side == 0 {
					err = q.run(conn)
				} else {
					var headers map[string]string
					_, headers, err = service.Aggregate(ctx, query.Asker{}, fmt.Sprint("site", q.site), []byte(q.body), time.Now())
					sources[i] = headers[http.CanonicalHeaderKey("Octavo-Source")] + " " + headers["Octavo-Result"]
				}
				if err != nil {
					return fmt.Errorf("%s: %w", q.name, err)
				}
				took[side][i] = float64(time.Since(began)) / float64(time.Millisecond)
			}
		}
		if round > 0 { // the first only fills caches
			bare, ours = append(bare, took[0]), append(ours, took[1])
		}
	}
	for _, site := range layoutAsked {
		for _, days := range layoutDays {
			of := func(list []float64) (some []float64) {
				for i, q := range asked {
					if q.site == site && q.days == days {
						some = append(some, list[i])
					}
				}
				return some
			}
			var x, y, ratios []float64
			for round := range ours {
				x, y = append(x, quantile(of(ours[round]), 0.95)), append(y, quantile(of(bare[round]), 0.95))
				ratios = append(ratios, x[round]/y[round])
			}
			b.report.compare(fmt.Sprintf("sources: site %d, %d days: p95 of %d questions", site, days, len(of(ours[0]))), "bare statement", "ms", compared{spreadOf(x), spreadOf(y), spreadOf(ratios)}, nil)
			var texts []string
			for i, q := range asked {
				if q.site == site && q.days == days && site == layoutAsked[0] {
					texts = append(texts, fmt.Sprintf("%s %s / %s (%s)", q.name, number(spreadOf(column(ours, i)).Median), number(spreadOf(column(bare, i)).Median), sources[i]))
				}
			}
			if len(texts) > 0 {
				b.report.note("ms / bare ms: " + strings.Join(texts, ", "))
			}
		}
	}
	b.report.note(fmt.Sprintf("%d rows, of which the largest site has a quarter; the sites are the 1st, 5th and 20th by size", rows))
	return nil
}
