package query

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// naivePagesRequest is a request for pages.
type naivePagesRequest struct {
	Range   naiveRange    `json:"range"`
	Zone    string        `json:"timezone,omitempty"`
	Week    string        `json:"weekStart,omitempty"`
	Where   []naiveFilter `json:"where,omitempty"`
	Select  []naiveRef    `json:"select,omitempty"`
	Order   *naiveOrder   `json:"order,omitempty"`
	Limit   int           `json:"limit,omitempty"`
	Cursor  string        `json:"cursor,omitempty"`
	Never   *bool         `json:"neverRead,omitempty"`
	Owners  []string      `json:"owners,omitempty"`
	Spaces  []string      `json:"spaces,omitempty"`
	Kinds   []string      `json:"kinds,omitempty"`
	Since   *time.Time    `json:"notEditedSince,omitempty"`
	Title   string        `json:"title,omitempty"`
	Path    string        `json:"path,omitempty"`
	metrics []string
}

// naivePagesRow is a row of an answer, with its sort keys.
type naivePagesRow struct {
	shown map[string]any
	none  bool
	key   []any
	id    [3]string // space, page, path outside any space
}

// pathOf returns the path of an event's address, without a slash at its end.
func (n *naive) pathOf(e *insights.Event) string {
	path := naiveColumns["urlPath"].read(n, e, "")[0].json.(string)
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// pageOf returns an event's page: its space, page, and path outside any space. `ok` is false if the event names a space
// but no page.
func (n *naive) pageOf(e *insights.Event) (id [3]string, ok bool) {
	if e.Space == "" {
		return [3]string{"", "", n.pathOf(e)}, true
	}
	return [3]string{e.Space, e.Page, ""}, e.Page != ""
}

// pagesOf answers a request for pages. It returns the rows of all pages of the list.
func (n *naive) pagesOf(events []insights.Event, known []schema.SitePage, r naivePagesRequest) []naivePagesRow {
	n = &naive{cells: n.cells, zone: naiveZone(r.Zone), buckets: n.buckets, week: naiveWeek(r.Week)}
	n.sessions = n.sessionsOf(events, r.Range)
	groups, titles, at := map[[3]string]*naiveGroup{}, map[[3]string]string{}, map[[3]string]int64{}
	n.combine(events, naiveRequest{Range: r.Range, Where: r.Where}, nil, func(_ []naiveValue, e *insights.Event) {
		id, ok := n.pageOf(e)
		if !ok {
			return
		}
		if groups[id] == nil {
			groups[id] = newNaiveGroup(nil)
		}
		groups[id].add(n, e)
		later := cmp.Or(cmp.Compare(e.TimeMillis, at[id]), strings.Compare(e.Title, titles[id])) > 0
		if e.Title != "" && (titles[id] == "" || later) {
			titles[id], at[id] = e.Title, e.TimeMillis
		}
	})
	var rows []naivePagesRow
	add := func(id [3]string, kind string, page schema.SitePage) {
		g, metrics := groups[id], map[string]any{}
		if g == nil {
			g = newNaiveGroup(nil)
		}
		for _, name := range r.metrics {
			v, _ := naiveMetrics[name](g)
			if _, counts := v.(json.Number); g.events == 0 && !counts {
				v = nil
			}
			metrics[name] = v
		}
		row := naivePagesRow{id: id, shown: map[string]any{
			"kind": kind, "space": textOrNull(id[0]), "page": textOrNull(id[1]), "path": textOrNull(page.Path),
			"title": textOrNull(page.Title),
			"owner": nil, "editedAt": nil, "words": nil, "metrics": metrics,
		}}
		if kind == "current" {
			row.shown["editedAt"] = schema.FormatMoment(page.EditedAt)
		}
		if page.Words >= 0 {
			row.shown["words"] = count(int64(page.Words))
		}
		owner := ""
		if page.Owner != nil {
			owner = page.Owner.ID
			row.shown["owner"] = map[string]any{"id": owner, "displayName": page.Owner.DisplayName}
		}
		has := func(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }
		contains := func(s, part string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(part)) }
		if !has(r.Owners, owner) || !has(r.Spaces, id[0]) || !has(r.Kinds, kind) || !contains(page.Title, r.Title) ||
			!contains(page.Path, r.Path) || r.Never != nil && *r.Never != (g.events == 0) ||
			r.Since != nil && (kind != "current" || !page.EditedAt.Before(*r.Since)) {
			return
		}
		by := r.metrics[0]
		if r.Order != nil {
			by = r.Order.By.Column
		}
		switch by {
		case "title":
			row.key, row.none = []any{page.Title}, page.Title == ""
		case "path":
			row.key, row.none = []any{page.Path}, page.Path == ""
		case "editedAt":
			row.key, row.none = []any{page.EditedAt.UnixMilli()}, kind != "current"
		case "words":
			row.key, row.none = []any{int64(page.Words)}, page.Words < 0
		default:
			v, rank := naiveMetrics[by](g)
			_, counts := v.(json.Number)
			row.none = v == nil || g.events == 0 && !counts
			row.key = []any{int64(rank * 1e6)}
		}
		rows = append(rows, row)
	}
	seen := map[[3]string]bool{}
	for _, page := range known {
		if id := [3]string{page.Space, page.ID, ""}; len(r.Spaces) == 0 || slices.Contains(r.Spaces, page.Space) {
			seen[id] = true
			add(id, "current", page)
		}
	}
	for id := range groups {
		switch {
		case seen[id]:
		case id[0] == "":
			add(id, "path", schema.SitePage{Path: id[2], Title: titles[id], Words: -1})
		default:
			add(id, "removed", schema.SitePage{Title: titles[id], Words: -1})
		}
	}
	desc := r.Order == nil || r.Order.Direction == "desc"
	slices.SortFunc(rows, func(a, b naivePagesRow) int {
		c := 0
		switch {
		case a.none && b.none:
		case a.none:
			c = -1
		case b.none:
			c = 1
		default:
			c = compareKeys(a.key, b.key)
		}
		if desc {
			c = -c
		}
		return cmp.Or(c, slices.Compare(a.id[:], b.id[:]))
	})
	return rows
}
