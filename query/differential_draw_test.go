package query

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema/insights"
)

var places = [][2]float32{{52.52, 13.405}, {48.8566, 2.3522}, {-33.8688, 151.2093}, {0, 0}, {89.9, -179.9}, {52.51, 13.41}}

// randomEvents returns n random events. It uses few different values, so that groups have several events and ties are
// common. Each member is drawn separately, so an event may have a page without a space. The intake accepts such events,
// and an older intake accepted other combinations.
func randomEvents(r *rand.Rand, n int) []insights.Event {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	enum := func(e *insights.Enum, least int) insights.Code {
		return insights.Code(least + r.IntN(min(4, len(e.Words())+1-least)))
	}
	measured := func(numbers ...uint32) insights.Measured {
		if at := r.IntN(len(numbers) + 1); at < len(numbers) {
			return insights.MeasuredAs(numbers[at])
		}
		return 0
	}
	list := make([]insights.Event, n)
	for i := range list {
		e := &list[i]
		*e = insights.Event{
			TimeMillis: testNow.UnixMilli() - r.Int64N(int64(21*24*time.Hour/time.Millisecond)),
			Type: code(insights.EventTypes, pick("page_view", "page_view", "search_type_query", "page_post_feedback",
				"link_click", "llms_request", "page_leave", "page_leave", "code_copy", "file_download")), Visitor: 1 + r.Uint64N(9), Session: 1 + r.Uint64N(20),
			URL: pick(
				"https://a.example/",
				"https://a.example",
				"https://a.example/x?q=1#f",
				"https://a.example/x/%20y",
				"https://a.example/b",
				"https://a.example/x#/y?z",
				"https://a.example/ü",
				"https://a.example?q=/x/y",
				"https://a.example:8443",
				"https://a.example#/b",
			),
			Referrer: pick("", "https://r.example/"),
			ReferrerDomain: pick("", "r.example", "a.example", "own.example", "google.co.uk", "mail.google.com",
				"news.google.de", "Bing.com", "notbing.com", "google.evil.example", "t.co", "x.t.co", "gemini.google.com"),
			UTMSource:   pick("", "", "", "s", "S", "LinkedIn", "linkedin", "google.com", "newsletter"),
			UTMMedium:   pick("", "", "m", "M", "cpc", "Email", "paid-social", "organic", "social"),
			UTMCampaign: pick("", "ü"), UTMTerm: pick("", "t"), UTMContent: pick("", "c"),
			DisplayContext: enum(insights.DisplayContexts, 1), Section: pick("", "s1", "s2"), SiteSpace: pick("", "x"), ShareKey: pick("", "k"),
			Space: pick("", "sp1", "sp2"), Page: pick("", "p1", "p2"), Revision: pick("", "r1"), Country: pick("", "DE", "FR", "US"),
			Device: enum(insights.Devices, 1), Browser: enum(insights.Browsers, 1), OS: enum(insights.OperatingSystems, 1), Bot: enum(insights.Bots, 0),
			Language: pick("", "en", "de-DE"), Authenticated: r.IntN(2) == 0,
			OperationPath: pick("", "/p"), OperationMethod: pick("", "get"), Query: pick("", "how?", "it's"), ResultRecord: pick("", "rec"),
			ResultSpace: pick("", "sp1"), ResultPage: pick("", "p1", "p2"),
			FeedbackRating: enum(insights.FeedbackRatings, 0), FeedbackComment: pick("", "ok"), AskRating: int8(r.IntN(3) - 1), AskResponse: pick("", "r"),
			LinkTarget: pick("", `{"kind":"url","url":"https://l.example/?a=1&b=<2>"}`, `{"kind":"page","page":"p1","space":"sp1"}`,
				`{"kind":"tag","tag":"t1"}`, `{"kind":"openapi","spec":"pets"}`),
			LinkKind:     insights.Code(r.IntN(len(insights.LinkKinds.Words()) + 1)),
			LinkPosition: enum(insights.LinkPositions, 0), LinkDomain: pick("", "l.example"), AdDomain: pick("", "ad.example"),
			AdPlacement: enum(insights.AdPlacements, 0), TrademarkPlacement: enum(insights.TrademarkPlacements, 0),
			LLMSVariant: enum(insights.LLMSVariants, 0), MarkdownSource: enum(insights.MarkdownSources, 0),
			Results: measured(0, 1, 20), EngagedSeconds: measured(0, 7, insights.MaxEngagedSeconds),
			ScrollDepth: measured(0, 33, 100),
			Title:       pick("", "Guide", "Überblick"), HTTPStatus: measured(200, 404),
			AgentClass: enum(insights.AgentClasses, 0), AgentOperator: pick("", "OpenAI", "Google"),
			AgentVerified: enum(insights.AgentVerifications, 0), ContentForm: enum(insights.ContentForms, 0),
			Door: enum(insights.EventDoors, 0), PublishableKey: pick("", "k1.1", "k1.2"),
		}
		if r.IntN(8) == 0 { // exactly on the hour, and in the first and last years
			e.TimeMillis = time.Date([]int{1970, 2026, 2105}[r.IntN(3)], 1, 1, r.IntN(24), 0, 0, 0, time.UTC).UnixMilli()
		}
		if i > 0 && r.IntN(8) == 0 { // at the same time as another event
			e.TimeMillis, e.Visitor, e.Session = list[i-1].TimeMillis, list[i-1].Visitor, list[i-1].Session
		}
		if i > 0 && r.IntN(4) == 0 { // a few hours later in the same session
			e.TimeMillis, e.Visitor, e.Session = list[i-1].TimeMillis+r.Int64N(
				int64(14*time.Hour/time.Millisecond),
			), list[i-1].Visitor, list[i-1].Session
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
		// An array matches by its text and by its members. A string that begins with "[" only matches by its text. Only
		// the claim's notes tell the string from an array. Older events have no notes.
		if roles := pick("", `["a","b"]`, `["b",1,true]`, `[]`, `[a`, "a", `["a"]`, `[2]`); roles != "" {
			e.Claims = append(e.Claims, insights.Claim{Name: "roles", Value: roles})
			if notes := pick("", "", `{"roles":"a"}`, `{"roles":"s"}`); notes != "" {
				e.Claims = append(e.Claims, insights.Claim{Name: insights.ClaimTypes, Value: notes})
			}
		}
	}
	return list
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

// zones has zones of all kinds. The offsets of some zones have half or quarter hours. Some zones change their clocks at
// midnight or by half an hour, and another zone skipped a day.
var zones = []string{"", "", "", "UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia", "America/Havana"}

func drawRef(t *rapid.T, label string, names []string) naiveRef {
	r := naiveRef{Column: rapid.SampledFrom(names).Draw(t, label)}
	c, _ := insights.ByName(r.Column)
	switch extraName(c) {
	case "interval":
		r.Interval = rapid.SampledFrom(naiveIntervals).Draw(t, "interval")
	case "precision":
		if p := rapid.IntRange(-1, 15).Draw(t, "precision"); p >= 0 {
			r.Precision = &p
		}
	case "claim":
		r.Claim = rapid.SampledFrom([]string{"plan", "org.id", "none", "roles", "roles"}).Draw(t, "claim")
	}
	return r
}

func drawRequest(t *rapid.T, events []insights.Event, n *naive, now time.Time) naiveRequest {
	var r naiveRequest
	dimensions := slices.DeleteFunc(slices.Clone(naiveNames), func(s string) bool { return naiveMetrics[s] != nil })
	// Time and metrics are drawn more often than other columns.
	popular := append(slices.Clone(naiveNames), "datetime", "datetime", "eventsCount", "visitorsCount", "sessionsCount", "peopleCount", "visitorClaimProperty", "bounceRate", "entryPage")
	for range rapid.IntRange(0, 3).Draw(t, "selects") {
		r.Select = append(r.Select, drawRef(t, "select", popular))
	}
	for range rapid.IntRange(0, 2).Draw(t, "groups") {
		r.GroupBy = append(r.GroupBy, drawRef(t, "group", append(dimensions, "datetime", "datetime")))
	}
	// Metrics of sessions are combined with every dimension.
	if rapid.IntRange(0, 3).Draw(t, "sessions") == 0 {
		r.Select = append(r.Select, drawRef(t, "metric of sessions",
			[]string{"bounceRate", "sessionDuration", "pagesPerSession"}))
		if rapid.Bool().Draw(t, "by a dimension") {
			r.GroupBy = append(r.GroupBy, drawRef(t, "dimension of sessions", dimensions))
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "filters") {
		r.Where = append(r.Where, drawCondition(t, events, n, 2, rapid.Bool().Draw(t, "metrics")))
	}
	bounds := rapid.SampledFrom([][2]time.Time{
		{time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)},
		{daysBefore(7)(testNow), testNow},
		{testNow.Add(-24 * time.Hour), testNow},
		{time.UnixMilli(events[0].TimeMillis), time.UnixMilli(events[0].TimeMillis + 1)},
		{time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)},
		drawCut(t, events), drawCut(t, events),
	}).Draw(t, "range")
	r.Range = naiveRange{From: bounds[0], To: bounds[1]}
	r.Zone, r.Week = rapid.SampledFrom(zones).Draw(t, "zone"), drawWeek(t)
	if rapid.IntRange(0, 4).Draw(t, "worded") == 0 {
		r.Range = drawWords(t, events, now.In(naiveZone(r.Zone)), naiveWeek(r.Week))
	}
	r.Limit = rapid.SampledFrom([]int{0, 1, 2, 7, 1000}).Draw(t, "limit")
	if rapid.IntRange(0, 3).Draw(t, "pages") == 0 {
		r.Cursor = new(string)
	}
	r.Count = rapid.IntRange(0, 3).Draw(t, "count") == 0
	if r.Others = rapid.IntRange(0, 3).Draw(t, "others") == 0; r.Others && rapid.IntRange(0, 7).Draw(t, "alone") > 0 {
		r.Cursor, r.Limit = nil, rapid.SampledFrom([]int{1, 2, 7}).Draw(t, "first")
		r.Where = onMetrics(r.Where, false)
	}
	if rapid.IntRange(0, 5).Draw(t, "compare") == 0 {
		from := daysBefore(rapid.IntRange(1, 20).Draw(t, "compare from"))(testNow)
		lengths := []time.Duration{24 * time.Hour, 7 * 24 * time.Hour, 20*time.Hour + time.Minute}
		r.Compare = &naiveRange{From: from, To: from.Add(rapid.SampledFrom(lengths).Draw(t, "compare length"))}
		interval := rapid.SampledFrom(naiveIntervals[1:]).Draw(t, "compared")
		for i := range slices.Concat(r.Select, r.GroupBy) { // usually a single group of time
			refs, at := r.Select, i
			if at >= len(refs) {
				refs, at = r.GroupBy, at-len(refs)
			}
			if ref := &refs[at]; isTimeRef(*ref) && rapid.IntRange(0, 7).Draw(t, "comparable") > 0 {
				ref.Interval = interval
			}
		}
	}
	if rapid.IntRange(0, 7).Draw(t, "fill") == 0 && (!r.Others || rapid.IntRange(0, 7).Draw(t, "both") == 0) {
		r.Fill = true
		if rapid.IntRange(0, 7).Draw(t, "fillable") > 0 { // usually a single group of time
			r.Select, r.GroupBy = slices.DeleteFunc(r.Select, isTimeRef), slices.DeleteFunc(r.GroupBy, isTimeRef)
			filled := rapid.SampledFrom(naiveIntervals[1:]).Draw(t, "filled")
			r.GroupBy = append(r.GroupBy, naiveRef{Column: "datetime", Interval: filled})
			if r.Range.To.Year() == 2200 { // two centuries of weeks take long, both in the engine and here
				r.Range.From = monthsBefore(12 * 200)(daysBefore(14)(r.Range.To))
				r.Range.To = r.Range.From.Add(20 * 24 * time.Hour)
			}
		}
	}
	if rapid.Bool().Draw(t, "ordered") {
		var candidates []naiveRef
		for _, name := range []string{
			"eventsCount", "visitorsCount", "peopleCount", "pageFeedbackRating", "askResponseRating", "bounceRate",
			"sessionDuration", "engagedTime",
		} {
			candidates = append(candidates, naiveRef{Column: name})
		}
		for _, c := range slices.Concat(inferredKeys(r.GroupBy, r.Select), outputKeys(r)) {
			ref := naiveRef{Column: c.column}
			if c == naiveLast {
				candidates = append(candidates, naiveRef{Column: "datetime"})
				continue
			}
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

// naiveIntervals are the words of intervals; "" means no interval.
var naiveIntervals = []string{"", "minute", "hour", "day", "week", "month"}

func drawWeek(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "", "monday", "sunday", "saturday", "wednesday"}).Draw(t, "week start")
}

// drawWords draws a range of dates in the zone of `now`, or a preset.
func drawWords(t *rapid.T, events []insights.Event, now time.Time, week int) naiveRange {
	if preset := rapid.SampledFrom(append(Presets(), "")).Draw(t, "preset"); preset != "" {
		if rest := now.Nanosecond() % 1_000_000; rest > 0 {
			now = now.Add(time.Duration(1_000_000 - rest))
		}
		return naiveRange{From: modelPreset(preset, now, week), To: now, words: preset}
	}
	at := time.UnixMilli(events[rapid.IntRange(0, len(events)-1).Draw(t, "day")].TimeMillis).In(now.Location())
	first := civilOf(at)
	last := first
	for range rapid.IntRange(0, 9).Draw(t, "days") {
		last = last.next()
	}
	r := naiveRange{From: first.search(at.Location(), 0, 0, 0), To: last.next().search(at.Location(), 0, 0, 0)}
	r.words = map[string]string{"from": first.String(), "to": last.String()}
	return r
}

// drawCut draws a range that begins or ends near an event, or an hour or SessionReach before or after the event. So the
// range may cut a session.
func drawCut(t *rapid.T, events []insights.Event) [2]time.Time {
	at := time.UnixMilli(events[rapid.IntRange(0, len(events)-1).Draw(t, "cut")].TimeMillis)
	border := at.Add(rapid.SampledFrom([]time.Duration{-12 * time.Hour, -time.Hour, 0, time.Hour,
		12 * time.Hour}).Draw(t, "off")).
		Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "ms")) * time.Millisecond)
	length := rapid.SampledFrom([]time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}).
		Draw(t, "length")
	if rapid.Bool().Draw(t, "last") {
		return [2]time.Time{border.Add(-length), border}
	}
	return [2]time.Time{border, border.Add(length)}
}

func isTimeRef(r naiveRef) bool { return r.Column == "datetime" }

// drawCondition draws a filter, or a group of filters. All its filters are on metrics, or all are on other columns.
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

// drawFilter draws a filter with values of the events, so that the filter matches some events.
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
			f.Values = append(f.Values, rapid.SampledFrom([]float64{0, 1, 2, 3, 2.5, 0.5, -1, 40}).Draw(t, "number"))
			continue
		}
		extra := ref.Claim
		if extraName(c) == "precision" {
			extra = fmt.Sprint(rapid.IntRange(0, 15).Draw(t, "cell"))
		}
		e := &events[rapid.IntRange(0, len(events)-1).Draw(t, "event")]
		values := naiveColumns[f.Column].read(n, e, extra)
		isPage := slices.Contains([]string{"page", "entryPage", "exitPage", "eventSearchResultPage"}, f.Column)
		if isPage && rapid.IntRange(0, 3).Draw(t, "no page") == 0 {
			f.Values = append(f.Values, map[string]any{"page": nil})
			continue
		}
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

// drawPart returns a value for an operator on texts, made of a part of the given value.
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
