package query

import (
	"context"
	"time"
)

// compilers turn a request into a report.
var compilers = map[Report]func(of reach, body []byte, now time.Time) (report, error){
	Aggregate: compiler(compilePlan),
	Funnel:    compiler(compileFunnel),
	Retention: compiler(compileRetention),
}

func compiler[R report](
	compile func(reach, []byte, time.Time) (R, error),
) func(reach, []byte, time.Time) (report, error) {
	return func(of reach, body []byte, now time.Time) (report, error) { return compile(of, body, now) }
}

// Answer answers the request in body for one of the [Reports] on a site. It returns JSON and the answer's headers.
// Every error is a *schema.Error.
func (s *Service) Answer(
	ctx context.Context, who Caller, of Report, site string, body []byte, now time.Time,
) ([]byte, map[string]string, error) {
	q := s.query(of, who, site)
	within, err := s.reach(ctx, who, site, now)
	if err != nil {
		return q.reported(ctx, nil, err)
	}
	r, err := s.compile(ctx, of, within, body, now)
	return q.reported(ctx, r, err)
}

// compile turns a request into a report about the site with its own hosts.
func (s *Service) compile(ctx context.Context, of Report, within reach, body []byte, now time.Time) (report, error) {
	r, err := compilers[of](within, body, now)
	if err == nil && s.config.Hosts != nil {
		r = r.owning(s.config.Hosts(ctx, within.site))
	}
	return r, err
}

// reported answers a query with a report. err is the error of its request, if it has one.
func (q *query) reported(ctx context.Context, r report, err error) ([]byte, map[string]string, error) {
	if err != nil {
		return nil, nil, q.invalid(err)
	}
	r.weigh(q)
	q.within = r.span()
	return q.shared(ctx, r.identity(), func(ctx context.Context) ([]byte, error) { return r.answer(ctx, q) })
}
