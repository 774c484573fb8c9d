package query

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// encoder collects rows and writes them column by column.
type encoder struct {
	plan        plan
	statement   statement
	targets     []any    // what a row is scanned into
	values      [][]byte // of each output column, separated by commas
	approximate bool
}

func newEncoder(p plan, st statement) *encoder {
	e := &encoder{plan: p, statement: st, values: make([][]byte, len(st.output))}
	for _, r := range st.reads {
		e.targets = append(e.targets, r.column.Value.New())
	}
	// A condition on an estimate may have dropped or kept a group wrongly, which
	// the rows do not show.
	for f := range filters(p.having) {
		e.approximate = e.approximate || p.env.Estimate && f.column.Unique
	}
	return e
}

// row appends the row that was scanned into targets.
func (e *encoder) row() {
	for i, r := range e.statement.reads {
		if t, ok := e.targets[i].(*time.Time); ok {
			*t = e.plan.env.Zone.Moment(r.args.Interval, *t)
		}
	}
	for i, read := range e.statement.output {
		if len(e.values[i]) > 0 {
			e.values[i] = append(e.values[i], ',')
		}
		e.values[i] = e.statement.reads[read].column.Value.Append(e.values[i], e.targets[read])
	}
	if !e.plan.env.Estimate || e.approximate {
		return
	}
	for i, r := range e.statement.reads {
		if n, ok := e.targets[i].(*uint64); ok && r.column.Unique && approximates(*n) {
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
	return append(b, `]}`...)
}

// approximates reports whether an estimated count of different values may be
// off.
func approximates(n uint64) bool { return n > insights.UniquesBound-insights.UniquesBound/100 }
