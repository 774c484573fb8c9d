package intake

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"
)

const minute = int64(60_000)

func newTestSessions(entries int) *sessions {
	return newSessions(entries, NewMetrics(prometheus.NewRegistry()))
}

// sessionModel is a model of sessions that never removes a visitor: a map with an entry for each visitor.
type sessionModel map[uint64]*[2]int64

func (m sessionModel) find(visitor uint64, t int64, begin bool) (int64, bool) {
	e := m[visitor]
	switch {
	case e != nil && t < e[0]-sessionGap:
		return t, begin
	case e != nil && t <= e[1]+sessionGap:
		e[1] = max(e[1], t)
		return e[0], true
	case begin:
		m[visitor] = &[2]int64{t, t}
		return t, true
	}
	return 0, false
}

// TestSessionsLikeModel checks that random events get the same sessions from the table as from the model. The table has
// room for all visitors.
func TestSessionsLikeModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table, model := newTestSessions(sessionShards*sessionWays), sessionModel{}
		now := testNow.UnixMilli()
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			visitor := 1 + rapid.Uint64Range(0, 200).Draw(t, "visitor")*977
			now += rapid.Int64Range(0, 40*minute).Draw(t, "pause")
			at := now - rapid.Int64Range(0, 3).Draw(t, "late")*rapid.Int64Range(0, 50*minute).Draw(t, "by")
			begin := rapid.IntRange(0, 4).Draw(t, "begin") > 0
			got, found := table.find(visitor, at, begin)
			want, wantFound := model.find(visitor, at, begin)
			if found != wantFound || found && got != want {
				t.Fatalf("visitor %d at %d: %d %v, want %d %v", visitor, at, got, found, want, wantFound)
			}
		}
	})
}

// TestSessionsInOrder checks events that arrive in the order of their times. A gap of more than 30 minutes must begin a
// new session, and the sessions of a visitor must have different hashes.
func TestSessionsInOrder(t *testing.T) {
	t.Parallel()
	who := NewHasher(testKey).site("site_1")
	rapid.Check(t, func(t *rapid.T) {
		table := newTestSessions(1)
		v := visitors{today: rapid.Uint64Range(1, 1<<63).Draw(t, "visitor")}
		seen := map[uint64]bool{}
		at, last, session := testNow.UnixMilli(), int64(0), uint64(0)
		for range 50 {
			at += rapid.OneOf(
				rapid.Int64Range(0, sessionGap), rapid.Int64Range(sessionGap-1, sessionGap+2),
				rapid.Int64Range(0, 10*sessionGap),
			).Draw(t, "gap")
			_, got := table.assign(who, v, at)
			if continues := at-last <= sessionGap; continues != (got == session) {
				t.Fatalf("after %d ms the session is %x, and was %x", at-last, got, session)
			}
			if got != session && seen[got] {
				t.Fatalf("two sessions have the hash %x", got)
			}
			seen[got], last, session = true, at, got
		}
	})
}

// TestLateEvents checks that a late event belongs to the session during which it happened.
func TestLateEvents(t *testing.T) {
	t.Parallel()
	who := NewHasher(testKey).site("site_1")
	table := newTestSessions(1)
	v := visitors{today: 7}
	// `start` is in the first minutes of a session period of visitor 7: see sessionPeriod.
	start := testNow.UnixMilli()/sessionGap*sessionGap + minute
	at := func(minutes int64) uint64 {
		_, session := table.assign(who, v, start+minutes*minute)
		return session
	}
	first := at(0)
	if at(10) != first || at(40) != first || at(5) != first {
		t.Error("one session became several")
	}
	if at(-29) != first {
		t.Error("an event of 29 minutes before is in another session")
	}
	second := at(75)
	if second == first {
		t.Fatal("35 minutes later the session goes on")
	}
	if at(46) != second {
		t.Error("an event of less than 30 minutes before the session is not in it")
	}
	if at(1) != first || at(20) != first {
		t.Error("a late event of the former session's period is not in it")
	}
	if at(80) != second {
		t.Error("late events changed the present session")
	}
}

// TestReplaysKeepSessions checks that a batch which is repeated some seconds later gets the same session, even on
// another node.
func TestReplaysKeepSessions(t *testing.T) {
	t.Parallel()
	who := NewHasher(testKey).site("site_1")
	v := visitors{today: 7}
	one, two := newTestSessions(1), newTestSessions(1)
	start := testNow.UnixMilli()/sessionGap*sessionGap + minute
	_, want := one.assign(who, v, start)
	for _, table := range []*sessions{one, two} {
		if _, got := table.assign(who, v, start+1500); got != want {
			t.Errorf("the session is %x, want %x", got, want)
		}
	}
}

// TestMidnight checks that a session continues after midnight with the visitor's hash of the day before. The next
// session must have the hash of the new day.
func TestMidnight(t *testing.T) {
	t.Parallel()
	who := NewHasher(testKey).site("site_1")
	midnight := time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC).UnixMilli()
	before, after := visitors{
		today:    1,
		midnight: midnight - dayMillis,
	}, visitors{
		today:     2,
		yesterday: 1,
		midnight:  midnight,
	}
	for name, c := range map[string]struct {
		last, next int64 // in minutes after midnight
		keeps      bool
	}{
		"30 minutes":                   {-10, 20, true},
		"31 minutes":                   {-10, 21, false},
		"just before and after":        {-1, 0, true},
		"an event of the day before":   {-10, -5, true},
		"the same, an hour after":      {-90, -10, true}, // yesterday's hash of the visitor, in another session
		"long before":                  {-600, 1, false},
		"a late event, long before it": {20, -10, true},
	} {
		t.Run(name, func(t *testing.T) {
			table := newTestSessions(1)
			v := before
			if c.last >= 0 {
				v = after
			}
			firstVisitor, first := table.assign(who, v, midnight+c.last*minute)
			visitor, second := table.assign(who, after, midnight+c.next*minute)
			if c.keeps != (visitor == 1) {
				t.Errorf("the visitor is %d", visitor)
			}
			if gap := c.next - c.last; c.keeps && firstVisitor == visitor && (first == second) != (gap <= 30) {
				t.Errorf("after %d minutes the sessions are %x and %x", gap, first, second)
			}
			if !c.keeps {
				return
			}
			// While events arrive without a longer gap, the session continues, even for hours.
			for at := c.next + 29; at < 600 && c.next-c.last <= 30 && c.last < 0; at += 29 {
				if visitor, session := table.assign(who, after, midnight+at*minute); visitor != 1 ||
					session != second {
					t.Fatalf("at minute %d: visitor %d, session %x", at, visitor, session)
				}
			}
			if visitor, _ := table.assign(who, after, midnight+900*minute); visitor != 2 {
				t.Errorf("the next session has the visitor %d", visitor)
			}
		})
	}
	fresh := newTestSessions(1)
	if visitor, _ := fresh.assign(who, visitors{today: 2, midnight: midnight}, midnight-minute); visitor != 2 {
		t.Errorf("without a salt of yesterday the visitor is %d", visitor)
	}
}

// TestSessionsAreBounded checks that a full table does not grow. It removes the oldest sessions, and the metric counts
// the removed sessions that could have continued.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	m := NewMetrics(prometheus.NewRegistry())
	table := newSessions(1, m)
	const room = sessionShards * sessionWays
	now := testNow.UnixMilli()
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 * room {
		table.find(1+r.Uint64(), now, true)
		now += 100
	}
	size := 0
	for i := range table.shards {
		size += len(table.shards[i].entries)
	}
	if size != room {
		t.Errorf("%d entries, want %d", size, room)
	}
	if got := testutil.ToFloat64(m.sessionsForgotten); got < 8*room || got > 9*room {
		t.Errorf("%v sessions are forgotten", got)
	}
	// The metric does not count a removed session that has ended. An event that is older than all sessions does not
	// replace a session.
	forgotten := testutil.ToFloat64(m.sessionsForgotten)
	set := table.set(&table.shards[5], 5)
	oldest := set[0].last
	for _, e := range set {
		oldest = min(oldest, e.last)
	}
	if first, found := table.find(5, oldest-1, true); first != oldest-1 || !found {
		t.Error("an old event has no session")
	}
	for _, e := range set {
		if e.visitor == 5 {
			t.Error("an old event replaced a session")
		}
	}
	table.find(5, now+2*sessionGap, true)
	if testutil.ToFloat64(m.sessionsForgotten) != forgotten {
		t.Error("a session that ended counts as forgotten")
	}
}
