package query

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// encode writes rows as JSON. `total` is the number of rows of all pages.
func (p pages) encode(rows []pageRow, total int, more bool, counting insights.Counting) []byte {
	b := []byte(`{"object":"insights-pages","items":[`)
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.appendRow(b, &rows[i])
	}
	b = strconv.AppendInt(append(b, `],"count":`...), int64(total), 10)
	if more {
		b = append(b, `,"next":{"cursor":"`+p.cursorAfter(rows[len(rows)-1].place, counting)+`"}`...)
	}
	return append(b, '}')
}

// shownPage is a row of the list of pages in the answer's JSON.
type shownPage struct {
	Kind     string                `json:"kind"`
	Space    *string               `json:"space"`
	Page     *string               `json:"page"`
	Path     *string               `json:"path"`
	Title    *string               `json:"title"`
	Owner    *schema.SitePageOwner `json:"owner"`
	EditedAt *string               `json:"editedAt"`
	Words    *int                  `json:"words"`
	Metrics  jsontext.Value        `json:"metrics"`
}

func (p pages) appendRow(b []byte, row *pageRow) []byte {
	shown := shownPage{
		Kind: row.kind, Space: unlessEmpty(row.Space), Page: unlessEmpty(row.ID), Path: unlessEmpty(row.Path),
		Title: unlessEmpty(row.Title), Owner: row.Owner, Metrics: p.metricsOf(row),
	}
	if row.kind == pageKnown {
		shown.EditedAt = unlessEmpty(schema.FormatMoment(row.EditedAt))
	}
	if row.Words >= 0 {
		shown.Words = &row.Words
	}
	text, _ := json.Marshal(shown, jsontext.AllowInvalidUTF8(true)) // texts and numbers always marshal
	return append(b, text...)
}

// unlessEmpty returns nil for an empty text.
func unlessEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// metricsOf returns the metrics of a page as a JSON object. The names of its members are the names of the columns.
func (p pages) metricsOf(row *pageRow) jsontext.Value {
	b := []byte{'{'}
	for i, value := range row.metrics {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(insights.AppendText(b, p.output[i].column.Name), ':'), value...)
	}
	return append(b, '}')
}

// cursorAfter returns the cursor of the next part of the list of pages. The part begins after the row with the sort key
// `last`. Like a plan's cursor, it has the time of the first page's request, a hash of the request, and the method of
// counting distinct values.
func (p pages) cursorAfter(last rowPlace, counting insights.Counting) string {
	known := ""
	if last.known {
		known = "known"
	}
	return schema.PageToken(pagesList+p.site, strconv.FormatInt(p.now.UnixMilli(), 10), p.mark,
		strconv.Itoa(int(counting)), known, strconv.FormatInt(last.number, 10), last.text,
		last.key.space, last.key.page, last.key.path)
}
