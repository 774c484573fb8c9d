package query

import (
	"context"
	"slices"
	"time"
)

// compared reads the rows of the other range that correspond to rows of the first range, and writes them as columns.
func (q *query) compared(ctx context.Context, p plan, first *encoder) ([]byte, error) {
	set := &groupSet{}
	ids := make([]string, len(first.kept))
	for i, row := range first.kept {
		other := make([]any, len(row.groups))
		ok := true
		for j, value := range row.groups {
			var has bool
			other[j], has = p.compare.counterpart(value)
			ok = ok && has
		}
		if ok {
			ids[i] = rowID(other)
			set.rows = append(set.rows, other)
		}
	}
	found := map[string]keptRow{}
	if len(set.rows) > 0 {
		other := p.compare.of(p)
		if other.limit = len(set.rows); len(p.groups) > 0 {
			other.among = set
		}
		e, err := q.collect(ctx, other)
		if err != nil {
			return nil, err
		}
		for _, row := range e.kept {
			found[rowID(row.groups)] = row
		}
	}
	values := make([][]byte, len(p.output))
	for i, row := range first.kept {
		other, ok := found[ids[i]]
		for j, r := range p.output {
			if i > 0 {
				values[j] = append(values[j], ',')
			}
			if ok && ids[i] != "" {
				values[j] = append(values[j], other.values[j]...)
			} else {
				values[j] = append(values[j], p.compare.missing(r, p, row, j)...)
			}
		}
	}
	return columnsJSON(nil, p.output, values), nil
}

// missing returns the value of an output column in a row that the other range does not have. A group has the value of
// the first range's row. A group of time has the time of the matching bucket in the other range, or null if the other
// range has fewer buckets. Counts are 0, and other measures null.
func (c *comparison) missing(r ref, p plan, row keptRow, output int) []byte {
	switch {
	case r.isMeasure():
		if _, isCount := r.column.Value.New().(*uint64); isCount {
			return []byte("0")
		}
		return []byte("null")
	case !r.isTime():
		return row.values[output]
	}
	other, ok := c.counterpart(row.groups[slices.Index(p.groups, r)])
	if !ok {
		return []byte("null")
	}
	t := c.zone.Moment(r.args.Interval, other.(time.Time))
	return r.column.Value.Append(nil, &t)
}
