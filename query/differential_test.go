package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

var places = [][2]float32{{52.52, 13.405}, {48.8566, 2.3522}, {-33.8688, 151.2093}, {0, 0}, {89.9, -179.9}, {52.51, 13.41}}

// naiveCells asks the engine for the cells of the places: the one thing that
// the evaluator does not do itself.
func naiveCells(t *testing.T, conn driver.Conn) *naive {
	t.Helper()
	n := &naive{cells: map[[2]float32][16]naiveCell{}, zone: time.UTC, buckets: map[naiveMoment]time.Time{}}
	for _, p := range places {
		var cells [16]naiveCell
		for r := range cells {
			row := conn.QueryRow(context.Background(), fmt.Sprintf(
				"SELECT h3ToString(geoToH3(toFloat64(%[1]g), toFloat64(%[2]g), %[3]d::UInt8)) AS c, h3ToGeo(stringToH3(c)).1, h3ToGeo(stringToH3(c)).2", float64(p[0]), float64(p[1]), r))
			if err := row.Scan(&cells[r].Index, &cells[r].Lat, &cells[r].Lon); err != nil {
				t.Fatal(err)
			}
		}
		n.cells[p] = cells
	}
	// A known pair, so that latitude and longitude cannot be exchanged unseen.
	var index string
	if err := conn.QueryRow(context.Background(), "SELECT h3ToString(geoToH3(37.7752702151959, -122.418307270836, 9::UInt8))").Scan(&index); err != nil || index != "8928308280fffff" {
		t.Fatalf("cell %q, %v", index, err)
	}
	return n
}

// randomEvents has few values of everything, so that groups have several
// events and ties are common. Each member is drawn by itself: the intake accepts
// a page without a space, and a table may hold what an older intake accepted.
func randomEvents(r *rand.Rand, n int) []insights.Event {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	enum := func(e *insights.Enum, least int) insights.Code {
		return insights.Code(least + r.IntN(min(4, len(e.Words())+1-least)))
	}
	list := make([]insights.Event, n)
	for i := range list {
		e := &list[i]
		*e = insights.Event{
			TimeMillis: testNow.UnixMilli() - r.Int64N(int64(21*24*time.Hour/time.Millisecond)),
			Type:       enum(insights.EventTypes, 1), Visitor: 1 + r.Uint64N(9), Session: 1 + r.Uint64N(20),
			URL: pick("https://a.example/", "https://a.example", "https://a.example/x?q=1#f", "https://a.example/x/%20y", "https://a.example/b",
				"https://a.example/x#/y?z", "https://a.example/ü"),
			Referrer: pick("", "https://r.example/"), ReferrerDomain: pick("", "r.example"),
			UTMSource: pick("", "s"), UTMMedium: pick("", "m", "M"), UTMCampaign: pick("", "ü"), UTMTerm: pick("", "t"), UTMContent: pick("", "c"),
			DisplayContext: enum(insights.DisplayContexts, 1), Section: pick("", "s1", "s2"), SiteSpace: pick("", "x"), ShareKey: pick("", "k"),
			Space: pick("", "sp1", "sp2"), Page: pick("", "p1", "p2"), Revision: pick("", "r1"), Country: pick("", "DE", "FR", "US"),
			Device: enum(insights.Devices, 1), Browser: enum(insights.Browsers, 1), OS: enum(insights.OperatingSystems, 1), Bot: enum(insights.Bots, 0),
			Language: pick("", "en", "de-DE"), Authenticated: r.IntN(2) == 0,
			OperationPath: pick("", "/p"), OperationMethod: pick("", "get"), Query: pick("", "how?", "it's"), ResultRecord: pick("", "rec"),
			FeedbackRating: enum(insights.FeedbackRatings, 0), FeedbackComment: pick("", "ok"), AskRating: int8(r.IntN(3) - 1), AskResponse: pick("", "r"),
			LinkTarget: pick("", `{"kind":"url","url":"https://l.example/?a=1&b=<2>"}`, `{"kind":"page","page":"p1","space":"sp1"}`,
				`{"kind":"tag","tag":"t1"}`, `{"kind":"openapi","spec":"pets"}`),
			LinkKind:     insights.Code(r.IntN(len(insights.LinkKinds.Words()) + 1)),
			LinkPosition: enum(insights.LinkPositions, 0), LinkDomain: pick("", "l.example"), AdDomain: pick("", "ad.example"),
			AdPlacement: enum(insights.AdPlacements, 0), TrademarkPlacement: enum(insights.TrademarkPlacements, 0),
			LLMSVariant: enum(insights.LLMSVariants, 0), MarkdownSource: enum(insights.MarkdownSources, 0),
		}
		if r.IntN(8) == 0 { // exactly on the hour, and in the first and last years
			e.TimeMillis = time.Date([]int{1970, 2026, 2105}[r.IntN(3)], 1, 1, r.IntN(24), 0, 0, 0, time.UTC).UnixMilli()
		}
		if r.IntN(3) > 0 {
			p := places[r.IntN(len(places))]
			e.Latitude, e.Longitude, e.HasPoint = p[0], p[1], true
		}
		for _, name := range []string{"plan", "org.id", "beta"} {
			if r.IntN(3) == 0 {
				e.Claims = append(e.Claims, insights.Claim{Name: name, Value: pick("1", "2")})
			}
		}
		// Of an array, its text and its members match; of "[" in a string, which
		// only the notes tell apart, its text. Older events have no notes.
		if roles := pick("", `["a","b"]`, `["b",1,true]`, `[]`, `[a`, "a", `["a"]`, `[2]`); roles != "" {
			e.Claims = append(e.Claims, insights.Claim{Name: "roles", Value: roles})
			if notes := pick("", "", `{"roles":"a"}`, `{"roles":"s"}`); notes != "" {
				e.Claims = append(e.Claims, insights.Claim{Name: insights.ClaimTypes, Value: notes})
			}
		}
	}
	return list
}

func init() {
	// 31 s of one core, nearly all of it in the engine. rapid alone would draw 100.
	if err := flag.Set("rapid.checks", "2000"); err != nil {
		panic(err)
	}
}

// TestDifferential compares random requests over random events with the naive
// evaluator: the same rows in the same order, or the same refusal. The long form
// is -rapid.checks=100000.
func TestDifferential(t *testing.T) {
	t.Parallel()
	conn := store(t)
	n := naiveCells(t, conn)
	data := map[string][]insights.Event{"none": nil}
	for i, size := range []int{1, 12, 300} {
		site := fmt.Sprint("site", i)
		data[site] = randomEvents(rand.New(rand.NewPCG(7, uint64(i))), size)
		insert(t, conn, site, data[site])
	}
	service := newService(conn, func(c *Config) { c.MaxThreads = 1 }) // starting threads costs more than the rows
	answered, refused, paged := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		site := rapid.SampledFrom([]string{"none", "site0", "site1", "site2", "site2", "site2"}).Draw(t, "site")
		request := drawRequest(t, data["site2"], n)
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		got, headers, err := service.Aggregate(context.Background(), Asker{}, site, body, testNow)
		if want := naiveRefusal(request); want != "" {
			e, ok := errors.AsType[*schema.Error](err)
			if !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, want) {
				t.Fatalf("%s: %v, want a 400 that %s", body, err, want)
			}
			refused++
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if headers[headerResult] != "exact" {
			t.Fatalf("%s: %v", body, headers)
		}
		all := n.answer(data[site], request)
		for page := 0; ; page++ {
			var result struct {
				Columns []struct{ Values json.RawMessage }
				Next    *struct{ Cursor string }
			}
			if err := json.Unmarshal(got, &result); err != nil {
				t.Fatal(err)
			}
			if len(all) != len(result.Columns) {
				t.Fatalf("%s: %d columns, want %d", body, len(result.Columns), len(all))
			}
			limit := cmp.Or(request.Limit, 1000)
			more := len(all[0]) > (page+1)*limit
			for i, c := range result.Columns {
				want := all[i][min(page*limit, len(all[i])):min((page+1)*limit, len(all[i]))]
				if values := decodeAny(c.Values); !same(want, values) {
					t.Fatalf("%s on %s: column %d: got %v, want %v\nall: %s", body, site, i, values, want, got)
				}
			}
			if (headers[headerTruncated] == "true") != more || (result.Next != nil) != (more && request.Cursor != nil) {
				t.Fatalf("%s on %s: page %d has next %v and headers %v, want more: %v", body, site, page, result.Next, headers, more)
			}
			if result.Next == nil || page == 20 {
				break
			}
			request.Cursor = &result.Next.Cursor
			if body, err = json.Marshal(request); err != nil {
				t.Fatal(err)
			}
			if got, headers, err = service.Aggregate(context.Background(), Asker{}, site, body, testNow.Add(time.Duration(page)*time.Hour)); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			paged++
		}
		if len(all[0]) > 0 {
			answered++
		}
	})
	t.Logf("%d answers had rows, %d requests were refused, %d pages were read", answered, refused, paged)
}

// same compares decoded JSON; coordinates have six digits in an answer.
func same(want, got any) bool {
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, same)
	case map[string]any:
		g, ok := got.(map[string]any)
		return ok && maps.EqualFunc(w, g, same)
	case float64:
		g, ok := got.(json.Number)
		f, err := g.Float64()
		return ok && err == nil && math.Abs(f-w) < 1e-6
	}
	return want == got
}

var naiveNames = func() (names []string) {
	for _, c := range insights.Columns() {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	return names
}()

func extraName(c *insights.Column) string {
	if c.Extra == nil {
		return ""
	}
	return c.Extra.Name
}

// zones of all kinds: half and quarter hours, clocks that are set at midnight or by
// half an hour, a day that was left out.
var zones = []string{"", "", "", "UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia", "America/Havana"}

func drawRef(t *rapid.T, label string, names []string) naiveRef {
	r := naiveRef{Column: rapid.SampledFrom(names).Draw(t, label)}
	c, _ := insights.ByName(r.Column)
	switch extraName(c) {
	case "interval":
		r.Interval = rapid.SampledFrom([]string{"", "hour", "day", "week", "month"}).Draw(t, "interval")
	case "precision":
		if p := rapid.IntRange(-1, 15).Draw(t, "precision"); p >= 0 {
			r.Precision = &p
		}
	case "claim":
		r.Claim = rapid.SampledFrom([]string{"plan", "org.id", "none", "roles", "roles"}).Draw(t, "claim")
	}
	return r
}

func drawRequest(t *rapid.T, events []insights.Event, n *naive) naiveRequest {
	var r naiveRequest
	dimensions := slices.DeleteFunc(slices.Clone(naiveNames), func(s string) bool { return naiveMetrics[s] != nil })
	// Time and metrics more often than their share.
	popular := append(slices.Clone(naiveNames), "datetime", "datetime", "eventsCount", "visitorsCount", "sessionsCount", "visitorClaimProperty")
	for range rapid.IntRange(0, 3).Draw(t, "selects") {
		r.Select = append(r.Select, drawRef(t, "select", popular))
	}
	for range rapid.IntRange(0, 2).Draw(t, "groups") {
		r.GroupBy = append(r.GroupBy, drawRef(t, "group", append(dimensions, "datetime", "datetime")))
	}
	for range rapid.IntRange(0, 2).Draw(t, "filters") {
		r.Where = append(r.Where, drawCondition(t, events, n, 2, rapid.Bool().Draw(t, "metrics")))
	}
	bounds := rapid.SampledFrom([][2]time.Time{
		{time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)},
		{testNow.AddDate(0, 0, -7), testNow},
		{testNow.Add(-24 * time.Hour), testNow},
		{time.UnixMilli(events[0].TimeMillis), time.UnixMilli(events[0].TimeMillis + 1)},
		{time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)},
	}).Draw(t, "range")
	r.Range = naiveRange{bounds[0], bounds[1]}
	r.Zone = rapid.SampledFrom(zones).Draw(t, "zone")
	r.Limit = rapid.SampledFrom([]int{0, 1, 2, 7, 1000}).Draw(t, "limit")
	if rapid.IntRange(0, 3).Draw(t, "pages") == 0 {
		r.Cursor = new(string)
	}
	if rapid.Bool().Draw(t, "ordered") {
		candidates := []naiveRef{{Column: "eventsCount"}, {Column: "visitorsCount"}, {Column: "pageFeedbackRating"}, {Column: "askResponseRating"}}
		for _, c := range slices.Concat(inferredKeys(r.GroupBy, r.Select), inferredKeys(r.Select, r.GroupBy)) {
			ref := naiveRef{Column: c.column}
			column, _ := insights.ByName(c.column)
			switch extraName(column) {
			case "interval":
				ref.Interval = c.extra
			case "precision":
				p := 0
				_, _ = fmt.Sscan(c.extra, &p)
				ref.Precision = &p
			case "claim":
				ref.Claim = c.extra
			}
			if ref.Column != "datetime" || ref.Interval != "" {
				candidates = append(candidates, ref, ref)
			}
		}
		r.Order = &naiveOrder{rapid.SampledFrom(candidates).Draw(t, "by"), rapid.SampledFrom([]string{"asc", "desc"}).Draw(t, "direction")}
	}
	return r
}

// drawCondition draws a filter, or a group of filters: on metrics, or on other
// columns.
func drawCondition(t *rapid.T, events []insights.Event, n *naive, depth int, metrics bool) naiveFilter {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "group") > 0 {
		return drawFilter(t, events, n, metrics)
	}
	list := []naiveFilter{}
	for range rapid.IntRange(0, 3).Draw(t, "conditions") {
		list = append(list, drawCondition(t, events, n, depth-1, metrics))
	}
	if rapid.Bool().Draw(t, "or") {
		return naiveFilter{Or: list}
	}
	return naiveFilter{And: list}
}

// textColumns can be filtered by a part of their text.
var textColumns = slices.DeleteFunc(slices.Clone(naiveNames), func(s string) bool {
	c, _ := insights.ByName(s)
	return !slices.ContainsFunc(c.Operators, func(o *insights.Operator) bool { return o.Word == "contains" })
})

// drawFilter takes values from the events themselves, so that they match.
func drawFilter(t *rapid.T, events []insights.Event, n *naive, metrics bool) naiveFilter {
	filterable := slices.DeleteFunc(slices.Clone(naiveNames), func(s string) bool {
		c, _ := insights.ByName(s)
		return !c.Has(insights.Filter) || metrics != (naiveMetrics[s] != nil)
	})
	if !metrics {
		filterable = append(filterable, textColumns...)
	}
	ref := drawRef(t, "filter", filterable)
	c, _ := insights.ByName(ref.Column)
	f := naiveFilter{Column: ref.Column, Claim: ref.Claim, Values: []any{}}
	operator := rapid.SampledFrom(c.Operators).Draw(t, "operator")
	if f.Operator = operator.Word; f.Operator == "in" && rapid.Bool().Draw(t, "implicit") {
		f.Operator = ""
	}
	size := rapid.IntRange(0, 4).Draw(t, "values")
	if operator.Arity == 1 {
		size = 1
	}
	for range size {
		if naiveMetrics[f.Column] != nil {
			f.Values = append(f.Values, rapid.SampledFrom([]float64{0, 1, 2, 3, 2.5, -1, 40}).Draw(t, "number"))
			continue
		}
		extra := ref.Claim
		if extraName(c) == "precision" {
			extra = fmt.Sprint(rapid.IntRange(0, 15).Draw(t, "cell"))
		}
		e := &events[rapid.IntRange(0, len(events)-1).Draw(t, "event")]
		values := naiveColumns[f.Column].read(n, e, extra)
		if f.Claim == "roles" && rapid.Bool().Draw(t, "member") {
			values = text(rapid.SampledFrom([]string{"a", "b", "1", "true", "2"}).Draw(t, "role"))
		}
		if len(values) > 0 { // an event may have no claims
			f.Values = append(f.Values, drawPart(t, f.Operator, values[0].json))
		}
	}
	if operator.Arity == 1 && len(f.Values) == 0 {
		f.Operator = "in"
	}
	return f
}

// drawPart makes of a text what an operator on texts may find in it.
func drawPart(t *rapid.T, operator string, value any) any {
	text, ok := value.(string)
	if !ok || naiveTextTests[operator] == nil {
		return value
	}
	letters := []rune(text)
	from, to := 0, rapid.IntRange(0, len(letters)).Draw(t, "to")
	if operator != "startsWith" {
		from = rapid.IntRange(0, to).Draw(t, "from")
	}
	part := string(letters[from:to])
	if operator == "matches" {
		part = rapid.SampledFrom([]string{"%s", "^%s", "%s$", "(?i)%s", "%s.+", "[a-f]%s|x$", "(%s){2}", `%s\W`, "^%s$"}).Draw(t, "pattern")
		part = strings.Replace(part, "%s", regexp.QuoteMeta(string(letters[from:to])), 1)
	}
	return part
}
