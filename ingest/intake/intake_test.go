package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// base returns the columns that every event of ingesttest.Minimal fills.
func base(kind string) row {
	code, _ := insights.EventTypes.Code(kind)
	h := NewHasher(testKey)
	return row{
		"site": "site_1", "time": testNow.UnixMilli(), "type": code, "url": "https://d.example/p",
		"visitor": h.Visitor("site_1", "v"), "session": h.Session("site_1", "s"),
		"display_context": insights.Code(1), "country": "FR",
		"device": deviceUnknown, "browser": browserUnknown, "os": osUnknown, "content_form": formHTML,
		"door": insights.Code(1),
	}
}

func checkRow(t *testing.T, got, want row) {
	t.Helper()
	for name := range want {
		if !reflect.DeepEqual(got[name], want[name]) {
			t.Errorf("%s is %#v, want %#v", name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is %#v, want nothing", name, got[name])
		}
	}
}

func TestEveryType(t *testing.T) {
	t.Parallel()
	for _, kind := range insights.EventTypes.Words() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c, ok := ingesttest.Minimal[kind]
			if !ok {
				t.Fatal("no case for this type")
			}
			want := base(kind)
			for name, v := range c.Want {
				want[name] = v
			}
			checkRow(t, acceptOne(t, ingesttest.Events(ingesttest.Event(kind, c.Extra))), want)
			// The member `type` may be the last member, and a member that is null counts as absent.
			late := fmt.Sprintf(`{%s"timestamp":null,"location":{"page":null,"url":"https://d.example/p","displayContext":null},`+
				`"session":{"referrer":null,"visitorAuthClaims":null,"cookies":null,"language":null,"sessionId":"s","visitorId":"v","visitorAuthToken":null},"type":%q}`,
				strings.TrimPrefix(c.Extra+",", ","), kind)
			checkRow(t, acceptOne(t, ingesttest.Events(late)), want)
		})
	}
}

func TestFullEvent(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(t, log, nil)
	body := `{"unknown":[{"a":null}],"events":[{
		"unknown": {"deep":[1,2,{"x":"y"}]},
		"type":"page_view",
		"query": 5, "feedback": "ignored: not of this type",
		"session":{"visitorId":"v\u00e9","sessionId":"s","cookies":{"a":"b"},"ip":"203.0.113.7",
			"userAgent":"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
			"language":"de-DE","referrer":"https://user@www.Search.example:443/?q=\ud83d\ude00",
			"visitorAuthToken":"jwt",
			"visitorAuthClaims":{"plan":"pro","beta":true,"seats":12.5,"none":null,"org":{"id":"o1","tags":["a", {"b" : 1}],"deep":{"x":"y"}},"plan":"free"}},
		"location":{"url":"https://d.example/p?utm_source=a%20b&utm_medium=e+mail&utm_campaign=&utm_campaign=x%zz&utm_term=%C3%A9&utm_content=c#utm_content=no",
			"displayContext":"mcp","siteSection":"sec_06h03m2k9v0000000000000abc","siteSpace":"ssp","siteShareKey":"key","space":"spc","revision":"rev","page":"pag"},
		"timestamp":"2024-02-29T23:59:59.9999+01:00"
	}]}`
	if err := in.Accept(t.Context(), Site{ID: "site_1", ClearIDs: true}, []byte(body), testClient); err != nil {
		t.Fatal(err)
	}
	want := base("page_view")
	for name, v := range (row{
		"time":    time.Date(2024, 2, 29, 22, 59, 59, 999_000_000, time.UTC).UnixMilli(),
		"visitor": NewHasher(testKey).Visitor("site_1", "vé"), "visitor_id": "vé", "session_id": "s",
		"url":      "https://d.example/p?utm_source=a%20b&utm_medium=e+mail&utm_campaign=&utm_campaign=x%zz&utm_term=%C3%A9&utm_content=c#utm_content=no",
		"referrer": "https://user@www.Search.example:443/?q=😀", "referrer_domain": "search.example",
		"utm_source": "a b", "utm_medium": "e mail", "utm_campaign": "x%zz", "utm_term": "é", "utm_content": "c",
		"display_context": insights.Code(4), "site_section": "06h03m2k9v0000000000000abc", "site_space": "ssp", "site_share_key": "key",
		"space": "spc", "revision": "rev", "page": "pag",
		"country": "DE", "latitude": float32(52.5), "longitude": float32(13.25),
		"device": deviceMobile, "browser": browserSafari, "os": osIOS, "language": "de-DE",
		"agent_class": classPerson, "content_form": formMCP,
		"authenticated": uint8(1),
		"claims": map[string]string{"plan": "free", "beta": "true", "seats": "12.5", "org.id": "o1",
			"org.tags": `["a",{"b":1}]`, "org.deep.x": "y",
			insights.ClaimTypes: `{"beta":"b","seats":"n","org.tags":"a"}`},
	}) {
		want[name] = v
	}
	checkRow(t, ingesttest.RowsOf(t, log.Messages[0])[0], want)
}

// TestClaimPaths checks that no claim overwrites another claim, in any order of the claims. No claim that a client
// sends can replace the claim with the types (insights.ClaimTypes).
func TestClaimPaths(t *testing.T) {
	t.Parallel()
	type claims = map[string]string
	for sent, want := range map[string]claims{
		`{"plan":"pro","n":"3"}`:                 {"plan": "pro", "n": "3"},
		`{"a.b":"1","a":{"b":"2"}}`:              {`a\.b`: "1", "a.b": "2"},
		`{"a":{"b":"2"},"a.b":"1"}`:              {`a\.b`: "1", "a.b": "2"},
		`{"a.b":{"c":"1"},"a":{"b.c":"2"}}`:      {`a\.b.c`: "1", `a.b\.c`: "2"},
		`{"a.b":"1"}`:                            {"a.b": "1", insights.ClaimTypes: `{"a.b":"sa\\.b"}`},
		`{"\\types":"1","a\\.b":"2"}`:            {`\\types`: "1", `a\\\.b`: "2"},
		`{"":{"a":"1"},"a":"2"}`:                 {".a": "1", "a": "2"},
		`{"s":"[1]","n":-1e3,"b":false,"o":[ ]}`: {"s": "[1]", "n": "-1e3", "b": "false", "o": "[]", insights.ClaimTypes: `{"s":"s","n":"n","b":"b","o":"a"}`},
	} {
		t.Run(sent, func(t *testing.T) {
			body := ingesttest.Events(ingesttest.Event("page_view", `"session":{"visitorId":"v","sessionId":"s","visitorAuthClaims":`+sent+`}`))
			if got := acceptOne(t, body)["claims"]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %q, want %q", sent, got, want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxText+1)
	session := `"session":{"visitorId":"v","sessionId":"s"}`
	place := `"location":{"url":"https://d.example/"}`
	full := func(s, l string) string {
		return ingesttest.Events(`{"type":"page_view","session":{` + s + `},"location":{` + l + `}}`)
	}
	ids := `"visitorId":"v","sessionId":"s"`
	url := `"url":"https://d.example/"`
	nest := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	many := make([]string, maxClaims+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"c%d":1`, i)
	}
	for _, c := range []struct {
		body    string
		reason  *insights.Reason
		message string // beginning of the message
	}{
		{``, insights.NotJSON, "the body must be a JSON object"},
		{`[]`, insights.NotJSON, "the body must be a JSON object"},
		{`{`, insights.NotJSON, "the body is not valid JSON at line 1, column 2"},
		{`{}`, insights.MissingField, "events: is required"},
		{`{"events":null}`, insights.MissingField, "events: is required"},
		{`{"events":{}}`, insights.NotJSON, "events: must be an array"},
		{`{"events":[]} x`, insights.NotJSON, "the body has more than one JSON value"},
		{`{"events":[],"events":[]}`, insights.NotJSON, "the body has the member `events` twice"},
		{`{"events":[5]}`, insights.InvalidField, "events[0]: must be an object"},
		{`{"events":[{]}`, insights.NotJSON, "the body is not valid JSON"},
		{`{"events":[` + ingesttest.Event("page_view", "") + `,]}`, insights.NotJSON, "the body is not valid JSON"},
		{`{"a":01,"events":[]}`, insights.NotJSON, "the body is not valid JSON"},
		{`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `,"events":[]}`, insights.NotJSON, "the body is not valid JSON"},
		{ingesttest.Events(`{` + session + `,` + place + `}`), insights.MissingField, "events[0].type: is required"},
		{ingesttest.Events(`{"type":null,` + session + `,` + place + `}`), insights.MissingField, "events[0].type: is required"},
		{ingesttest.Events(`{"type":5,` + session + `,` + place + `}`), insights.InvalidField, "events[0].type: must be a string"},
		{ingesttest.Events(ingesttest.Event("page_viewed", "")), insights.UnknownType, "events[0].type: must be one of page_view, search_open"},
		{ingesttest.Events(`{"type":"page_view",` + place + `}`), insights.MissingField, "events[0].session.visitorId: is required"},
		{ingesttest.Events(`{"type":"page_view","session":null,` + place + `}`), insights.MissingField, "events[0].session.visitorId: is required"},
		{ingesttest.Events(`{"type":"page_view","session":[],` + place + `}`), insights.InvalidField, "events[0].session: must be an object"},
		{full(`"visitorId":null,"sessionId":"s"`, url), insights.MissingField, "events[0].session.visitorId: is required"},
		{full(`"visitorId":"","sessionId":"s"`, url), insights.InvalidField, "events[0].session.visitorId: must not be empty"},
		{full(`"visitorId":7,"sessionId":"s"`, url), insights.InvalidField, "events[0].session.visitorId: must be a string"},
		{full(`"visitorId":"`+strings.Repeat("é", 129)+`","sessionId":"s"`, url), insights.TooLong, "events[0].session.visitorId: must have at most 256 bytes"},
		{full(`"visitorId":"v"`, url), insights.MissingField, "events[0].session.sessionId: is required"},
		{full(ids+`,"cookies":"x"`, url), insights.InvalidField, "events[0].session.cookies: must be an object"},
		{full(ids+`,"ip":{}`, url), insights.InvalidField, "events[0].session.ip: must be a string"},
		{full(ids+`,"userAgent":"`+long+`"`, url), insights.TooLong, "events[0].session.userAgent: must have at most 8192 bytes"},
		{full(ids+`,"language":[]`, url), insights.InvalidField, "events[0].session.language: must be a string"},
		{full(ids+`,"referrer":"google"`, url), insights.InvalidField, "events[0].session.referrer: must be an absolute URL"},
		{full(ids+`,"visitorAuthToken":true`, url), insights.InvalidField, "events[0].session.visitorAuthToken: must be a string"},
		{full(ids+`,"visitorAuthClaims":[]`, url), insights.InvalidField, "events[0].session.visitorAuthClaims: must be an object"},
		{full(ids+`,"visitorAuthClaims":`+nest(maxClaimDepth+1), url), insights.TooLong, "events[0].session.visitorAuthClaims: must not nest deeper"},
		{full(ids+`,"visitorAuthClaims":{`+strings.Join(many, ",")+`}`, url), insights.TooLong, "events[0].session.visitorAuthClaims: must not have over 100 claims"},
		{full(ids+`,"visitorAuthClaims":{"`+strings.Repeat("n", 300)+`":1}`, url), insights.TooLong, "events[0].session.visitorAuthClaims: must not have names"},
		{full(ids+`,"visitorAuthClaims":{"a":"`+long+long+`"}`, url), insights.TooLong, "events[0].session.visitorAuthClaims: must not have over 16384 bytes"},
		{full(ids, ``), insights.MissingField, "events[0].location.url: is required"},
		{full(ids, `"url":""`), insights.MissingField, "events[0].location.url: is required"},
		{full(ids, `"url":"/docs"`), insights.InvalidField, "events[0].location.url: must be an absolute URL"},
		{full(ids, `"url":"https://`+long+`"`), insights.TooLong, "events[0].location.url: must have at most 8192 bytes"},
		{full(ids, url+`,"displayContext":"app"`), insights.InvalidField, "events[0].location.displayContext: must be one of site, embed, server, mcp"},
		{full(ids, url+`,"displayContext":""`), insights.InvalidField, "events[0].location.displayContext: must be one of"},
		{full(ids, url+`,"displayContext":1`), insights.InvalidField, "events[0].location.displayContext: must be one of"},
		{full(ids, url+`,"siteSection":1`), insights.InvalidField, "events[0].location.siteSection: must be a string"},
		{full(ids, url+`,"siteSpace":1`), insights.InvalidField, "events[0].location.siteSpace: must be a string"},
		{full(ids, url+`,"siteShareKey":1`), insights.InvalidField, "events[0].location.siteShareKey: must be a string"},
		{full(ids, url+`,"space":1`), insights.InvalidField, "events[0].location.space: must be a string"},
		{full(ids, url+`,"revision":1`), insights.InvalidField, "events[0].location.revision: must be a string"},
		{full(ids, url+`,"page":false`), insights.InvalidField, "events[0].location.page: must be a string"},
		{ingesttest.Events(ingesttest.Event("page_view", `"timestamp":5`)), insights.InvalidField, "events[0].timestamp: must be a string"},
		{ingesttest.Events(ingesttest.Event("page_view", `"timestamp":"yesterday"`)), insights.InvalidField, "events[0].timestamp: must be a date-time"},
		{ingesttest.Events(ingesttest.Event("page_view", `"timestamp":"2026-03-04"`)), insights.InvalidField, "events[0].timestamp: must be a date-time"},
		{ingesttest.Events(ingesttest.Event("page_view", `"timestamp":"2026-03-04T06:06:07.090Z"`)), insights.InFuture, "events[0].timestamp: must not be in the future"},
		{ingesttest.Events(ingesttest.Event("page_view", `"timestamp":"1969-12-31T23:59:59.999Z"`)), insights.OutOfRange, "events[0].timestamp: must not be before 1970"},

		{ingesttest.Events(ingesttest.Event("search_type_query", "")), insights.MissingField, "events[0].query: is required"},
		{ingesttest.Events(ingesttest.Event("search_type_query", `"query":null`)), insights.MissingField, "events[0].query: is required"},
		{ingesttest.Events(ingesttest.Event("ask_question", `"query":["x"]`)), insights.InvalidField, "events[0].query: must be a string"},
		{ingesttest.Events(ingesttest.Event("ask_question", `"query":"`+long+`"`)), insights.TooLong, "events[0].query: must have at most 8192 bytes"},
		{ingesttest.Events(ingesttest.Event("search_open_result", `"query":"x"`)), insights.MissingField, "events[0].result: is required"},
		{ingesttest.Events(ingesttest.Event("search_open_result", `"query":"x","result":{"spaceId":"s"}`)), insights.MissingField, "events[0].result: must have recordId"},
		{ingesttest.Events(ingesttest.Event("search_open_result", `"query":"x","result":"s"`)), insights.InvalidField, "events[0].result: must be an object"},
		{ingesttest.Events(ingesttest.Event("page_post_feedback", "")), insights.MissingField, "events[0].feedback: is required"},
		{ingesttest.Events(ingesttest.Event("page_post_feedback", `"feedback":{}`)), insights.MissingField, "events[0].feedback.rating: is required"},
		{ingesttest.Events(ingesttest.Event("page_post_feedback", `"feedback":{"rating":"great"}`)), insights.InvalidField, "events[0].feedback.rating: must be one of bad, ok, good"},
		{ingesttest.Events(ingesttest.Event("page_post_feedback_comment", `"feedback":{"rating":"ok"}`)), insights.MissingField, "events[0].feedback.comment: is required"},
		{ingesttest.Events(ingesttest.Event("page_post_feedback_comment", `"feedback":{"rating":"ok","comment":""}`)), insights.InvalidField, "events[0].feedback.comment: must not be empty"},
		{ingesttest.Events(ingesttest.Event("page_post_feedback_comment", `"feedback":{"rating":"ok","comment":"`+strings.Repeat("é", 513)+`"}`)), insights.TooLong, "events[0].feedback.comment: must have at most 512 characters"},
		{ingesttest.Events(ingesttest.Event("ask_rate_response", `"query":"x","responseId":"r"`)), insights.MissingField, "events[0].rating: is required"},
		{ingesttest.Events(ingesttest.Event("ask_rate_response", `"query":"x","rating":2,"responseId":"r"`)), insights.InvalidField, "events[0].rating: must be 1 or -1"},
		{ingesttest.Events(ingesttest.Event("ask_rate_response", `"query":"x","rating":"1","responseId":"r"`)), insights.InvalidField, "events[0].rating: must be 1 or -1"},
		{ingesttest.Events(ingesttest.Event("ask_rate_response", `"query":"x","rating":1`)), insights.MissingField, "events[0].responseId: is required"},
		{ingesttest.Events(ingesttest.Event("link_click", "")), insights.MissingField, "events[0].link: is required"},
		{ingesttest.Events(ingesttest.Event("link_click", `"link":{"position":"header"}`)), insights.MissingField, "events[0].link.target: is required"},
		{ingesttest.Events(ingesttest.Event("link_click", `"link":{"target":{"kind":"page","page":"p"}}`)), insights.MissingField, "events[0].link.position: is required"},
		{ingesttest.Events(ingesttest.Event("link_click", `"link":{"target":{"kind":"page","page":"p"},"position":"top"}`)), insights.InvalidField, "events[0].link.position: must be one of announcement"},
		{ingesttest.Events(ingesttest.Event("link_click", `"link":{"target":{"page":"p"},"position":"header"}`)), insights.MissingField, "events[0].link.target.kind: is required"},
		{ingesttest.Events(ingesttest.Event("link_click", `"link":{"target":{"kind":"planet"},"position":"header"}`)), insights.InvalidField, "events[0].link.target.kind: must be one of url, page"},
		{ingesttest.Events(ingesttest.Event("link_click", `"link":{"target":{"kind":"page","url":"u"},"position":"header"}`)), insights.MissingField, "events[0].link.target.page: is required"},
		{ingesttest.Events(ingesttest.Event("link_click", `"link":{"target":{"kind":"page","page":5},"position":"header"}`)), insights.InvalidField, "events[0].link.target.page: must be a string"},
		{ingesttest.Events(ingesttest.Event("api_client_open", `"operation":{"path":"/"}`)), insights.MissingField, "events[0].operation.method: is required"},
		{ingesttest.Events(ingesttest.Event("api_client_request", `"operation":{"path":null,"method":"get"}`)), insights.MissingField, "events[0].operation.path: is required"},
		{ingesttest.Events(ingesttest.Event("ad_click", `"ad":{"domain":"d","placement":"aside"}`)), insights.MissingField, "events[0].ad.zoneId: is required"},
		{ingesttest.Events(ingesttest.Event("ad_display", `"ad":{"domain":"d","zoneId":"z"}`)), insights.MissingField, "events[0].ad.placement: is required"},
		{ingesttest.Events(ingesttest.Event("ad_display", `"ad":{"domain":"d","zoneId":"z","placement":"top"}`)), insights.InvalidField, "events[0].ad.placement: must be one of aside"},
		{ingesttest.Events(ingesttest.Event("trademark_click", `"placement":"roof"`)), insights.InvalidField, "events[0].placement: must be one of sidebar, ad, footer, pdf, embed"},
		{ingesttest.Events(ingesttest.Event("trademark_click", ``)), insights.MissingField, "events[0].placement: is required"},
		{ingesttest.Events(ingesttest.Event("llms_request", ``)), insights.MissingField, "events[0].llmsVariant: is required"},
		{ingesttest.Events(ingesttest.Event("page_markdown_request", `"markdownSource":"mail"`)), insights.InvalidField, "events[0].markdownSource: must be one of page-action"},
		{full(ids, url+`,"status":99`), insights.InvalidField, "events[0].location.status: must be an integer from 100 to 599"},
		{full(ids, url+`,"status":"404"`), insights.InvalidField, "events[0].location.status: must be an integer from 100 to 599"},
		{full(ids, url+`,"title":1`), insights.InvalidField, "events[0].location.title: must be a string"},
		{full(ids, url+`,"title":"`+long+`"`), insights.TooLong, "events[0].location.title: must have at most 8192 bytes"},
		{ingesttest.Events(ingesttest.Event("page_leave", ``)), insights.MissingField, "events[0].seconds: is required"},
		{ingesttest.Events(ingesttest.Event("page_leave", `"seconds":null,"depth":5`)), insights.MissingField, "events[0].seconds: is required"},
		{ingesttest.Events(ingesttest.Event("page_leave", `"seconds":86401`)), insights.InvalidField, "events[0].seconds: must be an integer from 0 to 86400"},
		{ingesttest.Events(ingesttest.Event("page_leave", `"seconds":-1`)), insights.InvalidField, "events[0].seconds: must be an integer from 0 to 86400"},
		{ingesttest.Events(ingesttest.Event("page_leave", `"seconds":"5"`)), insights.InvalidField, "events[0].seconds: must be an integer from 0 to 86400"},
		{ingesttest.Events(ingesttest.Event("page_leave", `"seconds":5,"depth":0.5`)), insights.InvalidField, "events[0].depth: must be an integer from 0 to 100"},
		{ingesttest.Events(ingesttest.Event("page_leave", `"seconds":5,"depth":101`)), insights.InvalidField, "events[0].depth: must be an integer from 0 to 100"},
		{ingesttest.Events(ingesttest.Event("page_leave", `"seconds":5,"depth":01`)), insights.NotJSON, "the body is not valid JSON"},
		{ingesttest.Events(ingesttest.Event("search_type_query", `"query":"x","resultsCount":1000001`)), insights.InvalidField, "events[0].resultsCount: must be an integer from 0 to 1000000"},
		{ingesttest.Events(ingesttest.Event("search_type_query", `"query":"x","resultsCount":1e999`)), insights.InvalidField, "events[0].resultsCount: must be an integer from 0 to 1000000"},
		{ingesttest.Events(ingesttest.Event("search_open_result", `"query":"x","resultsCount":[],"result":{"recordId":"r"}`)), insights.InvalidField, "events[0].resultsCount: must be an integer from 0 to 1000000"},
		{ingesttest.Events(ingesttest.Event("file_download", "")), insights.MissingField, "events[0].link: is required"},
		{ingesttest.Events(ingesttest.Event("page_view", ""), ingesttest.Event("ask_view", ""), ingesttest.Event("ask_question", "")), insights.MissingField, "events[2].query: is required"},
	} {
		t.Run(c.message, func(t *testing.T) {
			t.Parallel()
			log := &ingesttest.MemoryLog{}
			in := newTestIntake(t, log, nil)
			err := in.Accept(t.Context(), testSite, []byte(c.body), testClient)
			var refusal *insights.Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if refusal.Reason != c.reason || !strings.HasPrefix(refusal.Message, c.message) {
				t.Errorf("got %s %q, want %s %q", refusal.Reason.Label, refusal.Message, c.reason.Label, c.message)
			}
			if refusal.Index >= 0 && !strings.HasPrefix(refusal.Field, fmt.Sprintf("events[%d]", refusal.Index)) {
				t.Errorf("field %q is not of event %d", refusal.Field, refusal.Index)
			}
			if len(log.Messages) != 0 {
				t.Error("a part of the refused request was stored")
			}
			if n := testutil.ToFloat64(in.metrics.refused[c.reason].requests); n != 1 {
				t.Errorf("%v refusals counted", n)
			}
		})
	}
}

func TestGenerous(t *testing.T) {
	t.Parallel()
	for _, extra := range []string{
		`"timestamp":"1970-01-01T00:00:00Z"`, `"timestamp":"2026-03-04T06:06:07.089Z"`, `"timestamp":""`,
		`"session":{"visitorId":"v","sessionId":"s","ip":"unknown","referrer":"","userAgent":"","language":""}`,
		`"session":{"visitorId":"v","sessionId":"s","ip":"::ffff:203.0.113.7","visitorAuthClaims":{}}`,
		`"location":{"url":"android-app://com.example"}`,
		`"location":{"url":"HTTPS://D.EXAMPLE/ü ?x"}`,
	} {
		acceptOne(t, ingesttest.Events(ingesttest.Event("page_view", extra)))
	}
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(t, log, nil)
	if err := in.Accept(t.Context(), testSite, []byte(" {\"events\" : [ ] }\n"), testClient); err != nil || len(log.Messages) != 0 {
		t.Errorf("no events: %v, %d messages", err, len(log.Messages))
	}
}

func TestTooManyEvents(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(t, log, func(c *Config) { c.MaxEvents = 3 })
	e := ingesttest.Event("page_view", "")
	if err := in.Accept(t.Context(), testSite, []byte(ingesttest.Events(e, e, e)), testClient); err != nil {
		t.Fatal(err)
	}
	fewer := testClient
	fewer.MaxEvents = 2
	if err := in.Accept(t.Context(), testSite, []byte(ingesttest.Events(e, e, e)), fewer); ingesttest.ReasonOf(err) != insights.TooManyEvents {
		t.Errorf("more events than the client may send: %v", err)
	}
	err := in.Accept(t.Context(), testSite, []byte(ingesttest.Events(e, e, e, e)), testClient)
	if r := ingesttest.ReasonOf(err); r != insights.TooManyEvents || len(log.Messages) != 1 {
		t.Errorf("got %v with %d messages", err, len(log.Messages))
	}
	if n := testutil.ToFloat64(in.metrics.accepted); n != 3 {
		t.Errorf("%v events counted, want 3", n)
	}
}

// TestCanonicalTarget compares the intake's canonical text of a link target with the text that filters use.
func TestCanonicalTarget(t *testing.T) {
	t.Parallel()
	escaped := "a\"\\<>&\u2028\u2029\b\f\n\r\t\x01\u007fé😀/"
	for _, kind := range insights.LinkKinds.Words() {
		code, _ := insights.LinkKinds.Code(kind)
		required, names := insights.ContentRefMembers(code)
		if len(names) == 0 {
			t.Errorf("kind %s has no members", kind)
		}
		for n := required; n <= len(names); n++ {
			ref := map[string]string{"kind": kind, "more": "x"}
			for _, name := range names[:n] {
				ref[name] = name + escaped
			}
			raw, err := json.Marshal(ref)
			if err != nil {
				t.Fatal(err)
			}
			_, want, err := insights.ParseContentRef(raw)
			if err != nil {
				t.Fatal(err)
			}
			got := acceptOne(t, ingesttest.Events(ingesttest.Event("link_click", `"link":{"position":"content","target":`+string(raw)+`}`)))
			if got["link_target"] != want {
				t.Errorf("%s with %d members is\n%s\nwant\n%s", kind, n, got["link_target"], want)
			}
		}
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	h := NewHasher(testKey)
	a := h.Visitor("site_1", "x")
	if a == h.Visitor("site_2", "x") || a == h.Session("site_1", "x") || a == h.Visitor("site_1", "y") || a == 0 {
		t.Error("hashes of different things are equal")
	}
	if a != h.Visitor("site_1", "x") || notZero(0) == 0 {
		t.Error("a hash is not stable or zero")
	}
	if a == NewHasher([16]byte{9}).Visitor("site_1", "x") {
		t.Error("the key makes no difference")
	}
}

func TestLogFailure(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{Err: errors.New("broken")}
	in := newTestIntake(t, log, nil)
	err := in.Accept(t.Context(), testSite, ingesttest.TypicalBody(2), testClient)
	if ingesttest.ReasonOf(err) != insights.LogUnavailable || !errors.Is(err, log.Err) {
		t.Errorf("got %v", err)
	}
}

// blockedLog blocks each call of Append until the test releases it.
type blockedLog struct{ entered, release chan struct{} }

func (l blockedLog) Append(context.Context, string, int, []byte) error {
	l.entered <- struct{}{}
	<-l.release
	return nil
}

func TestOverload(t *testing.T) {
	t.Parallel()
	body := ingesttest.TypicalBody(1)
	for name, change := range map[string]func(*Config){
		"requests": func(c *Config) { c.MaxInFlight = 2 },
		"bytes":    func(c *Config) { c.MaxBytesInFlight = int64(2*len(body) + 10) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := blockedLog{make(chan struct{}), make(chan struct{})}
			in := newTestIntake(t, log, func(c *Config) {
				c.AdmitWait = time.Millisecond
				change(c)
			})
			done := make(chan error, 2)
			for range 2 {
				go func() { done <- in.Accept(t.Context(), testSite, body, testClient) }()
				<-log.entered
			}
			if err := in.Accept(t.Context(), testSite, body, testClient); ingesttest.ReasonOf(err) != insights.Overloaded {
				t.Errorf("got %v, want overloaded", err)
			}
			close(log.release)
			for range 2 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if n := testutil.ToFloat64(in.metrics.bytesInFlight) + testutil.ToFloat64(in.metrics.requestsInFlight); n != 0 {
				t.Errorf("%v requests still in flight", n)
			}
		})
	}
}
