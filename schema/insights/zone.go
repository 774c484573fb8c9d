package insights

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for machines without a zone database

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Zone is a time zone within a range of time, and the day on which its weeks begin. Local times are computed only from
// Go's zone data. Statements contain offsets instead of zone names, because the engine's zone data may be from another
// year.
type Zone struct {
	location *time.Location // nil is UTC
	spans    []span         // sorted by time, without gaps; nil for UTC
	events   []span         // the spans that contain events of the range
	week     WeekStart
}

// span is a period in which the offset from UTC is constant.
type span struct {
	from, to time.Time
	offset   time.Duration
}

// local returns the time that a local clock shows, as a time in UTC.
func (s span) local(t time.Time) time.Time { return t.UTC().Add(s.offset) }

// UTC is the zone of requests that do not define a zone.
var UTC = Zone{}

// String returns the zone's name.
func (z Zone) String() string {
	if z.location == nil {
		return "UTC"
	}
	return z.location.String()
}

// zoneName matches texts in the form of names of the IANA database.
var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)

// locations has the zones that were read. The number of names is limited, so the map cannot grow without bound.
var locations sync.Map

// Location finds a time zone by its name in the IANA database. Its error completes
// the sentence "<path> ...".
func Location(name string) (*time.Location, error) {
	if l, ok := locations.Load(name); ok {
		return l.(*time.Location), nil
	}
	// On some systems, the folder of zones also contains copies, variants with leap seconds, and the system's local
	// time. Refuse these names.
	other := name == "Local" || name == "localtime" || name == "posixrules" || strings.HasPrefix(name, "right/") || strings.HasPrefix(name, "posix/")
	if !zoneName.MatchString(name) || other {
		return nil, errZone
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil, unknownZone(name)
	}
	locations.Store(name, l)
	return l, nil
}

var errZone = errors.New("must be a time zone of the IANA database, such as Europe/Berlin")

// unknownZone returns the error about an unknown name. It suggests the zone whose name differs only in case.
func unknownZone(name string) error {
	titled, start := []byte(strings.ToLower(name)), true
	for i, c := range titled {
		if start && 'a' <= c && c <= 'z' {
			titled[i] = c - 'a' + 'A'
		}
		start = c == '/' || c == '_' || c == '-'
	}
	for _, near := range []string{string(titled), strings.ToUpper(name)} {
		if _, err := time.LoadLocation(near); err == nil {
			return fmt.Errorf("%w; did you mean %q?", errZone, near)
		}
	}
	return errZone
}

// BucketReach is longer than the time by which the first bucket of a range may begin before the range.
const BucketReach = 40 * 24 * time.Hour

// NewZone returns the zone of a location for a range of time.
func NewZone(location *time.Location, from, to time.Time) Zone {
	if location == nil || location == time.UTC {
		return UTC
	}
	z := Zone{location: location, spans: spansOf(location, from.Add(-BucketReach), to.Add(BucketReach))}
	z.events = slices.DeleteFunc(slices.Clone(z.spans), func(s span) bool {
		return !s.to.After(from) || !s.from.Before(to)
	})
	if len(z.events) == 0 { // the range is empty
		z.events = z.spans[:1]
	}
	return z
}

// spansOf returns the spans of a location in a range of time.
func spansOf(location *time.Location, from, to time.Time) (spans []span) {
	for t := from; t.Before(to); {
		_, seconds := t.In(location).Zone()
		_, end := t.In(location).ZoneBounds()
		switch {
		case end.IsZero() || end.After(to):
			end = to
		case !end.After(t):
			// ZoneBounds has a bug on December 31 of leap years for which a zone has only a general rule: its result
			// ends with December 30, before t.
			end = t.Add(time.Hour)
		}
		offset := time.Duration(seconds) * time.Second
		if last := len(spans) - 1; last >= 0 && spans[last].offset == offset {
			spans[last].to = end // only the zone's name or the flag for daylight saving has changed
		} else {
			spans = append(spans, span{t, end, offset})
		}
		t = end
	}
	return spans
}

// Within returns the zone for another range of time.
func (z Zone) Within(from, to time.Time) Zone { return NewZone(z.location, from, to).WeeksFrom(z.week) }

// WeeksFrom returns the zone with weeks that begin with the given day.
func (z Zone) WeeksFrom(day WeekStart) Zone {
	z.week = day
	return z
}

// Week returns the day on which weeks begin.
func (z Zone) Week() WeekStart { return z.week }

// localTime returns the expression for the local time of an event in the zone.
func (z Zone) localTime() sqltree.Expr {
	if len(z.spans) == 0 {
		return TimeExpr()
	}
	return sqltree.Call("addSeconds", TimeExpr(), z.offset())
}

// offset returns the expression for the zone's offset at the time of an event, in seconds.
func (z Zone) offset() sqltree.Expr {
	return z.bySpan(func(s span) sqltree.Expr { return sqltree.Param(sqltree.T("Int64"), int64(s.offset/time.Second)) })
}

// bySpan returns the expression that has, for each event, the value of `of` for the span that contains the event's
// time.
func (z Zone) bySpan(of func(span) sqltree.Expr) sqltree.Expr {
	last := len(z.events) - 1
	if last == 0 {
		return of(z.events[0])
	}
	var args []sqltree.Expr
	for _, s := range z.events[:last] {
		args = append(args, sqltree.Bin(sqltree.Lt, TimeExpr(), moment(s.to)), of(s))
	}
	return sqltree.Call("multiIf", append(args, of(z.events[last]))...)
}

func moment(t time.Time) sqltree.Expr { return sqltree.Param(typeTime, FormatTime(t)) }

// bucket returns the expression for the beginning of an event's bucket in the zone. For a day, week or month, the value
// is the local time of the beginning. For an hour or a minute, the value is the time in UTC. Moment converts both
// results to times.
//
// Every result is a DateTime64(3), so that the results of all intervals have one type. The setting
// enable_extended_results_for_datetime_functions must be on. Otherwise the week of January 1, 1970 would begin on this
// day.
func bucket(a Arguments, env Env) sqltree.Expr {
	if a.Interval == nil {
		return TimeExpr()
	}
	z := env.Zone
	start := sqltree.Call("toDateTime64", a.Interval.cut(z.localTime(), z.week), sqltree.Int(3), sqltree.Str("UTC"))
	if a.Interval.local || len(z.spans) == 0 {
		return start
	}
	// If a clock is set back, it shows an hour twice. The two hours are two buckets. If the change falls within an
	// hour, the rest of this hour begins with the change.
	start = sqltree.Call("subtractSeconds", start, z.offset())
	if len(z.events) == 1 && z.events[0].from.Equal(z.spans[0].from) {
		// If no clock change falls within an hour, no bucket begins with a change.
		return start
	}
	return sqltree.Call("greatest", start, z.bySpan(func(s span) sqltree.Expr { return moment(s.from) }))
}

// Moment returns the beginning of a bucket as a time in the zone. `read` is the result of [bucket]. Exact times need no
// conversion.
func (z Zone) Moment(interval *Interval, read time.Time) time.Time {
	switch {
	case len(z.spans) == 0:
		return read.UTC()
	case interval == nil || !interval.local:
		return read.In(z.location)
	}
	for _, s := range z.spans {
		// If this span contains a part of the bucket, t is the time at which this part begins. If a clock is set
		// forward at midnight, t is later than midnight.
		t := later(read.Add(-s.offset), s.from)
		if t.Before(s.to) && interval.start(s.local(t), z.week).Equal(read) {
			return t.In(z.location)
		}
	}
	return read.In(z.location) // not reached, because the spans cover every event
}

// Buckets returns the value of [bucket] for each bucket in a range of time. The values are sorted. `ok` is false if
// there are more than `most` buckets.
func (z Zone) Buckets(interval *Interval, from, to time.Time, most int) (list []time.Time, ok bool) {
	spans := z.spans
	if len(spans) == 0 {
		spans = []span{{from: from, to: to}}
	}
	seen := map[time.Time]bool{}
	for _, s := range spans {
		first, last := s.local(later(from, s.from)), s.local(earlier(to, s.to))
		if !first.Before(last) {
			continue
		}
		for start := interval.start(first, z.week); start.Before(last); start = interval.next(start) {
			read := start
			if !interval.local && len(z.spans) > 0 {
				read = later(start.Add(-s.offset), s.from.UTC())
			}
			if seen[read] {
				continue // the clock was set within the day, and the same day continues
			}
			if len(list) == most {
				return nil, false
			}
			seen[read] = true
			list = append(list, read)
		}
	}
	// If a clock is set back over midnight, the end of the previous day occurs twice, so sort the list.
	slices.SortFunc(list, time.Time.Compare)
	return list, true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
