package intake

import (
	"errors"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

func quietSalts(store SaltStore) *Salts { return NewSalts(store, slog.New(slog.DiscardHandler)) }

// TestVisitors checks which changes of a request's data give another visitor, and which give the same visitor.
func TestVisitors(t *testing.T) {
	t.Parallel()
	salts := quietSalts(newMemorySalts())
	visitor := func(site, ip, agent string, now time.Time) uint64 {
		t.Helper()
		day, err := salts.at(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		return day.visitors(site, appendVisitor(nil, netip.MustParseAddr(ip), agent), now).today
	}
	const one = "198.51.100.9"
	for name, c := range map[string]struct {
		ip, agent, site string
		later           time.Duration
		same            bool
	}{
		"the same":                {one, "a", "s", time.Hour, true},
		"mapped IPv4":             {"::ffff:198.51.100.9", "a", "s", 0, true},
		"another address":         {"198.51.100.8", "a", "s", 0, false},
		"another agent":           {one, "b", "s", 0, false},
		"no agent":                {one, "", "s", 0, false},
		"another site":            {one, "a", "s2", 0, false},
		"another day":             {one, "a", "s", 24 * time.Hour, false},
		"agent and address shift": {"198.51.100.97", "", "s", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := visitor("s", one, "a", testNow), visitor(c.site, c.ip, c.agent, testNow.Add(c.later))
			if first == 0 || second == 0 || (first == second) != c.same {
				t.Errorf("visitors %x and %x", first, second)
			}
		})
	}
	six := visitor("s", "2001:db8:1:2::1", "a", testNow)
	for ip, same := range map[string]bool{
		"2001:db8:1:2:ffff::9": true, "2001:db8:1:2::1%eth0": true, "2001:db8:1:3::1": false, "2001:db8:2:2::1": false,
	} {
		if got := visitor("s", ip, "a", testNow); (got == six) != same {
			t.Errorf("%s: %x and %x", ip, got, six)
		}
	}
	in := quietSalts(newMemorySalts())
	other, _ := in.at(t.Context(), testNow)
	if other.visitors(
		"s",
		appendVisitor(nil, netip.MustParseAddr(one), "a"),
		testNow,
	).today == visitor(
		"s",
		one,
		"a",
		testNow,
	) {
		t.Error("two salts give the same visitor")
	}
}

// TestSaltsOfNodes checks that all nodes use the same salt of a day, even if they request it concurrently.
func TestSaltsOfNodes(t *testing.T) {
	t.Parallel()
	store := newMemorySalts()
	got := make([]daySalts, 16)
	var wait sync.WaitGroup
	for i := range got {
		salts := quietSalts(store)
		wait.Go(func() { got[i], _ = salts.at(t.Context(), testNow) })
	}
	wait.Wait()
	for _, g := range got {
		if g != got[0] || g.today == [4]uint64{} || g.crosses {
			t.Fatalf("salts %v and %v", g, got[0])
		}
	}
	// On the next day, all nodes have yesterday's salt. A node that starts on this day has it too.
	next := quietSalts(store)
	tomorrow, err := next.at(t.Context(), testNow.Add(24*time.Hour))
	if err != nil || !tomorrow.crosses || tomorrow.yesterday != got[0].today || tomorrow.today == got[0].today {
		t.Errorf("on the next day %v, %v", tomorrow, err)
	}
}

// TestSaltsWithoutStore checks batches while the store is unavailable. If the node has the day's salt, batches are
// accepted. Otherwise they are refused, and only the first batch of a short time queries the store.
func TestSaltsWithoutStore(t *testing.T) {
	t.Parallel()
	store := newMemorySalts()
	salts := quietSalts(store)
	salts.pause = time.Hour
	log := &ingesttest.MemoryLog{}
	in := newDoor(t, log, func(c *Config) { c.Salts = salts })
	post := func(now time.Time, want *insights.Reason) {
		t.Helper()
		door := testDoor
		door.Now = now
		if err := in.AcceptDoor(t.Context(), testSite, browserBatch(browserView), door); ingesttest.ReasonOf(
			err,
		) != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
	post(testNow, nil)
	store.err = errors.New("away")
	post(testNow.Add(time.Hour), nil)
	if err := salts.Renew(t.Context(), testNow); err == nil {
		t.Error("no error of the store")
	}
	post(testNow.Add(2*time.Hour), nil)
	asked := store.asked
	for range 10 {
		post(testNow.Add(24*time.Hour), insights.SaltUnavailable)
	}
	if store.asked != asked+1 {
		t.Errorf("the store was asked %d times", store.asked-asked)
	}
	b := in.cfg.Balances.Balance(testSite.ID)
	if b.Unread["salt_unavailable"] != 10 || b.Received != 3 || b.Accepted != 3 {
		t.Errorf("balance %+v", b)
	}
	wantIdle(t, in, testSite.ID)
	store.err = nil
	salts.pause = 0
	post(testNow.Add(24*time.Hour), nil)
}

// TestDoorWithoutSalts checks that an intake without salts refuses batches, even if the request gets a new decoder.
func TestDoorWithoutSalts(t *testing.T) {
	runtime.GC() // two garbage collections empty the pool of decoders
	runtime.GC()
	in := newTestIntake(t, discardLog{}, nil)
	err := in.AcceptDoor(t.Context(), testSite, browserBatch(browserView), testDoor)
	if ingesttest.ReasonOf(err) != insights.SaltUnavailable {
		t.Errorf("the answer is %v", err)
	}
	wantIdle(t, in, testSite.ID)
}

// TestSaltsAreForgotten checks that a node removes a salt from memory after two days, even if no batches arrive.
func TestSaltsAreForgotten(t *testing.T) {
	t.Parallel()
	store := newMemorySalts()
	salts := quietSalts(store)
	if _, err := salts.at(t.Context(), testNow); err != nil {
		t.Fatal(err)
	}
	store.rows = map[int32]schema.DoorSalt{}
	for days, want := range []int{1, 1, 0, 0} {
		if err := salts.Renew(t.Context(), testNow.Add(time.Duration(days)*24*time.Hour)); err != nil {
			t.Error(err)
		}
		if got := len(*salts.known.Load()); got != want {
			t.Errorf("after %d days the node has %d salts, want %d", days, got, want)
		}
	}
}

// TestSaltsPutBack checks that nodes store their salts again after the store has lost them. If another node has created
// a new salt of the day meanwhile, all nodes must use the older salt.
func TestSaltsPutBack(t *testing.T) {
	t.Parallel()
	store := newMemorySalts()
	var said strings.Builder
	old, young := quietSalts(store), NewSalts(store, slog.New(slog.NewTextHandler(&said, nil)))
	at := func(s *Salts) daySalts {
		t.Helper()
		got, err := s.at(t.Context(), testNow)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := at(old)
	store.rows = map[int32]schema.DoorSalt{}
	if err := old.Renew(t.Context(), testNow); err != nil || len(store.rows) != 1 {
		t.Errorf("%d salts are back, %v", len(store.rows), err)
	}
	store.rows = map[int32]schema.DoorSalt{}
	if second := at(young); second == first {
		t.Fatal("the young node has the lost salt")
	}
	for range 2 {
		for _, s := range []*Salts{young, old} {
			if err := s.Renew(t.Context(), testNow); err != nil {
				t.Error(err)
			}
		}
	}
	if at(young) != first || at(old) != first {
		t.Error("the older salt did not win")
	}
	if strings.Count(said.String(), "Another node has an older salt of the day") != 1 {
		t.Errorf("the young node said %q", said.String())
	}
}
