package insights

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/section"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// maxText bounds the bytes of a text in a filter. No stored value is longer.
const maxText = 8192

var (
	typeString = sqltree.T("String")
	typeTime   = sqltree.T("DateTime64(3,'UTC')")
)

// JSONOptions are the options for reading requests. If an object has several members with the same name, the last one
// is used. Invalid UTF-8 becomes U+FFFD.
var JSONOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func isNull(raw jsontext.Value) bool { return raw.Kind() == jsontext.KindNull }

// parseString reads a string of a valid JSON value.
func parseString(raw jsontext.Value) (string, error) {
	if raw.Kind() != jsontext.KindString {
		return "", errors.New("must be a string")
	}
	s, _ := jsontext.AppendUnquote(nil, raw) // fails only for invalid UTF-8, which it replaces
	return string(s), nil
}

func parseText(raw jsontext.Value) (string, error) {
	s, err := parseString(raw)
	if err == nil && len(s) > maxText {
		err = fmt.Errorf("must have at most %d bytes", maxText)
	}
	return s, err
}

func parseNumber(raw jsontext.Value) (n float64, ok bool) {
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, err == nil && raw.Kind() == jsontext.KindNumber
}

// Integer reads an integer from `least` to `most`, in any notation of JSON: 1e2 means 100.
func Integer(raw jsontext.Value, least, most int64) (n int64, ok bool) {
	f, ok := parseNumber(raw)
	return int64(f), ok && f == math.Trunc(f) && f >= float64(least) && f <= float64(most)
}

// AppendText appends s as a JSON string, in the form that canonical content
// references have. Bytes that are not UTF-8 become U+FFFD.
func AppendText(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error only reports bytes that are not UTF-8
	return dst
}

// MemberError is the error about an object with an unknown member. The caller adds the path, and the name of a similar
// known member.
type MemberError struct {
	Member string
	Known  []string
}

func (e *MemberError) Error() string { return "has no member " + strconv.Quote(e.Member) }

// WordError is the error about a word that is not one of the allowed words.
type WordError struct {
	What  string // kind of word in the error's text, such as "an interval"
	Word  string
	Known []string
}

func (e *WordError) Error() string { return "must be " + e.What + ", not " + strconv.Quote(e.Word) }

// parseObject reads an object into `into`. It refuses members that `into` does not have.
func parseObject(raw jsontext.Value, into any, known ...string) error {
	err := json.Unmarshal(raw, into, JSONOptions, json.RejectUnknownMembers(true))
	if e, ok := errors.AsType[*json.SemanticError](err); ok && errors.Is(e.Err, json.ErrUnknownName) {
		return &MemberError{e.JSONPointer.LastToken(), known}
	}
	return err
}

// textValue is a string. If `null` is set, "" is shown as null, and null in a filter matches it.
type textValue struct{ null bool }

func (v textValue) Shape() string {
	if v.null {
		return "string or null"
	}
	return "string"
}
func (textValue) Type() sqltree.Type { return typeString }
func (textValue) New() any           { return new(string) }

func (v textValue) Parse(raw jsontext.Value) (any, error) {
	if v.null && isNull(raw) {
		return "", nil
	}
	s, err := parseText(raw)
	if err != nil && v.null {
		err = errors.New(err.Error() + " or null")
	}
	return s, err
}

func (v textValue) Append(dst []byte, scanned any) []byte {
	s := *scanned.(*string)
	if v.null && s == "" {
		return append(dst, "null"...)
	}
	return AppendText(dst, s)
}

// sectionValue is the id of a site section. Filters accept an id in the form of the table or in the form of responses.
type sectionValue struct{ textValue }

func (v sectionValue) Parse(raw jsontext.Value) (any, error) {
	value, err := v.textValue.Parse(raw)
	if text, ok := value.(string); ok {
		value = section.ID(text)
	}
	return value, err
}

func (v sectionValue) Append(dst []byte, scanned any) []byte {
	shown := section.Shown(*scanned.(*string))
	return v.textValue.Append(dst, &shown)
}

// pathValue is the path of a URL: in a filter, the empty path means "/".
type pathValue struct{ textValue }

func (v pathValue) Parse(raw jsontext.Value) (any, error) {
	value, err := v.textValue.Parse(raw)
	if value == "" {
		value = "/"
	}
	return value, err
}

// enumValue is a word of an Enum. If `empty` is set, "" is also allowed.
type enumValue struct {
	enum        *Enum
	null, empty bool
}

func (v enumValue) Shape() string {
	s := "one of " + strings.Join(v.enum.words, ", ")
	if v.empty {
		s += `, ""`
	}
	if v.null {
		s += " or null"
	}
	return s
}
func (enumValue) Type() sqltree.Type { return typeString }
func (enumValue) New() any           { return new(string) }

func (v enumValue) Parse(raw jsontext.Value) (any, error) {
	// The contract has two published versions. For an absent value, the first has null and the second has "".
	if (v.null || v.empty) && isNull(raw) {
		return "", nil
	}
	s, err := parseText(raw)
	if err == nil && s == "" && v.empty {
		return s, nil
	}
	if err != nil || s == "" {
		return nil, errors.New("must be " + v.Shape())
	}
	if _, ok := v.enum.Code(s); !ok {
		return nil, &WordError{What: "a value of the column", Word: s, Known: v.enum.words}
	}
	return s, nil
}

func (v enumValue) Append(dst []byte, scanned any) []byte {
	return textValue{null: v.null}.Append(dst, scanned)
}

// numberValue is a count, which the contract calls a number.
type numberValue struct{}

func (numberValue) Shape() string      { return "number" }
func (numberValue) Type() sqltree.Type { return sqltree.T("Float64") }
func (numberValue) New() any           { return new(uint64) }

func (numberValue) Parse(raw jsontext.Value) (any, error) {
	n, ok := parseNumber(raw)
	if !ok {
		return nil, errors.New("must be a number")
	}
	return n, nil
}

func (numberValue) Append(dst []byte, scanned any) []byte {
	return strconv.AppendUint(dst, *scanned.(*uint64), 10)
}

// intValue is an integer from `least` to `most`.
type intValue struct{ least, most int64 }

func (v intValue) Shape() string    { return fmt.Sprintf("integer from %d to %d", v.least, v.most) }
func (intValue) Type() sqltree.Type { return sqltree.T("Int64") }
func (intValue) New() any           { return new(int64) }

func (v intValue) Parse(raw jsontext.Value) (any, error) {
	n, ok := Integer(raw, v.least, v.most)
	if !ok {
		return nil, errors.New("must be an " + v.Shape())
	}
	return n, nil
}

func (intValue) Append(dst []byte, scanned any) []byte {
	return strconv.AppendInt(dst, *scanned.(*int64), 10)
}

// flagValue is a boolean.
type flagValue struct{}

func (flagValue) Shape() string      { return "boolean" }
func (flagValue) Type() sqltree.Type { return sqltree.T("UInt8") }
func (flagValue) New() any           { return new(uint8) }

func (flagValue) Parse(raw jsontext.Value) (any, error) {
	switch raw.Kind() {
	case jsontext.KindTrue:
		return uint8(1), nil
	case jsontext.KindFalse:
		return uint8(0), nil
	case jsontext.KindNull:
		// 2 matches no event: every event has true or false, so null must match no event.
		return uint8(2), nil
	default:
		return nil, errors.New("must be true, false or null")
	}
}

func (flagValue) Append(dst []byte, scanned any) []byte {
	return strconv.AppendBool(dst, *scanned.(*uint8) == 1)
}

// timeValue is a time with the precision of a millisecond.
type timeValue struct{}

// minTime and maxTime are the earliest and the latest time that is stored. DateTime64(3) allows the years 1900 to 2299.
// However, the table's key stores the hour in 32 bits, which overflow for times before minTime or after maxTime. For
// such times, ClickHouse would skip rows that a query needs.
var (
	minTime = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(2105, 12, 31, 23, 59, 59, 999_000_000, time.UTC)
)

// TimeProblem is the problem of a text that is not a date-time.
const TimeProblem = "must be a date-time such as 2026-01-31T00:00:00Z"

func (timeValue) Shape() string      { return "date-time (RFC 3339)" }
func (timeValue) Type() sqltree.Type { return typeTime }
func (timeValue) New() any           { return new(time.Time) }

func (timeValue) Parse(raw jsontext.Value) (any, error) {
	s, err := parseText(raw)
	if err != nil {
		return nil, errors.New(TimeProblem)
	}
	t, err := parseTime(s)
	if err != nil {
		return nil, err
	}
	return FormatTime(t), nil
}

func (timeValue) Append(dst []byte, scanned any) []byte {
	return AppendTime(dst, *scanned.(*time.Time))
}

// AppendTime writes a time in the form that responses have, with the offset of its zone.
func AppendTime(dst []byte, t time.Time) []byte {
	dst = t.AppendFormat(append(dst, '"'), "2006-01-02T15:04:05.000Z07:00")
	return append(dst, '"')
}

// parseTime reads an RFC 3339 date-time and cuts it to the millisecond. It refuses times that the events table cannot
// store.
func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, errors.New(TimeProblem)
	}
	t = t.UTC().Truncate(time.Millisecond)
	if t.Before(minTime) || t.After(maxTime) {
		return t, errors.New("must be a date-time of the years 1970 to 2105")
	}
	return t, nil
}

// TimeBounds returns the first and the last time that the events table can store.
func TimeBounds() (first, last time.Time) { return minTime, maxTime }

// TimeExpr returns the expression for an event's exact time.
func TimeExpr() sqltree.Expr { return sqltree.Col("time") }

// TimeType returns the type of TimeExpr. FormatTime writes parameters of this type.
func TimeType() sqltree.Type { return typeTime }

// FormatTime writes a time as a DateTime64(3,'UTC') parameter.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

// constantNull is the value of a column that is null in all events.
type constantNull struct{ enumValue }

func (v constantNull) Append(dst []byte, _ any) []byte { return append(dst, "null"...) }
