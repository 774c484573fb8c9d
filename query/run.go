package query

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
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
	config  Config
	conn    driver.Conn
	metrics *Metrics
	log     *slog.Logger
}

// New makes a service that runs its statements on conn, a connection of the
// native protocol to the database of the events table.
func New(c Config, conn driver.Conn, m *Metrics) *Service {
	log := c.Log
	if log == nil {
		log = slog.Default()
	}
	return &Service{config: c, conn: conn, metrics: m, log: log}
}

// Aggregate answers the aggregate request in body about a site. The result is
// JSON and the headers that go with it; every error is a *schema.Error.
func (s *Service) Aggregate(ctx context.Context, site string, body []byte, now time.Time) ([]byte, map[string]string, error) {
	start := time.Now()
	p, err := compile(site, body, now)
	if err != nil {
		s.metrics.errors[KindAggregate][ClassInvalid].Inc()
		return nil, nil, err
	}
	// Read before the rows are, so that it never promises too much.
	headers := s.headers(ctx, site)
	r, err := s.aggregate(ctx, p)
	if err != nil {
		return nil, nil, s.failed(ctx, KindAggregate, site, err)
	}
	headers[HeaderResult] = r.accuracy()
	headers[HeaderRowsRead] = strconv.FormatUint(r.rowsRead, 10)
	s.metrics.done(KindAggregate, start, r.rowsRead)
	return r.body, headers, nil
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

func (s *Service) aggregate(ctx context.Context, p plan) (*result, error) {
	r, err := s.collect(ctx, p)
	if err != nil && outOfMemory(err) && p.counts() && !p.estimate {
		s.metrics.bounded.Inc()
		r, err = s.collect(ctx, p.bounded())
	}
	return r, err
}

func (s *Service) collect(ctx context.Context, p plan) (*result, error) {
	st := lower(p)
	e := newEncoder(p, st)
	rowsRead, err := s.rows(ctx, st.Statement, e.targets, e.row)
	if err != nil {
		return nil, err
	}
	return e.result(rowsRead), nil
}

// rows runs a statement and calls each for every row, scanned into targets.
func (s *Service) rows(ctx context.Context, st sqltree.Statement, targets []any, each func()) (rowsRead uint64, err error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	ctx = clickhouse.Context(ctx,
		clickhouse.WithSettings(s.config.settings()),
		clickhouse.WithProgress(func(p *clickhouse.Progress) { rowsRead += p.Rows }))
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
	return rowsRead, nil
}

// errQueryTime ends a query that the engine itself did not end in time.
var errQueryTime = errors.New("the query ran too long")

// grace is what the engine gets on top of MaxTime to report its own limit,
// which it looks at between blocks.
const grace = 2 * time.Second

// limited bounds a statement's time. The context shows no deadline, because
// clickhouse-go would replace the setting max_execution_time by it, plus five
// seconds.
func (s *Service) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.MaxTime+grace, errQueryTime)
	return noDeadline{ctx}, cancel
}

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
