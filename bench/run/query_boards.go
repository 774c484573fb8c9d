package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/bench/loadgen"
)

// boardsPart measures dashboards of the hot site, which receives events meanwhile.
const boardsPart = "boards"

const (
	boardEvery   = 10 * time.Second // time between two looks at a dashboard
	boardRate    = 8_000            // events per second during the load of dashboards
	overviewRate = 36_000           // events per second during the load of Overviews
)

// boardQuestions returns the twelve queries of a dashboard of the hot site. They leave out every fourth dimension, and
// use the metrics one after the other. Cached answers are allowed, as for a browser.
func (b *bench) boardQuestions(s *querySize) (list [][]byte) {
	metrics := append(slices.Clone(hotMetrics), hotCeiling)
	path := target{org: s.Org, site: s.Sites[0]}.insights() + "/events/aggregate"
	for i, dimension := range hotDimensions {
		if i%4 != 3 {
			body := hotQuestion("last24Hours", metrics[i%len(metrics)], dimension.column)
			list = append(list, loadgen.Request(http.MethodPost, b.rig.Address, path, b.rig.Token, body))
		}
	}
	return list
}

// hotQuestion returns a query for a metric by a dimension.
func hotQuestion(preset, metric, column string) []byte {
	list := `{"column":"` + metric + `"}`
	if column != "" {
		list = column + "," + list
	}
	return []byte(`{"range":"` + preset + `","select":[` + list + `]}`)
}

// hotAgain reports how long queries take, and how long the same queries take immediately afterwards. The site receives
// no events meanwhile. The limits are in milliseconds.
func (b *bench) hotAgain(name string, questions [][]byte, firstLimit, againLimit float64) error {
	first := lookOnce(b.rig.Address, questions)
	again := lookOnce(b.rig.Address, questions)
	if err := errors.Join(append(first.failed, again.failed...)...); err != nil {
		return err
	}
	b.report.add(row{What: name + " for the first time, p95", Unit: "ms",
		Ours: spreadOf([]float64{quantile(first.times, 0.95)}), Budget: &budget{AtMost: firstLimit}})
	b.report.note(fmt.Sprintf("p50 %s ms of %d", number(quantile(first.times, 0.5)), len(first.times)))
	b.report.add(row{What: name + " again, longest", Unit: "ms", Ours: spreadOf([]float64{quantile(again.times, 1)}),
		Budget: &budget{AtMost: againLimit}})
	return nil
}

// boardLoad is a load of dashboards of the hot site, which receives events meanwhile.
type boardLoad struct {
	what      string
	questions [][]byte // requests that a dashboard sends one after the other
	boards    int
	spread    time.Duration // time in which the dashboards begin, one after the other
	rate      int           // events per second that the hot site receives meanwhile
	p50, p95  float64       // limits in milliseconds; 0 is no limit
}

// hotBoards reports the response times of dashboards of the hot site, while it receives events.
func (b *bench) hotBoards(ctx context.Context, s *querySize) error {
	overview, err := b.overview(ctx, s)
	if err != nil {
		return err
	}
	events, queries := number(float64(s.events))+" events of a day, ", b.boardQuestions(s)
	if err := b.hotAgain(events+"a dashboard's query", queries, 600, 5); err != nil {
		return err
	}
	if err := b.hotAgain(events+"an Overview", overview, 1000, 300); err != nil {
		return err
	}
	for _, load := range []boardLoad{
		{"2 dashboards of twelve queries", queries, 2, boardEvery, boardRate, 400, 1000},
		{"10 dashboards of twelve queries", queries, 10, boardEvery, boardRate, 0, 1500},
		{"10 Overviews at once", overview, 10, 0, overviewRate, 0, 1500},
	} {
		if err := b.hotBoard(ctx, s, load); err != nil {
			return fmt.Errorf("%s: %w", load.what, err)
		}
	}
	return nil
}

func (b *bench) hotBoard(ctx context.Context, s *querySize, of boardLoad) error {
	const perRequest = 50
	path := target{org: s.Org, site: s.Sites[0]}.insights() + "/events"
	load := loadgen.Load{
		Address: b.rig.Address, Requests: requests(b.loadBodies(perRequest), b.rig.Address, path, b.rig.Token),
		Connections: priceConnections, Rate: float64(of.rate) / perRequest, Duration: b.crowd,
	}
	var sent loadgen.Result
	var loadErr error
	var wait sync.WaitGroup
	wait.Go(func() { sent, loadErr = loadgen.Run(ctx, load) })
	seen := b.lookTogether(ctx, of)
	wait.Wait()
	if err := errors.Join(ctx.Err(), loadErr); err != nil {
		return err
	}
	if len(seen.times) == 0 {
		return errors.Join(append(seen.failed, errors.New("no query was answered"))...)
	}
	name := fmt.Sprintf("%s events of a day, %s beside %d events/s", number(float64(s.events)), of.what, of.rate)
	b.boardRows(name, seen, of.p50, of.p95)
	b.report.note(fmt.Sprintf("%s events accepted a second", number(float64(sent.All[http.StatusNoContent]*perRequest)/
		b.crowd.Seconds())))
	return sent.Only(http.StatusNoContent)
}

// boardRows reports the response times of dashboards. A limit of 0 is no limit.
func (b *bench) boardRows(name string, seen crowd, p50, p95 float64) {
	limit := func(most float64) *budget {
		if most == 0 {
			return nil
		}
		return &budget{AtMost: most}
	}
	for _, x := range []struct {
		name string
		q    float64
		most float64
	}{{"p50", 0.5, p50}, {"p95", 0.95, p95}} {
		b.report.add(row{What: name + ", " + x.name, Unit: "ms", Ours: spreadOf([]float64{quantile(seen.times, x.q)}),
			Budget: limit(x.most)})
	}
	refused := row{What: name + ", refused", Unit: "queries", Ours: spreadOf([]float64{float64(len(seen.failed))}),
		Budget: limit(0.5)}
	refused.Notes = []string{fmt.Sprintf("%d answers", len(seen.times))}
	if len(seen.failed) > 0 {
		refused.Notes = append(refused.Notes, "the first: "+seen.failed[0].Error())
	}
	b.report.add(refused)
}

// lookTogether lets dashboards send their queries each boardEvery, one query after the other. A dashboard whose queries
// take longer begins again at once.
func (b *bench) lookTogether(ctx context.Context, of boardLoad) (all crowd) {
	began := time.Now()
	end := began.Add(b.crowd)
	var mu sync.Mutex
	var wait sync.WaitGroup
	for board := range of.boards {
		wait.Go(func() {
			due := began.Add(of.spread * time.Duration(board) / time.Duration(of.boards))
			for ; ctx.Err() == nil && due.Before(end); due = later(due.Add(boardEvery), time.Now()) {
				time.Sleep(time.Until(due))
				seen := lookOnce(b.rig.Address, of.questions)
				mu.Lock()
				all.times, all.failed = append(all.times, seen.times...), append(all.failed, seen.failed...)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return all
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// lookOnce sends the queries of a dashboard, one after the other. A refused query does not end it.
func lookOnce(address string, questions [][]byte) (seen crowd) {
	conn, err := loadgen.Dial(address, time.Minute)
	if err != nil {
		return crowd{failed: []error{err}}
	}
	defer conn.Close()
	for _, request := range questions {
		began := time.Now()
		status, answer, err := conn.Exchange(request)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d: %.500s", status, answer)
		} else if err == nil && bytes.Count(answer, []byte(`"status":`)) > bytes.Count(answer, []byte(`"status":200`)) {
			err = fmt.Errorf("a query of a batch failed: %.500s", answer)
		}
		if err != nil {
			seen.failed = append(seen.failed, err)
			continue
		}
		seen.times = append(seen.times, millis(time.Since(began)))
	}
	return seen
}
