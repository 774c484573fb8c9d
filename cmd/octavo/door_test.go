package main

import (
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// doorNode builds a node that accepts batches of browsers, with salts from the store.
func (b *keyBench) doorNode(change func(*intake.Config)) (*keyNode, *intake.Salts) {
	b.t.Helper()
	salts := intake.NewSalts(storetest.Open(b.t, b.url).Sites, slog.New(slog.DiscardHandler))
	return b.node(func(c *intake.Config) {
		c.Salts = salts
		if change != nil {
			change(c)
		}
	}), salts
}

// batch posts a batch of a browser as the API does, and returns the answer's error.
func (n *keyNode) batch(t *testing.T, site, id, page string, change func(*schema.DoorInfo)) *schema.Error {
	t.Helper()
	from := schema.DoorInfo{
		IP: netip.MustParseAddr("198.51.100.9"), UserAgent: "agent", Now: time.Now(), Key: "pk", Generation: 1,
		Hosts: []string{"docs.example.com"},
	}
	if change != nil {
		change(&from)
	}
	body := []byte(
		`{"id":"` + id + `","events":[{"type":"page_view","url":"https://docs.example.com/` + page + `"}]}`,
	)
	err := eventIntake{n.Intake}.AcceptDoor(t.Context(), schema.EventSite{SiteID: site}, body, from)
	if err == nil {
		return nil
	}
	return schema.AsError(err)
}

func wantCode(t *testing.T, err *schema.Error, want int) {
	t.Helper()
	got := 204
	if err != nil {
		got = int(err.Code)
		if retried := err.RetryAfter > 0; retried != (got == 429 || got >= 500) {
			t.Errorf("%v has Retry-After %s", err, err.RetryAfter)
		}
	}
	if got != want {
		t.Errorf("%v is %d, want %d", err, got, want)
	}
}

// TestDoorOnce checks that a browser's batch is appended only once across all nodes. A retry may be late, or may use
// another generation of the key.
func TestDoorOnce(t *testing.T) {
	t.Parallel()
	b := newKeyBench(t)
	one, _ := b.doorNode(nil)
	two, _ := b.doorNode(nil)
	for range 2 {
		wantCode(t, one.batch(t, "site_a", "k", "p", nil), 204)
		wantCode(
			t,
			two.batch(t, "site_a", "k", "p", func(d *schema.DoorInfo) { d.Generation, d.Late = 2, time.Minute }),
			204,
		)
	}
	b.wantMessages(1, 1)
	wantCode(t, two.batch(t, "site_a", "k", "q", nil), 422)
	wantCode(t, two.batch(t, "site_b", "k", "q", nil), 204)
	wantCode(t, two.batch(t, "site_a", "k", "q", func(d *schema.DoorInfo) { d.Key = "pk2" }), 204)
	one.want(t, 204, "site_a", "k", "v") // an Idempotency-Key with the same text is another key
	b.wantMessages(4, 4)
	wantCode(
		t,
		one.batch(t, "site_a", "l", "p", func(d *schema.DoorInfo) { d.Hosts = []string{"*.example.com.evil"} }),
		403,
	)
	wantCode(t, one.batch(t, "site_a", "l!", "p", nil), 400)
	if got := one.Balance("site_a"); got.Accepted != 2 || got.Repeated != 1 || got.Refused["host_not_allowed"] != 1 ||
		got.Unanswered() != 0 {
		t.Errorf("balance %+v", got)
	}
}

// TestDoorRace posts one batch twenty times concurrently, half to each node. The batch is appended once and always
// acknowledged.
func TestDoorRace(t *testing.T) {
	t.Parallel()
	b := newKeyBench(t)
	first, _ := b.doorNode(nil)
	second, _ := b.doorNode(nil)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() { wantCode(t, []*keyNode{first, second}[i%2].batch(t, "site_a", "race", "p", nil), 204) })
	}
	wait.Wait()
	b.wantMessages(1, 1)
}

// TestDoorOfKilledNode kills a node after it has claimed a batch, and before it has finished the batch. Until the claim
// expires, the browser is told to retry. Afterwards the batch is acknowledged, and is in the log once.
func TestDoorOfKilledNode(t *testing.T) {
	t.Parallel()
	b := newKeyBench(t)
	dead, _ := b.doorNode(nil)
	hurried, _ := b.doorNode(func(c *intake.Config) { c.KeyWait = time.Nanosecond })
	dead.log.after = true
	wantCode(t, dead.batch(t, "site_a", "k", "p", nil), 503)
	wantCode(t, hurried.batch(t, "site_a", "k", "p", nil), 503) // the key is busy; servers get a 409 for this
	b.exec("update event_keys set leased_until = now()")
	for range 2 {
		wantCode(t, hurried.batch(t, "site_a", "k", "p", nil), 204)
	}
	b.wantMessages(1, 1)
}

// TestDoorVisitorsOfNodes checks that all nodes give a browser the same visitor id and session id. If the store loses
// the salts, a node must restore them, so that nodes that start later give the same visitor ids.
func TestDoorVisitorsOfNodes(t *testing.T) {
	t.Parallel()
	b := newKeyBench(t)
	now := time.Now()
	row := func(n *keyNode, id string) ingesttest.Row {
		t.Helper()
		wantCode(t, n.batch(t, "site_a", id, "p", func(d *schema.DoorInfo) { d.Now = now }), 204)
		return ingesttest.RowsOf(t, n.log.messages[len(n.log.messages)-1])[0]
	}
	one, salts := b.doorNode(nil)
	two, _ := b.doorNode(nil)
	first, second := row(one, "a"), row(two, "b")
	if first["visitor"] != second["visitor"] || first["session"] != second["session"] ||
		first["event_key"] != "pk.1" {
		t.Errorf("the nodes store %v and %v", first, second)
	}
	b.exec("truncate door_salts")
	if again := row(one, "c"); again["visitor"] != first["visitor"] {
		t.Error("a node forgot the salt when the store did")
	}
	if err := salts.Renew(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	three, _ := b.doorNode(nil)
	if third := row(three, "d"); third["visitor"] != first["visitor"] {
		t.Error("a node that started later has another salt")
	}
	// While the store does not answer, a node continues with a cached salt. A node without a salt refuses batches.
	four, _ := b.doorNode(
		func(c *intake.Config) { c.Salts = intake.NewSalts(one.keys.Store, slog.New(slog.DiscardHandler)) },
	)
	one.keys.stop()
	wantCode(t, four.batch(t, "site_a", "e", "p", nil), 503)
	pixel := func(d *schema.DoorInfo) { d.Pixel, d.Now = true, now }
	wantCode(t, two.batch(t, "site_a", "f", "p", pixel), 204)
}
