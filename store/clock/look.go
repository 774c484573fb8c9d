package clock

import "time"

const (
	// tolerance is the longest time by which a trusted clock may be ahead of the latest known time. The function
	// deletion_time in Postgres has the same constant.
	tolerance = 48 * time.Hour
	// patience is the time after which a clock in doubt is trusted. Only time in which nodes run is included.
	patience = 24 * time.Hour
)

// Doubt is the reason why Postgres's clock is in doubt.
type Doubt string

const (
	Ahead  Doubt = "ahead"  // the clock is days ahead of all known times
	Behind Doubt = "behind" // the clock is days behind the latest time that nodes have read
)

// State is the state of the clock: the times that nodes have read, and the doubt about the clock.
type State struct {
	// Now is the time of Postgres's clock. Ages are measured from this time.
	Now time.Time
	// Seen is the latest known time, which is the latest trusted time that a node has read. It is zero before the first
	// look.
	Seen time.Time
	// Doubt is "" while the clock is trusted. DoubtedAt is the clock's time when the doubt began.
	Doubt     Doubt
	DoubtedAt time.Time
	// Ran is the time for which nodes have run since the doubt began. CountedBy is the node that measures this time.
	Ran       time.Duration
	CountedBy string
	// ConfirmedAt is the time of an operator's last confirmation that the clock is right. It is zero if no operator has
	// confirmed the clock.
	ConfirmedAt time.Time
}

// Held reports whether deletions by age are stopped.
func (s State) Held() bool { return s.Doubt == Ahead }

// Left returns the time for which nodes must still run until the clock is trusted.
func (s State) Left() time.Duration {
	if s.Doubt == "" {
		return 0
	}
	return max(0, patience-s.Ran)
}

// Look is a node's reading of the clocks.
type Look struct {
	// Node is the name of the node.
	Node string
	// Clocks are the times of the node's clock and of the insights store's clock. If the insights store does not
	// answer, its time is missing.
	Clocks []time.Time
	// Newest is the time when the newest event was received, or zero if there are no events. Only the first look uses
	// it.
	Newest time.Time
	// Ran is the time for which the node has been running since its last look. LastRan is State.Ran at the node's last
	// look.
	Ran, LastRan time.Duration
}

// after returns the state after a look. It compares Postgres's clock with the latest known time. If no time is known
// yet, it compares the clock with the newest event and the other clocks.
func (s State) after(l Look) State {
	doubt := s.doubt(l)
	switch {
	case doubt == "":
		if s.Now.After(s.Seen) {
			s.Seen = s.Now
		}
		return s.trusted()
	case doubt != s.Doubt:
		s.Doubt, s.DoubtedAt, s.Ran, s.CountedBy = doubt, s.Now, 0, l.Node
		if s.Seen.IsZero() {
			s.Seen = l.known()
		}
	case s.CountedBy == l.Node || s.Ran == l.LastRan:
		// Only one node adds its running time to State.Ran. If State.Ran has not increased since this node's last look,
		// that node may have stopped, so this node takes over.
		s.Ran, s.CountedBy = s.Ran+l.Ran, l.Node
	}
	if s.Ran >= patience {
		s.Seen = s.Now
		return s.trusted()
	}
	return s
}

func (s State) trusted() State {
	s.Doubt, s.DoubtedAt, s.Ran, s.CountedBy = "", time.Time{}, 0, ""
	return s
}

func (s State) doubt(l Look) Doubt {
	seen := s.Seen
	if seen.IsZero() {
		if seen = l.known(); seen.IsZero() {
			return "" // a new installation has no time to compare with
		}
	}
	switch apart := s.Now.Sub(seen); {
	case apart > tolerance:
		return Ahead
	case apart < -tolerance && !s.Seen.IsZero():
		return Behind
	}
	return ""
}

// known returns the time with which the first look compares Postgres's clock. It is the newest event's time or the
// latest other clock's time, whichever is earlier. It is zero if there are no events and no other clocks.
func (l Look) known() (at time.Time) {
	for _, clock := range l.Clocks {
		if clock.After(at) {
			at = clock
		}
	}
	if !l.Newest.IsZero() && (at.IsZero() || l.Newest.Before(at)) {
		at = l.Newest
	}
	return at
}
