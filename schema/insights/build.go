package insights

import (
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// The builders of the column table's rows. A row is a builder's result with
// its members set; what several rows share is said here once.

const (
	textCodec = "ZSTD(3)"
	hashCodec = "ZSTD(1)"
)

func text(id uint8, name string, get func(*Event) string) Field {
	return Field{id: id, Name: name, Type: "String", Codec: textCodec, kind: stringKind{get}}
}

func word(id uint8, name string, e *Enum, get func(*Event) Code) Field {
	return Field{id: id, Name: name, Type: e.clickHouseType(), Codec: hashCodec, kind: codeKind{get}}
}

func expr(name string) func(Arguments) sqltree.Expr {
	return func(Arguments) sqltree.Expr { return sqltree.Col(name) }
}

func notEmpty(name string) func() sqltree.Expr {
	return func() sqltree.Expr { return sqltree.Bin(sqltree.Ne, sqltree.Col(name), sqltree.Str("")) }
}

// textDimension is a dimension of one string column.
func textDimension(name string, absent Absent, f Field, privacy Privacy, doc string) Column {
	c := Column{
		Name: name, Roles: Filter | Group, Value: textValue{null: absent == AsNull}, Operators: equality,
		Absent: absent, Fields: []Field{f}, Privacy: privacy, Doc: doc, Expr: expr(f.Name),
	}
	if absent == Excluded {
		c.Present = notEmpty(f.Name)
	}
	return c
}

// wordDimension is a dimension of one enumeration column.
func wordDimension(name string, absent Absent, e *Enum, f Field, privacy Privacy, doc string) Column {
	c := textDimension(name, absent, f, privacy, doc)
	c.Value = enumValue{enum: e, null: absent == AsNull, empty: absent == AsEmpty}
	// An enumeration sorts by code on the server; users expect words to sort.
	c.Rank = func() sqltree.Expr { return sqltree.Call("toString", sqltree.Col(f.Name)) }
	return c
}

// publishedLinkKind is the condition "the link's kind is one of
// PublishedLinkKinds".
func publishedLinkKind() sqltree.Expr {
	kind := func(word sqltree.Expr) sqltree.Expr { return sqltree.Bin(sqltree.Ne, sqltree.Col("link_kind"), word) }
	return sqltree.AllOf(kind(sqltree.Str("")), kind(sqltree.Str("openapi")), kind(sqltree.Str("tag")))
}

// presentIf is for Excluded columns that have a value more seldom than they
// store one.
func (c Column) presentIf(present func() sqltree.Expr) Column {
	c.Present = present
	return c
}

// stored is a column that is kept for exports and later features only.
func stored(f Field, privacy Privacy, doc string) Column {
	return Column{Fields: []Field{f}, Privacy: privacy, Doc: doc}
}

// metric is an aggregate.
func metric(name string, v Value, operators []Operator, doc string, e func() sqltree.Expr) Column {
	roles := Measure
	if len(operators) > 0 {
		roles |= Filter
	}
	return Column{
		Name: name, Roles: roles, Value: v, Operators: operators, Doc: doc,
		Expr: func(Arguments) sqltree.Expr { return e() },
	}
}

// UniquesBound is the number of different values up to which a cell's count
// is exact even when it is estimated.
const UniquesBound = 1 << 16

// uniques counts different values: exactly, or with Estimate in bounded memory
// (about 1 MB per cell), exactly up to UniquesBound and within 1 % beyond.
//
// Measured on 26.5: uniqExact is also the fastest of all where cells are small
// (200 cells of 1,500 visitors: 208 ms; uniqCombined64(19) 239; the bounded
// form 616), and no estimator is exact up to 65,536 by itself:
// uniqCombined64(19) is up to 16,384 and (20) up to 32,768, uniq has 32-bit
// hashes. So the bounded form keeps the first 65,537 values beside a sketch
// of 2^19 registers, whose standard error is 0.14 %. TestUniquesBound holds
// it against the engine.
func uniques(column string) func(Arguments) sqltree.Expr {
	return func(a Arguments) sqltree.Expr {
		c := sqltree.Col(column)
		if !a.Estimate {
			return sqltree.Call("uniqExact", c)
		}
		kept := sqltree.Call("length", sqltree.Call("groupUniqArray(65537)", c))
		return sqltree.Call("if", sqltree.Bin(sqltree.Le, kept, sqltree.Int(UniquesBound)),
			kept, sqltree.Call("uniqCombined64(19)", c))
	}
}

// uniqueCount is the metric of a column's different values.
func uniqueCount(name, doc, column string) Column {
	c := metric(name, numberValue{}, Operators, doc, nil)
	c.Unique, c.Expr = true, uniques(column)
	return c
}

// bucket cuts time to an interval; weeks start on Monday. All results are
// DateTime64(3) in UTC, so that every interval reads alike. The setting
// enable_extended_results_for_datetime_functions has to be on: without it the
// week of January 1, 1970 starts on that day.
func bucket(a Arguments) sqltree.Expr {
	t := sqltree.Col("time")
	var cut sqltree.Expr
	switch a.Interval {
	case hour:
		cut = sqltree.Call("toStartOfHour", t)
	case day:
		cut = sqltree.Call("toStartOfDay", t)
	case week:
		cut = sqltree.Call("toStartOfWeek", t, sqltree.Int(1))
	case month:
		cut = sqltree.Call("toStartOfMonth", t)
	default:
		return t
	}
	return sqltree.Call("toDateTime64", cut, sqltree.Int(3), sqltree.Str("UTC"))
}

// pageOfSpace reads the page with its space. Outside any space it reads as
// null, whatever the page, so all of those are one value.
func pageOfSpace(Arguments) sqltree.Expr {
	none := sqltree.Str("")
	return sqltree.Call("if", sqltree.Bin(sqltree.Eq, sqltree.Col("space"), none),
		sqltree.Call("tuple", none, none),
		sqltree.Call("tuple", sqltree.Col("space"), sqltree.Col("page")))
}

// cell is the H3 cell of the event's place; where there is none it is the cell
// of 0°, 0°, which the callers replace.
func cell(precision int) sqltree.Expr {
	degrees := func(name string) sqltree.Expr {
		return sqltree.Call("ifNotFinite", sqltree.Call("toFloat64", sqltree.Col(name)), sqltree.Int(0))
	}
	return sqltree.Call("geoToH3", degrees("latitude"), degrees("longitude"),
		sqltree.Call("toUInt8", sqltree.Int(int64(precision))))
}

func hasPoint(yes, no sqltree.Expr) sqltree.Expr {
	return sqltree.Call("if", sqltree.Call("isNaN", sqltree.Col("latitude")), no, yes)
}

// point reads the cell's index and its centre.
func point(a Arguments) sqltree.Expr {
	centre := func(i int64) sqltree.Expr {
		return sqltree.Call("tupleElement", sqltree.Call("h3ToGeo", cell(a.Precision)), sqltree.Int(i))
	}
	return sqltree.Call("tuple",
		hasPoint(sqltree.Call("h3ToString", cell(a.Precision)), sqltree.Str("")),
		centre(1), centre(2))
}

// matchPoint compares with each value at the resolution of that value's cell.
func matchPoint(_ Arguments, values []any) sqltree.Expr {
	byResolution := map[int][]string{}
	for _, v := range values {
		index := v.(string)
		resolution := -1 // no place
		if index != "" {
			resolution = cellResolution(index)
		}
		byResolution[resolution] = append(byResolution[resolution], index)
	}
	var any []sqltree.Expr
	for resolution := -1; resolution <= 15; resolution++ {
		list, ok := byResolution[resolution]
		switch {
		case !ok:
		case resolution < 0:
			any = append(any, sqltree.Call("isNaN", sqltree.Col("latitude")))
		default:
			index := hasPoint(sqltree.Call("h3ToString", cell(resolution)), sqltree.Str(""))
			any = append(any, sqltree.Bin(sqltree.In, index, sqltree.Param(sqltree.ArrayOf(typeString), list)))
		}
	}
	return sqltree.AnyOf(any...)
}

// cellResolution is the resolution of an H3 index in hexadecimal: its second
// digit (bits 52 to 55).
func cellResolution(index string) int {
	c := index[1]
	if c >= 'a' {
		return int(c-'a') + 10
	}
	return int(c - '0')
}

// Events counts events, for statements that no request names columns of.
func Events(a Arguments) sqltree.Expr { return byName["eventsCount"].Expr(a) }

// Sessions counts different sessions, as Events.
func Sessions(a Arguments) sqltree.Expr { return byName["sessionsCount"].Expr(a) }

// Visitors counts different visitors, as Events.
func Visitors(a Arguments) sqltree.Expr { return byName["visitorsCount"].Expr(a) }

// VisitorHash reads the keyed hash of an event's visitor.
func VisitorHash() sqltree.Expr { return sqltree.Col("visitor") }
