package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// These are times of a live answer, in minutes.
const (
	// LiveMinutes is the number of minutes that a live answer shows. The last minute is the current minute, which is
	// not over.
	LiveMinutes = 30
	// ActiveMinutes is the number of minutes for which a visitor is regarded as active after an event.
	ActiveMinutes = 5
)

// LiveParts returns the names of those members of a live answer that are answers of queries.
func LiveParts() []string {
	parts := insights.LiveQueries()
	names := make([]string, len(parts))
	for i, part := range parts {
		names[i] = part.Name
	}
	return names
}

// Live returns the present activity on a site: visitors, minutes, pages, paths, sources and countries. Callers with the
// same segments and the same view share an answer for a short time.
func (s *Service) Live(
	ctx context.Context, who Caller, site string, segments []string, now time.Time,
) ([]byte, map[string]string, error) {
	within, err := s.reach(ctx, who, site, now)
	if err == nil && len(segments) > MaxSegments {
		err = schema.Invalid("segments",
			fmt.Sprintf("must have at most %d entries, not %d", MaxSegments, len(segments)))
	}
	var key string
	if err == nil {
		key, err = within.key(segments)
	}
	if err != nil {
		return nil, nil, s.query(Aggregate, who, site).invalid(ctx, err)
	}
	r, err := s.live.Do(ctx, resultcache.Query[answer]{
		Key: resultcache.NewKey(site, "live\n"+within.site.timezone()+"\n"+key), Fresh: who.Fresh,
		Enter: func(context.Context) (func(), error) { return func() {}, nil }, // answerAll waits for a turn
		Run:   func(ctx context.Context) (answer, error) { return s.liveAnswer(ctx, within, who, segments, now) },
		// A caller whose token has used up its share gets no turn. Other tokens may have room. So a caller waits once
		// more after the refusal of the caller before it, and not after each refusal.
		Own:      func(err error) bool { return errors.Is(err, errTokenShare) },
		Patience: s.config.QueueWait * 3 / 2,
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

// liveAnswer computes a live answer. If one part fails, the whole answer fails.
func (s *Service) liveAnswer(
	ctx context.Context, within reach, who Caller, segments []string, now time.Time,
) (answer, error) {
	in, _ := json.Marshal(segments) // within.key has already found these segments, so their ids are texts
	now = ceil(now)
	from := now.Add(-time.Millisecond).Truncate(time.Minute).Add(-(LiveMinutes - 1) * time.Minute)
	parts := insights.LiveQueries()
	list := make([]*named, len(parts))
	for i, part := range parts {
		begin := from
		if part.Active {
			begin = now.Add(-ActiveMinutes * time.Minute)
		}
		body := fmt.Appendf(nil, `{"range":{"from":%q,"to":%q},"segments":%s,%s}`,
			begin.UTC().Format(time.RFC3339Nano), now.UTC().Format(time.RFC3339Nano), in, part.Members)
		list[i] = &named{name: part.Name, of: Aggregate, live: true, equal: -1, body: body}
	}
	if _, err := s.answerAll(ctx, within, who, list, now); err != nil {
		return answer{}, err
	}
	b := append([]byte(`{"object":"insights-live","now":"`), schema.FormatMoment(now)...)
	b = append(append(append(b, `","from":"`...), schema.FormatMoment(from)...), `","timezone":`...)
	b = insights.AppendText(b, within.site.timezone())
	for _, n := range list {
		if n.err != nil {
			return answer{}, n.err
		}
		b = append(append(insights.AppendText(append(b, ','), n.name), ':'), n.answer...)
	}
	return answer{append(b, '}'), headersOf(list)}, nil
}
