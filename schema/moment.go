package schema

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// momentForm is the form of every time that Octavo sends: UTC with three fraction digits, as in GitBook's responses.
// All texts have the same length, so they sort in the order of the times. Clients whose parsers require 0, 3 or 6
// digits can read them.
const momentForm = "2006-01-02T15:04:05.000Z"

// FormatMoment writes a time in the form that responses have. It truncates the time to milliseconds, so the time in the
// text is never later than `at`. A client may take this text from an object and list the changes since this time. The
// list then includes the object.
func FormatMoment(at time.Time) string { return at.UTC().Format(momentForm) }

// MomentOf reads a time that was checked by the rules of a request. It returns nil if `text` is nil. It rounds up to a
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

// Outgoing returns the options for all JSON that Octavo sends: responses, webhooks, events for tunnels, and output of
// commands. Times have the form of FormatMoment. The encodings of equal values have equal bytes.
func Outgoing() json.Options { return outgoing }

func writeMoment(e *jsontext.Encoder, at time.Time) error {
	text := append(e.AvailableBuffer(), '"')
	return e.WriteValue(append(at.UTC().AppendFormat(text, momentForm), '"'))
}

// origin is earlier than every time that a test uses.
var origin = time.Now().Add(-100 * 365 * 24 * time.Hour)

// Elapsed returns the nanoseconds from a fixed origin of this process to a time. If `at` has a monotonic clock reading,
// a change of the machine's clock does not change the result. A time from time.Now has such a reading, and still has it
// after a duration is added. Limits, caches and deadlines use these nanoseconds.
func Elapsed(at time.Time) int64 { return int64(at.Sub(origin)) }
