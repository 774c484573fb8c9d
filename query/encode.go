package query

import (
	"slices"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// encoder collects rows and writes them column by column.
type encoder struct {
	plan        plan
	statement   statement
	values      [][]byte // values of each output column, separated by commas
	rows        int
	approximate bool
	more        bool      // whether there are rows after the limit
	cursor      string    // cursor of the next page
	kept        []keptRow // the answer's rows with their groups; only for plans with compare, others or keeps
	total       uint64    // number of rows that exist without the limit
}

// keptRow is a row to compare with its counterpart in another range, or to join with a page.
type keptRow struct {
	groups []any    // values of the groups, in comparable form
	values [][]byte // values of the output columns; only for plans with compare or keeps
	rank   any      // value of the order's first term, in comparable form; only for plans with keeps
}

func newEncoder(p plan, st statement) *encoder {
	e := &encoder{plan: p, statement: st, values: make([][]byte, len(st.output))}
	// A condition on an estimate may have dropped or included a group wrongly. The rows of the answer do not show such
	// a mistake.
	for f := range filters(p.having) {
		e.approximate = e.approximate || p.env.Counting != insights.CountExact && f.column.Unique
	}
	return e
}

// row appends the row that was scanned into the statement's targets. It returns the number of bytes that it stored.
func (e *encoder) row() (stored int) {
	if e.rows == e.plan.limit {
		e.more = true
		return 0
	}
	e.rows++
	if e.total = uint64(e.rows); e.statement.total != nil {
		e.total = *e.statement.total
	}
	targets := e.statement.targets
	if e.plan.paged && e.rows == e.plan.limit {
		keys := make([]any, len(e.statement.keys))
		for i, k := range e.statement.keys {
			keys[i] = targets[k]
		}
		e.cursor = e.plan.cursor(keys)
	}
	values := e.plan.compare != nil || e.plan.keeps
	if values || e.plan.others {
		row := keptRow{groups: make([]any, len(e.plan.groups)), values: make([][]byte, len(e.values))}
		for i := range e.plan.groups { // a statement reads groups first
			row.groups[i] = groupValue(targets[i])
			stored += textBytes(row.groups[i])
		}
		if e.plan.keeps {
			row.rank = rankValue(targets[e.statement.keys[0]])
		}
		e.kept = append(e.kept, row)
	}
	for i, r := range e.statement.reads {
		if t, ok := targets[i].(*time.Time); ok {
			*t = e.plan.env.Zone.Moment(r.args.Interval, *t)
		}
	}
	for i, read := range e.statement.output {
		if len(e.values[i]) > 0 {
			e.values[i] = append(e.values[i], ',')
		}
		begin := len(e.values[i])
		if e.nothing(read) {
			e.values[i] = append(e.values[i], "null"...)
		} else {
			e.values[i] = e.statement.reads[read].column.Value.Append(e.values[i], targets[read])
		}
		stored += len(e.values[i]) - begin
		if values {
			e.kept[e.rows-1].values[i] = slices.Clone(e.values[i][begin:])
			stored += len(e.values[i]) - begin
		}
		if e.plan.keeps {
			e.values[i] = e.values[i][:0] // the list of pages is written from the rows
			stored -= len(e.kept[e.rows-1].values[i])
		}
	}
	for i, r := range e.statement.reads {
		if n, ok := targets[i].(*uint64); ok && r.column.Unique && approximates(e.plan.env.Counting, *n) {
			e.approximate = true
		}
	}
	return stored
}

// textBytes returns the number of bytes of a group's texts.
func textBytes(group any) (n int) {
	switch v := group.(type) {
	case string:
		n = len(v)
	case []string:
		for _, text := range v {
			n += len(text)
		}
	}
	return n
}

// jsonBytes returns the number of bytes of a text in JSON, without its quotes.
func jsonBytes(text string) int {
	n := len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ':
			n += len(`\u0000`) - 1
		case c == '"' || c == '\\':
			n++
		}
	}
	return n
}

// rankValue returns the comparable form of a scanned rank.
func rankValue(target any) any {
	if n, ok := target.(*uint64); ok {
		return int64(*n) // a count
	}
	return groupValue(target)
}

// nothing reports whether the value at the index `read` is null because the row is a filled row. In a filled row,
// counts are 0, and other measures are null.
func (e *encoder) nothing(read int) bool {
	r, targets := e.statement.reads[read], e.statement.targets
	if e.plan.fill == nil || !r.isMeasure() {
		return false
	}
	_, isCount := targets[read].(*uint64)
	events := slices.Index(e.statement.reads, ref{column: insights.EventsCount})
	return !isCount && *targets[events].(*uint64) == 0
}

// result returns the answer's JSON. `compared` has the columns of the other range. It is nil if the plan has no other
// range. `others` has the columns of the row for all groups beyond the limit. It is nil if there is no such row.
func (e *encoder) result(compared, others []byte) []byte {
	size := 64 + len(compared) + len(others)
	for _, v := range e.values {
		size += len(v) + 64
	}
	b := columnsJSON(append(make([]byte, 0, size), '{'), e.plan.output, e.values)
	if c := e.plan.compare; c != nil {
		b = append(b, `,"compare":{"range":{"from":`...)
		for i, t := range []time.Time{c.from, c.to} {
			if i > 0 {
				b = append(b, `,"to":`...)
			}
			b = insights.AppendTime(b, c.zone.Moment(nil, t))
		}
		b = append(append(append(b, `},`...), compared...), '}')
	}
	if others != nil {
		b = append(append(append(b, `,"others":{`...), others...), '}')
	}
	if e.plan.total && e.plan.after == nil {
		b = strconv.AppendUint(append(b, `,"rowsTotal":`...), e.total, 10)
	}
	if e.more && e.plan.paged {
		b = append(b, `,"next":{"cursor":"`+e.cursor+`"}`...)
	}
	return append(b, '}')
}

// columnsJSON writes the member "columns". `values` has the values of each column, separated by commas.
func columnsJSON(b []byte, output []ref, values [][]byte) []byte {
	b = append(b, `"columns":[`...)
	for i, r := range output {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"column":"`...)
		b = append(b, r.column.Name...)
		b = append(b, '"')
		if extra := r.column.Extra; extra != nil && extra.Required {
			b = append(b, `,"`+extra.Name+`":`...)
			b = insights.AppendText(b, extra.Text(r.args))
		}
		b = append(b, `,"values":[`...)
		b = append(b, values[i]...)
		b = append(b, `]}`...)
	}
	return append(b, ']')
}
