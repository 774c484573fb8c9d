package query

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// passage has the steps of one kind: their total number, and the pages from which or to which they lead.
type passage struct {
	total uint64
	pages []neighbour
}

// seenPage has the names of a page, from the page's events.
type seenPage struct{ space, page, path, title string }

// shownNeighbour is a row of the answer's JSON.
type shownNeighbour struct {
	Space *string `json:"space"`
	Page  *string `json:"page"`
	Path  string  `json:"path"`
	Title *string `json:"title"`
	Views uint64  `json:"views"`
}

// keyedSessionBytes is the memory of a query for each session that a statement finds by its key. The engine's table of
// keys takes up to 96 bytes for each session while it grows, so the table takes at most a fifth of the query's memory.
const keyedSessionBytes = 512

// errUnseen ends a query if the events that name its pages were erased during each of its attempts.
var errUnseen = errors.New("events were erased while their pages were read")

// answer counts the steps, and then reads the names of the few pages of the answer. If the events of one of these pages
// were erased between the two statements, it counts again.
func (t transitions) answer(ctx context.Context, q *query) ([]byte, error) {
	q.joins, q.passes = len(t.sessions) > 0, true
	q.spills = q.joins && q.service.sources.joinSpills(t.scope)
	q.mostInSet = q.service.config.MaxMemory / keyedSessionBytes
	for range 3 {
		q.held = 0
		steps, err := t.count(ctx, q)
		for fitted(&t, q, err) {
			steps, err = t.count(ctx, q)
		}
		if err != nil {
			return nil, err
		}
		names, err := t.names(ctx, q, steps)
		if err != nil {
			return nil, err
		}
		if body, ok := t.encode(q, steps, names); ok {
			return body, nil
		}
	}
	return nil, schema.Unavailable(errUnseen, retryAfter)
}

// fitted changes t and q so that the next count needs less memory than the count that ended with err. Later counts also
// need less memory. `fitted` returns false if no change can help.
func fitted(t *transitions, q *query, err error) bool {
	switch {
	case !t.everySession && tooManyInSet(err):
		t.everySession = true
	case !q.spills && outOfMemory(err):
		q.spills = true
		if q.joins {
			q.service.sources.joinDied(t.scope)
		}
	default:
		return false
	}
	return true
}

// count returns the passages by kind of step.
func (t transitions) count(ctx context.Context, q *query) (map[stepKind]passage, error) {
	steps := map[stepKind]passage{}
	var kind uint8
	var n neighbour
	var first, last int64
	var total uint64
	err := q.rows(ctx, t.lower(), []any{&kind, &n.hash, &n.views, &first, &last, &total}, func() int {
		n.first, n.last = time.UnixMilli(first), time.UnixMilli(last)
		p := steps[stepKind(kind)]
		p.total, p.pages = total, append(p.pages, n)
		steps[stepKind(kind)] = p
		return 0 // the statement returns at most limit+1 pages of a side, without their names
	})
	return steps, err
}

// names reads the names of the answer's pages by their hashes.
func (t transitions) names(
	ctx context.Context, q *query, steps map[stepKind]passage,
) (map[uint64]seenPage, error) {
	names := map[uint64]seenPage{}
	pages := slices.Concat(t.shown(steps[stepFrom]), t.shown(steps[stepTo]))
	if len(pages) == 0 {
		return names, nil
	}
	var hash uint64
	var seen seenPage
	targets := []any{&hash, &seen.space, &seen.page, &seen.path, &seen.title}
	err := q.rows(ctx, t.lowerNames(pages), targets, func() int {
		names[hash] = seen
		return jsonBytes(seen.space) + jsonBytes(seen.page) + jsonBytes(seen.path) + jsonBytes(seen.title)
	})
	return names, err
}

// shown returns the pages of a passage that the answer has. The passage has one page more if the answer does not have
// all pages.
func (t transitions) shown(p passage) []neighbour { return p.pages[:min(len(p.pages), t.limit)] }

// encode writes the answer. `ok` is false if `names` lacks a page.
func (t transitions) encode(q *query, steps map[stepKind]passage, names map[uint64]seenPage) (b []byte, ok bool) {
	from, to := steps[stepFrom], steps[stepTo]
	entries, reloads := steps[stepEntry].total, steps[stepReload].total
	number := func(member string, n uint64) { b = strconv.AppendUint(append(b, member...), n, 10) }
	number(`{"views":`, entries+from.total+reloads)
	number(`,"entries":`, entries)
	number(`,"exits":`, steps[stepExit].total)
	number(`,"reloads":`, reloads)
	for _, side := range []struct {
		member string
		passage
	}{{`,"from":[`, from}, {`,"to":[`, to}} {
		b = append(b, side.member...)
		for i, n := range t.shown(side.passage) {
			seen, found := names[n.hash]
			if !found {
				return nil, false
			}
			if i > 0 {
				b = append(b, ',')
			}
			text, _ := json.Marshal(shownNeighbour{
				Space: unlessEmpty(seen.space), Page: unlessEmpty(seen.page), Path: seen.path,
				Title: unlessEmpty(seen.title), Views: n.views,
			}, jsontext.AllowInvalidUTF8(true)) // texts and numbers always marshal
			b = append(b, text...)
		}
		b = append(b, ']')
	}
	q.truncated = len(from.pages) > t.limit || len(to.pages) > t.limit
	return append(b, '}'), true
}
