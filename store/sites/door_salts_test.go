package sites_test

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

func newSalt(day int32) schema.DoorSalt {
	salt := schema.DoorSalt{Day: day}
	_, _ = rand.Read(salt.Salt[:])
	return salt
}

func today() int32 { return int32(time.Now().Unix() / (24 * 60 * 60)) }

// TestDoorSaltsAgree checks that the stores of several nodes get the same salt, even if all offer a salt concurrently.
func TestDoorSaltsAgree(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	day := today()
	got := make([][]schema.DoorSalt, 8)
	var wait sync.WaitGroup
	for i := range got {
		st := storetest.Open(t, url)
		wait.Go(func() {
			var err error
			offered := []schema.DoorSalt{newSalt(day)}
			if got[i], err = st.Sites.DoorSalts(context.WithoutCancel(t.Context()), offered); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	st := storetest.Open(t, url)
	want, err := st.Sites.DoorSalts(t.Context(), nil)
	if err != nil || len(want) != 1 || want[0].Day != day || want[0].MadeAt.IsZero() {
		t.Fatalf("the store has %v, %v", want, err)
	}
	for _, list := range got {
		if len(list) != 1 || list[0].Salt != want[0].Salt {
			t.Errorf("a node has another salt: %v, want %v", list, want)
		}
	}
}

// TestDoorSaltsOlderWins checks that a salt that a node offers again replaces a younger salt, but not an older salt.
// Days that ended long ago must get no salt.
func TestDoorSaltsOlderWins(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	day := today()
	offer := func(list ...schema.DoorSalt) []schema.DoorSalt {
		t.Helper()
		got, err := st.Sites.DoorSalts(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := offer(newSalt(day))[0]
	older, younger := newSalt(day), newSalt(day)
	older.MadeAt, younger.MadeAt = first.MadeAt.Add(-time.Second), first.MadeAt.Add(time.Second)
	if got := offer(younger, newSalt(day)); len(got) != 1 || got[0].Salt != first.Salt {
		t.Errorf("a younger salt won: %v", got)
	}
	if got := offer(older, younger, first); len(got) != 1 || got[0].Salt != older.Salt ||
		!got[0].MadeAt.Equal(older.MadeAt) {
		t.Errorf("the oldest salt did not win: %v", got)
	}
	if got := offer(newSalt(day-1), newSalt(day-2), newSalt(day+1), newSalt(day-300)); len(got) != 3 ||
		got[0].Day != day-1 || got[1].Day != day || got[2].Day != day+1 {
		t.Errorf("days %v", got)
	}
}

// TestDoorSaltsAreDestroyed checks that 48 hours after a salt's day began, no row has the salt, and the table has a new
// file. The table must not be in the write-ahead log.
func TestDoorSaltsAreDestroyed(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	day := today()
	kept, err := st.Sites.DoorSalts(t.Context(), []schema.DoorSalt{newSalt(day - 1), newSalt(day)})
	if err != nil || len(kept) != 2 {
		t.Fatal(kept, err)
	}
	file := func() string {
		return storetest.Collect(t, conn, "select pg_relation_filepath('door_salts')")[0]
	}
	before := file()
	if err := st.Sites.DeleteOldDoorSalts(t.Context()); err != nil || file() != before {
		t.Errorf("the table has a new file without a reason: %v", err)
	}
	const add = "insert into door_salts select (now() at time zone 'UTC')::date - 2, decode(repeat('5a', 32), 'hex')"
	if _, err := conn.Exec(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if got, err := st.Sites.DoorSalts(t.Context(), nil); err != nil || len(got) != 2 {
		t.Errorf("an old salt is still given out: %v, %v", got, err)
	}
	if err := st.Sites.DeleteOldDoorSalts(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := st.Sites.DoorSalts(t.Context(), nil)
	if err != nil || !slices.EqualFunc(got, kept, func(a, b schema.DoorSalt) bool {
		return a.Day == b.Day && a.Salt == b.Salt && a.MadeAt.Equal(b.MadeAt)
	}) {
		t.Errorf("left are %v, want %v; %v", got, kept, err)
	}
	if file() == before {
		t.Error("the table has the file with the destroyed salt")
	}
	var persistence string
	const asked = "select relpersistence::text from pg_class where relname = 'door_salts'"
	if err := conn.QueryRow(t.Context(), asked).Scan(&persistence); err != nil || persistence != "u" {
		t.Errorf("the table's persistence is %q, %v", persistence, err)
	}
	// Concurrent sweeps of several nodes must not lose rows.
	if _, err := conn.Exec(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if err := st.Sites.DeleteOldDoorSalts(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got, err := st.Sites.DoorSalts(t.Context(), nil); err != nil || len(got) != 2 {
		t.Errorf("after four sweeps %v, %v", got, err)
	}
	var left int
	if err := conn.QueryRow(t.Context(), "select count(*) from door_salts").Scan(&left); err != nil || left != 2 {
		t.Errorf("%d rows, %v", left, err)
	}
}
