package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/octavo-docs/octavo/schema/insights"
)

const (
	// askers is the number of concurrent clients.
	askers     = 2
	mergeLimit = 3 * time.Minute
)

// catchupRow measures how much a sink that catches up slows down queries, and how much queries slow down the sink. Each
// round has three steps: it drains a backlog, then runs the dashboard's queries, and then runs the queries while it
// drains another backlog. The same node drains the backlog and answers the queries. So both use the same process,
// ClickHouse server and machine.
func (b *bench) catchupRow(ctx context.Context) error {
	conn, err := b.store()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	// First drain the backlog that other rows of the benchmark left. Otherwise the first round would drain it too.
	err = b.drain(ctx, func(ctx context.Context, _ client) error {
		return errors.Join(b.drained(ctx, true), b.fill(ctx))
	})
	if err != nil {
		return err
	}
	var rounds []catchup
	for range b.catchups {
		round, err := b.catchUp(ctx, conn)
		if err != nil {
			return err
		}
		rounds = append(rounds, round)
	}
	of := func(ours, ceiling func(catchup) float64) compared {
		var a, c []float64
		for _, r := range rounds {
			a, c = append(a, ours(r)), append(c, ceiling(r))
		}
		return paired(a, c)
	}
	var asked, most int
	for _, r := range rounds {
		asked, most = asked+len(r.beside), max(most, r.parts)
	}
	notes := []string{
		fmt.Sprintf("%d connections ask the %d questions of the aggregate row in turn, without a pause, about %d events of another site; the node that drains answers them; %d questions were asked while a backlog was drained",
			askers, len(questions), b.dataset, asked),
	}
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p95", 0.95}} {
		b.report.compare("aggregate endpoint while the sink catches up, "+q.name, "the same questions while nothing is to be drained", "ms",
			of(func(r catchup) float64 { return quantile(r.beside, q.q) }, func(r catchup) float64 { return quantile(r.idle, q.q) }), nil, notes...)
		notes = nil
	}
	b.report.compare("catching up beside queries", "the same without queries", "rows/s",
		of(func(r catchup) float64 { return r.asked.rate() }, func(r catchup) float64 { return r.alone.rate() }), nil,
		fmt.Sprintf("backlogs of at least %d events, and the same questions; the engine merges as it likes, and had at most %d parts after a drain", b.backlog, most))
	return nil
}

// catchup has the measurements of one round.
type catchup struct {
	alone, asked span      // times of the drain without queries, and of the drain during queries
	idle, beside []float64 // response times in milliseconds, without a drain and during a drain
	parts        int       // largest number of parts after a drain
}

func (b *bench) catchUp(ctx context.Context, conn driver.Conn) (r catchup, err error) {
	err = b.withBacklog(ctx, conn, func(ctx context.Context, at client, posted int) error {
		if r.alone, err = b.watchDrain(ctx, conn, posted); err != nil {
			return err
		}
		if r.parts, err = countParts(ctx, conn); err != nil {
			return err
		}
		if err := errors.Join(b.drained(ctx, true), merged(ctx, conn)); err != nil {
			return err
		}
		asking, stop := context.WithTimeout(ctx, b.warmup+2*b.intake)
		defer stop()
		from := time.Now().Add(b.warmup)
		list, err := b.ask(asking, at)
		r.idle = took(list, from, time.Now())
		return err
	})
	if err != nil {
		return r, err
	}
	err = b.withBacklog(ctx, conn, func(ctx context.Context, at client, posted int) error {
		group, ctx := errgroup.WithContext(ctx)
		asking, stop := context.WithCancel(ctx)
		defer stop()
		var list []exchange
		group.Go(func() (err error) { list, err = b.ask(asking, at); return err })
		group.Go(func() (err error) {
			defer stop()
			r.asked, err = b.watchDrain(ctx, conn, posted)
			return err
		})
		if err := group.Wait(); err != nil {
			return err
		}
		// Count only requests after the first batch is stored. Before it, the sink joins its consumer group and stores
		// nothing.
		r.beside = took(list, r.asked.first, r.asked.last)
		return nil
	})
	if err != nil {
		return r, err
	}
	after, err := countParts(ctx, conn)
	r.parts = max(r.parts, after)
	if err == nil && (len(r.idle) == 0 || len(r.beside) == 0) {
		err = errors.New("no query was answered during a drain: a larger backlog is needed")
	}
	return r, err
}

// withBacklog creates a backlog and waits until ClickHouse has no running merges. Then it starts a node that drains the
// backlog and answers queries, and calls f.
func (b *bench) withBacklog(ctx context.Context, conn driver.Conn, f func(ctx context.Context, at client, posted int) error) error {
	posted, err := b.postBacklog(ctx)
	if err != nil {
		return err
	}
	if err := merged(ctx, conn); err != nil {
		return err
	}
	return b.drain(ctx, func(ctx context.Context, at client) error {
		if err := f(ctx, at, posted); err != nil {
			return err
		}
		return b.drained(ctx, true)
	})
}

// exchange is one query and its response time.
type exchange struct {
	began  time.Time
	millis float64
}

func took(list []exchange, from, to time.Time) (millis []float64) {
	for _, e := range list {
		if !e.began.Before(from) && e.began.Before(to) {
			millis = append(millis, e.millis)
		}
	}
	return millis
}

// ask sends the dashboard's queries with several clients until ctx is done. Then it waits for the last responses.
func (b *bench) ask(ctx context.Context, at client) ([]exchange, error) {
	var sends [askers][]func() error
	for asker := range sends {
		for _, q := range questions {
			send, done, err := at.again(http.MethodPost, b.data.insights()+"/events/aggregate", []byte(q.body), http.StatusOK)
			if err != nil {
				return nil, err
			}
			defer done()
			sends[asker] = append(sends[asker], send)
		}
	}
	var answers [askers][]exchange
	group, ctx := errgroup.WithContext(ctx)
	for asker := range askers {
		group.Go(func() error {
			// Each client begins with another query, so that the clients do not run the same query.
			for n := asker * len(questions) / askers; ctx.Err() == nil; n++ {
				q := n % len(questions)
				began := time.Now()
				if err := sends[asker][q](); err != nil {
					return fmt.Errorf("%s: %w", questions[q].name, err)
				}
				answers[asker] = append(answers[asker], exchange{began, millis(time.Since(began))})
			}
			return nil
		})
	}
	err := group.Wait()
	return slices.Concat(answers[:]...), err
}

// countParts returns the number of active parts of the events table.
func countParts(ctx context.Context, conn driver.Conn) (int, error) {
	var n uint64
	err := conn.QueryRow(ctx, "SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = ?", insights.Table).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("cannot count the parts: %w", err)
	}
	return int(n), nil
}

// merged waits until ClickHouse has had no running merges of the events table for some time.
func merged(ctx context.Context, conn driver.Conn) error {
	// The query for the number of merges also uses processor time of ClickHouse, so wait between two queries.
	for quiet, end := 0, time.Now().Add(mergeLimit); quiet < 3; {
		var n uint64
		err := conn.QueryRow(ctx, "SELECT count() FROM system.merges WHERE database = currentDatabase() AND table = ?", insights.Table).Scan(&n)
		if err != nil {
			return fmt.Errorf("cannot read the engine's merges: %w", err)
		}
		if quiet++; n > 0 {
			quiet = 0
		}
		if time.Now().After(end) {
			return fmt.Errorf("the engine is still merging after %s", mergeLimit)
		}
		time.Sleep(500 * time.Millisecond)
	}
	return nil
}
