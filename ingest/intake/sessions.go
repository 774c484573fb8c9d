package intake

import "sync"

// sessionGap is the time without an event that ends a session of a browser, in milliseconds of event time.
const sessionGap = 30 * 60 * 1000

// sessions stores the sessions of browsers: for each visitor, the times of the first and the last event of the
// visitor's session. Its memory has a fixed size, which each shard allocates at its first session. A visitor belongs to
// one of many small sets. If the set is full, the visitor whose last event is the oldest is removed from it.
//
// A session's hash is derived from the visitor and the 30-minute period in which the session began. Two sessions of a
// visitor never begin in the same period, because they begin more than 30 minutes apart. A node does not know a session
// that began before the node's restart, or on another node. The node still assigns the same hash if its first event of
// the session is in the period in which the session began. SENDING.md has measurements of how often the hashes differ.
type sessions struct {
	shards  [sessionShards]sessionShard
	sets    uint64 // number of sets in each shard
	metrics *Metrics
}

const (
	sessionShards = 64
	sessionWays   = 16 // number of entries in a set
)

type sessionShard struct {
	mu      sync.Mutex
	entries []sessionEntry // sets of sessionWays entries
	_       [32]byte       // padding, which puts the locks of two shards into different cache lines
}

// sessionEntry has the current session of a visitor. A zero value is an unused entry.
type sessionEntry struct {
	visitor     uint64
	first, last int64 // event times in milliseconds
}

// newSessions returns a table for approximately the given number of sessions.
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

// find returns a time from which the hash of the visitor's session at time t is computed. If t belongs to the known
// session, `find` continues this session. Otherwise it begins a session if `begin` is true. An event may be late. It
// belongs to the known session if it is at most sessionGap before the session's first event. For an older event, `find`
// returns the event's own time. The hash is then correct if the event's session began in the same period as the event.
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
	// An event that is older than every last event in the set does not replace a session.
	if e := &set[oldest]; t >= e.last {
		if e.visitor != 0 && t <= e.last+sessionGap {
			s.metrics.sessionsForgotten.Inc()
		}
		*e = sessionEntry{visitor, t, t}
	}
	return t, true
}

// visitors has the hashes of a browser's visitor with the salts of today and of yesterday. The field `yesterday` is 0
// if there is no salt of yesterday.
type visitors struct {
	today, yesterday uint64
	midnight         int64 // the beginning of today, in milliseconds
}

// assign returns the visitor and the session of a browser's event. An event before midnight gets the visitor's hash
// with yesterday's salt. If the session continues after midnight, its later events also get this hash.
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

// sessionPeriod returns the number of a period of length sessionGap. The periods of different visitors begin at
// different times. Otherwise, after a restart at the border of two periods, all visitors would get new sessions.
func sessionPeriod(visitor uint64, first int64) uint64 {
	return (uint64(first) + visitor%sessionGap) / sessionGap
}
