//go:build !race

package intake

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

// TestAcceptDoesNotAllocate checks that Accept allocates nothing on the heap, for any type of event.
func TestAcceptDoesNotAllocate(t *testing.T) {
	in := newTestIntake(t, discardLog{}, nil)
	bodies := map[string][]byte{"1": ingesttest.TypicalBody(1), "100": ingesttest.TypicalBody(100)}
	for kind, c := range ingesttest.Minimal {
		bodies[kind] = []byte(ingesttest.Events(ingesttest.Event(kind, c.Extra), ingesttest.Event(kind, c.Extra)))
	}
	bodies["claims"] = []byte(ingesttest.Events(ingesttest.Event("page_view", `"session":{"visitorId":"v","sessionId":"s","visitorAuthClaims":{"a":{"b":[1, 2],"c":"\n"},"d":true}}`)))
	bodies["agent"] = []byte(ingesttest.Events(ingesttest.Event("page_view",
		`"session":{"visitorId":"v","sessionId":"s","ip":"2001:db8::1","userAgent":"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"}`)))
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			accept := func() {
				if err := in.Accept(t.Context(), testSite, body, testClient); err != nil {
					t.Fatal(err)
				}
			}
			accept() // fill the pool and the cache
			if n := testing.AllocsPerRun(200, accept); n > 0 {
				t.Errorf("%s: %v allocations for each request, want 0", name, n)
			}
		})
	}
}

// TestDoorDoesNotAllocate checks that AcceptDoor allocates nothing on the heap.
func TestDoorDoesNotAllocate(t *testing.T) {
	in := newDoor(t, discardLog{}, nil)
	for name, body := range map[string][]byte{
		"1":  browserBatch(browserView),
		"50": browserBatch(strings.Repeat(browserView+",", 49) + `{"type":"page_view","url":"https://D.example/?utm_source=a%20b","age":5}`),
	} {
		t.Run(name, func(t *testing.T) {
			door := testDoor
			accept := func() {
				door.Now = door.Now.Add(20 * time.Second) // the batch continues the session
				if err := in.AcceptDoor(t.Context(), testSite, body, door); err != nil {
					t.Fatal(err)
				}
			}
			for range crowdBatches { // fill the pool, the caches and the shards
				accept()
			}
			if n := testing.AllocsPerRun(200, accept); n > 0 {
				t.Errorf("%v allocations for each batch, want 0", n)
			}
		})
	}
}

// TestUnknownTypesDoNotAllocate checks that skipping events of unknown types allocates nothing on the heap.
func TestUnknownTypesDoNotAllocate(t *testing.T) {
	in := newTestIntake(t, discardLog{}, nil)
	unknown := ingesttest.Event("new", `"new":[{"a":1}]`)
	body := []byte(ingesttest.Events(unknown, ingesttest.Event("page_view", ""), unknown))
	accept := func() {
		if n, err := in.AcceptKnown(t.Context(), testSite, body, testClient); n != 2 || err != nil {
			t.Fatal(n, err)
		}
	}
	accept()
	if n := testing.AllocsPerRun(200, accept); n > 0 {
		t.Errorf("%v allocations for each request, want 0", n)
	}
}

func TestLocateDoesNotAllocate(t *testing.T) {
	p := openPlaces(t, city)
	ip := netip.MustParseAddr("1.2.3.4")
	locate := func() {
		if _, ok := p.Locate(ip); !ok {
			t.Fatal("not found")
		}
	}
	locate()
	if n := testing.AllocsPerRun(200, locate); n > 0 {
		t.Errorf("%v allocations for each lookup, want 0", n)
	}
}
