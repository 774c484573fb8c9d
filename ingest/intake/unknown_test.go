package intake

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestAcceptKnown checks that an event of an unknown type is refused without the other events. Its other members, and
// the position of its member `type`, do not matter. Any other error must refuse the whole request.
func TestAcceptKnown(t *testing.T) {
	t.Parallel()
	good := ingesttest.Event("page_view", "")
	unknown := ingesttest.Event("page_viewed", "")
	for name, c := range map[string]struct {
		body    string
		stored  int
		unknown int
		want    *insights.Reason // reason for refusing the whole request
		field   string
	}{
		"all known":               {ingesttest.Events(good, good), 2, 0, nil, ""},
		"the middle one":          {ingesttest.Events(good, unknown, good), 2, 1, nil, ""},
		"none known":              {ingesttest.Events(unknown, unknown), 0, 2, nil, ""},
		"nothing but a type":      {ingesttest.Events(good, `{"type":"new"}`), 1, 1, nil, ""},
		"the type comes last":     {ingesttest.Events(`{"session":1,"location":[{}],"timestamp":{"new":"\u0041"},"type":"n\u0065w"}`, good), 1, 1, nil, ""},
		"the type comes first":    {ingesttest.Events(`{"type":"new","session":null,"timestamp":"soon"}`, good), 1, 1, nil, ""},
		"two types":               {ingesttest.Events(`{"type":"page_view","type":"new"}`, good), 1, 1, nil, ""},
		"a known type, bad":       {ingesttest.Events(unknown, good, `{"type":"page_view","session":1}`), 0, 0, insights.InvalidField, "events[2].session"},
		"a known type, too old":   {ingesttest.Events(unknown, ingesttest.Event("page_view", `"timestamp":"x"`)), 0, 0, insights.InvalidField, "events[1].timestamp"},
		"no type":                 {ingesttest.Events(good, `{}`), 0, 0, insights.MissingField, "events[1].type"},
		"an empty type":           {ingesttest.Events(`{"type":""}`), 0, 0, insights.MissingField, "events[0].type"},
		"a null type":             {ingesttest.Events(`{"type":null}`), 0, 0, insights.MissingField, "events[0].type"},
		"a number as type":        {ingesttest.Events(`{"type":7}`), 0, 0, insights.InvalidField, "events[0].type"},
		"a type that is too long": {ingesttest.Events(`{"type":"` + strings.Repeat("x", maxID+1) + `"}`), 0, 0, insights.TooLong, "events[0].type"},
		"no event":                {ingesttest.Events(good, `7`), 0, 0, insights.InvalidField, "events[1]"},
		"no JSON in it":           {`{"events":[` + good + `,{"type":"new","x":}]}`, 0, 0, insights.NotJSON, ""},
		"no JSON after it":        {`{"events":[` + unknown + `,` + good, 0, 0, insights.NotJSON, ""},
		"it has no end":           {`{"events":[{"type":"new"`, 0, 0, insights.NotJSON, ""},
	} {
		t.Run(name, func(t *testing.T) {
			log := &ingesttest.MemoryLog{}
			in := newTestIntake(t, log, nil)
			got, err := in.AcceptKnown(t.Context(), testSite, []byte(c.body), testClient)
			if ingesttest.ReasonOf(err) != c.want || got != c.unknown {
				t.Fatalf("%d unknown, %v", got, err)
			}
			if refusal, ok := errors.AsType[*insights.Refusal](err); ok && (refusal.Field != c.field || refusal.Message == "") {
				t.Errorf("%q: %q, want %q", refusal.Field, refusal.Message, c.field)
			}
			b := in.cfg.Balances.Balance(testSite.ID)
			if b.Unanswered() != 0 || b.Accepted != uint64(c.stored) || c.want == nil && b.Refused["unknown_type"] != uint64(c.unknown) {
				t.Errorf("%+v", b)
			}
			stored := 0
			for _, m := range log.Messages {
				stored += len(ingesttest.RowsOf(t, m))
			}
			if stored != c.stored || c.stored == 0 && len(log.Messages) != 0 {
				t.Errorf("%d events in %d messages, want %d", stored, len(log.Messages), c.stored)
			}
		})
	}
}

// TestUnknownTypesCount checks that the balance and the metrics count individually refused events with their reason,
// and count the request as accepted.
func TestUnknownTypesCount(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(t, log, nil)
	body := []byte(ingesttest.Events(ingesttest.Event("new", ""), ingesttest.Event("page_view", ""), ingesttest.Event("newer", "")))
	if n, err := in.AcceptKnown(t.Context(), testSite, body, testClient); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	log.Err = errors.New("away")
	if n, err := in.AcceptKnown(t.Context(), testSite, body, testClient); n != 0 || ingesttest.ReasonOf(err) != insights.LogUnavailable {
		t.Fatal(n, err)
	}
	if err := in.Accept(t.Context(), testSite, body, testClient); ingesttest.ReasonOf(err) != insights.UnknownType {
		t.Fatal(err)
	}
	want := balance.Balance{Received: 9, Accepted: 1, Refused: map[string]uint64{"unknown_type": 5, "log_unavailable": 3}}
	if b := in.cfg.Balances.Balance(testSite.ID); fmt.Sprint(b) != fmt.Sprint(want) || b.Unanswered() != 0 {
		t.Errorf("%+v, want %+v", b, want)
	}
	counted := in.metrics.refused[insights.UnknownType]
	if events, requests := testutil.ToFloat64(counted.events), testutil.ToFloat64(counted.requests); events != 5 || requests != 1 {
		t.Errorf("%v events, %v requests", events, requests)
	}
	if n := testutil.ToFloat64(in.metrics.requests); n != 1 {
		t.Errorf("%v requests accepted", n)
	}
}
