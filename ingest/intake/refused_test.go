package intake

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestRefusedEvents checks that all readable events of a refused request are counted, and not only the invalid event.
func TestRefusedEvents(t *testing.T) {
	t.Parallel()
	good := ingesttest.Event("page_view", "")
	for body, want := range map[string]int{
		``:                                    0,
		`[]`:                                  0,
		`{"events":null}`:                     0,
		`{"events":[],"events":[]}`:           0,
		`{"a":{"events":[1]},"events":1}`:     0,
		`{"a":{"events":[1]},"events":[1,2]}`: 2,
		`{"events":[{"a":[1,2]},{},3]}`:       3,
		`{"events":[{"a":"\\\"],[{","b":"\\"},{}]}`: 2,
		`{"events":[{},{},`:                         3,
		`{"events":[{},"`:                           2,
		`{"events":[` + good + `,{"a":}]}`:          2,
		`{"events":[` + good + `,{"a":},{}]}`:       2,
		`{"events":[` + good + `],"b":`:             1,
		`{"events":[` + good + ` {}]}`:              1,
		ingesttest.Events(good, good) + `x`:         2,
		ingesttest.Events(`{}`, good, good):         3,
		ingesttest.Events(good, good, `{}`):         3,
	} {
		t.Run(body, func(t *testing.T) {
			in := newTestIntake(t, discardLog{}, nil)
			if in.Accept(t.Context(), testSite, []byte(body), testClient) == nil {
				t.Errorf("%s: accepted, want a refusal", body)
			}
			b := in.cfg.Balances.Balance(testSite.ID)
			got := uint64(0)
			for _, n := range b.Refused {
				got += n
			}
			if got != uint64(want) || b.Received != got || b.Unanswered() != 0 {
				t.Errorf("%s: %+v, want %d refused", body, b, want)
			}
		})
	}
}

// TestRefusedPosts checks the counts for a refused request of several megabytes.
func TestRefusedPosts(t *testing.T) {
	t.Parallel()
	for _, r := range refusedPosts() {
		t.Run(r.name, func(t *testing.T) {
			in := r.intake(t)
			r.post(t, in, r.body)
			b := in.cfg.Balances.Balance(testSite.ID)
			want := balance.Balance{Refused: map[string]uint64{}, Unread: map[string]uint64{}}
			switch {
			case r.inside != nil:
				want.Unread[r.want.Label] = 1
			case r.want == insights.NotJSON:
				want.Received, want.Refused[r.want.Label] = 1, 1
			default:
				want.Received, want.Refused[r.want.Label] = large, large
			}
			if fmt.Sprint(b) != fmt.Sprint(want) {
				t.Errorf("%s: %+v, want %+v", r.name, b, want)
			}
		})
	}
}

// TestRefusedIsNotReadTwice checks that the count of a refused request's events continues at the invalid event. The
// test overwrites the text before this event. So if the count began at the start of the body, the result would be
// wrong.
func TestRefusedIsNotReadTwice(t *testing.T) {
	t.Parallel()
	in := newTestIntake(t, discardLog{}, nil)
	body := []byte(ingesttest.Events(ingesttest.Event("page_view", ""), ingesttest.Event("page_view", ""), `{}`, `{}`))
	d := getDecoder(body)
	defer putDecoder(d)
	err := d.request(in, testSite, testClient)
	if err == nil || err.Index != 2 {
		t.Fatal(err)
	}
	copy(body, bytes.Repeat([]byte{'['}, bytes.Index(body, []byte(`{}`))))
	if got := d.refusedEvents(err); got != 4 {
		t.Errorf("%d events, want 4", got)
	}
}
