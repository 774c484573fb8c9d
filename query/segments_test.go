package query

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

func segmentsOf(t *testing.T, s *Service, site, page string, limit *int) schema.List[Segment] {
	t.Helper()
	body, headers, err := s.VisitorSegments(
		t.Context(), Caller{}, site, schema.PageRequest{Page: page, Limit: limit}, testNow,
	)
	if err != nil {
		t.Fatal(err)
	}
	var list schema.List[Segment]
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	if headers[headerResult] != "exact" || headers[headerRange] == "" || headers[headerRowsRead] == "" {
		t.Errorf("headers %v", headers)
	}
	return list
}

// visit returns an event of a visitor with claims. `claims` has each claim's name, followed by its value.
func visit(visitor uint64, claims ...string) insights.Event {
	e := fixture()[0]
	e.TimeMillis, e.Visitor, e.Session, e.Claims = testNow.UnixMilli()-1000, visitor, visitor, nil
	for i := 0; i < len(claims); i += 2 {
		e.Claims = append(e.Claims, insights.Claim{Name: claims[i], Value: claims[i+1]})
	}
	return e
}

func TestSegments(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	insert(t, conn, "site_2", fixture()[:1])
	service := newService(conn)
	got := segmentsOf(t, service, testSite, "", nil)
	if of := segmentsOf(t, fromVisits(conn), testSite, "", nil); !cmp.Equal(of, got) {
		t.Errorf("of visits %+v, of events %+v", of, got)
	}
	want := schema.List[Segment]{Count: 3, Items: []Segment{
		{Title: "Anonymous", Claims: map[string]any{}, Events: 5, Visitors: 4, Sessions: 5},
		{Title: "org.id: 7, plan: pro", Claims: map[string]any{"org": map[string]any{"id": "7"}, "plan": "pro"}, Events: 2, Visitors: 1, Sessions: 1},
		{Title: "plan: free", Claims: map[string]any{"plan": "free"}, Events: 1, Visitors: 1, Sessions: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text, _ := json.Marshal(segmentsOf(t, service, "nobody", "", nil))
	if string(text) != `{"items":[],"count":0}` {
		t.Errorf("%s", text)
	}
	part := segmentPage{
		to: testNow, days: 30, after: &segmentKey{1, 2, "x"}, limit: 1, reach: reach{site: Site{ID: testSite}},
	}
	sc := part.scope()
	for _, sql := range []string{lowerSegments(sc, nil, part).SQL, lowerSharedClaims(sc).SQL, lowerSegmentCount(sc, nil).SQL} {
		checkSQL(t, sql)
	}
}

// TestSegmentsAreShared checks that claims that identify a visitor become no segments. Other claims are returned as
// they were sent. A visitor with only identifying claims is not anonymous.
func TestSegmentsAreShared(t *testing.T) {
	t.Parallel()
	conn := store(t)
	var events []insights.Event
	for n := range uint64(150) {
		id := fmt.Sprint(n)
		who := []string{"userId", "u" + id, "email", id + "@example.com", "iat", "17000" + id}
		switch n % 3 {
		case 0:
			events = append(events, visit(n+1, append(who, "plan", "pro", "beta", "true", "seats", "3", "roles", `["a","b"]`,
				insights.ClaimTypes, `{"iat":"n","beta":"b","seats":"n","roles":"a"}`)...))
		case 1:
			events = append(events, visit(n+1, append(who, "plan", "free", insights.ClaimTypes, `{"iat":"n"}`)...))
		case 2:
			events = append(events, visit(n+1, append(who, insights.ClaimTypes, `{"iat":"n"}`)...))
		}
	}
	insert(t, conn, testSite, append(events, visit(1000)))
	text, err := json.Marshal(segmentsOf(t, newService(conn), testSite, "", nil))
	var got any
	if err != nil || json.Unmarshal(text, &got) != nil {
		t.Fatal(err)
	}
	segment := func(title, claims string, visitors int) string {
		return fmt.Sprintf(`{"title":%q,"claims":%s,"events":%d,"visitors":%d,"sessions":%d}`, title, claims, visitors, visitors, visitors)
	}
	// Segments of equal size are in an arbitrary order, which is always the same.
	for _, want := range []string{
		segment(`beta: true, plan: pro, roles: ["a","b"], seats: 3`, `{"beta":true,"plan":"pro","roles":["a","b"],"seats":3}`, 50),
		segment("plan: free", `{"plan":"free"}`, 50), segment("Identified", `{}`, 50), segment("Anonymous", `{}`, 1), `"count":4`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestSegmentPages checks that the pages have every segment once, and that `count` is the number of segments. Events
// that arrive between the pages change neither the segments nor the count.
func TestSegmentPages(t *testing.T) {
	t.Parallel()
	conn := store(t)
	var events []insights.Event
	for n := range uint64(360) {
		events = append(events, visit(n+1, "org", fmt.Sprint("o", n%120))) // each value has three visitors
	}
	insert(t, conn, testSite, events)
	service := fromVisits(conn)
	limit, zero := 50, 0
	seen := map[string]bool{}
	page := ""
	for pages := 1; ; pages++ {
		list := segmentsOf(t, service, testSite, page, &limit)
		if list.Count != 120 {
			t.Fatalf("count %d on page %d", list.Count, pages)
		}
		for _, s := range list.Items {
			if seen[s.Title] || s.Visitors != 3 {
				t.Errorf("%+v", s)
			}
			seen[s.Title] = true
		}
		if list.Next == nil {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		page = list.Next.Page
		// These events are later than the first page's request.
		late := visit(5000, "org", "late")
		late.TimeMillis = testNow.UnixMilli() + int64(pages)
		insert(t, conn, testSite, []insights.Event{late})
	}
	if len(seen) != 120 {
		t.Errorf("%d segments on all pages", len(seen))
	}
	if list := segmentsOf(t, service, testSite, "", &zero); len(list.Items) != 0 || list.Count != 120 || list.Next != nil {
		t.Errorf("limit 0: %+v", list)
	}
	if list := segmentsOf(t, service, testSite, "", nil); len(list.Items) != defaultSegments || list.Next == nil {
		t.Errorf("%d segments without a limit", len(list.Items))
	}
	list := segmentPage{}.list(testSite)
	for _, bad := range []string{
		"x", page[:len(page)-1], schema.PageToken("visitor-segments/site_2", "0", "30", "1", "1", "1", "x"),
		schema.PageToken(list, "0", "31", "1", "1", "1", "x"), schema.PageToken(list, "0", "30", "1", "-1", "1", "x"),
	} {
		t.Run(bad, func(t *testing.T) {
			if _, _, err := service.VisitorSegments(
				t.Context(), Caller{}, testSite, schema.PageRequest{Page: bad}, testNow,
			); !schema.IsCode(err, schema.CodeBadRequest) {
				t.Errorf("page %q: %v", bad, err)
			}
		})
	}
}

// TestSegmentsOfManyIDs checks that little memory suffices for a site on which every visitor has unique claims.
func TestSegmentsOfManyIDs(t *testing.T) {
	t.Parallel()
	conn := store(t)
	err := conn.Exec(t.Context(), `INSERT INTO events (site, time, type, visitor, session, claims)
		SELECT '`+testSite+`', toDateTime64('2026-03-14 00:00:00', 3, 'UTC'), 'page_view', sipHash64(number, 1), sipHash64(number, 2),
		map('userId', toString(number), 'email', concat(toString(number), '@example.com'), 'plan', if(number % 2 = 0, 'pro', 'free')) FROM numbers(300000)`)
	if err != nil {
		t.Fatal(err)
	}
	list := segmentsOf(t, newService(conn, func(c *Config) { c.MaxMemory = 64 << 20 }), testSite, "", nil)
	if len(list.Items) != 2 || list.Count != 2 || list.Items[0].Visitors != 150000 {
		t.Errorf("%+v", list)
	}
}

// TestSegmentsNeedNoAdvice checks that a request without parameters gets no advice to change parameters. Fewer days are
// read instead. If a single day is too much, the error is not a 400.
func TestSegmentsNeedNoAdvice(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fill(t, conn, testSite, 200_000) // events of two weeks ago
	late := visit(7, "plan", "pro")
	insert(t, conn, testSite, []insights.Event{late})
	service := newService(conn, func(c *Config) { c.MaxRowsRead = 50_000 })
	body, headers, err := service.VisitorSegments(t.Context(), Caller{}, testSite, schema.PageRequest{}, testNow)
	if err != nil || headers[headerRange] != "2026-03-08T12:30:45.678Z/2026-03-15T12:30:45.678Z" ||
		strings.Count(string(body), `"title"`) != 1 {
		t.Errorf("%s, %v, %v", body, headers, err)
	}
	if err := conn.Exec(t.Context(), "INSERT INTO events (site, time, type, visitor, session, claims) SELECT 'busy', toDateTime64('2026-03-15 12:00:00', 3, 'UTC'), 'page_view', number, number, map('plan', 'pro') FROM numbers(100000)"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := service.VisitorSegments(
		t.Context(), Caller{}, "busy", schema.PageRequest{}, testNow,
	); !schema.IsCode(err, schema.CodeUnavailable) {
		t.Errorf("%v", err)
	}
}

func TestSegmentTitle(t *testing.T) {
	t.Parallel()
	if got := segmentTitle(map[string]string{"long": strings.Repeat("ü", 300)}, true); len([]rune(got)) != maxTitle || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
}
