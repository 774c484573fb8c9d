package query

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Headers of answers.
const (
	// headerResult is "exact" or "approximate".
	headerResult = "Octavo-Result"
	// headerSource is where the rows came from: "raw", or else "visits" or "states" if only
	// some of them did.
	headerSource = "Octavo-Source"
	// headerBound is how far an approximate count may be off.
	headerBound = "Octavo-Error-Bound"
	// headerTruncated is "true" if there are more rows than the limit lets through.
	headerTruncated = "Octavo-Truncated"
	// headerRowsRead is the number of rows that the store read to make the answer. One
	// that was made for another caller (it has an Age) repeats the number: nothing was read
	// for this one.
	headerRowsRead = "Octavo-Rows-Read"
	// headerRange is the range of the events that segments were counted in: from and to.
	headerRange = "Octavo-Range"
	// headerFreshUntil is up to when the site's events are in the answer.
	headerFreshUntil = "Octavo-Fresh-Until"
)

// bounds are how far estimates may be off.
var bounds = map[insights.Counting]string{insights.CountTotals: "0.5%", insights.CountBounded: "1%", insights.CountSketched: "2%"}

// Service answers queries. It is safe for concurrent use.
type Service struct {
	config    Config
	conn      driver.Conn
	metrics   *Metrics
	admission *admission
	sources   *sources
	states    *stateStore
	cache     *resultCache
	log       *slog.Logger
	grace     time.Duration
}

// New makes a service that runs its statements on conn, a native-protocol pool
// of at least Concurrency connections to the database of the events table.
func New(c Config, conn driver.Conn, m *Metrics) *Service {
	log := c.Log
	if log == nil {
		log = slog.Default()
	}
	s := newSources(c, conn, log)
	return &Service{config: c, conn: conn, metrics: m, admission: newAdmission(
		c, m,
	), sources: s, states: newStateStore(c, s), cache: newResultCache(c, m), log: log, grace: Grace}
}

// query is one call's work on the engine. Each kind of report has its own
// way to a plan and to rows; admission, time, metrics and headers are the same.
type query struct {
	service *Service
	kind    Report
	site    string
	who     Caller
	start   time.Time
	ends    time.Time // when all its statements have to be done
	// spills lets groups, and sessions that are joined, go to disk if they outgrow a quarter
	// of the memory: for reports whose number of groups the caller cannot limit, and when a
	// join has outgrown all of it.
	spills bool
	// joins says that statements join events and sessions.
	joins bool
	cost  cost // rows that it will read
	known bool // whether cost is more than a guess
	size  size

	later       []string // keys of states that a later query may make
	rowsRead    uint64
	source      source                   // where the statement's rows come from
	summary     string                   // what a statement read instead of events, as far as it could; "" for nothing
	approximate insights.Counting        // how a count of different values was made that may be off
	truncated   bool                     // there are rows after the limit
	within      scope                    // whose range the answer is about, if the request has none
	class       class                    // of the error that it failed with
	ran         func(ExplainedStatement) // hears of each statement; nil if nobody asks
}

func (s *Service) query(kind Report, who Caller, site string) *query {
	return &query{service: s, kind: kind, who: who, site: site, start: time.Now(), source: rawEvents}
}

// invalid counts a request that is refused before it is run.
func (q *query) invalid(err error) error {
	q.service.metrics.errors[q.kind][classInvalid].Inc()
	return err
}

// answerFunc makes an answer.
type answerFunc func(context.Context) ([]byte, error)

// admitted gives a query that has its turn its time, and runs it. The result is the
// answer and its headers, or an error that a client may see.
func (q *query) admitted(ctx context.Context, answer answerFunc) ([]byte, map[string]string, error) {
	s := q.service
	s.metrics.running.Inc()
	defer s.metrics.running.Dec()
	bounded, cancel := context.WithTimeoutCause(ctx, s.config.MaxTime+s.grace, errQueryTime)
	defer cancel()
	q.ends = time.Now().Add(s.config.MaxTime)
	headers := map[string]string{headerResult: "exact"}
	if s.config.FreshUntil != nil {
		// Before the rows are read: the header must not promise more than they have.
		if t, ok := s.config.FreshUntil(bounded, q.site); ok {
			headers[headerFreshUntil] = schema.FormatMoment(t)
		}
	}
	body, err := answer(noDeadline{bounded})
	if err != nil {
		return nil, nil, q.failed(ctx, err)
	}
	headers[headerSource] = cmp.Or(q.summary, rawEvents.name)
	if q.approximate != insights.CountExact {
		headers[headerResult], headers[headerBound] = "approximate", bounds[q.approximate]
	}
	if q.truncated {
		headers[headerTruncated] = "true"
	}
	if !q.within.to.IsZero() {
		headers[headerRange] = schema.FormatMoment(q.within.from) + "/" + schema.FormatMoment(q.within.to)
	}
	headers[headerRowsRead] = strconv.FormatUint(q.rowsRead, 10)
	q.answered(fromRun)
	s.metrics.rowsRead[q.kind].Add(float64(q.rowsRead))
	return body, headers, nil
}

func (q *query) failed(ctx context.Context, err error) error {
	if q.joins && outOfMemory(err) {
		err = fmt.Errorf("%w: %w", errSessions, err)
	}
	public, class := engineError(ctx, err)
	if public.Message == tooHeavy {
		public.Message = q.lighter(err)
	}
	if class == classInvalid && q.kind != Aggregate {
		public = schema.BadRequest("a where " + badPattern) // one of several: the engine does not say which
	}
	q.class = class
	q.service.metrics.errors[q.kind][class].Inc()
	if class == classInternal {
		q.service.log.ErrorContext(ctx, "query failed", "kind", string(q.kind), "site", q.site, "error", err)
	}
	return public
}

// from runs statements over the best way to read a scope; refs and estimate are those of
// [sources.choose].
func (
	q *query,
) from(ctx context.Context, sc scope, refs []ref, estimate insights.Counting, run func(scope) error) error {
	return q.over(ctx, q.service.sources.choose(ctx, sc, refs, estimate), sc, run)
}

// over runs statements over the best way to read a scope, if it still can be read.
func (q *query) over(ctx context.Context, best, sc scope, run func(scope) error) error {
	if best.source.visits != nil && !q.service.sources.whole(ctx, q.site) {
		best = sc
	}
	q.source = best.source
	err := run(best)
	if best.source != rawEvents && err != nil {
		// Nobody's request can be the reason for such an error, but the projection can be
		// dropped this very moment, or broken.
		if _, class := engineError(ctx, err); class == classInternal {
			q.service.log.WarnContext(ctx, "A query reads events, because visits could not be read.", "site", q.site, "error", err)
			q.source = rawEvents
			err = run(sc)
		}
	}
	if q.source != rawEvents {
		q.summary = q.source.name
	}
	return err
}

// count runs a statement that counts different values over a scope. If counting
// exactly outgrows the memory of a query, it runs it again in bounded memory, unless the
// answer must be exact or count as the page before.
func (q *query) count(sc scope, run func(scope) error) error {
	err := run(sc)
	if !outOfMemory(err) || sc.env.Counting != insights.CountExact {
		return err
	}
	switch {
	case sc.exact:
		return fmt.Errorf("%w: %w", errExact, err)
	case sc.counted:
		return fmt.Errorf("%w: %w", errPage, err)
	}
	q.service.metrics.bounded.Inc()
	return run(sc.bounded())
}
