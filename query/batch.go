package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
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
	equal int // index of an earlier, equal query; -1 if there is no such query
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
	if err := s.answerAll(ctx, within, who, list, now); err != nil {
		return nil, nil, err
	}
	answer, headers := batchAnswer(list, now)
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

// answerAll answers queries in one turn. Its error means that the batch got no turn. Equal batches that wait for a turn
// or run at the same time share one turn and its answers.
func (s *Service) answerAll(ctx context.Context, within reach, who Caller, list []*named, now time.Time) error {
	site := within.site.ID
	var rows cost
	first := map[string]int{} // the index of the first query with each kind and key
	var distinct []*named
	run, identity := false, "batch"
	for i, n := range list {
		n.query = s.query(n.of, who, site)
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
		identity += "\n" + key
		if !who.Fresh && s.results.Has(n.key(n.report.identity())) {
			continue
		}
		n.report.weigh(n.query)
		run = true
		if n.known {
			rows += n.cost
		} else {
			rows += cost(n.cost.weight()) // the cost is an estimate; a light query takes no rows
		}
	}
	if !run {
		s.runAll(ctx, distinct)
	} else if err := s.runTogether(ctx, who, resultcache.NewKey(site, identity), rows, distinct); err != nil {
		return s.query(Aggregate, who, site).failed(ctx, err).public
	}
	for _, n := range list {
		if n.equal >= 0 {
			n.outcome = list[n.equal].outcome
		}
	}
	return nil
}

// runTogether answers distinct queries in a turn. If an equal batch waits for its turn or runs, the queries get the
// answers of this batch. `key` identifies the queries of the batch. If the caller of a batch that runs leaves, another
// caller's batch runs.
func (s *Service) runTogether(
	ctx context.Context, who Caller, key resultcache.Key, rows cost, list []*named,
) error {
	r, err := s.batches.Do(ctx, resultcache.Query[[]outcome]{
		Key: key, Fresh: who.Fresh,
		Enter: func(ctx context.Context) (func(), error) { return s.admission.enter(ctx, who, rows) },
		Run: func(ctx context.Context) (all []outcome, err error) {
			s.runAll(ctx, list)
			for _, n := range list {
				all = append(all, n.outcome)
			}
			return all, ctx.Err()
		},
	})
	if err != nil || r.Source == resultcache.Run {
		return err
	}
	for i, n := range list {
		if n.outcome = r.Value[i]; n.err == nil {
			n.headers = maps.Clone(n.headers)
			cached, _ := strconv.Atoi(n.headers[headerAge]) // 0 without the header
			n.headers[headerAge] = strconv.Itoa(cached + int(r.Age/time.Second))
			s.metrics.answers[n.kind][resultcache.Shared].Inc()
		}
	}
	return nil
}

// runAll answers distinct queries without a further turn.
func (s *Service) runAll(ctx context.Context, list []*named) {
	ends := time.Now().Add(s.config.MaxTime)
	var wait sync.WaitGroup
	room := make(chan struct{}, batchParallel)
	for _, n := range list {
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
			n.answer, n.headers, n.err = n.reported(ctx, n.report, nil)
		})
	}
	wait.Wait()
}

// batchAnswer writes the answers of queries, with the headers for all of them.
func batchAnswer(list []*named, now time.Time) ([]byte, map[string]string) {
	b := append([]byte(`{"now":`), `"`+schema.FormatMoment(ceil(now))+`","queries":{`...)
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
