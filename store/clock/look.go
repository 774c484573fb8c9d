package clock

import "time"

const (
	// tolerance is the time by which the clock may be ahead of the latest known time. The function deletion_time in
	// Postgres has the same constant.
	tolerance = 48 * time.Hour
	// patience is the time that nodes run until a clock in doubt is trusted.
	patience = 24 * time.Hour
)

// Doubt is the reason why a clock is in doubt.
type Doubt string

const (
	Ahead  Doubt = "ahead"  // the clock is days ahead of all known times
	Behind Doubt = "behind" // the clock is days behind the latest time that nodes have read
)

// State is the installation's knowledge about the time.
type State struct {
	// Now is the time of Postgres's clock. Ages are measured from this time.
	Now time.Time
	// Seen is the latest time that nodes have read. It is zero before the first look.
	Seen time.Time
	// Doubt is "" while the clock is trusted. DoubtedAt is the clock's time when the doubt began.
	Doubt     Doubt
	DoubtedAt time.Time
	// Ran is the time for which nodes have run since the doubt began. CountedBy is the node that counts this time.
	Ran       time.Duration
	CountedBy string
	// ConfirmedAt is the time of an operator's last confirmation that the clock is right; zero means never.
	ConfirmedAt time.Time
}

// Held reports whether nothing is deleted by age.
func (s State) Held() bool { return s.Doubt == Ahead }

// Left is the time that nodes must still run until the clock is trusted.
func (s State) Left() time.Duration {
	if s.Doubt == "" {
		return 0
	}
	return max(0, patience-s.Ran)
}

// Look is a node's observation of the time.
type Look struct {
	// Node is the name of the node.
	Node string
	// Clocks are the clocks of the node and of the insights store, if it answers.
	Clocks []time.Time
	// Newest is the time when the newest event was received; zero if there are no events. It is only used at the first
	// look.
	Newest time.Time
	// Ran is the time for which the node has been running since its last look. LastRan is State.Ran at that look.
	Ran, LastRan time.Duration
}

// after returns the state after a node has read the clocks (a look). It compares the clock with the latest time that
// nodes have read. If no node has read a time yet, it uses the newest event and the other clocks.
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
		// Only one node counts. Another node takes over when the count does not increase.
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
			return "" // a new installation
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

// known returns the time according to the first look's evidence: the newest event's time or the latest other clock,
// whichever is earlier. It is zero without evidence.
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
