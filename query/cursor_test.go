package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestCursorsBelongToTheirRequest checks that a cursor of another site or request, or a changed cursor, is refused with
// the status 400. A request with another limit may use the cursor. Presets end at the time of the first page's request.
func TestCursorsBelongToTheirRequest(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	insert(t, conn, "site_2", fixture())
	service := newService(conn)
	testNow := testNow.Add(123 * time.Microsecond) // real clocks also show parts of a millisecond
	ask := func(t *testing.T, site, request, cursor string, now time.Time) (rows, next string, err error) {
		t.Helper()
		body, _, err := service.Aggregate(
			t.Context(), Caller{}, site, []byte(strings.Replace(request, "{", `{"cursor":"`+cursor+`",`, 1)), now,
		)
		if err != nil {
			return "", "", err
		}
		var page struct {
			Next struct{ Cursor string }
		}
		if err := json.Unmarshal(body, &page, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		return rowsText(t, body), page.Next.Cursor, nil
	}
	const request = `{"range":"last7Days","select":[{"column":"datetime"}],"limit":2}`
	first, cursor, err := ask(t, testSite, request, "", testNow)
	if err != nil || cursor == "" || !strings.HasSuffix(first, "next") {
		t.Fatalf("%s, %q, %v", first, cursor, err)
	}
	whole, _, err := ask(t, testSite, strings.Replace(request, `"limit":2`, `"limit":100`, 1), "", testNow)
	if err != nil {
		t.Fatal(err)
	}
	// A day later the first days are outside of the preset's range, but the cursor's range still includes them.
	rest, next, err := ask(t, testSite, strings.Replace(request, `"limit":2`, `"limit":100`, 1), cursor, testNow.Add(24*time.Hour))
	if err != nil || next != "" {
		t.Fatal(next, err)
	}
	joined := strings.Replace(strings.TrimSuffix(first, "\nnext"), "]", ",", 1) + strings.TrimPrefix(rest, "datetime: [")
	if joined != whole {
		t.Errorf("the pages have\n%s\nthe whole answer has\n%s", joined, whole)
	}
	for name, c := range map[string]struct {
		site, request, cursor string
		now                   time.Time
	}{
		"another site":             {"site_2", request, cursor, testNow},
		"another range":            {testSite, strings.Replace(request, "last7Days", "lastYear", 1), cursor, testNow},
		"another column":           {testSite, strings.Replace(request, `"datetime"`, `"url"`, 1), cursor, testNow},
		"another filter":           {testSite, strings.Replace(request, "}", `,"where":[]}`, 1), cursor, testNow},
		"another zone":             {testSite, strings.Replace(request, `"limit"`, `"timezone":"Asia/Tokyo","limit"`, 1), cursor, testNow},
		"a letter less":            {testSite, request, cursor[1:], testNow},
		"before it was handed out": {testSite, request, cursor, testNow.Add(-time.Second)},
		"a list's page":            {testSite, request, schema.PageToken("spaces", "a"), testNow},
		"no keys":                  {testSite, request, schema.PageToken(cursorList + testSite), testNow},
		"too few keys":             {testSite, request, schema.PageToken(cursorList+testSite, "1", "x"), testNow},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ask(t, c.site, c.request, c.cursor, c.now)
			if e, ok := errors.AsType[*schema.Error](err); !ok || e.Code != schema.CodeBadRequest {
				t.Errorf("%v, want a 400", err)
			}
		})
	}
}

// TestPagesCountAlike checks that a page uses the previous page's counting method, even if the number of rows has
// changed. Another counting method could change the order, and so the rows. A request for an exact answer refuses a
// cursor of an estimate.
func TestPagesCountAlike(t *testing.T) {
	t.Parallel()
	const request = `{"range":"lastYear","select":[{"column":"url"},{"column":"visitorsCount"}],"cursor":"CURSOR"ACCURACY}`
	page := func(accuracy, cursor string) (plan, error) {
		body := strings.NewReplacer("CURSOR", cursor, "ACCURACY", accuracy).Replace(request)
		return compile(Site{ID: testSite}, []byte(body), testNow)
	}
	for _, counted := range []insights.Counting{insights.CountExact, insights.CountBounded, insights.CountSketched, insights.CountSketched + 1} {
		for _, accuracy := range []string{"", `,"accuracy":"exact"`} {
			first, err := page(accuracy, "")
			if err != nil {
				t.Fatal(err)
			}
			first.env.Counting = counted
			visitors, url := uint64(7), "https://a.example/"
			second, err := page(accuracy, first.cursor([]any{&visitors, &url}))
			if bad := counted > insights.CountSketched || accuracy != "" && counted != insights.CountExact; bad != (err != nil) {
				t.Errorf("counted in way %d, %q: %v", counted, accuracy, err)
			} else if bad {
				continue
			}
			for _, rows := range []uint64{1, 100_000_000} {
				if got := usualLimits.best(second.scope, dayRows{events: rows, visits: rows}, second.groups, second.estimate()).env.Counting; got != counted {
					t.Errorf("of %d rows, the page after one that was counted in way %d is counted in way %d", rows, counted, got)
				}
			}
		}
	}
}

// TestCursorKeysAreChecked checks that keys of a wrong type are refused before the engine sees them.
func TestCursorKeysAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		target any
		good   string
		bad    []string
	}{
		{new(uint64), "18446744073709551615", []string{"", "-1", "x", "18446744073709551616"}},
		{new(int64), "-3", []string{"", "1.5", "9223372036854775808"}},
		{new(uint8), "255", []string{"256", "-1"}},
		// The engine only knows the years 1900 to 2299.
		{new(time.Time), "-86400000", []string{"", "now", "9223372036854775807", "-9223372036854775808", "-62135596800000"}},
		{new([]any), schema.PageToken(tupleKey, "space\xff", "page"), []string{"", "space", schema.PageToken(tupleKey, "cell"), schema.PageToken(tupleKey, "a", "b", "c"), schema.PageToken("spaces", "a", "b")}},
		{new(string), "", nil},
	} {
		if _, ok := parseKey(c.target, c.good); !ok {
			t.Errorf("%T %q is no key", c.target, c.good)
		}
		for _, bad := range c.bad {
			if k, ok := parseKey(c.target, bad); ok {
				t.Errorf("%T %q is %v", c.target, bad, k.value)
			}
		}
	}
}
