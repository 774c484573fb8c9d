package sites_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestRetentionDays checks that deletions use the current number of days, even if it was increased. The record of past
// deletions must stay after every change of the number.
func TestRetentionDays(t *testing.T) {
	t.Parallel()
	// The days are days of UTC. The session has another time zone, but the result must be the same.
	zoned, err := url.Parse(storetest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	query := zoned.Query()
	query.Set("timezone", "Europe/Berlin")
	zoned.RawQuery = query.Encode()
	st := storetest.Open(t, zoned.String())
	ctx, today := t.Context(), time.Now().UTC().Truncate(24*time.Hour)
	set := func(days ...int) {
		t.Helper()
		var n *int
		if len(days) > 0 {
			n = &days[0]
		}
		change := sites.InsightsSettingsChange{Retention: schema.Opt[int]{Set: true, Value: n}}
		if err := st.Sites.SetInsightsSettings(ctx, "a", change); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(days int) []schema.Expiry {
		t.Helper()
		list, err := st.Sites.BeginRetention(ctx, 100)
		if err != nil || len(list) != 1 || int(list[0].Days) != days ||
			!list[0].Before.Equal(today.Add(-time.Duration(days)*24*time.Hour)) {
			t.Fatalf("with %d days: %+v, %v", days, list, err)
		}
		return list
	}
	carryOut := func(days int) time.Time {
		t.Helper()
		if err := st.Sites.CarriedOut(ctx, begin(days)); err != nil {
			t.Fatal(err)
		}
		if due, err := st.Sites.RetentionDue(ctx); due || err != nil {
			t.Fatalf("due when it was carried out: %v, %v", due, err)
		}
		return time.Now()
	}
	// expired compares the result of Expiries with `want`. `want` has the time at which each deletion was carried
	// out, by the number of days.
	expired := func(what string, want map[int]time.Time) {
		t.Helper()
		list, err := st.Sites.Expiries(ctx)
		if err != nil || len(list) != len(want) {
			t.Fatalf("%s: %+v, %v", what, list, err)
		}
		for _, e := range list {
			until, ok := want[int(today.Sub(e.Before)/(24*time.Hour))]
			if !ok || e.SiteID != "a" || e.CarriedOut.After(until) || e.CarriedOut.Before(today) {
				t.Errorf("%s: %+v", what, e)
			}
		}
	}
	set(180)
	half := carryOut(180)
	expired("once", map[int]time.Time{180: half})
	set(100)
	first := carryOut(100)
	expired("shorter", map[int]time.Time{100: first})
	set(250)
	longer := carryOut(250)
	expired("longer", map[int]time.Time{100: first, 250: longer})
	set()
	if list, err := st.Sites.BeginRetention(ctx, 100); err != nil || len(list) != 0 {
		t.Errorf("for ever: %+v, %v", list, err)
	}
	expired("for ever", map[int]time.Time{100: first, 250: longer})

	// A killed run may have deleted some events.
	set(30)
	begin(30)
	begun := time.Now()
	set()
	expired("killed", map[int]time.Time{30: begun})
}

// TestBeginErasuresFails checks that BeginErasures returns an error of the database, and not an empty batch.
func TestBeginErasuresFails(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	if b, err := st.Sites.BeginErasures(t.Context(), 100); err != nil || b.Version != 0 {
		t.Fatalf("nobody waits: %+v, %v", b, err)
	}
	if _, err := st.Sites.AskErasure(t.Context(), "a", 1, time.Now(), time.Hour); err != nil {
		t.Fatal(err)
	}
	lock, err := storetest.Connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), "select from erasures for update"); err != nil {
		t.Fatal(err)
	}
	watch := storetest.Connect(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := st.Sites.BeginErasures(ctx, 100)
		ended <- err
	}()
	eventually.True(t, "a session to wait for the row", func() (waits bool) {
		const question = "select exists (select from pg_stat_activity " +
			"where datname = current_database() and wait_event_type = 'Lock')"
		if err := watch.QueryRow(t.Context(), question).Scan(&waits); err != nil {
			t.Fatal(err)
		}
		return waits
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a statement that was given up: %v", err)
	}
}

// TestErasuresOfASiteAreBounded checks that a new erasure is refused if too many erasures are unfinished. A repeated
// request is not a new erasure.
func TestErasuresOfASiteAreBounded(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	if _, err := conn.Exec(t.Context(),
		"insert into erasures (site_id, visitor, erased_until) select 'a', generate_series(1, $1), "+
			"now()", sites.MaxErasures); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `insert into erasures (site_id, visitor, done_at, erased_until) values
		('a', -1, now(), now() + interval '1 hour'), ('a', -2, now(), now())`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		site    string
		visitor uint64
		refused bool
	}{
		{"one that waits", "a", 7, false},
		{"one that covers this moment", "a", ^uint64(0), false},
		{"one that was done before", "a", ^uint64(1), true},
		{"a new one", "a", 0, true},
		{"one of another site", "b", 0, false},
	} {
		_, err := st.Sites.AskErasure(t.Context(), c.site, c.visitor, time.Now(), time.Hour)
		if e := schema.AsError(err); c.refused != (err != nil) || err != nil && e.Code != schema.CodeTooManyRequests {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestErasureReach requests erasures while clocks are wrong. An erasure reaches to the node's time if the clocks are
// right, and otherwise to the time that the installation knows.
func TestErasureReach(t *testing.T) {
	t.Parallel()
	const far = 400 * 24 * time.Hour
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	now := time.Now().Truncate(time.Second)
	for i, c := range []struct {
		name string
		// node is the node's time, `seen` is the latest time that nodes have seen, and `want` is the end of the
		// erasure.
		node, seen, want time.Duration
	}{
		{"right", 0, 0, 0},
		{"the node is 20 s behind", -20 * time.Second, 0, -20 * time.Second},
		{"the node is behind", -far, 0, 0},
		{"the node is ahead", far, 0, 0},
		{"all clocks are behind", 0, far, far},
		{"Postgres is behind", far, far, far},
		{"all clocks are ahead", 0, -far, -far},
		{"Postgres is ahead", -far, -far, -far},
	} {
		if _, err := conn.Exec(t.Context(), "update clock set seen_at = $1", now.Add(c.seen)); err != nil {
			t.Fatal(err)
		}
		e, err := st.Sites.AskErasure(t.Context(), "reach", uint64(i), now.Add(c.node), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if off := e.ErasedUntil.Sub(now.Add(c.want)); off < 0 || off > 30*time.Second {
			t.Errorf("%s: it reaches to %s, which is off by %s", c.name, e.ErasedUntil, off)
		}
		// A second request for a time that the first erasure covers must not move the erasure's end.
		again, err := st.Sites.AskErasure(t.Context(), "reach", uint64(i), now.Add(c.node-2*time.Second), time.Hour)
		if err != nil || again.ErasedUntil.Sub(e.ErasedUntil).Abs() > 30*time.Second {
			t.Errorf("%s: asked again, it reaches to %s: %v", c.name, again.ErasedUntil, err)
		}
	}
}
