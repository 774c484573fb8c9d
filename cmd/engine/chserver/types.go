package chserver

import (
	"strconv"
	"strings"
)

// layout describes how a Native block stores the values of a type. It has enough detail to find the end of a column.
type layout struct {
	kind  layoutKind
	width int       // bytes of a value, for fixed
	parts []*layout // element types
}

type layoutKind uint8

const (
	fixed          layoutKind = iota
	text                      // each value: length and bytes
	nullable                  // a byte per row, then the values
	list                      // an end offset per row, then the elements: Array, Map, Nested
	record                    // Tuple: the columns of the elements one after the other
	lowCardinality            // a dictionary and an index per row
)

// fixedWidths has the types whose width does not depend on arguments.
var fixedWidths = map[string]int{
	"UInt8": 1, "UInt16": 2, "UInt32": 4, "UInt64": 8, "UInt128": 16, "UInt256": 32,
	"Int8": 1, "Int16": 2, "Int32": 4, "Int64": 8, "Int128": 16, "Int256": 32,
	"Float32": 4, "Float64": 8, "BFloat16": 2, "Bool": 1,
	"Date": 2, "Date32": 4, "DateTime": 4, "DateTime64": 8, "Time": 4, "Time64": 8,
	"UUID": 16, "IPv4": 4, "IPv6": 16, "Enum8": 1, "Enum16": 2,
	"Decimal32": 4, "Decimal64": 8, "Decimal128": 16, "Decimal256": 32,
	"Nothing":            1,
	"IntervalNanosecond": 8, "IntervalMicrosecond": 8, "IntervalMillisecond": 8, "IntervalSecond": 8, "IntervalMinute": 8,
	"IntervalHour": 8, "IntervalDay": 8, "IntervalWeek": 8, "IntervalMonth": 8, "IntervalQuarter": 8, "IntervalYear": 8,
}

// aliases maps named types to the types that they stand for.
var aliases = map[string]string{
	"Point": "Tuple(Float64, Float64)", "Ring": "Array(Point)", "LineString": "Array(Point)",
	"MultiLineString": "Array(LineString)", "Polygon": "Array(Ring)", "MultiPolygon": "Array(Polygon)",
}

// Clients also send types, so nesting and widths are bounded.
const (
	maxTypeDepth   = 32
	maxFixedString = 1 << 20
)

// parseType returns the layout of a type.
func parseType(typ string) (*layout, error) { return parseTypeAt(typ, 0) }

func parseTypeAt(typ string, depth int) (*layout, error) {
	typ = strings.TrimSpace(typ)
	if depth > maxTypeDepth {
		return nil, refuse(codeUnknownType, "a type is nested more than %d levels deep", maxTypeDepth)
	}
	name, args, err := splitType(typ)
	if err != nil {
		return nil, err
	}
	if width, ok := fixedWidths[name]; ok {
		return &layout{kind: fixed, width: width}, nil
	}
	if alias, ok := aliases[name]; ok {
		return parseTypeAt(alias, depth+1)
	}
	parts := func(types ...string) ([]*layout, error) {
		out := make([]*layout, 0, len(types))
		for _, t := range types {
			part, err := parseTypeAt(t, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, part)
		}
		return out, nil
	}
	build := func(kind layoutKind, types ...string) (*layout, error) {
		inner, err := parts(types...)
		if err != nil {
			return nil, err
		}
		return &layout{kind: kind, parts: inner}, nil
	}
	switch {
	case name == "String" && len(args) == 0:
		return &layout{kind: text}, nil
	case name == "FixedString" && len(args) == 1:
		width, err := strconv.Atoi(args[0])
		if err != nil || width < 1 || width > maxFixedString {
			return nil, refuse(codeUnknownType, "the type %s has no valid width", typ)
		}
		return &layout{kind: fixed, width: width}, nil
	case name == "Decimal" && len(args) == 2:
		return decimalLayout(typ, args[0])
	case name == "Nullable" && len(args) == 1:
		return build(nullable, args[0])
	case name == "Array" && len(args) == 1:
		return build(list, args[0])
	case name == "LowCardinality" && len(args) == 1:
		return lowCardinalityLayout(args[0], depth)
	case name == "SimpleAggregateFunction" && len(args) == 2:
		return parseTypeAt(args[1], depth+1)
	case name == "Map" && len(args) == 2:
		inner, err := build(record, args...)
		return &layout{kind: list, parts: []*layout{inner}}, err
	case name == "Tuple" && len(args) > 0:
		return build(record, elementTypes(args)...)
	case name == "Nested" && len(args) > 0:
		inner, err := build(record, elementTypes(args)...)
		return &layout{kind: list, parts: []*layout{inner}}, err
	}
	return nil, refuse(codeUnknownType, "values of type %s cannot be sent over this connection (for the state of an aggregate function, use finalizeAggregation or -Merge)", typ)
}

func decimalLayout(typ, precision string) (*layout, error) {
	p, err := strconv.Atoi(precision)
	if err != nil || p < 1 || p > 76 {
		return nil, refuse(codeUnknownType, "the type %s has no valid precision", typ)
	}
	for _, step := range []struct{ precision, width int }{{9, 4}, {18, 8}, {38, 16}} {
		if p <= step.precision {
			return &layout{kind: fixed, width: step.width}, nil
		}
	}
	return &layout{kind: fixed, width: 32}, nil
}

// lowCardinalityLayout returns the layout of LowCardinality(typ). It ignores Nullable, because the dictionary's first
// entry represents NULL, and the keys have no null map.
func lowCardinalityLayout(typ string, depth int) (*layout, error) {
	inner, err := parseTypeAt(typ, depth+1)
	if err != nil {
		return nil, err
	}
	if inner.kind == nullable {
		inner = inner.parts[0]
	}
	if inner.kind != fixed && inner.kind != text {
		return nil, refuse(codeUnknownType, "LowCardinality(%s) is not a type", typ)
	}
	return &layout{kind: lowCardinality, parts: []*layout{inner}}, nil
}

// withoutLowCardinality returns the type `typ`, in which every LowCardinality(T) is replaced by T.
func withoutLowCardinality(typ string) string {
	name, args, err := splitType(typ)
	if err != nil { // types from the engine are valid
		return typ
	}
	inner := args
	switch name {
	case "LowCardinality":
		return args[0]
	case "Array", "Map":
	case "Tuple", "Nested":
		inner = elementTypes(args)
	default:
		return typ
	}
	for i, t := range inner {
		t = strings.TrimSpace(t)
		args[i] = strings.TrimSuffix(args[i], t) + withoutLowCardinality(t)
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// splitType splits "Name(a, b)" into name and arguments. Commas inside brackets and quotes do not separate arguments.
func splitType(typ string) (name string, args []string, err error) {
	open := strings.IndexByte(typ, '(')
	if open < 0 {
		return typ, nil, nil
	}
	if !strings.HasSuffix(typ, ")") {
		return "", nil, refuse(codeUnknownType, "the type %s has no closing bracket", typ)
	}
	body, depth, start := typ[open+1:len(typ)-1], 0, 0
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				args = append(args, strings.TrimSpace(body[start:i]))
				start = i + 1
			}
		case '\'', '`', '"':
			for i++; i < len(body) && body[i] != c; i++ {
				if body[i] == '\\' {
					i++
				}
			}
		}
	}
	if depth != 0 {
		return "", nil, refuse(codeUnknownType, "the brackets of the type %s do not match", typ)
	}
	if rest := strings.TrimSpace(body[start:]); rest != "" {
		args = append(args, rest)
	}
	return typ[:open], args, nil
}

// elementTypes removes the names of a Tuple's elements: "a UInt8" becomes
// UInt8, but "DateTime64(3, 'UTC')" stays.
func elementTypes(args []string) []string {
	types := make([]string, len(args))
	for i, arg := range args {
		types[i] = arg
		if len(arg) > 0 && (arg[0] == '`' || arg[0] == '"') {
			for end := 1; end < len(arg); end++ {
				if arg[end] == '\\' {
					end++
				} else if arg[end] == arg[0] {
					types[i] = arg[end+1:]
					break
				}
			}
			continue
		}
		space, bracket := strings.IndexByte(arg, ' '), strings.IndexByte(arg, '(')
		if space > 0 && (bracket < 0 || space < bracket) {
			types[i] = arg[space+1:]
		}
	}
	return types
}
