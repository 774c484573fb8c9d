package intake

import "sync"

// sessionGap is the time without an event that ends a session of a browser, in milliseconds of event time.
const sessionGap = 30 * 60 * 1000

// sessions stores the sessions of browsers: for each visitor, the times of the session's first and last event. Its
// memory is bounded. A visitor belongs to one of many small sets, and a full set forgets the visitor with the oldest
// last event. It allocates memory with its first session, and no more later.
//
// A session's hash is derived from the visitor and the 30-minute period in which the session began. Two sessions of a
// visitor never begin in the same period, because they begin more than 30 minutes apart. A node may not know a session,
// after a restart or because another node has it. In most cases it still assigns the same hash, because the first event
// that it gets is mostly in the same period. SENDING.md has the measured differences.
type sessions struct {
	shards  [sessionShards]sessionShard
	sets    uint64 // number of sets in a shard
	metrics *Metrics
}

const (
	sessionShards = 64
	sessionWays   = 16 // number of entries in a set
)

type sessionShard struct {
	mu      sync.Mutex
	entries []sessionEntry // sets of sessionWays entries
	_       [32]byte       // keeps the locks in different cache lines
}

// sessionEntry is a visitor's session. The zero entry is free.
type sessionEntry struct {
	visitor     uint64
	first, last int64 // event times in milliseconds
}

// newSessions makes room for about the given number of sessions.
func newSessions(entries int, m *Metrics) *sessions {
	const least = sessionShards * sessionWays
	return &sessions{sets: uint64((entries + least - 1) / least), metrics: m}
}

// set returns the set of entries to which a visitor belongs. The caller has locked the shard.
func (s *sessions) set(shard *sessionShard, visitor uint64) []sessionEntry {
	if shard.entries == nil {
		shard.entries = make([]sessionEntry, s.sets*sessionWays)
	}
	at := visitor / sessionShards % s.sets * sessionWays
	return shard.entries[at : at+sessionWays]
}

// find returns a time in the period in which the visitor's session at t began. It continues the known session if t
// belongs to it. Otherwise it begins a session if begin is true. An event may be late. It belongs to the known session
// if it is at most sessionGap before the session's first event. An older event gets the session of its own period. This
// session has the hash of the event's true session if that session began in the same period.
func (s *sessions) find(visitor uint64, t int64, begin bool) (first int64, found bool) {
	shard := &s.shards[visitor%sessionShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	set := s.set(shard, visitor)
	oldest := 0
	for i := range set {
		e := &set[i]
		if e.visitor != visitor {
			if e.last < set[oldest].last {
				oldest = i
			}
			continue
		}
		switch {
		case t < e.first-sessionGap:
			return t, begin
		case t <= e.last+sessionGap:
			e.last = max(e.last, t)
			return e.first, true
		case begin:
			e.first, e.last = t, t
		}
		return t, begin
	}
	if !begin {
		return 0, false
	}
	// An event that is older than the whole set does not replace a session.
	if e := &set[oldest]; t >= e.last {
		if e.visitor != 0 && t <= e.last+sessionGap {
			s.metrics.sessionsForgotten.Inc()
		}
		*e = sessionEntry{visitor, t, t}
	}
	return t, true
}

// visitors are the hashes of a browser's visitor by the salts of today and yesterday. yesterday is 0 if yesterday has
// no salt.
type visitors struct {
	today, yesterday uint64
	midnight         int64 // the beginning of today, in milliseconds
}

// assign returns the visitor and the session of a browser's event. An event before midnight has the visitor's hash of
// yesterday. If the session continues after midnight, its later events have this hash too.
func (s *sessions) assign(who siteHasher, v visitors, t int64) (visitor, session uint64) {
	visitor = v.today
	if v.yesterday != 0 {
		if t < v.midnight {
			visitor = v.yesterday
		} else if first, continues := s.find(v.yesterday, t, false); continues {
			return v.yesterday, who.assigned(v.yesterday, sessionPeriod(v.yesterday, first))
		}
	}
	first, _ := s.find(visitor, t, true)
	return visitor, who.assigned(visitor, sessionPeriod(visitor, first))
}

// sessionPeriod returns the number of a period of length sessionGap. Each visitor's periods begin at different times,
// so a restart does not hit all visitors at the border of a period.
func sessionPeriod(visitor uint64, first int64) uint64 {
	return (uint64(first) + visitor%sessionGap) / sessionGap
}
