package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// comparison is the other range of a request. Its answer has a row for each row of
// the first: the same groups, and of time the bucket with the same number.
type comparison struct {
	from, to time.Time
	zone     insights.Zone
	// The buckets of the group of time, as it reads them, in the first range and in
	// this one; none without such a group. Several groups of time could not each
	// follow the numbers of their own buckets: a week does not begin with a month.
	first, other []time.Time
}

func newComparison(p plan, from, to time.Time, zone *time.Location) (*comparison, error) {
	times, ok := timeGroups(p.groups)
	if !ok {
		return nil, schema.Invalid("compare", "takes at most one group of time, with an interval")
	}
	sc := newScope(p.site, from, to, zone)
	c := &comparison{from: sc.from, to: sc.to, zone: sc.env.Zone}
	for _, g := range times {
		var err1, err2 error
		c.first, err1 = bucketsOf("compare", p.scope, g)
		c.other, err2 = bucketsOf("compare", sc, g)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// of is a plan about the other range.
func (c *comparison) of(p plan) plan {
	p.from, p.to, p.env.Zone = c.from, c.to, c.zone
	p.having, p.order, p.fill, p.after, p.paged = nil, nil, nil, nil, false
	p.counted = false // its rows follow the order of the first
	return p
}

// counterpart is the value of a group in the other range; ok is false if the other
// range has fewer buckets.
func (c *comparison) counterpart(value any) (other any, ok bool) {
	t, isTime := value.(time.Time)
	if !isTime {
		return value, true
	}
	i, _ := slices.BinarySearchFunc(c.first, t, time.Time.Compare)
	if i >= len(c.other) {
		return nil, false
	}
	return c.other[i], true
}

// groupValue is what a group's scanned value is compared by.
func groupValue(target any) any {
	switch v := target.(type) {
	case *string:
		return *v
	case *int64:
		return *v
	case *uint8:
		return int64(*v)
	case *time.Time:
		return *v
	case *[]any:
		if texts := leadingTexts(*v); len(texts) > 1 {
			return texts
		}
		return leadingTexts(*v)[0]
	}
	return nil
}

// groupSet are combinations of groups' values, one at least.
type groupSet struct {
	rows [][]any
}

// condition is "the row's groups are one of the set".
func (s *groupSet) condition(groups []ref, alias func(ref) sqltree.Expr) sqltree.Expr {
	var values []sqltree.Expr
	var types []sqltree.Type
	for i, g := range groups {
		value := term{ref: g}.rank(alias(g))
		switch v := s.rows[0][i].(type) {
		case string:
			values, types = append(values, value), append(types, sqltree.T("String"))
		case int64:
			values, types = append(values, sqltree.Call("toInt64", value)), append(types, sqltree.T("Int64"))
		case time.Time:
			values, types = append(values, value), append(types, insights.TimeType())
		case []string:
			for part := range v {
				values = append(values, sqltree.Call("tupleElement", value, sqltree.Int(int64(part)+1)))
				types = append(types, sqltree.T("String"))
			}
		}
	}
	list := make([]any, len(s.rows))
	for i, row := range s.rows {
		list[i] = flat(row)
	}
	if len(values) == 1 {
		for i := range list {
			list[i] = list[i].(sqltree.Tuple)[0]
		}
		return sqltree.Bin(sqltree.In, values[0], sqltree.Param(sqltree.ArrayOf(types[0]), list))
	}
	return sqltree.Bin(sqltree.In, sqltree.Call("tuple", values...), sqltree.Param(sqltree.ArrayOf(sqltree.TupleOf(types...)), list))
}

// flat is a row of groups' values as a parameter.
func flat(row []any) (tuple sqltree.Tuple) {
	for _, v := range row {
		switch v := v.(type) {
		case time.Time:
			tuple = append(tuple, insights.FormatTime(v))
		case []string:
			for _, text := range v {
				tuple = append(tuple, text)
			}
		default:
			tuple = append(tuple, v)
		}
	}
	return tuple
}

// rowID tells rows of groups' values apart.
func rowID(row []any) string {
	return fmt.Sprintf("%#v", flat(row))
}

// compared reads the rows of the other range that belong to rows of the first, and
// writes them as columns.
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

// missing is the value of an output column in a row that the other range does not
// have: groups are those of the first range's row, but times are the other range's,
// or null if it has no such bucket; counts are 0, and other measures null.
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
