package query

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// encoder collects rows and writes them column by column.
type encoder struct {
	plan        plan
	statement   statement
	values      [][]byte // of each output column, separated by commas
	rows        int
	approximate bool
	more        bool   // there are rows after the limit
	cursor      string // after the last row
}

func newEncoder(p plan, st statement) *encoder {
	e := &encoder{plan: p, statement: st, values: make([][]byte, len(st.output))}
	// A condition on an estimate may have dropped or kept a group wrongly, which
	// the rows do not show.
	for f := range filters(p.having) {
		e.approximate = e.approximate || p.env.Estimate && f.column.Unique
	}
	return e
}

// row appends the row that was scanned into the statement's targets.
func (e *encoder) row() {
	if e.rows == e.plan.limit {
		e.more = true
		return
	}
	e.rows++
	targets := e.statement.targets
	if e.plan.paged && e.rows == e.plan.limit {
		keys := make([]any, len(e.statement.keys))
		for i, k := range e.statement.keys {
			keys[i] = targets[k]
		}
		e.cursor = e.plan.cursor(keys)
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
		e.values[i] = e.statement.reads[read].column.Value.Append(e.values[i], targets[read])
	}
	if !e.plan.env.Estimate || e.approximate {
		return
	}
	for i, r := range e.statement.reads {
		if n, ok := targets[i].(*uint64); ok && r.column.Unique && approximates(*n) {
			e.approximate = true
		}
	}
}

// result is the answer's JSON.
func (e *encoder) result() []byte {
	size := 16
	for _, v := range e.values {
		size += len(v) + 64
	}
	b := append(make([]byte, 0, size), `{"columns":[`...)
	for i, r := range e.plan.output {
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
		b = append(b, e.values[i]...)
		b = append(b, `]}`...)
	}
	b = append(b, ']')
	if e.more && e.plan.paged {
		b = append(b, `,"next":{"cursor":"`+e.cursor+`"}`...)
	}
	return append(b, '}')
}

// approximates reports whether an estimated count of different values may be
// off.
func approximates(n uint64) bool { return n > insights.UniquesBound-insights.UniquesBound/100 }
