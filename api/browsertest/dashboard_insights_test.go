package browsertest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
)

// madeUp answers queries with figures that it computes from the text of a query. So the page and the test, which sends
// the same query to the API, get the same figures.
type madeUp struct {
	mu sync.Mutex
	// If refuse is set, each batch fails with this error. `broken` has the names of queries that fail while the other
	// queries of their batch succeed.
	refuse error
	broken map[string]bool
	// rows has the values of the columns by which lists are grouped. `keys` has other values for some columns.
	rows []any
	keys map[string][]any
	// former has values that only the earlier range has. So the list of the compared range has rows that the current
	// range's list lacks. If `former` is nil, answers do not name their compared range.
	former []any
	// zero means that all counts are 0. `allRead` means that each page was opened.
	zero, allRead bool
	// zone is the time zone of the site; "" means UTC.
	zone string
	// batches is the number of batches so far.
	batches int
}

// set changes the settings that determine the answers.
func (m *madeUp) set(change func(*madeUp)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

type madeUpQuery struct {
	Report  query.Report
	Range   any
	Select  []struct{ Column string }
	GroupBy []struct{ Column, Interval string }
	Compare string
	Limit   int
	// NeverRead is set in queries for lists of pages without events.
	NeverRead bool
	// Steps are the steps of a funnel.
	Steps []json.RawMessage
}

func (m *madeUp) Batch(
	_ context.Context, from schema.QueryOrigin, body []byte,
) ([]byte, map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.batches++
	if m.refuse != nil {
		return nil, nil, m.refuse
	}
	var batch struct{ Queries map[string]json.RawMessage }
	if err := json.Unmarshal(body, &batch); err != nil {
		return nil, nil, err
	}
	answers := map[string]any{}
	for name, text := range batch.Queries {
		if m.broken[name] {
			answers[name] = map[string]any{
				"status": 400, "headers": map[string]string{},
				"answer": map[string]any{"error": map[string]any{"code": 400, "message": "the query is too heavy"}},
			}
			continue
		}
		var q madeUpQuery
		if err := json.Unmarshal(text, &q); err != nil {
			return nil, nil, err
		}
		var answer map[string]any
		switch q.Report {
		case query.Aggregate, "":
			answer = m.answer(from.SiteID, string(text), q)
		case query.Pages:
			answer = m.pages(from.SiteID, string(text), q)
		case query.Funnel:
			answer = m.funnel(from.SiteID, string(text), q)
		case query.Retention:
			answer = m.retention(from.SiteID, string(text))
		case query.Transitions:
			answer = m.transitions(from.SiteID, string(text))
		}
		answers[name] = map[string]any{
			"status": 200, "answer": answer,
			"headers": map[string]string{"Octavo-Result": "exact", "Octavo-Fresh-Until": "2026-11-28T12:00:00.000Z"},
		}
	}
	answer, err := json.Marshal(map[string]any{
		"now": "2026-11-28T12:00:00.000Z", "timezone": cmp.Or(m.zone, "UTC"), "queries": answers,
	})
	return answer, nil, err
}

// pages returns the answer to a query for a list of pages. The list has a page of a space, a removed page, and paths.
func (m *madeUp) pages(site, text string, q madeUpQuery) map[string]any {
	items := []any{}
	for at, key := range m.rows {
		if strings.Contains(text, `"or":`) && at < 2 {
			continue // the first two pages of agents were not read by people
		}
		metrics := map[string]any{}
		for _, column := range q.Select {
			metrics[column.Column] = m.value(column.Column, fmt.Sprint(site, text, at))
			if q.NeverRead {
				metrics[column.Column] = 0
			}
		}
		if q.NeverRead && m.allRead {
			break
		}
		row := map[string]any{
			"kind": "path", "space": nil, "page": nil, "path": "/" + strings.Trim(fmt.Sprint(key), "/"), "title": key,
			"owner": nil, "editedAt": nil, "words": nil, "metrics": metrics,
		}
		if at < 2 {
			row["kind"], row["space"], row["page"] = []string{"current", "removed"}[at], "s1", fmt.Sprint("p", at)
			row["owner"] = map[string]any{"id": "u1", "displayName": "Ann"}
			row["editedAt"], row["words"] = "2026-03-01T00:00:00.000Z", 1234
		}
		items = append(items, row)
	}
	count := len(items)
	if q.Limit > 0 && count > q.Limit {
		items = items[:q.Limit]
	}
	return map[string]any{"object": "insights-pages", "items": items, "count": count}
}

// funnel returns the steps of a funnel. Half of the visitors of a step reach the next step.
func (m *madeUp) funnel(site, text string, q madeUpQuery) map[string]any {
	first := m.value("steps", site+text).(int)
	steps := []any{}
	for at := range q.Steps {
		n := first >> at
		step := map[string]any{"count": n, "conversion": nil, "conversionFromPrevious": nil}
		if first > 0 {
			step["conversion"], step["conversionFromPrevious"] = float64(n)/float64(first), 0.5
		}
		steps = append(steps, step)
	}
	return map[string]any{"steps": steps}
}

// transitions returns the pages before and after a page: a page of a space, and paths. Each row has fewer views than
// the row before it.
func (m *madeUp) transitions(site, text string) map[string]any {
	left := map[string]int{}
	side := func(name string) []any {
		rows := []any{}
		left[name] = m.value("steps", site+text+name).(int)
		all := left[name]
		for at, key := range m.rows {
			row := map[string]any{
				"space": nil, "page": nil, "path": "/" + strings.Trim(fmt.Sprint(key), "/"), "title": nil,
				"views": all >> (at + 2),
			}
			if at == 0 {
				row["space"], row["page"], row["title"] = "s1", "p7", fmt.Sprint("Page ", key)
			}
			if all>>(at+2) == 0 || at == 10 {
				break
			}
			rows, left[name] = append(rows, row), left[name]-row["views"].(int)
		}
		return rows
	}
	answer := map[string]any{"from": side("from"), "to": side("to")}
	from, to := m.value("steps", site+text+"from").(int), m.value("steps", site+text+"to").(int)
	answer["reloads"] = from % 7
	answer["entries"] = to + from%11
	answer["exits"] = from + from%11
	answer["views"] = from + to + from%11 + from%7
	return answer
}

// retention returns three cohorts. The second cohort is empty.
func (m *madeUp) retention(site, text string) map[string]any {
	cohorts := []any{}
	for at := range 3 {
		visitors := m.value("cohorts", fmt.Sprint(site, text, at)).(int)
		if at == 1 {
			visitors = 0
		}
		returned := []int{}
		for later := range 3 - at {
			returned = append(returned, visitors/(later+1))
		}
		cohorts = append(cohorts, map[string]any{
			"start":    schema.FormatMoment(time.Date(2026, 11, 22+at, 0, 0, 0, 0, time.UTC)),
			"visitors": visitors, "returned": returned,
		})
	}
	return map[string]any{"cohorts": cohorts}
}

// answer returns the columns of the answer to a query, for its range and for the compared range.
func (m *madeUp) answer(site, text string, q madeUpQuery) map[string]any {
	keys, all := []any{nil}, len(m.rows)
	if len(q.GroupBy) > 0 {
		column := q.GroupBy[0].Column
		if keys = m.keys[column]; len(keys) == 0 || len(m.rows) == 0 {
			keys = m.rows
		}
		if moments, ok := q.Range.(map[string]any); ok && strings.Contains(fmt.Sprint(moments["from"]), "T") {
			keys = append(slices.Clone(keys), m.former...)
		}
		if all = len(keys); column == "datetime" {
			keys = nil
			for day := range 7 {
				keys = append(keys, schema.FormatMoment(time.Date(2026, 11, 22+day, 0, 0, 0, 0, time.UTC)))
			}
		} else if q.Limit > 0 && len(keys) > q.Limit {
			keys = keys[:q.Limit]
		}
	}
	columns := func(salt string) []any {
		var all []any
		for at, column := range q.Select {
			var values []any
			for i, key := range keys {
				switch {
				case len(q.GroupBy) > 0 && at == 0:
					values = append(values, key)
				case at < len(q.GroupBy):
					values = append(values, m.key(q.GroupBy[at].Column, i))
				case column.Column == "datetime": // the value is the time of the last event
					values = append(values, schema.FormatMoment(time.Date(2026, 11, 28, 11, 50-i, 0, 0, time.UTC)))
				default:
					values = append(values, m.value(column.Column, fmt.Sprint(site, text, salt, i)))
				}
			}
			all = append(all, map[string]any{"column": column.Column, "values": values})
		}
		return all
	}
	answer := map[string]any{"columns": columns(""), "rowsTotal": all}
	if q.Compare != "" {
		compared := map[string]any{"columns": columns("before")}
		if m.former != nil {
			compared["range"] = map[string]any{"from": "2026-11-14T00:00:00.000Z", "to": "2026-11-21T00:00:00.000Z"}
		}
		answer["compare"] = compared
	}
	return answer
}

// key returns the value that a row has in another column by which the list is grouped.
func (m *madeUp) key(column string, row int) any {
	keys := m.keys[column]
	if len(keys) == 0 {
		keys = m.rows
	}
	return keys[row%len(keys)]
}

func (m *madeUp) value(column, seed string) any {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(column + seed))
	n := int(hash.Sum32() % 100_000)
	if m.zero {
		n = 0
	}
	rated := min(n, 1) // a share of no ratings is not a number
	switch column {
	case "askResponseRating":
		return map[string]int{"positive": rated + n%88, "negative": n % 11}
	case "meanScrollDepth":
		return float64(n % 101)
	case "pageFeedbackRating":
		return map[string]int{"good": rated + n%96, "ok": n % 13, "bad": n % 7}
	case "engagedTime":
		return float64(n%600) / 2
	}
	return n
}

func (m *madeUp) Answer(
	ctx context.Context, from schema.QueryOrigin, _ query.Report, body []byte,
) ([]byte, map[string]string, error) {
	return m.Batch(ctx, from, fmt.Appendf(nil, `{"queries":{"it":%s}}`, body))
}

func (*madeUp) SettingsChanged(string) {}

// Live returns the people and agents of each of thirty minutes, and their places.
func (m *madeUp) Live(_ context.Context, from schema.QueryOrigin, _ []string) ([]byte, map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	began := time.Date(2026, 11, 28, 11, 31, 0, 0, time.UTC)
	live := map[string]any{
		"object": "insights-live", "now": "2026-11-28T12:00:00.000Z", "from": schema.FormatMoment(began),
		"timezone": cmp.Or(m.zone, "UTC"),
	}
	for _, part := range query.LiveParts() {
		live[part] = map[string]any{"columns": []any{}}
	}
	for part, column := range map[string]string{
		"events": "eventsCount", "people": "peopleCount", "agents": "visitorsCount",
	} {
		var minutes, values []any
		for minute := range 30 {
			at := schema.FormatMoment(began.Add(time.Duration(minute) * time.Minute))
			minutes = append(minutes, at)
			values = append(values, m.value(column, fmt.Sprint(from.SiteID, part, minute)))
		}
		live[part] = map[string]any{"columns": []any{
			map[string]any{"column": "datetime", "values": minutes}, map[string]any{"column": column, "values": values},
		}}
	}
	for part, column := range map[string]string{"active": "peopleCount", "activeAgents": "visitorsCount"} {
		value := m.value(column, from.SiteID+part)
		live[part] = map[string]any{"columns": []any{map[string]any{"column": column, "values": []any{value}}}}
	}
	for part, column := range map[string]string{
		"paths": "urlPath", "sources": "referrerDomain", "countries": "visitorGeoCountry",
	} {
		values := []any{}
		for row := range m.rows {
			values = append(values, m.value("visitorsCount", fmt.Sprint(from.SiteID, part, row)))
		}
		live[part] = map[string]any{"columns": []any{
			map[string]any{"column": column, "values": append([]any{}, m.rows...)},
			map[string]any{"column": "visitorsCount", "values": values},
		}}
	}
	if len(m.rows) > 0 {
		live["titles"] = map[string]any{"columns": []any{
			map[string]any{"column": "urlPath", "values": []any{"/start", "/start", "/guide/webhooks"}},
			map[string]any{"column": "pageTitle", "values": []any{"Getting started", "Start here", "Webhooks"}},
			map[string]any{"column": "visitorsCount", "values": []any{9, 2, 5}},
		}}
	}
	answer, err := json.Marshal(live)
	return answer, nil, err
}

func (*madeUp) VisitorSegments(
	context.Context, schema.QueryOrigin, schema.PageRequest,
) ([]byte, map[string]string, error) {
	return nil, nil, schema.NotFound("segments")
}
