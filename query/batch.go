package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// These are the limits of a batch.
const (
	MaxBatch = 24
	// batchParallel is the number of light queries of a batch that run concurrently. Other queries run one by one,
	// because a turn reserves the memory of only one query.
	batchParallel = 2
	// batchDepth is the number of nesting levels that a batch adds to a query's JSON.
	batchDepth = 2
)

// Connections returns the number of connections to the engine that are needed while `turns` queries or batches run
// concurrently.
func Connections(turns int) int { return batchParallel * turns }

// named is a query of a batch.
type named struct {
	name   string
	of     Report
	body   []byte
	report report // the compiled request
	*query
	live  bool // whether the query is a part of a live answer, which has its own cache
	equal int  // index of an earlier, equal query; -1 if there is no such query
	// found is whether the query has the cached answer `hit`. The query then needs no turn.
	found bool
	hit   resultcache.Result[answer]
	outcome
}

// Batch answers named queries about a site. All preset ranges end at `now`. The queries share one turn and the time
// limit of one query. Their answers and errors are the same as for single queries. Batch itself returns an error only
// if the whole batch fails, for example because it gets no turn.
func (s *Service) Batch(
	ctx context.Context, who Caller, site string, body []byte, now time.Time,
) ([]byte, map[string]string, error) {
	list, err := readBatch(body)
	if err != nil {
		return nil, nil, err
	}
	within, err := s.reach(ctx, who, site, now)
	if err != nil {
		return nil, nil, s.query(Aggregate, who, site).invalid(ctx, err)
	}
	if now, err = s.answerAll(ctx, within, who, list, now); err != nil {
		return nil, nil, err
	}
	answer, headers := batchAnswer(list, within.site.timezone(), now)
	return answer, headers, nil
}

// readBatch reads the queries of a batch, in their order. If a query is invalid, readBatch stores the error in the
// query, and still reads the other queries.
func readBatch(body []byte) (list []*named, err error) {
	if err := checkJSON(body, maxDepth+batchDepth); err != nil {
		return nil, err
	}
	r, queries := newReader(body), false
	err = r.object([]string{"queries"}, func(string) error {
		if r.PeekKind() != jsontext.KindBeginObject {
			return r.refuse("must be an object with a member for each query")
		}
		queries, list = true, nil
		_, _ = r.ReadToken()
		for r.PeekKind() != jsontext.KindEndObject {
			token, _ := r.ReadToken()
			q := &named{name: token.String(), equal: -1}
			q.of, q.body, q.err = readNamed(r.value())
			// If a name occurs twice, the batch has only the last query with this name.
			list = slices.DeleteFunc(list, func(other *named) bool { return other.name == q.name })
			if list = append(list, q); len(list) > MaxBatch {
				return schema.Invalid("queries", fmt.Sprintf("must have at most %d members", MaxBatch))
			}
		}
		_, _ = r.ReadToken()
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !queries:
		return nil, schema.Invalid("queries", "is required")
	case len(list) == 0:
		return nil, schema.Invalid("queries", "must have at least one member")
	}
	return list, nil
}

// readNamed splits a query of a batch into the report's name and the body of the report's request.
func readNamed(value jsontext.Value) (of Report, body []byte, err error) {
	of = Aggregate
	if value.Kind() != jsontext.KindBeginObject {
		// Compiling refuses a value that is not an object, also in a single query.
		return of, value, nil
	}
	r := newReader(value)
	_, _ = r.ReadToken()
	body = []byte{'{'}
	for r.PeekKind() != jsontext.KindEndObject {
		token, _ := r.ReadToken()
		name := token.String()
		switch {
		case name != "report":
			if len(body) > 1 {
				body = append(body, ',')
			}
			body = append(append(insights.AppendText(body, name), ':'), r.value()...)
		case r.PeekKind() == jsontext.KindNull:
			_ = r.SkipValue()
		default:
			word, err := r.text()
			if err != nil {
				return of, nil, err
			}
			if of = Report(word); !slices.Contains(Reports(), of) {
				return Aggregate, nil, schema.Invalid(name, unknown("a report", word, ReportWords()), ReportWords()...)
			}
		}
	}
	return of, append(body, '}'), nil
}

// answerAll answers queries in one turn. A query whose answer is cached takes this answer now: it might no longer be
// valid when the batch gets its turn, and the turn does not include the query's cost. The error of answerAll means that
// the batch got no turn. Equal batches that wait for a turn or run at the same time share one turn and its answers. The
// result is the time at which the presets of the answers end.
func (s *Service) answerAll(
	ctx context.Context, within reach, who Caller, list []*named, now time.Time,
) (time.Time, error) {
	site := within.site.ID
	first := map[string]int{} // the index of the first query with each kind and key
	var distinct []*named
	run, version := false, false
	present := sync.OnceValue(func() siteVersion { return s.versions.current(ctx, site) })
	for i, n := range list {
		if n.query = s.query(n.of, who, site); n.live {
			n.results = s.unshared // the parts end now, so no other query has the same range
		}
		if n.err == nil {
			n.report, n.err = compilers[n.of](within, n.body, now)
		}
		if n.err != nil {
			n.err = n.invalid(ctx, n.err)
			continue
		}
		key := string(n.of) + "\n" + n.report.identity()
		if before, ok := first[key]; ok {
			n.equal = before
			continue
		}
		first[key], distinct = i, append(distinct, n)
		n.report.weigh(n.query)
		n.present = func(context.Context) siteVersion { return present() }
		if n.lacks(n.report.ranges()) == nil {
			n.hit, n.found = n.cached(ctx, n.report.identity())
		}
		if n.found {
			continue
		}
		run, version = true, version || n.cost > lightRows
	}
	if version && s.config.Keep > 0 && s.versions.known(site) == "" {
		present() // the queries do not wait for the version in the time of the batch
	}
	if !run {
		s.runAll(ctx, distinct)
	} else if ended, err := s.runTogether(ctx, who, site, distinct, now, true); err != nil {
		return now, s.query(Aggregate, who, site).failed(ctx, err).public
	} else {
		now = ended
	}
	var bytes atomic.Int64
	for _, n := range list {
		if n.equal >= 0 {
			n.outcome = list[n.equal].outcome
		}
		n.within(ctx, &bytes) // counts also the copies of an answer
	}
	return now, nil
}

// runTogether answers distinct queries in a turn. If an equal batch waits for its turn or runs, the queries get the
// answers of this batch, and its `now`. If the caller of a batch that runs leaves, another caller's batch runs. If
// `first` is true, queries for which the other batch had no time left run again.
func (s *Service) runTogether(
	ctx context.Context, who Caller, site string, list []*named, now time.Time, first bool,
) (time.Time, error) {
	var rows cost
	identity := "batch"
	for _, n := range list {
		identity += "\n" + string(n.of) + "\n" + n.report.identity()
		switch {
		case n.found:
		case n.known:
			rows += n.cost
		default:
			rows += cost(n.cost.weight()) // the cost is an estimate; a light query takes no rows
		}
	}
	asked := time.Now()
	r, err := s.batches.Do(ctx, resultcache.Query[batchRun]{
		Key: resultcache.NewKey(site, identity), Fresh: who.Fresh,
		Enter: func(ctx context.Context) (func(), error) { return s.admission.enter(ctx, who, rows) },
		Run: func(ctx context.Context) (batchRun, error) {
			done := batchRun{began: time.Now(), now: now}
			s.runAll(ctx, list)
			for _, n := range list {
				done.list = append(done.list, n.outcome)
			}
			return done, ctx.Err()
		},
	})
	if err != nil || r.Source == resultcache.Run {
		return now, err
	}
	var late []*named
	for i, n := range list {
		if n.found {
			n.use(ctx)
			continue
		}
		if n.outcome = r.Value.list[i]; n.err == nil {
			n.headers = maps.Clone(n.headers)
			cached, _ := strconv.Atoi(n.headers[headerAge]) // 0 without the header
			n.headers[headerAge] = strconv.Itoa(cached + int(r.Age/time.Second))
			s.metrics.answers[n.kind][resultcache.Shared].Inc()
		} else if ranOut(n.err) && first && asked.Sub(r.Value.began) > s.config.MaxTime/8 {
			late = append(late, n)
		}
	}
	if len(late) > 0 {
		// A part of the time had passed before this batch came, so these queries run again once. If they get no turn,
		// they have the error of the other batch.
		_, _ = s.runTogether(ctx, who, site, late, now, false)
	}
	return r.Value.now, nil
}

// runAll answers distinct queries without a further turn. Queries with a cached answer do not run.
func (s *Service) runAll(ctx context.Context, list []*named) {
	ends := time.Now().Add(s.config.MaxTime)
	var wait sync.WaitGroup
	var bytes atomic.Int64 // of all answers
	room := make(chan struct{}, batchParallel)
	for _, n := range list {
		if n.found {
			continue
		}
		places := batchParallel
		if n.cost <= lightRows {
			places = 1
		}
		for range places {
			room <- struct{}{}
		}
		wait.Go(func() {
			defer func() {
				for range places {
					<-room
				}
			}()
			n.entered, n.start, n.until = true, time.Now(), ends
			n.run(ctx)
			n.within(ctx, &bytes)
		})
	}
	wait.Wait()
	for _, n := range list {
		if n.found {
			n.use(ctx)
			n.within(ctx, &bytes)
		}
	}
}

// use takes the cached answer. Its age includes the time for which the batch waited and ran.
func (n *named) use(ctx context.Context) {
	n.hit.Age = n.results.AgeOf(n.hit.Asked)
	n.answer, n.headers, n.err = n.given(ctx, n.hit)
}

// run answers a query. A panic is an internal error of this query only.
func (n *named) run(ctx context.Context) {
	var crash error
	func() {
		defer schema.CatchPanic(&crash)
		n.answer, n.headers, n.err = n.reported(ctx, n.report, nil)
	}()
	if crash != nil {
		n.outcome = outcome{err: n.failed(ctx, crash).public}
	}
}

// within adds a query's answer to the bytes of a batch's answers. If they are too many, it replaces the answer by an
// error, so that a batch never needs the memory of many large answers.
func (n *named) within(ctx context.Context, bytes *atomic.Int64) {
	if n.err == nil && n.service.config.exceeded(int(bytes.Add(int64(len(n.answer))))) {
		bytes.Add(-int64(len(n.answer)))
		n.outcome = outcome{err: n.failed(ctx, errLargeTogether).public}
	}
}

// batchAnswer writes the answers of queries, with the headers for all of them. `zone` is the time zone of queries that
// name no zone.
func batchAnswer(list []*named, zone string, now time.Time) ([]byte, map[string]string) {
	size := 64*len(list) + len(zone)
	for _, n := range list {
		size += len(n.name) + len(n.answer) + 512 // the headers of most answers are shorter
	}
	b := append(append(make([]byte, 0, size), `{"now":"`...), schema.FormatMoment(ceil(now))...)
	b = append(insights.AppendText(append(b, `","timezone":`...), zone), `,"queries":{`...)
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(insights.AppendText(b, n.name), ':')
		if n.err != nil {
			b = appendFailure(b, n.err)
			continue
		}
		own, _ := json.Marshal(n.headers, json.Deterministic(true)) // texts can always be encoded
		b = append(append(append(b, `{"status":200,"headers":`...), own...), `,"answer":`...)
		b = append(append(b, n.answer...), '}')
	}
	return append(b, `}}`...), headersOf(list)
}

// headersOf returns the headers of several answers. The number of rows read is the sum over the answers that were
// computed for this batch. The time up to which events are included is the earliest time of all answers.
func headersOf(list []*named) map[string]string {
	headers := map[string]string{}
	var read uint64
	for _, n := range list {
		rows, err := strconv.ParseUint(n.headers[headerRowsRead], 10, 64)
		if err == nil && n.equal < 0 && n.headers[headerAge] == "" {
			read += rows
		}
		fresh, earliest := n.headers[headerFreshUntil], headers[headerFreshUntil]
		if fresh != "" && (earliest == "" || fresh < earliest) {
			headers[headerFreshUntil] = fresh
		}
	}
	headers[headerRowsRead] = strconv.FormatUint(read, 10)
	headersOfMost(headers, list, headerMissing, headerComplete, headerMissingRange)
	headersOfMost(headers, list, headerDoubled, headerDoubledRange)
	return headers
}

// headersOfMost copies the header `number` and the headers `more` from the answer in which `number` has the largest
// value.
func headersOfMost(headers map[string]string, list []*named, number string, more ...string) {
	most := int64(0)
	for _, n := range list {
		if rows, err := strconv.ParseInt(n.headers[number], 10, 64); err == nil && rows > most {
			most = rows
			for _, name := range append(more, number) {
				headers[name] = n.headers[name]
			}
		}
	}
}

// appendFailure writes the error of a query in the form of a single query's error.
func appendFailure(b []byte, err error) []byte {
	e, ok := errors.AsType[*schema.Error](err)
	if !ok {
		e = schema.Internal(err)
	}
	body, _ := json.Marshal(e.Body()) // texts can always be encoded
	b = strconv.AppendInt(append(b, `{"status":`...), int64(e.Code), 10)
	if seconds := e.RetryAfterSeconds(); seconds > 0 {
		b = append(b, `,"headers":{"Retry-After":"`+strconv.Itoa(seconds)+`"}`...)
	}
	return append(append(append(b, `,"answer":`...), body...), '}')
}
