package query

import (
	"context"
	"slices"
	"time"
)

// compilers turn a request into a report.
var compilers = map[Report]func(site string, body []byte, now time.Time) (report, error){
	Aggregate: compiler(compile),
	Funnel:    compiler(compileFunnel),
	Retention: compiler(compileRetention),
	Pages:     compiler(compilePages),
}

func compiler[R report](
	compile func(string, []byte, time.Time) (R, error),
) func(string, []byte, time.Time) (report, error) {
	return func(site string, body []byte, now time.Time) (report, error) { return compile(site, body, now) }
}

// Answer answers the request in body for one of the [Reports] on a site. It returns JSON and the answer's headers.
// Every error is a *schema.Error.
func (s *Service) Answer(
	ctx context.Context, who Caller, of Report, site string, body []byte, now time.Time,
) ([]byte, map[string]string, error) {
	q := s.query(of, who, site)
	r, err := s.compile(ctx, of, site, body, now)
	return q.reported(ctx, r, err)
}

// compile turns a request into a report about the site with its own hosts.
func (s *Service) compile(ctx context.Context, of Report, site string, body []byte, now time.Time) (report, error) {
	r, err := compilers[of](site, body, now)
	if err == nil && s.config.Hosts != nil {
		r = r.owning(s.config.Hosts(ctx, site))
	}
	return r, err
}

// reported answers a query with a report. err is the error of its request, if it has one.
func (q *query) reported(ctx context.Context, r report, err error) ([]byte, map[string]string, error) {
	if err != nil {
		return nil, nil, q.invalid(err)
	}
	r.weigh(q)
	return q.shared(ctx, r.identity(), func(ctx context.Context) ([]byte, error) {
		body, err := r.answer(ctx, q)
		if err == nil {
			q.assigned = slices.ContainsFunc(r.sessionScopes(), func(sc scope) bool {
				return q.service.assigned(ctx, sc)
			})
		}
		return body, err
	})
}
