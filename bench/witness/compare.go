package witness

import "fmt"

// An event's id consists of the request's number and the event's place in the request. The place has placeBits bits.
const (
	placeBits = 10
	maxEvents = 1<<placeBits - 1 // largest number of events in a request
)

// EventID returns the id of an event, which is the number at the end of the event's URL.
func EventID(request uint64, place int) uint64 { return request<<placeBits | uint64(place) }

// Outcome describes what the client knows about a request that has ended.
type Outcome uint8

const (
	Unsent       Outcome = iota // no byte was sent: no event may be stored
	Acknowledged                // 204: every event must be stored exactly once
	Refused                     // 4xx: no event may be stored
	Failed                      // 5xx: either all events are stored once, or no event is stored
	Unknown                     // no response: either all events are stored once, or no event is stored
)

// Request is the client's record of a request.
type Request struct {
	Number  uint64
	Events  int
	Outcome Outcome
	Past    bool // the events have timestamps of many months
	Keyed   bool // it has an Idempotency-Key or goes through the door, and is repeated until it is acknowledged
	Door    bool // the request goes through the door, the operation for browsers
}

// Verdict is the result of the comparison. Torn counts requests, and all other fields count events.
type Verdict struct {
	Stored   int // different events that are stored
	Lost     int // events that are acknowledged but not stored
	Doubled  int // events that are stored more than once
	Refused  int
	Foreign  int // events that are stored but were never sent
	Torn     int // requests of which only some events are stored
	Examples []string
}

// MaxExamples is the largest number of examples that Compare returns for each broken promise.
const MaxExamples = 10

// Problems returns a text for each broken promise.
func (v *Verdict) Problems() (list []string) {
	for _, p := range []struct {
		n    int
		what string
	}{
		{v.Lost, "%d acknowledged events are lost"},
		{v.Doubled, "%d events are stored more than once"},
		{v.Torn, "%d requests are partly stored"},
		{v.Refused, "%d events are stored although they were refused"},
		{v.Foreign, "%d stored events were never sent"},
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

// Compare compares the sent requests with the stored rows, by event id.
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
			v.note(&v.Refused, have, "stored although %s: %d events of request %d", r.Outcome, have, r.Number)
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

// Row has the number of rows of an event. If there are several rows, Where has their positions in the log.
type Row struct {
	Rows  int
	Where string
}
