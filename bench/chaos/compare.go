package main

import "fmt"

// An event's id is its request's number and its place in the request.
const (
	placeBits = 5
	maxEvents = 1<<placeBits - 1 // of one request
)

func eventID(request uint64, place int) uint64 { return request<<placeBits | uint64(place) }

// outcome is what the client knows of a request at the end.
type outcome uint8

const (
	unsent       outcome = iota // nothing of it left this program
	acknowledged                // 204: every event is stored, once
	refused                     // 4xx: none is stored
	failed                      // 5xx: all or none, once
	unknown                     // no answer: all or none, once
)

// sentRequest is a request as the client remembers it.
type sentRequest struct {
	number  uint64
	events  int
	outcome outcome
	keyed   bool // sent with an Idempotency-Key until it was acknowledged
}

// verdict is what the comparison finds. The first four are of events, Torn of
// requests.
type verdict struct {
	Stored   int      `json:"stored"`  // different events
	Lost     int      `json:"lost"`    // acknowledged, not stored
	Doubled  int      `json:"doubled"` // stored more than once, acknowledged or not
	Refused  int      `json:"refusedButStored"`
	Foreign  int      `json:"neverSent"` // stored, and nobody sent them
	Torn     int      `json:"torn"`      // stored in part: a request is all or nothing
	Examples []string `json:"examples,omitempty"`
}

// maxExamples of each fault are enough to look for its cause.
const maxExamples = 10

func (v *verdict) note(count *int, n int, format string, arguments ...any) {
	if *count < maxExamples {
		v.Examples = append(v.Examples, fmt.Sprintf(format, arguments...))
	}
	*count += n
}

// compare holds what was sent against what is stored: how many rows there are
// of each id.
func compare(requests []sentRequest, stored map[uint64]storedRow) verdict {
	v := verdict{Stored: len(stored)}
	sent := 0
	for _, r := range requests {
		have, doubled, where := 0, 0, ""
		for place := range r.events {
			row, ok := stored[eventID(r.number, place)]
			if !ok {
				continue
			}
			have++
			if row.rows > 1 {
				doubled++
				where = row.where
			}
		}
		if doubled > 0 {
			v.note(&v.Doubled, doubled, "doubled: %d of %d events of request %d (%s, keyed %v), one of them at %s", doubled, r.events, r.number, r.outcome, r.keyed, where)
		}
		sent += have
		switch {
		case r.outcome == acknowledged && have < r.events:
			v.note(&v.Lost, r.events-have, "lost: %d of %d events of request %d (keyed %v)", r.events-have, r.events, r.number, r.keyed)
		case (r.outcome == refused || r.outcome == unsent) && have > 0:
			v.note(&v.Refused, have, "stored though %s: %d events of request %d", r.outcome, have, r.number)
		case have > 0 && have < r.events:
			v.note(&v.Torn, 1, "torn: %d of %d events of request %d (%s) are stored", have, r.events, r.number, r.outcome)
		}
	}
	if foreign := len(stored) - sent; foreign > 0 {
		v.note(&v.Foreign, foreign, "never sent: %d stored events", foreign)
	}
	return v
}

func (o outcome) String() string {
	return [...]string{"unsent", "acknowledged", "refused", "failed", "unknown"}[o]
}

// storedRow is how many rows of an event are stored, and where they came from.
type storedRow struct {
	rows  int
	where string
}
