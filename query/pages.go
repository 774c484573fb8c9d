package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// answer reads the site's pages and the metrics of pages, and joins them.
func (p pages) answer(ctx context.Context, q *query) ([]byte, error) {
	var known []schema.SitePage
	if read := q.service.config.Pages; read != nil {
		list, ok, err := read(ctx, p.site, p.spaces, MaxPages)
		if err != nil {
			return nil, fmt.Errorf("cannot read the site's pages: %w", cause(ctx, err))
		}
		if !ok {
			return nil, schema.Invalid("spaces", fmt.Sprintf(
				"must name spaces with at most %d pages together: the site has more", MaxPages))
		}
		known = list
	}
	q.most, q.holds = MaxPages+1, 4 // the rows are of all pages, and the answer has a part of them
	e, err := q.collect(ctx, p.plan)
	if err != nil {
		return nil, err
	}
	if e.more {
		return nil, schema.Invalid("where", fmt.Sprintf(
			"must select events of at most %d pages: the range has more", MaxPages))
	}
	rows := p.join(known, e)
	total := len(rows)
	rows, q.truncated = p.cut(rows)
	return p.encode(rows, total, q.truncated, e.plan.env.Counting, q.service.config.exceeded), nil
}

// join joins the known pages with the statement's rows, which have the metrics of pages with events. It then selects
// and sorts the pages. The metrics of a page without events equal the metrics of an empty range.
func (p pages) join(known []schema.SitePage, e *encoder) []pageRow {
	list := make([]pageRow, 0, len(known)+e.rows)
	at := make(map[pageID]int, len(known))
	none := p.nothing(e)
	for _, page := range known {
		at[pageID{page.Space, page.ID, ""}] = len(list)
		list = append(list, pageRow{SitePage: page, kind: pageKnown, metrics: none})
	}
	titleAt := len(p.output) - 1
	ranks := make([]any, len(list), cap(list))
	for _, row := range e.kept {
		texts := row.groups[0].([]string)
		id := pageID{texts[0], texts[1], texts[2]}
		i, found := at[id]
		if !found {
			i = len(list)
			title, _ := jsontext.AppendUnquote(nil, row.values[titleAt]) // a column's value is valid
			page := schema.SitePage{Space: id.space, ID: id.page, Path: id.path, Title: string(title), Words: -1}
			kind := pagePath
			if id.space != "" {
				kind = pageRemoved
			}
			list, ranks = append(list, pageRow{SitePage: page, kind: kind}), append(ranks, nil)
		}
		list[i].seen, list[i].metrics, ranks[i] = true, row.values[:titleAt], row.rank
	}
	for i := range list {
		list[i].place = p.placeOf(&list[i], ranks[i])
	}
	list = slices.DeleteFunc(list, func(row pageRow) bool { return !p.admits(row) })
	slices.SortFunc(list, func(a, b pageRow) int { return a.place.compare(b.place, p.desc) })
	return list
}

// nothing returns the metrics of a page without events: 0 for counts, and null for other metrics.
func (p pages) nothing(e *encoder) [][]byte {
	values := make([][]byte, len(p.output)-1)
	for i := range values {
		values[i] = []byte("null")
		if _, count := p.output[i].column.Value.New().(*uint64); count {
			values[i] = []byte("0")
		}
	}
	return values
}

// placeOf returns the sort key of a row in the list of pages. `rank` is the row's sort value for the list's metric.
// placeOf uses `rank` only for a page with events.
func (p pages) placeOf(row *pageRow, rank any) rowPlace {
	place := rowPlace{key: pageID{row.Space, row.ID, ""}}
	if row.kind == pagePath {
		place.key.path = row.Path
	}
	switch p.by {
	case byTitle:
		place.text, place.known = row.Title, row.Title != ""
	case byPath:
		place.text, place.known = row.Path, row.Path != ""
	case byEdited:
		if place.known = row.kind == pageKnown; place.known {
			place.number = row.EditedAt.UnixMilli()
		}
	case byWords:
		if place.known = row.Words >= 0; place.known {
			place.number = int64(row.Words)
		}
	default:
		place.number, place.known = p.rankOf(row, rank)
	}
	return place
}

// rankOf returns a row's sort value for the metric by which the list of pages is sorted. `known` is false
// if the metric is null.
func (p pages) rankOf(row *pageRow, rank any) (n int64, known bool) {
	by := p.plan.order[0]
	if !row.seen {
		_, count := by.column.Value.New().(*uint64)
		return 0, count
	}
	n = rank.(int64)
	if _, mean := by.column.Value.New().(*float64); mean && n < 0 {
		return 0, false // a negative rank means that the average is null
	}
	return n, true
}

// cut returns the part of the list that follows the cursor, up to the limit, and whether more rows follow.
func (p pages) cut(rows []pageRow) (page []pageRow, more bool) {
	if p.from != nil {
		from, found := slices.BinarySearchFunc(rows, *p.from, func(row pageRow, place rowPlace) int {
			return row.place.compare(place, p.desc)
		})
		if found {
			from++
		}
		rows = rows[from:]
	}
	return rows[:min(len(rows), p.limit)], len(rows) > p.limit
}
