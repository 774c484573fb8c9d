package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

func seeds() []string {
	list := []string{`{"events":[]}`, `{"events":[{}]}`, `{"a":"\ud800\u0041\ud83d\ude00\ud83d","b":[1e5,-0.1,true,false,null]}`, "{\"events\":\"\xff\x00\"}"}
	for kind, c := range ingesttest.Minimal {
		list = append(list, ingesttest.Events(ingesttest.Event(kind, c.Extra)))
	}
	list = append(list, ingesttest.Events(ingesttest.TypicalEvent(1), ingesttest.TypicalEvent(2)))
	return append(list, ingesttest.Events(ingesttest.Event("page_view", `"session":{"visitorId":"v","sessionId":"s","visitorAuthClaims":{"a.b":{"c":[ "\\", {} ]},"d":"é"}}`)))
}

// FuzzAccept checks that no input causes a panic, and that a refusal has a known reason and stores no event. Messages
// with stored events must be readable.
func FuzzAccept(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(f, log, nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		log.Messages = nil
		before := bytes.Clone(body)
		err := in.Accept(t.Context(), Site{ID: "site_1", ClearIDs: true}, body, testClient)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			var refusal *insights.Refusal
			if !errors.As(err, &refusal) || refusal.Reason == nil || refusal.Reason.Status != 400 || !utf8.ValidString(refusal.Message) {
				t.Fatalf("refused with %#v", err)
			}
			if len(log.Messages) != 0 {
				t.Fatal("a refused request was stored")
			}
			return
		}
		if !json.Valid(body) {
			t.Fatal("invalid JSON was accepted")
		}
		for _, message := range log.Messages {
			for _, r := range ingesttest.RowsOf(t, message) {
				if r["visitor"] == nil || r["session"] == nil || r["type"] == nil || r["url"] == nil {
					t.Fatalf("a row lacks required values: %v", r)
				}
				for name, v := range r {
					if s, ok := v.(string); ok && !utf8.ValidString(s) {
						t.Fatalf("%s is not UTF-8: %q", name, s)
					}
				}
			}
		}
	})
}

// FuzzScan compares the scanner with encoding/json: both must accept the same texts and return the same strings.
func FuzzScan(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	for _, s := range []string{`"\u00e9\n"`, "\"\xe2\x28\xa1\"", `"\ud800\udc00"`, `-0`, `01`, `1.`, `1e`, "\"\x1f\"", `"a`, `"\`, `"\u12`, `"\ud800\u"`, `[1 2]`, `{"a" 1}`, `nul`, "\u00a01"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := scanner{data: data}
		got := s.skip(0) && s.ended()
		if want := json.Valid(data); got != want && !deep(data) {
			t.Fatalf("%q: valid is %v, want %v", data, got, want)
		}
		var want string
		s = scanner{data: data}
		if json.Unmarshal(data, &want) == nil && s.peek() == '"' {
			if text, ok := s.str(); !ok || text != want {
				t.Fatalf("%q is %q, want %q", data, text, want)
			}
		}
	})
}

// deep reports whether data may nest deeper than the scanner allows.
func deep(data []byte) bool {
	return bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxDepth
}

// TestPoisonedBuffer checks that no stored or cached value shares memory with the body.
func TestPoisonedBuffer(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(t, log, nil)
	body := ingesttest.TypicalBody(20)
	clean := bytes.Clone(body)
	for range 3 {
		copy(body, clean)
		if err := in.Accept(t.Context(), testSite, body, testClient); err != nil {
			t.Fatal(err)
		}
		for i := range body {
			body[i] = 0xAA
		}
	}
	first := ingesttest.RowsOf(t, log.Messages[0])
	for i := range log.Messages {
		if got := ingesttest.RowsOf(t, log.Messages[i]); !reflect.DeepEqual(got, first) {
			t.Fatalf("request %d is stored as %v, want %v", i, got, first)
		}
	}
	for i := range in.agents.slots {
		if e := in.agents.slots[i].Load(); e != nil && strings.Contains(e.text, "\xAA") {
			t.Errorf("the cache has a user agent of the body: %q", e.text)
		}
	}
	err := in.Accept(t.Context(), testSite, body, testClient)
	message := err.Error()
	clear(body)
	if err.Error() != message {
		t.Error("an error aliases the body")
	}
}

// TestPoolKeepsNothing checks that a request which uses the decoder of an earlier request stores no data of the earlier
// request.
func TestPoolKeepsNothing(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(t, log, nil)
	for kind, c := range ingesttest.Minimal {
		full := ingesttest.Events(ingesttest.TypicalEvent(1), ingesttest.Event(kind, c.Extra), ingesttest.Event("page_view", `"session":{"visitorId":"v","sessionId":"s","visitorAuthClaims":{"a":1}}`), ingesttest.Event("page_view", ""))
		if err := in.Accept(t.Context(), testSite, []byte(full), testClient); err != nil {
			t.Fatal(err)
		}
		rows := ingesttest.RowsOf(t, log.Messages[len(log.Messages)-1])
		for i := range rows {
			delete(rows[i], "log_index")
		}
		checkRow(t, rows[3], base("page_view"))
	}
}

// TestEncodeDecode checks that an event is unchanged after it is encoded into a message and decoded again.
func TestEncodeDecode(t *testing.T) {
	t.Parallel()
	type get = func(*insights.Event) any
	columns := map[string]get{
		"time": func(e *insights.Event) any { return e.TimeMillis }, "visitor": func(e *insights.Event) any { return e.Visitor },
		"session": func(e *insights.Event) any { return e.Session }, "url": func(e *insights.Event) any { return e.URL },
		"search_query": func(e *insights.Event) any { return e.Query }, "feedback_comment": func(e *insights.Event) any { return e.FeedbackComment },
		"link_target": func(e *insights.Event) any { return e.LinkTarget }, "ask_rating": func(e *insights.Event) any { return e.AskRating },
		"type": func(e *insights.Event) any { return e.Type }, "bot": func(e *insights.Event) any { return e.Bot },
		"visitor_id": func(e *insights.Event) any { return e.VisitorID }, "country": func(e *insights.Event) any { return e.Country },
		"latitude": func(e *insights.Event) any { return e.Latitude }, "longitude": func(e *insights.Event) any { return e.Longitude },
	}
	text := rapid.OneOf(rapid.String(), rapid.StringN(0, 40, 200), rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat("é\x00", rapid.IntRange(0, 20_000).Draw(t, "times"))
	}))
	makeEvent := rapid.Custom(func(t *rapid.T) *insights.Event {
		e := &insights.Event{
			TimeMillis: rapid.Int64().Draw(t, "time"), Visitor: rapid.Uint64().Draw(t, "visitor"), Session: rapid.Uint64().Draw(t, "session"),
			Type: rapid.Int8().Draw(t, "type"), Bot: rapid.Int8().Draw(t, "bot"), AskRating: rapid.Int8().Draw(t, "rating"),
			URL: text.Draw(t, "url"), Query: text.Draw(t, "query"), FeedbackComment: text.Draw(t, "comment"), LinkTarget: text.Draw(t, "target"),
			VisitorID: text.Draw(t, "id"), Country: text.Draw(t, "country"),
			Authenticated: rapid.Bool().Draw(t, "authenticated"), HasPoint: rapid.Bool().Draw(t, "point"),
		}
		if e.HasPoint {
			e.Latitude, e.Longitude = rapid.Float32().Draw(t, "latitude"), rapid.Float32().Draw(t, "longitude")
		}
		for name, value := range rapid.MapOfN(text, text, 0, 5).Draw(t, "claims") {
			e.Claims = append(e.Claims, insights.Claim{Name: name, Value: value})
		}
		return e
	})
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(makeEvent, 0, 5).Draw(rt, "events")
		var w insights.Encoder
		site := rapid.String().Draw(rt, "site")
		w.Begin(insights.MessageID{1, 2, 3}, site, 42)
		for _, e := range list {
			w.Add(e)
		}
		m, err := insights.ParseMessage(w.Bytes())
		if err != nil || m.Site != site || m.Count != len(list) || m.ReceivedMillis != 42 || m.ID != (insights.MessageID{1, 2, 3}) {
			rt.Fatalf("header %+v, %v", m, err)
		}
		b := insights.NewBatch()
		if err := b.Add(m, insights.Position{Partition: 3, Offset: 9}, nil); err != nil {
			rt.Fatal(err)
		}
		values := map[string]any{}
		for i, name := range insights.InsertColumns() {
			values[name] = b.Values()[i]
		}
		for i, e := range list {
			at := func(name string) any { return reflect.ValueOf(values[name]).Index(i).Interface() }
			for name, want := range columns {
				if (name == "latitude" || name == "longitude") && !e.HasPoint {
					if !math.IsNaN(float64(at(name).(float32))) {
						rt.Fatalf("%s is %v without a point", name, at(name))
					}
					continue
				}
				if got := at(name); got != want(e) {
					rt.Fatalf("%s is %v, want %v", name, got, want(e))
				}
			}
			if (at("authenticated").(uint8) == 1) != e.Authenticated || at("log_index").(uint16) != uint16(i) {
				rt.Fatal("authenticated or index is wrong")
			}
			claims := at("claims").(map[string]string)
			for _, c := range e.Claims {
				if got, ok := claims[c.Name]; !ok || got != c.Value {
					rt.Fatalf("claim %q is %q, want %q", c.Name, got, c.Value)
				}
			}
			if len(claims) != len(e.Claims) {
				rt.Fatalf("%d claims, want %d", len(claims), len(e.Claims))
			}
		}
	})
}

// FuzzMessage checks that a damaged message causes an error and no panic, and that none of its events are used.
func FuzzMessage(f *testing.F) {
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(f, log, nil)
	for _, s := range seeds() {
		_ = in.Accept(f.Context(), testSite, []byte(s), testClient)
	}
	for _, m := range log.Messages {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := insights.ParseMessage(data)
		if err != nil {
			return
		}
		b := insights.NewBatch()
		if err := b.Add(m, insights.Position{}, nil); err != nil && b.Rows() != 0 {
			t.Fatal("a refused message left rows")
		}
		for i, v := range b.Values() {
			if n := reflect.ValueOf(v).Len(); n != b.Rows() {
				t.Fatalf("column %d has %d rows of %d", i, n, b.Rows())
			}
		}
	})
}
