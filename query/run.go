package query

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Headers of answers.
const (
	// HeaderResult is "exact" or "approximate".
	HeaderResult = "Octavo-Result"
	// HeaderSource is where the rows came from: "raw".
	HeaderSource = "Octavo-Source"
	// HeaderRowsRead is the number of rows that the store read.
	HeaderRowsRead = "Octavo-Rows-Read"
	// HeaderFreshUntil is up to when the site's events are in the answer.
	HeaderFreshUntil = "Octavo-Fresh-Until"
)

// Service answers queries. It is safe for concurrent use.
type Service struct {
	config    Config
	conn      driver.Conn
	metrics   *Metrics
	admission *admission
	log       *slog.Logger
	grace     time.Duration
}

// New makes a service that runs its statements on conn, a connection of the
// native protocol to the database of the events table. It should be a pool of
// no fewer than Concurrency.
func New(c Config, conn driver.Conn, m *Metrics) *Service {
	log := c.Log
	if log == nil {
		log = slog.Default()
	}
	return &Service{config: c, conn: conn, metrics: m, admission: newAdmission(c, m), log: log, grace: Grace}
}

// Aggregate answers the aggregate request in body about a site. The result is
// JSON and the headers that go with it; every error is a *schema.Error.
func (s *Service) Aggregate(ctx context.Context, who Asker, site string, body []byte, now time.Time) ([]byte, map[string]string, error) {
	start := time.Now()
	p, err := compile(site, body, now)
	if err != nil {
		s.metrics.errors[KindAggregate][ClassInvalid].Inc()
		return nil, nil, err
	}
	var r *result
	var headers map[string]string
	err = s.answer(ctx, who, KindAggregate, site, func(ctx context.Context, q *question) error {
		// Read before the rows are, so that it never promises too much.
		headers = s.headers(ctx, site)
		r, err = s.aggregate(ctx, q, p)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	headers[HeaderResult] = r.accuracy()
	headers[HeaderRowsRead] = strconv.FormatUint(r.rowsRead, 10)
	s.metrics.done(KindAggregate, start, r.rowsRead)
	return r.body, headers, nil
}

// question is one call's work on the engine.
type question struct {
	kind Kind
	site string
	who  Asker
	ends time.Time // when all its statements have to be done
	// spills lets groups that outgrow half of the memory go to disk, where
	// their number is not the asker's to bound.
	spills bool
}

// answer lets a question in, gives it its time, and turns its error into one
// that a client may see.
func (s *Service) answer(ctx context.Context, who Asker, kind Kind, site string, run func(context.Context, *question) error) error {
	leave, err := s.admission.enter(ctx, who)
	if err != nil {
		return s.failed(ctx, kind, site, err)
	}
	defer leave()
	s.metrics.running.Inc()
	defer s.metrics.running.Dec()
	bounded, cancel := context.WithTimeoutCause(ctx, s.config.MaxTime+s.grace, errQueryTime)
	defer cancel()
	q := &question{kind: kind, site: site, who: who, ends: time.Now().Add(s.config.MaxTime)}
	if err := run(noDeadline{bounded}, q); err != nil {
		return s.failed(ctx, kind, site, err)
	}
	return nil
}

// compile turns a request into the plan of its statement.
func compile(site string, body []byte, now time.Time) (plan, error) {
	r, err := decode(body)
	if err != nil {
		return plan{}, err
	}
	p, err := resolve(site, r, now)
	if err != nil {
		return plan{}, err
	}
	return decide(p), nil
}

func (s *Service) aggregate(ctx context.Context, q *question, p plan) (*result, error) {
	r, err := s.collect(ctx, q, p)
	if err != nil && outOfMemory(err) && p.counts() && !p.estimate {
		s.metrics.bounded.Inc()
		r, err = s.collect(ctx, q, p.bounded())
	}
	return r, err
}

func (s *Service) collect(ctx context.Context, q *question, p plan) (*result, error) {
	st := lower(p)
	e := newEncoder(p, st)
	rowsRead, err := s.rows(ctx, q, st.Statement, e.targets, e.row)
	if err != nil {
		return nil, err
	}
	return e.result(rowsRead), nil
}

// errQueryTime ends a question that the engine itself did not end in time.
var errQueryTime = errors.New("the query ran too long")

// Grace is what a question gets on top of MaxTime: for the engine to report its
// own limit, which it looks at between blocks, and for a connection that cannot
// be had to fail, which must not look like a slow query.
const Grace = 12 * time.Second

// rows runs a statement and calls each for every row, scanned into targets.
func (s *Service) rows(ctx context.Context, q *question, st sqltree.Statement, targets []any, each func()) (uint64, error) {
	left := time.Until(q.ends)
	if left <= 0 {
		return 0, errQueryTime
	}
	// When the context ends, the driver's own goroutine may still report
	// progress while this function returns.
	var rowsRead atomic.Uint64
	settings := s.config.settings(left)
	if q.spills {
		settings["max_bytes_before_external_group_by"] = s.config.MaxMemory / 2
	}
	options := []clickhouse.QueryOption{
		clickhouse.WithSettings(settings),
		clickhouse.WithProgress(func(p *clickhouse.Progress) { rowsRead.Add(p.Rows) }),
	}
	if q.who.Request != "" {
		settings["log_comment"] = q.comment()
		options = append(options, clickhouse.WithQueryID(q.queryID()))
	}
	ctx = clickhouse.Context(ctx, options...)
	rows, err := s.conn.Query(ctx, st.SQL, arguments(st.Params)...)
	if err != nil {
		return 0, fmt.Errorf("cannot run the query: %w", cause(ctx, err))
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return 0, errors.Join(fmt.Errorf("cannot read a row: %w", err), rows.Close())
		}
		each()
	}
	// Err before Close and both always: progress is complete only after them.
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, fmt.Errorf("cannot read the rows: %w", cause(ctx, err))
	}
	return rowsRead.Load(), nil
}

// queryID names one statement after the request. Clients choose the ids of
// their requests and may repeat them, which the engine refuses while the first
// one runs: so each statement has an end of its own.
func (q *question) queryID() string {
	var end [6]byte
	_, _ = rand.Read(end[:]) // crypto/rand.Read never fails: it ends the process instead
	return q.who.Request + "/" + hex.EncodeToString(end[:])
}

// comment tells whoever reads the engine's log whose statement it is.
func (q *question) comment() string {
	text, _ := json.Marshal(struct { // strings always marshal
		Request      string `json:"request"`
		Kind         Kind   `json:"kind"`
		Organization string `json:"organization"`
		Site         string `json:"site"`
	}{q.who.Request, q.kind, q.who.Organization, q.site})
	return string(text)
}

// noDeadline hides a context's deadline: clickhouse-go would replace the
// setting max_execution_time by it, plus five seconds.
type noDeadline struct{ context.Context }

func (noDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

// cause adds why the context ended to an error that only says that it did.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return fmt.Errorf("%w (%w)", err, c)
	}
	return err
}

func (s *Service) headers(ctx context.Context, site string) map[string]string {
	h := map[string]string{HeaderSource: "raw"}
	if s.config.FreshUntil != nil {
		if t, ok := s.config.FreshUntil(ctx, site); ok {
			h[HeaderFreshUntil] = t.UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	return h
}

func (s *Service) failed(ctx context.Context, kind Kind, site string, err error) error {
	public, class := engineError(ctx, err)
	s.metrics.errors[kind][class].Inc()
	if class == ClassInternal {
		s.log.ErrorContext(ctx, "query failed", "kind", string(kind), "site", site, "error", err)
	}
	return public
}

// arguments are a statement's parameters as clickhouse-go takes them.
func arguments(params []sqltree.Named) []any {
	list := make([]any, len(params))
	for i, p := range params {
		list[i] = clickhouse.Named(p.Name, argument(p.Value))
	}
	return list
}

func argument(value any) any {
	switch v := value.(type) {
	case sqltree.Tuple:
		return clickhouse.GroupSet{Value: v}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = argument(v[i])
		}
		return list
	}
	return value
}

// accuracy is the value of HeaderResult.
func (r *result) accuracy() string {
	if r.approximate {
		return "approximate"
	}
	return "exact"
}

// approximates reports whether a count of different values in an estimating
// statement may be off.
func approximates(n uint64) bool { return n > insights.UniquesBound-insights.UniquesBound/100 }
