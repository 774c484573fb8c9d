package sites_test

import (
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestEventKeysAndClocks checks keys while a clock is wrong. A used key must not become free within a day, and no key
// may be busy for longer than a lease. The test cannot set the database's clock, so it moves the times in rows.
func TestEventKeysAndClocks(t *testing.T) {
	t.Parallel()
	const lease = time.Minute
	claim := func(st *store.Store, id byte) schema.KeyClaim {
		t.Helper()
		got, err := st.Sites.ClaimEventKey(t.Context(), "site", "key", schema.KeyClaim{
			BodyHash: [32]byte{1}, MessageID: insights.MessageID{id},
		}, lease)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	finish := func(st *store.Store, c schema.KeyClaim) {
		t.Helper()
		if err := st.Sites.FinishEventKey(t.Context(), "site", "key", c); err != nil {
			t.Fatal(err)
		}
	}
	// exec is a statement that runs between the claims of the first and the second request, and moves times.
	for _, c := range []struct {
		name, before, exec string
		done               bool
		want               schema.KeyState
	}{
		{name: "finished", done: true, want: schema.KeyDone},
		{name: "a day old", done: true, exec: "update event_keys set created_at = now() - interval '25 hours'", want: schema.KeyNew},
		{name: "an hour ahead", done: true, exec: "update event_keys set created_at = now() - interval '1 hour'", want: schema.KeyDone},
		{name: "400 days ahead", done: true,
			exec: "update event_keys set created_at = now() - interval '400 days'; " +
				"update clock set seen_at = now() - interval '400 days'", want: schema.KeyDone},
		{name: "claimed while 400 days behind", done: true, before: "update clock set seen_at = now() + interval '400 days'",
			exec: "update event_keys set created_at = created_at - interval '400 days'; " +
				"update clock set seen_at = now()", want: schema.KeyDone},
		{name: "leased", want: schema.KeyBusy},
		{name: "lease has ended", exec: "update event_keys set leased_until = now()", want: schema.KeyOpen},
		{name: "leased while seconds ahead",
			exec: "update event_keys set leased_until = leased_until + interval '2 seconds'", want: schema.KeyBusy},
		{name: "leased while 400 days ahead",
			exec: "update event_keys set leased_until = leased_until + interval '400 days'", want: schema.KeyOpen},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			st, conn := storetest.Open(t, url), storetest.Connect(t, url)
			for i, statements := range []string{c.before, c.exec} {
				if i == 1 {
					first := claim(st, 1)
					if first.State != schema.KeyNew {
						t.Fatalf("the first claim is %v", first.State)
					}
					if c.done {
						finish(st, first)
					}
				}
				if _, err := conn.Exec(t.Context(), statements); err != nil {
					t.Fatal(err)
				}
			}
			got := claim(st, 2)
			if got.State != c.want {
				t.Errorf("the second claim is %v, want %v", got.State, c.want)
			}
			if got.State == schema.KeyOpen && got.MessageID != (insights.MessageID{1}) {
				t.Errorf("the second attempt appends message %v", got.MessageID)
			}
			if c.want == schema.KeyDone && (got.Left <= 0 || got.Left > 24*time.Hour) && c.name != "400 days ahead" {
				t.Errorf("the key is free again after %s", got.Left)
			}
		})
	}
}
