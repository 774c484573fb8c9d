package schema

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// momentForm is the form of every time that leaves the service: UTC with three fraction digits, as in GitBook's
// responses. All times have the same length, so that texts sort like the times. Parsers that require 0, 3 or 6 digits
// can read them too.
const momentForm = "2006-01-02T15:04:05.000Z"

// FormatMoment writes a time in the form that responses have. It truncates the time to milliseconds, so the text is
// never later than the time. So if a client lists the changes since the time in this text, the list includes the object
// that has this time.
func FormatMoment(at time.Time) string { return at.UTC().Format(momentForm) }

// MomentOf reads a time that the rules of a request have checked. For nil it returns nil. It rounds up to a
// millisecond, because responses truncate times to milliseconds.
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

// Outgoing returns the options for all JSON that leaves the service: responses, webhooks, events for tunnels, and
// output of commands. Times have the form of FormatMoment, and equal values have equal bytes.
func Outgoing() json.Options { return outgoing }

func writeMoment(e *jsontext.Encoder, at time.Time) error {
	text := append(e.AvailableBuffer(), '"')
	return e.WriteValue(append(at.UTC().AppendFormat(text, momentForm), '"'))
}

// origin is earlier than every time that a test uses.
var origin = time.Now().Add(-100 * 365 * 24 * time.Hour)

// Elapsed returns the nanoseconds from a fixed origin of this process to a time. If `at` has a monotonic clock reading,
// a change of the machine's clock does not change the result. Times from time.Now have such a reading, also after a
// duration is added. Limits, caches and deadlines use these nanoseconds.
func Elapsed(at time.Time) int64 { return int64(at.Sub(origin)) }
