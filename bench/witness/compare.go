package witness

import "fmt"

// An event's id is its request's number and its place in the request.
const (
	placeBits = 10
	maxEvents = 1<<placeBits - 1 // of one request
)

// EventID is the number that an event's URL ends with.
func EventID(request uint64, place int) uint64 { return request<<placeBits | uint64(place) }

// Outcome is what the client knows of a request at the end.
type Outcome uint8

const (
	Unsent       Outcome = iota // nothing of it left this program
	Acknowledged                // 204: every event is stored, once
	Refused                     // 4xx: none is stored
	Failed                      // 5xx: all or none, once
	Unknown                     // no answer: all or none, once
)

// Request is a request as the client remembers it.
type Request struct {
	Number  uint64
	Events  int
	Outcome Outcome
	Past    bool // its events are spread over many months
	Keyed   bool // sent with an Idempotency-Key until it was acknowledged
}

// Verdict is what the comparison finds. The first four are of events, Torn of
// requests.
type Verdict struct {
	Stored   int      `json:"stored"`  // different events
	Lost     int      `json:"lost"`    // acknowledged, not stored
	Doubled  int      `json:"doubled"` // stored more than once, acknowledged or not
	Refused  int      `json:"refusedButStored"`
	Foreign  int      `json:"neverSent"` // stored, and nobody sent them
	Torn     int      `json:"torn"`      // stored in part: a request is all or nothing
	Examples []string `json:"examples,omitempty"`
}

// MaxExamples of each fault are enough to look for its cause.
const MaxExamples = 10

// Problems are the promises that were broken.
func (v *Verdict) Problems() (list []string) {
	for _, p := range []struct {
		n    int
		what string
	}{
		{v.Lost, "%d acknowledged events are lost"},
		{v.Doubled, "%d events are stored more than once"},
		{v.Torn, "%d requests are stored in part"},
		{v.Refused, "%d events are stored though they were refused"},
		{v.Foreign, "%d events are stored that nobody sent"},
	} {
		if p.n > 0 {
			list = append(list, fmt.Sprintf(p.what, p.n))
		}
	}
	return list
}

func (v *Verdict) note(count *int, n int, format string, arguments ...any) {
	if *count < MaxExamples {
		v.Examples = append(v.Examples, fmt.Sprintf(format, arguments...))
	}
	*count += n
}

// Compare holds what was sent against what is stored: how many rows there are
// of each id.
func Compare(requests []Request, stored map[uint64]Row) Verdict {
	v := Verdict{Stored: len(stored)}
	sent := 0
	for _, r := range requests {
		have, doubled, where := 0, 0, ""
		for place := range r.Events {
			row, ok := stored[EventID(r.Number, place)]
			if !ok {
				continue
			}
			have++
			if row.Rows > 1 {
				doubled++
				where = row.Where
			}
		}
		if doubled > 0 {
			v.note(&v.Doubled, doubled, "doubled: %d of %d events of request %d (%s, keyed %v), one of them at %s", doubled, r.Events, r.Number, r.Outcome, r.Keyed, where)
		}
		sent += have
		switch {
		case r.Outcome == Acknowledged && have < r.Events:
			v.note(&v.Lost, r.Events-have, "lost: %d of %d events of request %d (keyed %v)", r.Events-have, r.Events, r.Number, r.Keyed)
		case (r.Outcome == Refused || r.Outcome == Unsent) && have > 0:
			v.note(&v.Refused, have, "stored though %s: %d events of request %d", r.Outcome, have, r.Number)
		case have > 0 && have < r.Events:
			v.note(&v.Torn, 1, "torn: %d of %d events of request %d (%s) are stored", have, r.Events, r.Number, r.Outcome)
		}
	}
	if foreign := len(stored) - sent; foreign > 0 {
		v.note(&v.Foreign, foreign, "never sent: %d stored events", foreign)
	}
	return v
}

func (o Outcome) String() string {
	return [...]string{"unsent", "acknowledged", "refused", "failed", "unknown"}[o]
}

// Row is how many rows of an event are stored, and where they came from.
type Row struct {
	Rows  int
	Where string
}
