package query

import (
	"context"
	"time"
)

// compilers turn a request into a report.
var compilers = map[Report]func(site string, body []byte, now time.Time) (report, error){
	Aggregate: compiler(compile),
	Funnel:    compiler(compileFunnel),
	Retention: compiler(compileRetention),
}

func compiler[R report](
	compile func(string, []byte, time.Time) (R, error),
) func(string, []byte, time.Time) (report, error) {
	return func(site string, body []byte, now time.Time) (report, error) { return compile(site, body, now) }
}

// report is a compiled request.
type report interface {
	String() string
	identity() string // scope.key
	// weigh sets the query's cost.
	weigh(q *query)
	// answer runs the report's statements.
	answer(ctx context.Context, q *query) ([]byte, error)
}

// Answer answers the request in body for one of the [Reports] on a site. It returns JSON and the answer's headers.
// Every error is a *schema.Error.
func (s *Service) Answer(
	ctx context.Context, who Caller, of Report, site string, body []byte, now time.Time,
) ([]byte, map[string]string, error) {
	q := s.query(of, who, site)
	r, err := compilers[of](site, body, now)
	return q.reported(ctx, r, err)
}

// reported answers a query with a report. err is the error of its request, if it has one.
func (q *query) reported(ctx context.Context, r report, err error) ([]byte, map[string]string, error) {
	if err != nil {
		return nil, nil, q.invalid(err)
	}
	r.weigh(q)
	return q.shared(ctx, r.identity(), func(ctx context.Context) ([]byte, error) { return r.answer(ctx, q) })
}
