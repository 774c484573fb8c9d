package intake

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestDoorRefusals checks that each invalid batch is refused with the correct reason and field, and stores nothing.
func TestDoorRefusals(t *testing.T) {
	t.Parallel()
	event := func(members string) string {
		return `{"id":"b","events":[` + browserView + `,{"type":"page_view",` + members + `}]}`
	}
	for name, c := range map[string]struct {
		body   string
		reason *insights.Reason
		field  string
	}{
		"no object":          {`[]`, insights.NotJSON, ""},
		"broken":             {`{"id":"b","events":[{]}`, insights.NotJSON, ""},
		"two values":         {`{"id":"b","events":[]}{}`, insights.NotJSON, ""},
		"no id":              {`{"events":[` + browserView + `]}`, insights.MissingField, "id"},
		"no id, no events":   {`{"events":[]}`, insights.MissingField, "id"},
		"null id":            {`{"id":null,"events":[` + browserView + `]}`, insights.MissingField, "id"},
		"id then null":       {`{"id":"b","id":null,"events":[` + browserView + `]}`, insights.MissingField, "id"},
		"empty id":           {`{"id":"","events":[]}`, insights.InvalidField, "id"},
		"id of 65":           {`{"id":"` + strings.Repeat("a", 65) + `","events":[]}`, insights.InvalidField, "id"},
		"long id":            {`{"id":"` + strings.Repeat("a", 9000) + `","events":[]}`, insights.InvalidField, "id"},
		"id with a tab":      {`{"id":"a\tb","events":[]}`, insights.InvalidField, "id"},
		"id not ASCII":       {`{"id":"ä","events":[]}`, insights.InvalidField, "id"},
		"id is a number":     {`{"id":5,"events":[]}`, insights.InvalidField, "id"},
		"id is an object":    {`{"id":{"a":[1]},"events":[]}`, insights.InvalidField, "id"},
		"id is broken":       {`{"id":{"a":1],"events":[]}`, insights.NotJSON, ""},
		"no events":          {`{"id":"b"}`, insights.MissingField, "events"},
		"events twice":       {`{"id":"b","events":[],"events":[]}`, insights.NotJSON, ""},
		"51 events":          {string(browserBatch(strings.Repeat(browserView+",", 50) + browserView)), insights.TooManyEvents, "events"},
		"no type":            {`{"id":"b","events":[{"url":"https://d.example/"}]}`, insights.MissingField, "events[0].type"},
		"no url":             {event(`"age":1`), insights.MissingField, "events[1].url"},
		"null url":           {event(`"url":null`), insights.MissingField, "events[1].url"},
		"relative url":       {event(`"url":"/p"`), insights.InvalidField, "events[1].url"},
		"long url":           {event(`"url":"https://d.example/` + strings.Repeat("a", maxText) + `"`), insights.TooLong, "events[1].url"},
		"relative referrer":  {event(`"url":"https://d.example/","referrer":"x"`), insights.InvalidField, "events[1].referrer"},
		"language no string": {event(`"url":"https://d.example/","language":5`), insights.InvalidField, "events[1].language"},
		"long language":      {event(`"url":"https://d.example/","language":"` + strings.Repeat("a", 257) + `"`), insights.TooLong, "events[1].language"},
		"age is a text":      {event(`"url":"https://d.example/","age":"5"`), insights.InvalidField, "events[1].age"},
		"negative age":       {event(`"url":"https://d.example/","age":-1`), insights.InvalidField, "events[1].age"},
		"age with a point":   {event(`"url":"https://d.example/","age":1.5`), insights.InvalidField, "events[1].age"},
		"age of a day, 1 ms": {event(`"url":"https://d.example/","age":86400001`), insights.InvalidField, "events[1].age"},
		"age beyond 64 bits": {event(`"url":"https://d.example/","age":99999999999999999999`), insights.InvalidField, "events[1].age"},
		"age is broken":      {event(`"url":"https://d.example/","age":-`), insights.NotJSON, ""},
		"other host":         {event(`"url":"https://evil.example/"`), insights.HostNotAllowed, "events[1].url"},
		"host in a slash":    {event(`"url":"https://evil.example\\\\@d.example/"`), insights.HostNotAllowed, "events[1].url"},
		"host of other case": {event(`"url":"https://docſ.d.example/"`), insights.HostNotAllowed, "events[1].url"},
		"host in user":       {event(`"url":"https://d.example@evil.example/"`), insights.HostNotAllowed, "events[1].url"},
		"no host":            {event(`"url":"data:text/html,d.example"`), insights.HostNotAllowed, "events[1].url"},
		"bad payload":        {event(`"url":"https://d.example/","type":"search_type_query"`), insights.MissingField, "events[1].query"},
		"event is no object": {`{"id":"b","events":[5]}`, insights.InvalidField, "events[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &ingesttest.MemoryLog{}
			in := newDoor(t, log, nil)
			err := in.AcceptDoor(t.Context(), testSite, []byte(c.body), testDoor)
			refused, ok := errors.AsType[*insights.Refusal](err)
			if !ok || refused.Reason != c.reason || refused.Field != c.field {
				t.Errorf("%s: %#v, want %s at %q", c.body, err, c.reason.Label, c.field)
			}
			if len(log.Messages) > 0 {
				t.Error("the refused batch was stored")
			}
			if b := in.cfg.Balances.Balance(testSite.ID); b.Unanswered() != 0 || b.Accepted != 0 {
				t.Errorf("balance %+v", b)
			}
			wantIdle(t, in, testSite.ID)
		})
	}
}

// TestDoorAccepts checks the columns that the event of each valid batch fills.
func TestDoorAccepts(t *testing.T) {
	t.Parallel()
	now := testNow.UnixMilli()
	for name, c := range map[string]struct {
		body   string
		change func(*Door)
		want   row
	}{
		"the least":           {string(browserBatch(browserView)), nil, row{"time": now, "url": "https://d.example/p", "door": doorKey, "event_key": "pk_1.2"}},
		"id after events":     {`{"events":[` + browserView + `],"id":"b"}`, nil, row{"event_key": "pk_1.2"}},
		"id with escapes":     {`{"id":"\u0061-_Z9","events":[` + browserView + `]}`, nil, row{"event_key": "pk_1.2"}},
		"id of 64":            {`{"id":"` + strings.Repeat("a", 64) + `","events":[` + browserView + `]}`, nil, row{}},
		"unknown members":     {`{"n":[{}],"id":"b","events":[{"type":"page_view","n":{"a":[1]},"session":{"visitorId":5},"location":7,"timestamp":"x","url":"https://d.example/p"}]}`, nil, row{"time": now}},
		"title and status":    {string(browserBatch(`{"type":"page_view","url":"https://d.example/p","title":"T","status":404}`)), nil, row{"page_title": "T", "http_status": int32(404)}},
		"nulls":               {string(browserBatch(`{"type":"page_view","url":"https://d.example/p","age":null,"referrer":null,"language":null,"title":null}`)), nil, row{"time": now}},
		"age":                 {string(browserBatch(`{"type":"page_view","url":"https://d.example/p","age":1500}`)), nil, row{"time": now - 1500}},
		"age of a day":        {string(browserBatch(`{"type":"page_view","url":"https://d.example/p","age":86400000}`)), nil, row{"time": now - 86_400_000}},
		"late":                {string(browserBatch(`{"type":"page_view","url":"https://d.example/p","age":1500}`)), func(d *Door) { d.Late = 7 * time.Second }, row{"time": now - 8500}},
		"late is negative":    {string(browserBatch(browserView)), func(d *Door) { d.Late = -time.Hour }, row{"time": now}},
		"enriched":            {string(browserBatch(`{"type":"page_view","url":"https://x.docs.example:8443/?utm_source=s","referrer":"https://www.r.example/q","language":"de"}`)), nil, row{"utm_source": "s", "referrer": "https://www.r.example/q", "referrer_domain": "r.example", "language": "de", "country": "DE", "device": deviceDesktop, "browser": browserChrome, "os": osMacOS, "display_context": displaySite}},
		"stated place":        {string(browserBatch(browserView)), func(d *Door) { d.Place = Place{Country: "NO"} }, row{"country": "NO"}},
		"pixel":               {string(browserBatch(browserView)), func(d *Door) { d.Pixel = true }, row{"door": doorPixel, "event_key": "pk_1.2"}},
		"pixel without an id": {`{"events":[` + browserView + `]}`, func(d *Door) { d.Pixel = true }, row{"door": doorPixel}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			door := testDoor
			if c.change != nil {
				c.change(&door)
			}
			rows := browserRows(t, []byte(c.body), door)
			if len(rows) != 1 {
				t.Fatalf("%d rows", len(rows))
			}
			for column, want := range c.want {
				if !reflect.DeepEqual(rows[0][column], want) {
					t.Errorf("%s is %#v, want %#v", column, rows[0][column], want)
				}
			}
			for _, column := range []string{"visitor_id", "session_id", "claims", "authenticated"} {
				if rows[0][column] != nil {
					t.Errorf("%s is %v", column, rows[0][column])
				}
			}
			if rows[0]["visitor"] == nil || rows[0]["session"] == nil {
				t.Error("an event has no visitor or session")
			}
		})
	}
}

// TestDoorTooOld checks that a browser's event has the same age limit as an event that is posted with a site's key.
func TestDoorTooOld(t *testing.T) {
	t.Parallel()
	in := newDoor(t, discardLog{}, func(c *Config) { c.MaxPast = time.Hour })
	body := browserBatch(`{"type":"page_view","url":"https://d.example/p","age":1000}`)
	wants := map[time.Duration]*insights.Reason{time.Hour - time.Second: nil, time.Hour: insights.TooOld}
	for late, want := range wants {
		door := testDoor
		door.Late = late
		if err := in.AcceptDoor(t.Context(), testSite, body, door); ingesttest.ReasonOf(err) != want {
			t.Errorf("late by %s: %v", late, err)
		}
	}
}

// TestDoorStoresNoClearIDs checks that no id of a browser's visitor is stored in clear, even if the site stores ids in
// clear.
func TestDoorStoresNoClearIDs(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newDoor(t, log, nil)
	clearIDs := Site{ID: "site_1", ClearIDs: true}
	if err := in.AcceptDoor(t.Context(), clearIDs, browserBatch(browserView), testDoor); err != nil {
		t.Fatal(err)
	}
	r := ingesttest.RowsOf(t, log.Messages[0])[0]
	if r["visitor_id"] != nil || r["session_id"] != nil {
		t.Errorf("ids in clear: %v", r)
	}
	for _, secret := range []string{"203.0.113.7", "Macintosh"} {
		if bytes.Contains(log.Messages[0], []byte(secret)) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// TestDoorUnknownTypes checks that an event of an unknown type is refused without the other events of its batch.
func TestDoorUnknownTypes(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newDoor(t, log, nil)
	unknown := `{"type":"new","url":"https://evil.example/","age":"x"}`
	for _, body := range []string{unknown + "," + browserView, browserView + "," + unknown, unknown} {
		if err := in.AcceptDoor(t.Context(), testSite, browserBatch(body), testDoor); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	if b := in.cfg.Balances.Balance(testSite.ID); b.Accepted != 2 || b.Refused["unknown_type"] != 3 ||
		b.Unanswered() != 0 {
		t.Errorf("balance %+v", b)
	}
	if len(log.Messages) != 2 {
		t.Errorf("%d messages", len(log.Messages))
	}
}

// TestDoorLikeAPI checks that an event of a browser fills the same columns as the same event from a server. Only the
// visitor, the session and the columns about browsers differ.
func TestDoorLikeAPI(t *testing.T) {
	t.Parallel()
	for _, kind := range insights.EventTypes.Words() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			apiLog, doorLog := &ingesttest.MemoryLog{}, &ingesttest.MemoryLog{}
			api, door := newDoor(t, apiLog, nil), newDoor(t, doorLog, nil)
			rapid.Check(t, func(t *rapid.T) {
				e := &drawnEvent{
					t:       t,
					members: []string{`"type":` + strconv.Quote(kind), `"unknown":{"a":[1]}`},
					want:    row{},
				}
				e.payload(kind)
				var both []string
				e.text(&both, "language", "language")
				if rapid.Bool().Draw(t, "has a referrer") {
					both = append(both, `"referrer":"https://www.r.example/x"`)
				}
				url := rapid.SampledFrom([]string{"https://d.example/p", "http://a.docs.example/?utm_source=a%20b#f"}).
					Draw(t, "url")
				agent := rapid.SampledFrom([]string{"", browserAgent, "curl/8.0", "GPTBot/1.1"}).Draw(t, "agent")
				from := testDoor
				from.UserAgent = agent
				session := append(
					slices.Clone(both),
					`"visitorId":"v"`,
					`"sessionId":"s"`,
					`"ip":"203.0.113.7"`,
					`"userAgent":`+strconv.Quote(agent),
				)
				apiEvent := append(
					slices.Clone(e.members),
					e.object("session", session),
					`"location":{"url":`+strconv.Quote(url)+`}`,
				)
				doorEvent := append(append(slices.Clone(e.members), both...), `"url":`+strconv.Quote(url))
				age := rapid.Int64Range(0, maxAge).Draw(t, "age")
				doorEvent = append(doorEvent, fmt.Sprintf(`"age":%d`, age))
				apiEvent = append(
					apiEvent,
					`"timestamp":"`+testNow.Add(-time.Duration(age)*time.Millisecond).Format(time.RFC3339Nano)+`"`,
				)
				apiLog.Messages, doorLog.Messages = nil, nil
				apiBody := []byte(ingesttest.Events("{" + strings.Join(apiEvent, ",") + "}"))
				if err := api.Accept(t.Context(), testSite, apiBody, testClient); err != nil {
					t.Fatal(err)
				}
				body := browserBatch("{" + strings.Join(rapid.Permutation(doorEvent).Draw(t, "order"), ",") + "}")
				if err := door.AcceptDoor(t.Context(), testSite, body, from); err != nil {
					t.Fatalf("%s: %v", body, err)
				}
				want, got := ingesttest.RowsOf(t, apiLog.Messages[0])[0], ingesttest.RowsOf(t, doorLog.Messages[0])[0]
				for _, column := range []string{"visitor", "session", "door", "event_key"} {
					delete(want, column)
					delete(got, column)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%s is stored as %v, want %v", body, got, want)
				}
			})
		})
	}
}

// TestDoorPoisonedBuffer checks that no stored or cached value shares memory with the batch or the request.
func TestDoorPoisonedBuffer(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newDoor(t, log, nil)
	clean := browserBatch(
		browserView + `,{"type":"search_type_query","query":"a\u0062","url":"https://d.example/\u0062"}`,
	)
	body, agent, key := bytes.Clone(clean), []byte(browserAgent), []byte("pk_1")
	for range 3 {
		copy(body, clean)
		copy(agent, browserAgent)
		copy(key, "pk_1")
		door := testDoor
		door.UserAgent, door.Key = text(agent), text(key)
		if err := in.AcceptDoor(t.Context(), testSite, body, door); err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{body, agent, key} {
			for i := range b {
				b[i] = 0xAA
			}
		}
	}
	first := ingesttest.RowsOf(t, log.Messages[0])
	for i := range log.Messages {
		if got := ingesttest.RowsOf(t, log.Messages[i]); !reflect.DeepEqual(got, first) {
			t.Errorf("batch %d is stored as %v, want %v", i, got, first)
		}
	}
}

// TestDoorPoolKeepsNothing checks that a request which uses the decoder of an earlier browser's batch stores no data of
// this batch.
func TestDoorPoolKeepsNothing(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newDoor(t, log, nil)
	for range 50 {
		if err := in.AcceptDoor(t.Context(), testSite, browserBatch(`{"type":"page_view","url":"https://d.example/p","age":5}`), testDoor); err != nil {
			t.Fatal(err)
		}
		other := []byte(ingesttest.Events(ingesttest.Event("page_view", "")))
		if err := in.Accept(t.Context(), testSite, other, testClient); err != nil {
			t.Fatal(err)
		}
		checkRow(t, ingesttest.RowsOf(t, log.Messages[len(log.Messages)-1])[0], base("page_view"))
	}
}

// FuzzAcceptDoor checks that no input causes a panic, and that a refusal has a known reason and stores no event. Stored
// events must have a visitor, a session and an allowed host.
func FuzzAcceptDoor(f *testing.F) {
	f.Add(browserBatch(browserView))
	f.Add(
		[]byte(
			`{"events":[{"type":"new"},{"type":"page_view","age":86400000,"url":"https://a.docs.example.:80/x","referrer":"a:b","language":"é","title":"\ud83d\ude00"}],"id":"\u0061"}`,
		),
	)
	for kind, c := range ingesttest.Minimal {
		f.Add(
			browserBatch(
				`{"type":"` + kind + `","url":"https://d.example/p",` + strings.TrimPrefix(
					c.Extra+`,"age":1`,
					",",
				) + "}",
			),
		)
	}
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	log := &ingesttest.MemoryLog{}
	in := newDoor(f, log, nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		log.Messages = nil
		before := bytes.Clone(body)
		err := in.AcceptDoor(t.Context(), Site{ID: "site_1", ClearIDs: true}, body, testDoor)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			reason := ingesttest.ReasonOf(err)
			if reason == nil || reason.Status != 400 && reason != insights.HostNotAllowed || len(log.Messages) > 0 {
				t.Fatalf("refused with %#v and %d messages", err, len(log.Messages))
			}
			return
		}
		for _, message := range log.Messages {
			for _, r := range ingesttest.RowsOf(t, message) {
				if r["visitor"] == nil || r["session"] == nil || r["door"] != doorKey || r["event_key"] != "pk_1.2" ||
					r["visitor_id"] != nil {
					t.Fatalf("stored %v", r)
				}
				if url := strings.ToLower(r["url"].(string)); !strings.Contains(url, "d.example") &&
					!strings.Contains(url, ".docs.example") {
					t.Fatalf("stored the url %s", url)
				}
			}
		}
	})
}

// TestDoorKeys checks the idempotency key of a batch. It differs from every Idempotency-Key header, and batches of
// different publishable keys with the same id have different idempotency keys.
func TestDoorKeys(t *testing.T) {
	t.Parallel()
	var claimed []string
	keys := recordedKeys{claimed: &claimed}
	accept := func(body []byte, change func(*Door)) {
		t.Helper()
		door := testDoor
		if change != nil {
			change(&door)
		}
		// Each batch is sent to a new intake, because an intake claims a batch only once (TestRepeatsAskNoStore).
		in := newDoor(t, &emptyLog{}, func(c *Config) { c.Keys = keys })
		if err := in.AcceptDoor(t.Context(), testSite, body, door); err != nil {
			t.Error(err)
		}
	}
	accept(browserBatch(browserView), nil)
	accept(browserBatch(browserView), func(d *Door) { d.Generation = 3 })
	accept(browserBatch(browserView), func(d *Door) { d.Key = "pk_2" })
	accept([]byte(`{"events":[`+browserView+`]}`), func(d *Door) { d.Pixel = true })
	accept(browserBatch(""), nil)
	if want := []string{"door\tpk_1\tb-1", "door\tpk_1\tb-1", "door\tpk_2\tb-1"}; !slices.Equal(claimed, want) {
		t.Errorf("claimed %q, want %q", claimed, want)
	}
	for _, state := range []schema.KeyState{schema.KeyReused, schema.KeyBusy} {
		in := newDoor(t, &emptyLog{}, func(c *Config) {
			c.Keys, c.KeyWait = recordedKeys{claimed: new([]string), state: state}, time.Nanosecond
		})
		err := in.AcceptDoor(t.Context(), testSite, browserBatch(browserView), testDoor)
		if refused, ok := errors.AsType[*insights.Refusal](err); !ok || refused.Field != "id" {
			t.Errorf("state %d: %v", state, err)
		}
	}
}
