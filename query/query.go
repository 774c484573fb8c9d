package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// These are the headers of answers.
const (
	// headerResult is "exact" or "approximate".
	headerResult = "Octavo-Result"
	// headerSource is "raw" if all rows came from events. It is "visits" or "states" if some rows came from visits or
	// states.
	headerSource = "Octavo-Source"
	// headerBound is the error bound of an approximate count.
	headerBound = "Octavo-Error-Bound"
	// headerTruncated is "true" if there are more rows than the limit.
	headerTruncated = "Octavo-Truncated"
	// headerRowsRead is the number of rows that the store read to make the answer. A shared answer (with an Age)
	// repeats the number, although no rows were read for its caller.
	headerRowsRead = "Octavo-Rows-Read"
	// headerRange is the range of the events that segments were counted in: from and to.
	headerRange = "Octavo-Range"
	// headerSessions is "approximate" if the answer has sessions that nodes assigned. Other answers do not have it.
	headerSessions = "Octavo-Sessions"
	// headerFreshUntil is the time up to which the answer has the site's events.
	headerFreshUntil = "Octavo-Fresh-Until"
)

// query is the engine's work for one call. Each kind of report has separate code for plans and rows. Admission, time,
// metrics and headers are the same for all kinds.
type query struct {
	service *Service
	kind    Report
	site    string
	who     Caller
	start   time.Time
	ends    time.Time // deadline of all statements of the query
	until   time.Time // deadline of the batch; zero without a batch
	// results shares the query's answer with equal queries.
	results *resultcache.Cache[answer]
	// present reads the version of the site's events. The queries of a batch share one reading.
	present func(context.Context) siteVersion
	entered bool // whether the batch has already taken a turn for this query
	// spills lets the engine write groups to disk if they exceed a quarter of the query's memory. It also lets the
	// engine write joined sessions to disk if they exceed an eighth of the memory. `spills` is set for reports whose
	// callers cannot limit the number of groups, and after a join has exceeded the memory.
	spills bool
	// joins is set if statements join events and sessions.
	joins bool
	// passes is set if statements group events by session in one pass. The engine writes the groups to disk before the
	// query's memory is full.
	passes bool
	// most is the largest number of rows that a statement may return; 0 means the usual limit.
	most int
	// mostInSet is the largest number of rows in the result of a subquery after IN. A statement whose subquery returns
	// more rows fails: see tooManyInSet. 0 means no limit.
	mostInSet uint64
	size
	lasts      time.Duration // how long a cached answer is used while the site's events do not change
	freshUntil string        // the time at which a cached answer was found to be current

	held     int      // bytes of the rows from which the query writes its answer
	holds    int      // how many times the bytes of an answer these rows may have; 0 means once
	later    []string // keys of states that a later query may build
	rowsRead uint64
	source   source // where the statement's rows come from
	// summary is the name of the source that replaced at least some events; "" if all statements read events
	summary     string
	approximate insights.Counting        // counting method of an estimated distinct count
	truncated   bool                     // whether there are rows after the limit
	assigned    bool                     // whether there may be sessions that nodes assigned
	within      scope                    // within has the answer's range if the request does not name a range
	ranges      []scope                  // ranges whose events the answer needs
	missing     []schema.MissingRows     // rows that the store may lack in the ranges
	ran         func(ExplainedStatement) // ran receives each statement. Only Explain sets it.
}

func (s *Service) query(kind Report, who Caller, site string) *query {
	return &query{
		service: s, kind: kind, who: who, site: site, start: time.Now(), source: rawEvents, results: s.results,
		present: func(ctx context.Context) siteVersion { return s.versions.current(ctx, site) },
	}
}

// invalid records a request that is refused before it runs. If the request is not the cause of the error, `invalid`
// records a failure of the service.
func (q *query) invalid(ctx context.Context, err error) error {
	e, public := errors.AsType[*schema.Error](err)
	if errors.Is(err, errSite) || !public || classOf(e) != classInvalid {
		return q.failed(ctx, err).public
	}
	q.service.metrics.errors[q.kind][classInvalid].Inc()
	return err
}

// ExplainedStatement is a statement that read rows or built aggregate states. If an exact count ran out of memory, the
// next statement is the repetition in bounded memory.
type ExplainedStatement struct {
	SQL            string
	Source         string // the source of the statement's rows, as in the answer's header
	Params         []sqltree.Named
	Rows, RowsRead uint64
	Took           time.Duration // time until the last row was read
	Err            error         // error of the engine
}

// admitted runs a query that has its turn, within the query's time. It returns the answer and its headers, or an
// error that a client may see.
func (q *query) admitted(ctx context.Context, work answerFunc) (answer, error) {
	s := q.service
	s.metrics.running.Inc()
	defer s.metrics.running.Dec()
	bounded, cancel := context.WithTimeoutCause(ctx, s.config.MaxTime+s.grace, errQueryTime)
	defer cancel()
	if q.ends = q.until; q.ends.IsZero() {
		q.ends = time.Now().Add(s.config.MaxTime)
	}
	headers := map[string]string{headerResult: "exact"}
	// FreshUntil is read before the statement's rows. So the header never names a time whose events the rows may lack.
	if t := s.config.freshUntil(bounded, q.site); t != "" {
		headers[headerFreshUntil] = t
	}
	body, err := work(noDeadline{bounded})
	if err == nil && s.config.exceeded(len(body)) {
		err = errLarge
	}
	if err != nil {
		return answer{}, q.failed(ctx, err)
	}
	headers[headerSource] = cmp.Or(q.summary, rawEvents.name)
	if q.approximate != insights.CountExact {
		headers[headerResult], headers[headerBound] = "approximate", errorBounds[q.approximate]
	}
	if q.truncated {
		headers[headerTruncated] = "true"
	}
	if q.assigned {
		headers[headerSessions] = "approximate"
	}
	if !q.within.to.IsZero() {
		headers[headerRange] = schema.FormatMoment(q.within.from) + "/" + schema.FormatMoment(q.within.to)
	}
	headers[headerRowsRead] = strconv.FormatUint(q.rowsRead, 10)
	s.metrics.rowsRead[q.kind].Add(float64(q.rowsRead))
	return answer{body, headers}, nil
}

// failure is the error of a query that ran.
type failure struct {
	public *schema.Error // the error that the caller gets
	class  class
}

func (f *failure) Error() string { return f.public.Error() }
func (f *failure) Unwrap() error { return f.public }

// failed counts and logs an error.
func (q *query) failed(ctx context.Context, err error) *failure {
	if (q.joins || q.passes) && outOfMemory(err) {
		err = fmt.Errorf("%w: %w", errSessions, err)
	}
	public, class := engineError(ctx, err)
	if public.Message == tooHeavy {
		public.Message = q.lighter(err, q.rowsRead, q.service.config.MaxRowsRead)
	}
	if class == classInvalid && !slices.Contains([]Report{Aggregate, Pages, Transitions}, q.kind) {
		// the engine does not report which condition has the pattern
		public = schema.BadRequest("a where " + badPattern)
	}
	q.service.metrics.errors[q.kind][class].Inc()
	damage := schema.DamageOf(public)
	if damage != nil && damage.Store == schema.StoreEvents && q.service.config.Damaged != nil {
		q.service.config.Damaged(damage.Err)
	}
	if class == classInternal || damage != nil {
		q.service.log.ErrorContext(ctx, "query failed", "kind", string(q.kind), "site", q.site, "error", err)
	}
	return &failure{public, class}
}

// answerFunc makes the JSON of an answer.
type answerFunc func(context.Context) ([]byte, error)

// report is a compiled request.
type report interface {
	String() string
	identity() string // see scope.key
	span() scope      // see scope.span
	// lasts returns how long the answer can be reused while the site's events do not change. It returns 0 if the answer
	// also uses other data.
	lasts(moving time.Duration) time.Duration
	// weigh sets the query's cost.
	weigh(q *query)
	// ranges returns the ranges whose events the report reads.
	ranges() []scope
	// sessionScopes returns the scopes for which the answer reads the sessions of events.
	sessionScopes() []scope
	// answer runs the report's statements.
	answer(ctx context.Context, q *query) ([]byte, error)
}
