package insights

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// This file has the columns of optional numbers, and the metrics of their means. The table has notMeasured in place of
// an absent number, so 0 is always a measured number.

const notMeasured = -1

func measuredField(id uint8, name string, get func(*Event) Measured) Field {
	return Field{id: id, Name: name, Type: "Int32", Codec: hashCodec, wire: wireMeasured{get}}
}

func isMeasured(name string) sqltree.Expr {
	return sqltree.Bin(sqltree.Ge, sqltree.Col(name), sqltree.Int(0))
}

// measuredDimension builds a dimension with a number from `least` to `most`. Comparisons leave out events without the
// number.
func measuredDimension(name string, f Field, least, most int64, doc string) Column {
	return Column{
		Name: name, Roles: Filter | Group, Value: measuredValue{least, most}, Operators: comparison, Null: AsNull,
		Fields: []Field{f}, Privacy: Content, Doc: doc,
		Expr:     func(Arguments, Env) sqltree.Expr { return sqltree.Call("toInt64", sqltree.Col(f.Name)) },
		HasValue: func() sqltree.Expr { return isMeasured(f.Name) },
	}
}

// measuredCounters returns the counters for the mean of a number: the number and the sum of the values. They are about
// the events of one type that have this number.
func measuredCounters(eventType, column string) (number, sum *Counter) {
	typ := EventTypes.codeOf(eventType)
	is := func() sqltree.Expr {
		ofType := sqltree.Bin(sqltree.Eq, sqltree.Call("toInt8", sqltree.Col("type")), sqltree.Int(int64(typ)))
		return sqltree.AllOf(ofType, isMeasured(column))
	}
	condition := fmt.Sprintf("and(equals(toInt8(type), %d), greaterOrEquals(%s, 0))", typ, column)
	number = &Counter{Name: column + "_number", typ: typ, is: is, counted: condition}
	return number, &Counter{
		Name: column + "_sum", typ: typ, is: is,
		value: func() sqltree.Expr { return sqltree.Call("toUInt64", sqltree.Col(column)) },
		state: "sumIf(toUInt64(" + column + "), " + condition + ")",
	}
}

// These are the counters of means that the projection of visits has.
var (
	engagedNumber, engagedSum = measuredCounters("page_leave", "engaged_seconds")
	depthNumber, depthSum     = measuredCounters("page_leave", "scroll_depth")
)

// measuredMean builds the metric for a mean.
func measuredMean(name, doc string, number, sum *Counter) Column {
	return meanMetric(name, doc, func(env Env) sqltree.Expr {
		return sqltree.Call("divide", sum.count(env), number.count(env))
	}, number, sum)
}

// measuredMeans has the metrics of means whose counters are in the projection of visits.
var measuredMeans = []Column{
	measuredMean("engagedTime",
		"Mean number of engaged seconds of page_leave events: the time in which the page was visible and in use; "+
			"null if there are none.",
		engagedNumber, engagedSum),
	measuredMean("meanScrollDepth",
		"Mean depth of page_leave events, in percent of the page's height; null if none has a depth.",
		depthNumber, depthSum),
}

// measuredValue is an integer from `least` to `most`, or null.
type measuredValue struct{ least, most int64 }

func (v measuredValue) Shape() string {
	return fmt.Sprintf("integer from %d to %d or null", v.least, v.most)
}
func (measuredValue) Type() sqltree.Type { return sqltree.T("Int64") }
func (measuredValue) New() any           { return new(int64) }

func (v measuredValue) Parse(raw jsontext.Value) (any, error) {
	if isNull(raw) {
		return int64(notMeasured), nil
	}
	n, ok := Integer(raw, v.least, v.most)
	if !ok {
		return nil, errors.New("must be an " + v.Shape())
	}
	return n, nil
}

func (measuredValue) Append(dst []byte, scanned any) []byte {
	n := *scanned.(*int64)
	if n < 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, n, 10)
}

// meanMetric builds a metric for a mean. The mean is null if there are no values.
func meanMetric(name, doc string, mean func(Env) sqltree.Expr, counters ...*Counter) Column {
	c := metric(name, meanValue{}, comparison, doc, mean, counters...)
	c.Nothing = func() sqltree.Expr { return sqltree.Call("divide", sqltree.Int(0), sqltree.Int(0)) }
	// A missing mean is sorted before all other values, as an absent value is. The rank is the bits of the number as an
	// integer: for numbers that are not negative, the integers have the same order as the numbers. A cursor stores the
	// integers without loss.
	c.Rank = &Rank{
		Of: func(value sqltree.Expr) sqltree.Expr {
			none := sqltree.Call("toFloat64", sqltree.Int(-1))
			return sqltree.Call("reinterpretAsInt64", sqltree.Call("ifNotFinite", value, none))
		},
		New: func() any { return new(int64) },
	}
	return c
}

// meanValue is a number, or null if there were no values.
type meanValue struct{}

func (meanValue) Shape() string      { return "number or null" }
func (meanValue) Type() sqltree.Type { return sqltree.T("Float64") }
func (meanValue) New() any           { return new(float64) }

// Parse accepts only numbers, because a condition on a metric is a comparison.
func (meanValue) Parse(raw jsontext.Value) (any, error) {
	n, ok := parseNumber(raw)
	if !ok {
		return nil, errors.New("must be a number")
	}
	return n, nil
}

func (meanValue) Append(dst []byte, scanned any) []byte {
	mean := *scanned.(*float64)
	if math.IsNaN(mean) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, mean, 'f', -1, 64)
}
