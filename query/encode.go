package query

import (
	"slices"

	"github.com/octavo-docs/octavo/schema/insights"
)

// result is an answer.
type result struct {
	body        []byte
	rowsRead    uint64
	approximate bool
}

// encoder collects rows and writes them column by column.
type encoder struct {
	plan        plan
	statement   statement
	targets     []any    // where a row is scanned to
	values      [][]byte // of each output column, separated by commas
	approximate bool
}

func newEncoder(p plan, st statement) *encoder {
	e := &encoder{plan: p, statement: st, values: make([][]byte, len(st.output))}
	for _, r := range st.reads {
		e.targets = append(e.targets, r.column.Value.New())
	}
	// A condition on an estimate may have dropped or kept a group wrongly,
	// which no row that is left shows.
	e.approximate = p.estimate && slices.ContainsFunc(p.filters, func(f filter) bool { return f.column.Unique })
	return e
}

// row takes the row that was scanned into targets.
func (e *encoder) row() {
	for i, read := range e.statement.output {
		if len(e.values[i]) > 0 {
			e.values[i] = append(e.values[i], ',')
		}
		e.values[i] = e.statement.reads[read].column.Value.Append(e.values[i], e.targets[read])
	}
	if !e.plan.estimate || e.approximate {
		return
	}
	for i, r := range e.statement.reads {
		if n, ok := e.targets[i].(*uint64); ok && r.column.Unique && approximates(*n) {
			e.approximate = true
		}
	}
}

func (e *encoder) result(rowsRead uint64) *result {
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
	return &result{body: append(b, `]}`...), rowsRead: rowsRead, approximate: e.approximate}
}
