package query

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

func newComparison(p plan, from, to time.Time) (*comparison, error) {
	times, ok := timeGroups(p.groups)
	if !ok {
		return nil, schema.Invalid("compare", "takes at most one group of time, with an interval")
	}
	c := &comparison{from: storable(from), to: storable(to)}
	c.zone = p.env.Zone.Within(c.from, c.to)
	sc := c.of(p).scope
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

// of returns the plan for the other range.
func (c *comparison) of(p plan) plan {
	p.from, p.to, p.env.Zone = c.from, c.to, c.zone
	p.having, p.order, p.fill, p.after, p.paged, p.others, p.total = nil, nil, nil, nil, false, false, false
	p.counted = false // the first range determines the order, so this range may use any counting method
	return p
}

// counterpart returns the value in the other range that corresponds to a group's value in the first range. `ok` is
// false if the other range has fewer buckets of time.
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

// groupValue returns the comparable form of a group's scanned value.
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

// condition returns the condition that a row's groups are in the groupSet.
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

// flat returns a row of group values as a tuple parameter.
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

// rowID returns a text that identifies a row of group values.
func rowID(row []any) string {
	return fmt.Sprintf("%#v", flat(row))
}
