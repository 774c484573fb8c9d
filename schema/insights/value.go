package insights

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// maxText bounds a filter value: no stored value is longer.
const maxText = 8192

var (
	typeString = sqltree.T("String")
	typeTime   = sqltree.T("DateTime64(3,'UTC')")
)

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func parseText(raw json.RawMessage) (string, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil || isNull(raw) {
		return "", errors.New("must be a string")
	}
	if len(s) > maxText {
		return "", fmt.Errorf("must have at most %d bytes", maxText)
	}
	return s, nil
}

// appendText appends a JSON string; bytes that are not UTF-8 become U+FFFD.
// Unlike encoding/json it leaves <, > and & as they are.
func appendText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// MemberError is a member that an object value does not have. Path and
// suggestion are the caller's to add.
type MemberError struct {
	Member string
	Known  []string
}

func (e *MemberError) Error() string { return "has no member " + strconv.Quote(e.Member) }

// onlyMembers checks that an object has no members but the known ones.
func onlyMembers(raw json.RawMessage, known ...string) error {
	var members map[string]json.RawMessage
	// What is of another type has no members; the caller says so better.
	_ = json.Unmarshal(raw, &members)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(known, name) {
			return &MemberError{name, known}
		}
	}
	return nil
}

// textValue is a string; with null, "" reads and filters as null.
type textValue struct{ null bool }

func (v textValue) Shape() string {
	if v.null {
		return "string or null"
	}
	return "string"
}
func (textValue) Type() sqltree.Type { return typeString }
func (textValue) New() any           { return new(string) }

func (v textValue) Parse(raw json.RawMessage) (any, error) {
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
	return appendText(dst, s)
}

// enumValue is a word of a closed set; with empty, also "".
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

func (v enumValue) Parse(raw json.RawMessage) (any, error) {
	// Both published versions' "no value" are understood where one is.
	if (v.null || v.empty) && isNull(raw) {
		return "", nil
	}
	s, err := parseText(raw)
	if err == nil && s == "" && v.empty {
		return s, nil
	}
	if _, ok := v.enum.Code(s); err != nil || !ok {
		return nil, errors.New("must be " + v.Shape())
	}
	return s, nil
}

func (v enumValue) Append(dst []byte, scanned any) []byte {
	return textValue{null: v.null}.Append(dst, scanned)
}

// numberValue is a number of the contract: counts.
type numberValue struct{}

func (numberValue) Shape() string      { return "number" }
func (numberValue) Type() sqltree.Type { return sqltree.T("Float64") }
func (numberValue) New() any           { return new(uint64) }

func (numberValue) Parse(raw json.RawMessage) (any, error) {
	var n float64
	if err := json.Unmarshal(raw, &n); err != nil || isNull(raw) || math.IsInf(n, 0) {
		return nil, errors.New("must be a number")
	}
	return n, nil
}

func (numberValue) Append(dst []byte, scanned any) []byte {
	return strconv.AppendUint(dst, *scanned.(*uint64), 10)
}

// intValue is an integer from a small range.
type intValue struct{ min, max int64 }

func (v intValue) Shape() string    { return fmt.Sprintf("integer from %d to %d", v.min, v.max) }
func (intValue) Type() sqltree.Type { return sqltree.T("Int64") }
func (intValue) New() any           { return new(int64) }

func (v intValue) Parse(raw json.RawMessage) (any, error) {
	var n int64
	if err := json.Unmarshal(raw, &n); err != nil || isNull(raw) || n < v.min || n > v.max {
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

func (flagValue) Parse(raw json.RawMessage) (any, error) {
	switch string(bytes.TrimSpace(raw)) {
	case "true":
		return uint8(1), nil
	case "false":
		return uint8(0), nil
	case "null":
		// Every event is known to be one or the other, so null matches none.
		return uint8(2), nil
	}
	return nil, errors.New("must be true, false or null")
}

func (flagValue) Append(dst []byte, scanned any) []byte {
	return strconv.AppendBool(dst, *scanned.(*uint8) == 1)
}

// timeValue is a moment, to the millisecond.
type timeValue struct{}

// minTime and maxTime bound what is stored. DateTime64(3) itself reaches from
// 1900 to 2299, but the table's key cuts time to the hour in 32 bits: outside
// of these years it wraps, and the server then skips rows that a query needs.
var (
	minTime = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(2105, 12, 31, 23, 59, 59, 999_000_000, time.UTC)
)

// TimeProblem is what is said of a text that is no date-time.
const TimeProblem = "must be a date-time such as 2026-01-31T00:00:00Z"

func (timeValue) Shape() string      { return "date-time (RFC 3339)" }
func (timeValue) Type() sqltree.Type { return typeTime }
func (timeValue) New() any           { return new(time.Time) }

func (timeValue) Parse(raw json.RawMessage) (any, error) {
	s, err := parseText(raw)
	if err != nil {
		return nil, errors.New(TimeProblem)
	}
	t, err := ParseTime(s)
	if err != nil {
		return nil, err
	}
	return FormatTime(t), nil
}

func (timeValue) Append(dst []byte, scanned any) []byte {
	t := scanned.(*time.Time).UTC()
	dst = append(dst, '"')
	dst = t.AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	return append(dst, '"')
}

// ParseTime reads an RFC 3339 date-time, cut to the millisecond, of the years
// that the store can hold.
func ParseTime(s string) (time.Time, error) {
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

// TimeBounds are the first and the last moment that the store can hold.
func TimeBounds() (first, last time.Time) { return minTime, maxTime }

// TimeExpr reads an event's exact time.
func TimeExpr() sqltree.Expr { return bucket(Arguments{}) }

// TimeType is the type of TimeExpr, whose parameters FormatTime writes.
func TimeType() sqltree.Type { return typeTime }

// FormatTime is a moment as the text of a DateTime64(3,'UTC') parameter.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

// constantNull is a column that no event has a value in.
type constantNull struct{ enumValue }

func (v constantNull) Append(dst []byte, _ any) []byte { return append(dst, "null"...) }
