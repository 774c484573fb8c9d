package intake

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dchest/siphash"
)

// simulatedView is a page view of the simulation.
type simulatedView struct {
	visitor uint64
	at      int64
	session int // number of the session to which the view belongs
}

// simulatedDay returns the page views of a day in the order of their times, and the number of sessions. A visitor has
// one or several sessions, with one or several pages each. The pause between two pages is one minute on average. Few
// pauses are longer, up to half an hour.
func simulatedDay(r *rand.Rand, visitors int) (views []simulatedView, sessions int) {
	for range visitors {
		visitor := 1 + r.Uint64N(math.MaxUint64)
		at := r.Int64N(dayMillis / 2)
		for range 1 + int(r.ExpFloat64()*0.7) {
			sessions++
			for range 1 + int(r.ExpFloat64()*3) {
				views = append(views, simulatedView{visitor, at, sessions})
				at += min(int64(math.Exp(r.NormFloat64()*1.2)*60_000), sessionGap)
			}
			at += sessionGap + 1 + int64(r.ExpFloat64()*3*60*60*1000)
		}
	}
	slices.SortStableFunc(views, func(a, b simulatedView) int { return int(a.at - b.at) })
	return views, sessions
}

// TestSimulatedSessions measures how restarts, a table that is too small, and several nodes change the number of
// sessions of a day. SENDING.md has the figures. For comparison, the row "by first event" has the numbers for session
// hashes that are computed from the exact time of the first event.
func TestSimulatedSessions(t *testing.T) {
	t.Parallel()
	visitorsOfDay := 200_000
	if testing.Short() {
		visitorsOfDay = 20_000
	}
	r := rand.New(rand.NewPCG(33, 1))
	views, truth := simulatedDay(r, visitorsOfDay)
	who := NewHasher(testKey).site("site_1")
	half := views[len(views)/2].at
	// `most` is the largest number of visitors that have a session at the same time.
	most := 0
	{
		open := newTestSessions(1 << 22)
		live := map[uint64]int64{}
		for i, v := range views {
			live[v.visitor] = v.at
			open.find(v.visitor, v.at, true)
			if i%(len(views)/40) == 0 {
				n := 0
				for _, last := range live {
					if v.at-last <= sessionGap {
						n++
					}
				}
				most = max(most, n)
			}
		}
	}
	type layout struct {
		name    string
		nodes   int
		entries int                              // size of the table; 0 means that it is large enough
		node    func(i int, v simulatedView) int // node returns the node that receives the view
		restart func(node int, at int64) bool    // whether the node restarts before this time
		atMost  float64                          // largest share of sessions whose hash may be wrong
	}
	hashed := func(_ int, v simulatedView) int { return int(siphash.Hash(1, 2, binaryOf(v.visitor)) % 3) }
	restarted := map[int]bool{}
	once := func(node int, at int64) bool {
		if at < half || restarted[node] {
			return false
		}
		restarted[node] = true
		return true
	}
	hour := int64(-1)
	hourly := func(_ int, at int64) bool {
		if at/(60*minute) == hour {
			return false
		}
		hour = at / (60 * minute)
		return true
	}
	never := func(int, int64) bool { return false }
	first := func(int, simulatedView) int { return 0 }
	for _, l := range []layout{
		{"one node", 1, 0, first, never, 0},
		{"one node, a restart at the busiest time", 1, 0, first, once, 0.005},
		{"one node, a restart in each hour", 1, 0, first, hourly, 0.05},
		{"one node, room for all open sessions", 1, most, first, never, 0.03},
		{"one node, room for half of the open sessions", 1, most / 2, first, never, 0.25},
		{"three nodes, hashed by address", 3, 0, hashed, never, 0.02},
		{"three nodes, hashed by address, each restarts once", 3, 0, hashed, once, 0.02},
		{"three nodes in turns", 3, 0, func(i int, _ simulatedView) int { return i % 3 }, never, 0.25},
	} {
		clear(restarted)
		hour = -1
		entries := l.entries
		if entries == 0 {
			entries = 1 << 22
		}
		tables := make([]*sessions, l.nodes)
		for i := range tables {
			tables[i] = newTestSessions(entries)
		}
		type assigned struct{ visitor, session uint64 }
		counted, exact := map[assigned]bool{}, map[assigned]bool{}
		joined := map[assigned]map[int]bool{}
		for i, v := range views {
			n := l.node(i, v)
			if l.restart(n, v.at) {
				tables[n] = newTestSessions(entries)
			}
			begun, _ := tables[n].find(v.visitor, v.at, true)
			a := assigned{v.visitor, who.assigned(v.visitor, sessionPeriod(v.visitor, begun))}
			counted[a], exact[assigned{v.visitor, uint64(begun)}] = true, true
			if joined[a] == nil {
				joined[a] = map[int]bool{}
			}
			joined[a][v.session] = true
		}
		merged := 0
		for _, of := range joined {
			merged += len(of) - 1
		}
		wrong := func(n int) float64 { return float64(n)/float64(truth) - 1 }
		t.Logf(
			"%-52s %+7.2f %% of %d sessions, %d merged; by first event %+7.2f %%",
			l.name,
			100*wrong(len(counted)),
			truth,
			merged,
			100*wrong(len(exact)),
		)
		if got := math.Abs(wrong(len(counted))) + float64(merged)/float64(truth); got > l.atMost {
			t.Errorf("%s: %.4f of the sessions are wrong, want at most %.4f", l.name, got, l.atMost)
		}
	}
	t.Logf("%d visitors, %d page views, at most %d open sessions at a time", visitorsOfDay, len(views), most)
}

func binaryOf(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
