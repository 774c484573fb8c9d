package eventgen

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

var end = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type event struct {
	Type    string
	Session struct {
		VisitorID         string `json:"visitorId"`
		SessionID         string `json:"sessionId"`
		Cookies           map[string]string
		IP                netip.Addr
		UserAgent         string
		Language          *string
		Referrer          *string
		VisitorAuthClaims map[string]any
	}
	Location struct {
		URL            string
		DisplayContext string
		SiteSection    *string
		SiteSpace      *string
		SiteShareKey   *string
		Space          *string
		Revision       *string
		Page           *string
		Title          string
		Status         *int
	}
	Timestamp time.Time

	Query      string
	Result     map[string]string
	Feedback   *struct{ Rating, Comment string }
	Rating     int
	ResponseID string
	Link       *struct {
		Target   json.RawMessage
		Position string
	}
	Operation   *struct{ Path, Method string }
	Ad          *struct{ Domain, ZoneID, Placement string }
	Placement   string
	LLMSVariant string

	ResultsCount, Seconds, Depth *int
}

func generate(t *testing.T, o Options, n int) []event {
	t.Helper()
	g := New(o)
	list := make([]event, n)
	var b []byte
	for i := range list {
		b = g.AppendEvent(b[:0])
		if err := json.Unmarshal(b, &list[i]); err != nil {
			t.Fatalf("event %d is not JSON of the contract: %v\n%s", i, err, b)
		}
	}
	return list
}

func TestSameSeedSameBytes(t *testing.T) {
	make := func(seed uint64) []byte {
		return New(Options{Seed: seed, Events: 5000, End: end}).AppendBatch(nil, 5000)
	}
	if !bytes.Equal(make(1), make(1)) {
		t.Error("two generators of one seed differ")
	}
	if bytes.Equal(make(1), make(2)) {
		t.Error("generators of different seeds agree")
	}
}

func TestBatchIsRequestBody(t *testing.T) {
	var body struct{ Events []json.RawMessage }
	if err := json.Unmarshal(New(Options{End: end}).AppendBatch(nil, 7), &body); err != nil || len(body.Events) != 7 {
		t.Fatalf("a batch of 7 has %d events, error %v", len(body.Events), err)
	}
}

// TestEveryType checks that each event type of the contract has a row in kinds and appears in the output.
func TestEveryType(t *testing.T) {
	words := insights.EventTypes.Words()
	if len(kinds) != len(words) {
		t.Fatalf("%d kinds, the contract has %d", len(kinds), len(words))
	}
	seen := map[string]int{}
	for _, e := range generate(t, Options{Events: 60_000, End: end}, 60_000) {
		seen[e.Type]++
	}
	for _, word := range words {
		if seen[word] == 0 {
			t.Errorf("no event of type %s in 60,000", word)
		}
	}
	if views := seen["page_view"]; views < 30_000 || views > 50_000 {
		t.Errorf("%d of 60,000 events are page views, want most but not all", views)
	}
}

func TestEventsFollowTheContract(t *testing.T) {
	rating := func(word string) bool { _, ok := insights.FeedbackRatings.Code(word); return ok }
	links := map[insights.Code]int{}
	for _, e := range generate(t, Options{Events: 60_000, End: end}, 60_000) {
		s, l := e.Session, e.Location
		if s.VisitorID == "" || s.SessionID == "" || s.UserAgent == "" || !s.IP.IsValid() || s.IP.IsPrivate() {
			t.Fatalf("bad session %+v", s)
		}
		known := l.DisplayContext == "server"
		if l.Title == "" || (l.Status != nil) != known || known && !in(l.Status, 200, 404) {
			t.Fatalf("bad title or status %+v", l)
		}
		if u, err := url.Parse(l.URL); err != nil || u.Host != "docs.example.com" {
			t.Fatalf("bad url %q", l.URL)
		}
		if _, ok := insights.DisplayContexts.Code(l.DisplayContext); !ok || l.SiteSection == nil || l.SiteSpace == nil || l.Space == nil || l.Revision == nil || l.Page == nil {
			t.Fatalf("bad location %+v", l)
		}
		ok := true
		switch e.Type {
		case "search_type_query":
			ok = e.Query != "" && in(e.ResultsCount, 0, insights.MaxResults)
		case "ask_question":
			ok = e.Query != ""
		case "page_leave":
			ok = in(e.Seconds, 0, insights.MaxEngagedSeconds) &&
				(e.Depth == nil || in(e.Depth, 0, insights.MaxScrollDepth))
		case "file_download":
			ref, _, err := insights.ParseContentRef(e.Link.Target)
			ok = err == nil && insights.LinkKinds.Word(ref.Kind) == "url"
		case "search_open_result":
			ok = e.Query != "" && (e.Result["recordId"] != "" || e.Result["spaceId"] != "" && e.Result["pageId"] != "")
		case "page_post_feedback":
			ok = rating(e.Feedback.Rating)
		case "page_post_feedback_comment":
			ok = rating(e.Feedback.Rating) && e.Feedback.Comment != "" && len(e.Feedback.Comment) <= 512
		case "ask_rate_response":
			ok = e.Query != "" && e.ResponseID != "" && (e.Rating == 1 || e.Rating == -1)
		case "link_click":
			ref, _, err := insights.ParseContentRef(e.Link.Target)
			_, known := insights.LinkPositions.Code(e.Link.Position)
			ok = err == nil && known
			links[ref.Kind]++
		case "api_client_open", "api_client_request":
			ok = e.Operation.Path != "" && e.Operation.Method != ""
		case "ad_click", "ad_display":
			ok = e.Ad.Domain != "" && e.Ad.ZoneID != "" && e.Ad.Placement == "aside"
		case "trademark_click":
			_, ok = insights.TrademarkPlacements.Code(e.Placement)
		case "llms_request":
			_, ok = insights.LLMSVariants.Code(e.LLMSVariant)
		}
		if !ok {
			t.Fatalf("bad payload of %s: %+v", e.Type, e)
		}
	}
	for i, word := range insights.LinkKinds.Words() {
		if links[insights.Code(i+1)] == 0 {
			t.Errorf("no link to a %s", word)
		}
	}
}

func in(n *int, least, most int) bool { return n != nil && *n >= least && *n <= most }

// TestTotals compares Generator.Totals with counts of the generated JSON events.
func TestTotals(t *testing.T) {
	const n = 30_000
	g := New(Options{Seed: 5, Events: n, Visitors: 2000, End: end})
	want := newTotals()
	classes := map[string]string{} // by agent
	for _, list := range [][]chosen{browsers, crawlers, agents, readers} {
		for _, a := range list {
			var text string
			if err := json.Unmarshal([]byte(a.text), &text); err != nil {
				t.Fatal(err)
			}
			classes[text] = a.class
		}
	}
	visitors := map[string]bool{}
	var b []byte
	for range n {
		var e event
		b = g.AppendEvent(b[:0])
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		class := classes[e.Session.UserAgent]
		want.Types[e.Type]++
		want.Classes[class]++
		if !visitors[e.Session.VisitorID] {
			visitors[e.Session.VisitorID] = true
			want.Visitors[class]++
		}
		if e.Type == "search_type_query" {
			want.search(*e.ResultsCount)
		}
		if space := e.Result["spaceId"]; space != "" {
			want.Opened[[2]string{space, e.Result["pageId"]}]++
		} else if e.Type == "search_open_result" {
			want.Records++
		}
		if e.Seconds != nil {
			depth := -1
			if e.Depth != nil {
				depth = *e.Depth
			}
			want.leave(*e.Seconds, depth)
		}
		if e.Location.Status != nil && *e.Location.Status == 404 {
			want.NotFound++
		}
	}
	got := g.Totals()
	want.seen, got.seen = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("totals\n%+v, want\n%+v", got, want)
	}
	for _, class := range insights.AgentClasses.Words() {
		if got.Visitors[class] == 0 {
			t.Errorf("no visitor of the class %s", class)
		}
	}
	if len(got.Opened) == 0 || got.Records == 0 {
		t.Error("no result of a kind was opened")
	}
	if got.NoResult == 0 || got.NoResult > got.Searches/4 || got.NotFound == 0 ||
		got.Depth.Number >= got.Engaged.Number {
		t.Errorf("%+v", got)
	}
}

func TestVisitorsAreStable(t *testing.T) {
	type traits struct {
		agent    string
		ip       netip.Addr
		language string
		claims   string
	}
	visitors, sessions := map[string]traits{}, map[string]string{}
	claims := 0
	for _, e := range generate(t, Options{Events: 50_000, Visitors: 3000, End: end}, 50_000) {
		raw, _ := json.Marshal(e.Session.VisitorAuthClaims)
		now := traits{agent: e.Session.UserAgent, ip: e.Session.IP, claims: string(raw)}
		if e.Session.Language != nil {
			now.language = *e.Session.Language
		}
		id := e.Session.VisitorID
		if before, ok := visitors[id]; ok && before != now {
			t.Fatalf("visitor %s changed from %+v to %+v", id, before, now)
		}
		visitors[id] = now
		if owner, ok := sessions[e.Session.SessionID]; ok && owner != id {
			t.Fatalf("session %s belongs to %s and %s", e.Session.SessionID, owner, id)
		}
		sessions[e.Session.SessionID] = id
		if e.Session.VisitorAuthClaims != nil {
			claims++
			if _, nested := e.Session.VisitorAuthClaims["account"].(map[string]any); !nested {
				t.Fatalf("claims without nesting: %s", raw)
			}
		}
	}
	if len(visitors) < 2000 || len(visitors) > 3500 || len(sessions) < 2*len(visitors) {
		t.Errorf("%d visitors with %d sessions; want about 3,000 that come back", len(visitors), len(sessions))
	}
	if claims < 4000 || claims > 16_000 {
		t.Errorf("%d of 50,000 events carry claims, want about a fifth", claims)
	}
}

func TestSpacesAreUsed(t *testing.T) {
	spaces := []string{"one", "two"}
	seen := map[string]bool{}
	for _, e := range generate(t, Options{End: end, Spaces: spaces}, 2000) {
		seen[*e.Location.Space] = true
	}
	if !seen["one"] || !seen["two"] || len(seen) != 6 {
		t.Errorf("events in the spaces %v; want the two given and four others", seen)
	}
}

// TestNoSpaces compares the events of a site without spaces with the events of a site with spaces. Both must have the
// same addresses and titles. The events of the site without spaces must have no ids.
func TestNoSpaces(t *testing.T) {
	with, without := generate(t, Options{End: end}, 500), generate(t, Options{End: end, NoSpaces: true}, 500)
	for i, e := range without {
		l := e.Location
		if l.Space != nil || l.Page != nil || l.SiteSpace != nil || l.SiteSection != nil || l.Revision != nil {
			t.Fatalf("event %d names %+v", i, l)
		}
		if other := with[i].Location; l.URL != other.URL || l.Title != other.Title || l.Title == "" {
			t.Fatalf("event %d is of %s, and with spaces of %s", i, l.URL, other.URL)
		}
	}
}

func TestSize(t *testing.T) {
	const n = 20_000
	if mean := len(New(Options{Events: n, End: end}).AppendBatch(nil, n)) / n; mean < 560 || mean > 680 {
		t.Errorf("events have %d bytes on average, want about 600", mean)
	}
}

func TestRhythm(t *testing.T) {
	const n = 80_000
	span := 28 * 24 * time.Hour
	byHour, byDay := [24]int{}, [7]int{}
	days := map[string]bool{}
	for _, e := range generate(t, Options{Events: n, End: end, Span: span}, n) {
		if e.Timestamp.After(end) || e.Timestamp.Before(end.Add(-span)) {
			t.Fatalf("event at %s, outside of the %s before %s", e.Timestamp, span, end)
		}
		byHour[e.Timestamp.Hour()]++
		byDay[e.Timestamp.Weekday()]++
		days[e.Timestamp.Format(time.DateOnly)] = true
	}
	if byHour[15] < 3*byHour[3] {
		t.Errorf("by hour %v: the afternoon is not much busier than the night", byHour)
	}
	if byDay[time.Tuesday] < 2*byDay[time.Sunday] {
		t.Errorf("by day from Sunday %v: working days are not much busier", byDay)
	}
	if len(days) != 29 { // the 28 days begin and end at noon
		t.Errorf("events on %d days, want 29", len(days))
	}
}

func TestStartsAgainAfterTheSpan(t *testing.T) {
	list := generate(t, Options{Events: 1000, End: end}, 3000)
	first, second := list[0].Timestamp, list[1100].Timestamp
	if second.Sub(first) > 10*24*time.Hour {
		t.Errorf("event 1,100 of a span of 1,000 is at %s, the first at %s", second, first)
	}
	if list[0].Session.SessionID == list[1000].Session.SessionID {
		t.Error("the second span repeats the first one's sessions")
	}
}

func BenchmarkAppendEvent(b *testing.B) {
	g := New(Options{End: end})
	var buf []byte
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		buf = g.AppendEvent(buf[:0])
		size += len(buf)
	}
	b.SetBytes(int64(size / b.N))
}
