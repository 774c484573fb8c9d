package insights

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Arguments has the resolved extra parameters of a column in a request. A parameter has one of a fixed set of values,
// or is sent to the server as a bound parameter. So no text of a request becomes SQL.
type Arguments struct {
	Interval  *Interval // interval of a Time column; nil means exact times
	Precision int       // precision of visitorGeoPoint: H3 resolution 0..15
	Claim     string    // claim of visitorClaim
}

// Extra is an extra parameter of a column: a row of Extras.
type Extra struct {
	Name string // name in requests
	// Required is true if the parameter determines which values the column has, such as the name of a claim. Filters
	// also need such a parameter, and responses repeat it.
	Required bool
	// Default sets the value of a parameter that is missing in the request. If it is nil, the parameter has the zero
	// value.
	Default func(to *Arguments)
	// Parse reads the parameter. Its error completes the sentence "<path> ...".
	Parse func(raw jsontext.Value, to *Arguments) error
	// Text returns the parameter's value as text, or "" if there is none.
	Text func(Arguments) string
	// Schema returns the parameter's JSON Schema for the OpenAPI document.
	Schema func() map[string]any
}

const (
	maxPrecision = 15
	// defaultPrecision gives cells of about 250 km², which is a town and its surroundings.
	defaultPrecision = 5
	maxClaim         = 1024
)

var (
	extraInterval = &Extra{
		Name: "interval",
		Parse: func(raw jsontext.Value, to *Arguments) error {
			word, err := parseString(raw)
			if err != nil {
				return errors.New("must be one of " + strings.Join(intervalWords(), ", "))
			}
			i := slices.IndexFunc(intervals, func(i *Interval) bool { return i.Word == word })
			if i < 0 {
				return &WordError{What: "an interval", Word: word, Known: intervalWords()}
			}
			to.Interval = intervals[i]
			return nil
		},
		Text: func(a Arguments) string {
			if a.Interval == nil {
				return ""
			}
			return a.Interval.Word
		},
		Schema: func() map[string]any { return map[string]any{"type": "string", "enum": intervalWords()} },
	}
	extraPrecision = &Extra{
		Name:    "precision",
		Default: func(to *Arguments) { to.Precision = defaultPrecision },
		Parse: func(raw jsontext.Value, to *Arguments) error {
			n, ok := Integer(raw, 0, maxPrecision)
			if !ok {
				return errors.New("must be an " + intValue{0, maxPrecision}.Shape())
			}
			to.Precision = int(n)
			return nil
		},
		Text:   func(a Arguments) string { return strconv.Itoa(a.Precision) },
		Schema: func() map[string]any { return map[string]any{"type": "integer", "minimum": 0, "maximum": maxPrecision} },
	}
	extraClaim = &Extra{
		Name: "claim", Required: true,
		Parse: func(raw jsontext.Value, to *Arguments) error {
			name, err := parseString(raw)
			switch {
			case err != nil:
				return err
			case name == "" || len(name) > maxClaim:
				return errors.New("must be a claim's name of 1 to " + strconv.Itoa(maxClaim) + " bytes")
			case name == ClaimTypes:
				return errors.New("is reserved: no claim has this name")
			}
			to.Claim = name
			return nil
		},
		Text:   func(a Arguments) string { return a.Claim },
		Schema: func() map[string]any { return map[string]any{"type": "string"} },
	}

	// Extras are all extra parameters.
	Extras = []*Extra{extraInterval, extraPrecision, extraClaim}
)

// Interval is a size of time buckets. The list `intervals` has all intervals.
type Interval struct {
	Word string // name in requests
	// `local` is true if buckets follow the calendar: they begin at a time that the local clock shows. Other buckets
	// begin at fixed instants.
	local bool
	// `cut` returns the SQL expression for the start of a time's bucket, and `start` computes the same in Go. `next`
	// returns the start of the bucket after the bucket that starts at t. All times are in UTC.
	cut   func(t sqltree.Expr, week WeekStart) sqltree.Expr
	start func(t time.Time, week WeekStart) time.Time
	next  func(t time.Time) time.Time
}

// minute is the only interval that is shorter than a quarter of an hour. Only short ranges may be cut to minutes,
// because rows of visits have no minutes.
var minute = &Interval{
	"minute", false, func(t sqltree.Expr, _ WeekStart) sqltree.Expr { return sqltree.Call("toStartOfMinute", t) },
	func(t time.Time, _ WeekStart) time.Time { return t.Truncate(time.Minute) },
	func(t time.Time) time.Time { return t.Add(time.Minute) },
}

// Quarters reports whether each bucket consists of whole quarters of an hour, as rows of visits do. It returns false
// for exact time, which is nil.
func (i *Interval) Quarters() bool { return i != nil && i != minute }

// Cuts reports whether a range may be cut to the interval. A range may be cut to minutes only if it has at most 24
// hours, or at most one calendar day of the location.
func (i *Interval) Cuts(from, to time.Time, location *time.Location) bool {
	if i != minute || to.Sub(from) <= 24*time.Hour {
		return true
	}
	return !to.After(OnDay(from.In(location), func(d Day) Day { return d.AddDays(1) }))
}

// intervals are the intervals that a request may name, beginning with the shortest.
var intervals = []*Interval{
	minute,
	{"hour", false, func(t sqltree.Expr, _ WeekStart) sqltree.Expr { return sqltree.Call("toStartOfHour", t) },
		func(t time.Time, _ WeekStart) time.Time { return t.Truncate(time.Hour) },
		func(t time.Time) time.Time { return t.Add(time.Hour) }},
	{"day", true, func(t sqltree.Expr, _ WeekStart) sqltree.Expr { return sqltree.Call("toStartOfDay", t) },
		func(t time.Time, _ WeekStart) time.Time { return DayOf(t).UTC() },
		func(t time.Time) time.Time { return DayOf(t).AddDays(1).UTC() }},
	{"week", true, startOfWeek,
		func(t time.Time, week WeekStart) time.Time { return DayOf(t).Week(week).UTC() },
		func(t time.Time) time.Time { return DayOf(t).AddDays(7).UTC() }},
	{"month", true, func(t sqltree.Expr, _ WeekStart) sqltree.Expr { return sqltree.Call("toStartOfMonth", t) },
		func(t time.Time, _ WeekStart) time.Time { return DayOf(t).Month().UTC() },
		func(t time.Time) time.Time { return DayOf(t).AddMonths(1).UTC() }},
}

// startOfWeek returns the expression for the first day of a time's week. The engine's weeks begin on Monday.
func startOfWeek(t sqltree.Expr, week WeekStart) sqltree.Expr {
	if week == 0 {
		return sqltree.Call("toStartOfWeek", t, sqltree.Int(1))
	}
	after := sqltree.Int(int64(week))
	monday := sqltree.Call("toStartOfWeek", sqltree.Call("subtractDays", t, after), sqltree.Int(1))
	return sqltree.Call("addDays", monday, after)
}

// Rank returns the rank of an interval in the order of length. Exact time, which is nil, has the rank 0.
func (i *Interval) Rank() int { return slices.Index(intervals, i) + 1 }

func intervalWords() []string {
	words := make([]string, len(intervals))
	for i, interval := range intervals {
		words[i] = interval.Word
	}
	return words
}
