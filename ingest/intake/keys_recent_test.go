package intake

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema"
)

// TestRecentKeys checks that recentKeys answers for keys of running requests, and for keys that are done. It answers
// for a done key until the key can be used again.
func TestRecentKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRecentKeys()
		name, body, other := nameKey("site", "k"), sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b"))
		want := func(want schema.KeyState, hash [sha256.Size]byte) {
			t.Helper()
			if got := r.begin(t.Context(), name, hash, time.Second); got != want {
				t.Fatalf("the state of the key is %d, want %d", got, want)
			}
		}
		want(schema.KeyNew, body)
		want(schema.KeyBusy, body) // begin returns this after a second
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if got := r.begin(gone, name, body, time.Hour); got != schema.KeyBusy {
			t.Errorf("a caller that has gone gets %d", got)
		}
		r.end(name, body, time.Time{}) // the attempt has failed
		want(schema.KeyNew, other)
		var waiting sync.WaitGroup
		for range 5 {
			waiting.Go(func() { want(schema.KeyDone, other) })
			waiting.Go(func() { want(schema.KeyReused, body) })
		}
		synctest.Wait()
		r.end(name, other, time.Now().Add(keyLife))
		waiting.Wait()
		time.Sleep(keyLife - time.Minute)
		want(schema.KeyDone, other)
		want(schema.KeyReused, body)
		time.Sleep(time.Minute)
		want(schema.KeyNew, body)
		r.end(name, body, time.Time{})
		if len(r.running) != 0 {
			t.Errorf("%d keys are in progress", len(r.running))
		}
	})
}

// TestRecentKeysAreBounded checks that newer keys replace older keys if there are too many, and that no key is mistaken
// for another key.
func TestRecentKeysAreBounded(t *testing.T) {
	t.Parallel()
	r := newRecentKeys()
	hash := func(i int) [sha256.Size]byte { return sha256.Sum256(fmt.Append(nil, i)) }
	free := time.Now().Add(keyLife)
	const keys = 3 * recentEntries
	for i := range keys {
		name := nameKey("site", fmt.Sprint(i))
		if state, _ := r.tryBegin(name, hash(i)); state != schema.KeyNew {
			t.Fatalf("key %d is in state %d before its first request", i, state)
		}
		r.end(name, hash(i), free)
	}
	known := 0
	for i := range keys {
		switch state, _ := r.tryBegin(nameKey("site", fmt.Sprint(i)), hash(i)); state {
		case schema.KeyDone:
			known++
		case schema.KeyNew:
		case schema.KeyOpen, schema.KeyBusy, schema.KeyReused:
			t.Fatalf("key %d is in state %d", i, state)
		}
	}
	if known < recentEntries/2 || known > recentEntries {
		t.Errorf("%d keys are known, with room for %d", known, recentEntries)
	}
}

// TestKeyNames checks that different pairs of a site and a key have different names.
func TestKeyNames(t *testing.T) {
	t.Parallel()
	seen := map[keyName]string{}
	for _, pair := range [][2]string{
		{"a", "b"}, {"ab", ""}, {"", "ab"}, {"a", "door\tb\tc"}, {"a", "door\tb"}, {"a", "door\tb\t"}, {"b", "a"},
		{strings.Repeat("s", 300), strings.Repeat("k", 255)}, {strings.Repeat("s", 300), strings.Repeat("k", 254)},
	} {
		name := nameKey(pair[0], pair[1])
		if other, found := seen[name]; found {
			t.Errorf("%q has the name of %s", pair, other)
		}
		seen[name] = fmt.Sprint(pair)
	}
}

// TestRepeatsAskNoStore checks that a repeated request causes only one claim in the store. It checks a browser's batch
// and a server's request.
func TestRepeatsAskNoStore(t *testing.T) {
	t.Parallel()
	var claimed []string
	log := &emptyLog{}
	in := newDoor(t, log, func(c *Config) { c.Keys = recordedKeys{claimed: &claimed} })
	client := testClient
	client.IdempotencyKey = "key"
	for range 50 {
		if err := in.AcceptDoor(t.Context(), testSite, browserBatch(browserView), testDoor); err != nil {
			t.Fatal(err)
		}
		body := []byte(ingesttest.Events(ingesttest.Event("page_view", "")))
		if err := in.Accept(t.Context(), testSite, body, client); err != nil {
			t.Fatal(err)
		}
	}
	if len(claimed) != 2 || len(log.Messages) != 2 {
		t.Errorf("%q were claimed, and %d messages appended", claimed, len(log.Messages))
	}
}
