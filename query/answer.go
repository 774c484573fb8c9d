package query

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// compilers maps each report to the function that compiles the report's requests.
var compilers = map[Report]func(of reach, body []byte, now time.Time) (report, error){
	Aggregate:   compiler(compilePlan),
	Funnel:      compiler(compileFunnel),
	Retention:   compiler(compileRetention),
	Transitions: compiler(compileTransitions),
	Pages:       compiler(compilePages),
}

func compiler[R report](
	compile func(reach, []byte, time.Time) (R, error),
) func(reach, []byte, time.Time) (report, error) {
	return func(of reach, body []byte, now time.Time) (report, error) { return compile(of, body, now) }
}

// Answer answers the request in `body` for one of the [Reports] on a site. It returns JSON and the answer's headers.
// Every error is a *schema.Error.
func (s *Service) Answer(
	ctx context.Context, who Caller, of Report, site string, body []byte, now time.Time,
) ([]byte, map[string]string, error) {
	q := s.query(of, who, site)
	within, err := s.reach(ctx, who, site, now)
	if err != nil {
		return q.reported(ctx, nil, err)
	}
	r, err := compilers[of](within, body, now)
	return q.reported(ctx, r, err)
}

// site returns the data about a site that a query needs.
func (s *Service) site(ctx context.Context, id string) (Site, error) {
	if s.config.Site == nil {
		return Site{ID: id}, nil
	}
	site, err := s.config.Site(ctx, id)
	if err != nil {
		return Site{}, fmt.Errorf("%w: %w", errSite, err)
	}
	site.ID = id
	return site, nil
}

// reported answers a query by running its compiled report. `err` is the error of compiling the request, or nil.
func (q *query) reported(ctx context.Context, r report, err error) ([]byte, map[string]string, error) {
	if err != nil {
		return nil, nil, q.invalid(ctx, err)
	}
	if err := q.lacks(r.ranges()); err != nil {
		return nil, nil, q.failed(ctx, err).public
	}
	r.weigh(q)
	q.within, q.lasts = r.span(), r.lasts(q.service.config.slowAge())
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
