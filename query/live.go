package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Times of a live answer.
const (
	// LiveMinutes is the number of minutes that a live answer shows. The last one has just begun.
	LiveMinutes = 30
	// ActiveMinutes is how long a visitor counts as active.
	ActiveMinutes = 5
	// LiveTop is the number of pages, sources and countries of a live answer.
	LiveTop = 10
)

// liveQueries are the parts of a live answer: members of aggregate requests. A bot counts as an agent.
var liveQueries = []struct {
	name   string
	active bool // whether the range is the time of active visitors
	body   string
}{
	{"active", true, `"select":[{"column":"peopleCount"}],` + ofPeople},
	{"activeAgents", true, `"select":[{"column":"visitorsCount"}],` + ofAgents},
	{"events", false, perMinute + `{"column":"eventsCount"}]`},
	{"people", false, perMinute + `{"column":"peopleCount"}],` + ofPeople},
	{"agents", false, perMinute + `{"column":"visitorsCount"}],` + ofAgents},
	{"pages", false, top("page")},
	{"sources", false, top("referrerDomain")},
	{"countries", false, top("visitorGeoCountry")},
}

// LiveParts returns the members of a live answer that are answers of queries.
func LiveParts() []string {
	names := make([]string, len(liveQueries))
	for i, part := range liveQueries {
		names[i] = part.name
	}
	return names
}

const (
	perMinute = `"fill":true,"groupBy":[{"column":"datetime","interval":"minute"}],"select":[{"column":"datetime"},`
	ofPeople  = `"where":[{"column":"visitorBot","values":[""]}]`
	ofAgents  = `"where":[{"column":"visitorBot","operator":"notIn","values":[""]}]`
)

// top returns the members that request the column's values with the most visitors.
func top(column string) string {
	return fmt.Sprintf(`"groupBy":[{"column":%[1]q}],"select":[{"column":%[1]q},{"column":"visitorsCount"},`+
		`{"column":"eventsCount"}],"limit":%[2]d,"order":{"by":{"column":"visitorsCount"},"direction":"desc"}`,
		column, LiveTop)
}

// Live answers what happens on a site now: its visitors, minutes, pages, sources and countries. All callers of a site
// share an answer for a moment.
func (s *Service) Live(ctx context.Context, who Caller, site string, now time.Time) ([]byte, map[string]string, error) {
	r, err := s.live.Do(ctx, resultcache.Query[answer]{
		Key: resultcache.NewKey(site, "live"), Fresh: who.Fresh,
		Enter: func(context.Context) (func(), error) { return func() {}, nil }, // answerAll waits for a turn
		Run:   func(ctx context.Context) (answer, error) { return s.liveAnswer(ctx, who, site, now) },
	})
	if _, public := errors.AsType[*schema.Error](err); err != nil && !public {
		err = s.query(Aggregate, who, site).failed(ctx, err).public
	}
	if err != nil {
		return nil, nil, err
	}
	headers := maps.Clone(r.Value.headers)
	if r.Source != resultcache.Run {
		headers[headerAge] = strconv.Itoa(int(r.Age / time.Second))
	}
	return r.Value.body, headers, nil
}

// liveAnswer computes a live answer. An error of one part is the error of all.
func (s *Service) liveAnswer(ctx context.Context, who Caller, site string, now time.Time) (answer, error) {
	now = ceil(now)
	from := now.Add(-time.Millisecond).Truncate(time.Minute).Add(-(LiveMinutes - 1) * time.Minute)
	list := make([]*named, len(liveQueries))
	for i, part := range liveQueries {
		begin := from
		if part.active {
			begin = now.Add(-ActiveMinutes * time.Minute)
		}
		body := fmt.Appendf(nil, `{"range":{"from":%q,"to":%q},%s}`,
			begin.UTC().Format(time.RFC3339Nano), now.UTC().Format(time.RFC3339Nano), part.body)
		list[i] = &named{name: part.name, of: Aggregate, equal: -1, body: body}
	}
	if err := s.answerAll(ctx, who, site, list, now); err != nil {
		return answer{}, err
	}
	b := append([]byte(`{"object":"insights-live","now":"`), schema.FormatMoment(now)...)
	b = append(append(append(b, `","from":"`...), schema.FormatMoment(from)...), '"')
	for _, n := range list {
		if n.err != nil {
			return answer{}, n.err
		}
		b = append(append(insights.AppendText(append(b, ','), n.name), ':'), n.answer...)
	}
	return answer{append(b, '}'), headersOf(list)}, nil
}
