package schema

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// momentForm is the form of every time that leaves the service: UTC with three fraction digits, as in GitBook's
// answers. All times have the same length, so that texts sort like the times. Parsers that require 0, 3 or 6 digits can
// read them too.
const momentForm = "2006-01-02T15:04:05.000Z"

// FormatMoment writes a time in the form of answers. It truncates to a millisecond, so that the text is never after the
// time. So a list of changes since that text includes the object.
func FormatMoment(at time.Time) string { return at.UTC().Format(momentForm) }

// MomentOf reads a time that the rules of a request have checked; nil stays nil. It rounds up to a millisecond, because
// answers cut times to milliseconds. So a range from a shown time includes the object with that time, and a range until
// that time excludes the object.
func MomentOf(text *string) *time.Time {
	if text == nil {
		return nil
	}
	at, err := time.Parse(time.RFC3339, *text)
	if err != nil {
		return nil
	}
	at = at.Add(time.Millisecond - 1).Truncate(time.Millisecond)
	return &at
}

var outgoing = json.JoinOptions(json.Deterministic(true), json.WithMarshalers(json.MarshalToFunc(writeMoment)))

// Outgoing returns the options for all JSON that leaves the service: answers, webhooks, events for tunnels, and output
// of commands. Times have the form of FormatMoment, and equal values have equal bytes.
func Outgoing() json.Options { return outgoing }

func writeMoment(e *jsontext.Encoder, at time.Time) error {
	text := append(e.AvailableBuffer(), '"')
	return e.WriteValue(append(at.UTC().AppendFormat(text, momentForm), '"'))
}

// origin is earlier than every time that a test uses.
var origin = time.Now().Add(-100 * 365 * 24 * time.Hour)

// Elapsed returns the nanoseconds from a fixed origin of this process to a time. A step of the machine's clock changes
// nothing if at has a monotonic reading. Times of time.Now have one, and so do their sums with durations. Limits,
// caches and deadlines count in these nanoseconds.
func Elapsed(at time.Time) int64 { return int64(at.Sub(origin)) }
