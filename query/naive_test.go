package query

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// This file answers aggregate requests in memory, event by event, as the documentation defines them. It has a separate
// decoder and no plans. Of the column table, it uses only the words of enumerations.

// naiveValue is a dimension's value for one event.
type naiveValue struct {
	json   any   // the value in the form of an answer
	key    []any // the value's key for ordering and comparing
	absent bool
}

type naiveColumn struct {
	read     func(n *naive, e *insights.Event, extra string) []naiveValue
	excluded bool
	// uncompared is true if no comparison matches an event without a value.
	uncompared bool
	// match turns a filter value into the key that it equals. If match is nil, the value's type determines the key.
	match func(v any) []any
}

// naive evaluates requests. It has the H3 cells, which it cannot compute itself, and the time zone of the request.
type naive struct {
	cells map[[2]float32][16]naiveCell
	zone  *time.Location
	// buckets caches the buckets that were found, because the search is slow.
	buckets map[naiveMoment]time.Time
	// sessions are the sessions of the range.
	sessions map[naiveVisit]*naiveSession
	// week is the first day of weeks: 0 is Monday.
	week int
}

type naiveMoment struct {
	at             int64
	zone, interval string
	week           int
}

type naiveCell struct {
	Index    string
	Lat, Lon float64
}

// notMeasured is the key of an absent number. It is before all numbers.
const notMeasured = int64(-1)

// measuredColumn reads a number. If an event lacks the number, the value is absent, and no comparison matches.
func measuredColumn(get func(*insights.Event) insights.Measured) naiveColumn {
	return naiveColumn{
		uncompared: true,
		match: func(v any) []any {
			if v == nil {
				return []any{notMeasured}
			}
			return naiveFilterKey(naiveColumn{}, v)
		},
		read: func(_ *naive, e *insights.Event, _ string) []naiveValue {
			if n, ok := get(e).Number(); ok {
				return number(int64(n))
			}
			return []naiveValue{{key: []any{notMeasured}, absent: true}}
		},
	}
}

func text(s string) []naiveValue { return []naiveValue{{json: s, key: []any{s}}} }
func number(n int64) []naiveValue {
	return []naiveValue{{json: json.Number(fmt.Sprint(n)), key: []any{n}}}
}
func nullable(s string) []naiveValue { return orAbsent(s, nil) }

func orAbsent(s string, none any) []naiveValue {
	if s == "" {
		return []naiveValue{{json: none, key: []any{""}, absent: true}}
	}
	return text(s)
}

func textColumn(excluded bool, none any, get func(*insights.Event) string) naiveColumn {
	return naiveColumn{excluded: excluded, read: func(_ *naive, e *insights.Event, _ string) []naiveValue { return orAbsent(get(e), none) }}
}

func wordColumn(excluded bool, none any, enum *insights.Enum, get func(*insights.Event) insights.Code) naiveColumn {
	return textColumn(excluded, none, func(e *insights.Event) string { return enum.Word(get(e)) })
}

func timeColumn(get func(time.Time) int) naiveColumn {
	return naiveColumn{read: func(n *naive, e *insights.Event, _ string) []naiveValue { return number(int64(get(n.time(e)))) }}
}

func (n *naive) time(e *insights.Event) time.Time { return time.UnixMilli(e.TimeMillis).In(n.zone) }

// bucket returns the value of a time's bucket.
func (n *naive) bucket(millis int64, interval string) naiveValue {
	at := naiveMoment{millis, n.zone.String(), interval, n.week}
	t, found := n.buckets[at]
	if !found {
		t = naiveBucket(time.UnixMilli(millis).In(n.zone), interval, n.week)
		n.buckets[at] = t
	}
	return naiveValue{json: t.Format("2006-01-02T15:04:05.000Z07:00"), key: []any{t.UnixMilli()}}
}

// naiveBucket returns the first second of the bucket of t. It steps back from t, in decreasing steps, while the clock
// shows the same day or hour.
func naiveBucket(t time.Time, interval string, week int) time.Time {
	same := func(u time.Time) bool { return u.Format("2006-01-02") == t.Format("2006-01-02") }
	switch interval {
	case "":
		return t
	case "minute", "hour":
		_, offset := t.Zone()
		shown := "2006-01-02 15"
		if interval == "minute" {
			shown += ":04"
		}
		same = func(u time.Time) bool {
			_, other := u.Zone()
			return u.Format(shown) == t.Format(shown) && other == offset
		}
	case "week":
		first := func(t time.Time) civil { return modelWeek(civilOf(t), week) }
		same = func(u time.Time) bool { return first(u) == first(t) }
	case "month":
		same = func(u time.Time) bool { return u.Format("2006-01") == t.Format("2006-01") }
	}
	back := func() {
		for _, step := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
			for same(t.Add(-step)) {
				t = t.Add(-step)
			}
		}
	}
	t = t.Truncate(time.Second)
	back()
	// If a clock is set back at 0:01, the previous day ends twice. Clocks in St. John's were set back at 0:01 until
	// 2011.
	const most = 3 * time.Hour
	_, before := t.Add(-most).Zone()
	if _, after := t.Zone(); after < before {
		for step := most; step > 0; step -= time.Second {
			if same(t.Add(-step)) {
				t = t.Add(-step)
				back()
				break
			}
		}
	}
	return t
}

func naiveWeekday(t time.Time) int {
	if d := int(t.Weekday()); d != 0 {
		return d
	}
	return 7
}

func timeKey(v any) []any {
	t, err := time.Parse(time.RFC3339, v.(string))
	if err != nil {
		panic(err)
	}
	return []any{t.UnixMilli()}
}

var naiveColumns = map[string]naiveColumn{
	"datetime": {
		match: timeKey,
		read: func(n *naive, e *insights.Event, interval string) []naiveValue {
			return []naiveValue{n.bucket(e.TimeMillis, interval)}
		},
	},
	"url": textColumn(false, "", func(e *insights.Event) string { return e.URL }),
	"urlPath": {
		match: func(v any) []any {
			if v == "" {
				v = "/"
			}
			return []any{v}
		},
		read: func(_ *naive, e *insights.Event, _ string) []naiveValue {
			_, rest, _ := strings.Cut(e.URL, "://")
			rest = rest[:strings.IndexAny(rest+"?", "?#")]
			if slash := strings.IndexByte(rest, '/'); slash >= 0 {
				return text(rest[slash:]) // the path as it was sent, escaped or not
			}
			return text("/")
		},
	},
	"eventType":      wordColumn(false, "", insights.EventTypes, func(e *insights.Event) insights.Code { return e.Type }),
	"siteSection":    textColumn(false, nil, func(e *insights.Event) string { return e.Section }),
	"siteSpace":      textColumn(false, nil, func(e *insights.Event) string { return e.SiteSpace }),
	"siteShareKey":   textColumn(false, nil, func(e *insights.Event) string { return e.ShareKey }),
	"displayContext": wordColumn(false, "", insights.DisplayContexts, func(e *insights.Event) insights.Code { return e.DisplayContext }),
	"page": {
		match: naivePageKey,
		read:  func(_ *naive, e *insights.Event, _ string) []naiveValue { return naivePage(e) },
	},
	"entryPage":         sessionPageColumn(func(views []*insights.Event) *insights.Event { return views[0] }),
	"exitPage":          sessionPageColumn(func(views []*insights.Event) *insights.Event { return views[len(views)-1] }),
	"visitorGeoCountry": textColumn(false, nil, func(e *insights.Event) string { return e.Country }),
	"visitorGeoPoint":   {read: naivePoint},
	"visitorDevice":     wordColumn(false, "", insights.Devices, func(e *insights.Event) insights.Code { return e.Device }),
	"visitorBrowser":    wordColumn(false, "", insights.Browsers, func(e *insights.Event) insights.Code { return e.Browser }),
	"visitorOS":         wordColumn(false, "", insights.OperatingSystems, func(e *insights.Event) insights.Code { return e.OS }),
	"visitorBot":        wordColumn(false, "", insights.Bots, func(e *insights.Event) insights.Code { return e.Bot }),
	"visitorLanguage":   textColumn(false, nil, func(e *insights.Event) string { return e.Language }),
	"visitorAuthenticated": {read: func(_ *naive, e *insights.Event, _ string) []naiveValue {
		n := int64(0)
		if e.Authenticated {
			n = 1
		}
		return []naiveValue{{json: e.Authenticated, key: []any{n}}}
	}},
	"eventLinkTargetValue": {
		excluded: true,
		match: func(v any) []any {
			var b bytes.Buffer
			e := json.NewEncoder(&b) // sorts members, like the stored form
			e.SetEscapeHTML(false)
			if err := e.Encode(v); err != nil {
				panic(err)
			}
			return []any{strings.TrimSpace(b.String())}
		},
		read: func(_ *naive, e *insights.Event, _ string) []naiveValue {
			if e.LinkTarget == "" {
				return []naiveValue{{key: []any{""}, absent: true}}
			}
			return []naiveValue{{json: decodeAny([]byte(e.LinkTarget)), key: []any{e.LinkTarget}}}
		},
	},
	"eventLinkTargetKind": textColumn(true, nil, func(e *insights.Event) string {
		kind := insights.LinkKinds.Word(e.LinkKind)
		if kind == "openapi" || kind == "tag" {
			return ""
		}
		return kind
	}),
	"eventLinkTargetDomain":     textColumn(false, nil, func(e *insights.Event) string { return e.LinkDomain }),
	"eventLinkPosition":         wordColumn(true, nil, insights.LinkPositions, func(e *insights.Event) insights.Code { return e.LinkPosition }),
	"eventAPIOperationPath":     textColumn(false, nil, func(e *insights.Event) string { return e.OperationPath }),
	"eventAPIOperationMethod":   textColumn(false, nil, func(e *insights.Event) string { return e.OperationMethod }),
	"eventSearchQuery":          textColumn(true, nil, func(e *insights.Event) string { return e.Query }),
	"eventSearchResultRecordId": textColumn(false, nil, func(e *insights.Event) string { return e.ResultRecord }),
	"eventSearchResultPage": {
		match: naivePageKey,
		read: func(_ *naive, e *insights.Event, _ string) []naiveValue {
			return naivePage(&insights.Event{Space: e.ResultSpace, Page: e.ResultPage})
		},
	},
	"eventPageFeedbackRating":  wordColumn(true, nil, insights.FeedbackRatings, func(e *insights.Event) insights.Code { return e.FeedbackRating }),
	"eventPageFeedbackComment": textColumn(true, nil, func(e *insights.Event) string { return e.FeedbackComment }),
	"eventAskResponseRating": {uncompared: true, read: func(_ *naive, e *insights.Event, _ string) []naiveValue {
		v := number(int64(e.AskRating))
		v[0].absent = e.AskRating == 0
		return v
	}},
	"referrer":       textColumn(false, "", func(e *insights.Event) string { return e.Referrer }),
	"referrerDomain": textColumn(false, "", func(e *insights.Event) string { return e.ReferrerDomain }),
	"utmSource":      textColumn(false, "", func(e *insights.Event) string { return e.UTMSource }),
	"utmMedium":      textColumn(false, "", func(e *insights.Event) string { return e.UTMMedium }),
	"utmCampaign":    textColumn(false, "", func(e *insights.Event) string { return e.UTMCampaign }),
	"utmTerm":        textColumn(false, "", func(e *insights.Event) string { return e.UTMTerm }),
	"utmContent":     textColumn(false, "", func(e *insights.Event) string { return e.UTMContent }),
	"channel":        {read: func(_ *naive, e *insights.Event, _ string) []naiveValue { return text(naiveChannel(e)) }},
	"sourceName":     textColumn(false, "", naiveSourceName),
	"firstChannel": {read: func(n *naive, e *insights.Event, _ string) []naiveValue {
		return text(naiveChannel(n.came(e)))
	}},
	"firstSource": {read: func(n *naive, e *insights.Event, _ string) []naiveValue {
		return orAbsent(naiveSourceName(n.came(e)), "")
	}},
	"visitorClaimProperty": {excluded: true, read: func(_ *naive, e *insights.Event, _ string) []naiveValue {
		var list []naiveValue
		for _, c := range e.Claims {
			if c.Name != `\types` {
				list = append(list, text(c.Name)...)
			}
		}
		return list
	}},
	"visitorClaim": {read: func(_ *naive, e *insights.Event, name string) []naiveValue {
		for _, c := range e.Claims {
			if c.Name == name {
				return orAbsent(c.Value, "")
			}
		}
		return orAbsent("", "")
	}},
	"eventAdDomain":           textColumn(true, nil, func(e *insights.Event) string { return e.AdDomain }),
	"eventAdPlacement":        wordColumn(true, nil, insights.AdPlacements, func(e *insights.Event) insights.Code { return e.AdPlacement }),
	"eventTrademarkPlacement": wordColumn(true, nil, insights.TrademarkPlacements, func(e *insights.Event) insights.Code { return e.TrademarkPlacement }),
	"eventLLMSVariant":        wordColumn(false, nil, insights.LLMSVariants, func(e *insights.Event) insights.Code { return e.LLMSVariant }),
	"eventMarkdownSource":     wordColumn(false, nil, insights.MarkdownSources, func(e *insights.Event) insights.Code { return e.MarkdownSource }),
	"eventPageNotFoundType":   {read: func(*naive, *insights.Event, string) []naiveValue { return nullable("") }},
	"searchResults":           measuredColumn(func(e *insights.Event) insights.Measured { return e.Results }),
	"engagedSeconds":          measuredColumn(func(e *insights.Event) insights.Measured { return e.EngagedSeconds }),
	"scrollDepth":             measuredColumn(func(e *insights.Event) insights.Measured { return e.ScrollDepth }),
	"pageTitle":               textColumn(false, nil, func(e *insights.Event) string { return e.Title }),
	"agentClass":              wordColumn(false, nil, insights.AgentClasses, func(e *insights.Event) insights.Code { return e.AgentClass }),
	"agentOperator":           textColumn(false, nil, func(e *insights.Event) string { return e.AgentOperator }),
	"agentVerified":           wordColumn(false, nil, insights.AgentVerifications, func(e *insights.Event) insights.Code { return e.AgentVerified }),
	"contentForm":             wordColumn(false, nil, insights.ContentForms, func(e *insights.Event) insights.Code { return e.ContentForm }),
	"httpStatus":              measuredColumn(func(e *insights.Event) insights.Measured { return e.HTTPStatus }),
	"eventDoor": wordColumn(false, nil, insights.EventDoors, func(e *insights.Event) insights.Code {
		return max(e.Door, code(insights.EventDoors, "api"))
	}),
	"eventKey":  textColumn(false, nil, func(e *insights.Event) string { return e.PublishableKey }),
	"dayOfWeek": timeColumn(naiveWeekday),
	"hourOfDay": timeColumn(time.Time.Hour),
}

func naivePageKey(v any) []any {
	m, ok := v.(map[string]any)
	if !ok {
		return []any{"", ""}
	}
	page, _ := m["page"].(string)
	return []any{m["space"].(string), page}
}

func naivePage(e *insights.Event) []naiveValue {
	v := naiveValue{key: []any{"", ""}, absent: e.Space == ""}
	if e.Space != "" {
		v.key = []any{e.Space, e.Page}
		page := map[string]any{"space": e.Space, "page": nil}
		if e.Page != "" {
			page["page"] = e.Page
		}
		v.json = page
	}
	return []naiveValue{v}
}

func naivePoint(n *naive, e *insights.Event, precision string) []naiveValue {
	if !e.HasPoint {
		return []naiveValue{{key: []any{""}, absent: true}}
	}
	r := 5
	if precision != "" {
		_, _ = fmt.Sscan(precision, &r)
	}
	c := n.cells[[2]float32{e.Latitude, e.Longitude}][r]
	return []naiveValue{{json: map[string]any{"latitude": c.Lat, "longitude": c.Lon, "h3": c.Index}, key: []any{c.Index}}}
}

// naiveGroup is the events of one combination of values.
type naiveGroup struct {
	values           []naiveValue
	events           int64
	last             int64 // in milliseconds
	lastShown        any
	visitors, people map[uint64]bool
	feedback         [3]int64 // ok, good, bad
	ask              [2]int64 // positive, negative
	whole            map[naiveVisit]*naiveSession
	engaged, depth   naiveMean
}

// naiveMean has the sum and the number of the values of a mean.
type naiveMean struct{ sum, number int }

func (m *naiveMean) add(v insights.Measured) {
	if n, ok := v.Number(); ok {
		m.sum, m.number = m.sum+int(n), m.number+1
	}
}

// naiveMetrics has a function for each metric. The function returns the value as JSON, and the value to order by, which
// is NaN for null.
var naiveMetrics = map[string]func(g *naiveGroup) (any, float64){
	"eventsCount":   func(g *naiveGroup) (any, float64) { return count(g.events), float64(g.events) },
	"sessionsCount": func(g *naiveGroup) (any, float64) { return count(int64(len(g.whole))), float64(len(g.whole)) },
	"visitorsCount": func(g *naiveGroup) (any, float64) { return count(int64(len(g.visitors))), float64(len(g.visitors)) },
	"peopleCount":   func(g *naiveGroup) (any, float64) { return count(int64(len(g.people))), float64(len(g.people)) },
	"pageFeedbackRating": func(g *naiveGroup) (any, float64) {
		return map[string]any{"ok": count(g.feedback[0]), "good": count(g.feedback[1]), "bad": count(g.feedback[2])}, float64(g.feedback[1] - g.feedback[2])
	},
	"askResponseRating": func(g *naiveGroup) (any, float64) {
		return map[string]any{"positive": count(g.ask[0]), "negative": count(g.ask[1])}, float64(g.ask[0] - g.ask[1])
	},
	"bounceRate": func(g *naiveGroup) (any, float64) {
		sessions, bounces, _ := g.viewing()
		return mean(bounces, sessions)
	},
	"pagesPerSession": func(g *naiveGroup) (any, float64) {
		sessions, _, views := g.viewing()
		return mean(views, sessions)
	},
	"sessionDuration": (*naiveGroup).duration,
	"engagedTime":     func(g *naiveGroup) (any, float64) { return mean(g.engaged.sum, g.engaged.number) },
	"meanScrollDepth": func(g *naiveGroup) (any, float64) { return mean(g.depth.sum, g.depth.number) },
	naiveLast.column: func(g *naiveGroup) (any, float64) {
		return g.lastShown, float64(g.last)
	},
}

func count(n int64) json.Number { return json.Number(fmt.Sprint(n)) }

func (g *naiveGroup) add(n *naive, e *insights.Event) {
	if g.events == 0 || e.TimeMillis > g.last {
		g.last, g.lastShown = e.TimeMillis, naiveColumns["datetime"].read(n, e, "")[0].json
	}
	g.events++
	switch insights.EventTypes.Word(e.Type) {
	case "page_leave":
		g.engaged.add(e.EngagedSeconds)
		g.depth.add(e.ScrollDepth)
	case "code_copy", "file_download":
	default: // events that belong to sessions
		v := naiveVisit{e.Visitor, e.Session}
		g.whole[v] = n.sessions[v]
	}
	g.visitors[e.Visitor] = true
	switch insights.EventTypes.Word(e.Type) {
	case "page_markdown_request", "agent_feedback", "llms_request", "mcp_request", "rss_request":
	default:
		if context := insights.DisplayContexts.Word(e.DisplayContext); context != "server" && context != "mcp" {
			g.people[e.Visitor] = true
		}
	}
	if insights.EventTypes.Word(e.Type) == "page_post_feedback" {
		switch insights.FeedbackRatings.Word(e.FeedbackRating) {
		case "ok":
			g.feedback[0]++
		case "good":
			g.feedback[1]++
		case "bad":
			g.feedback[2]++
		}
	}
	switch e.AskRating {
	case 1:
		g.ask[0]++
	case -1:
		g.ask[1]++
	}
}

func compareKeys(a, b []any) int {
	return slices.CompareFunc(a, b, func(x, y any) int {
		if s, ok := x.(string); ok {
			return strings.Compare(s, y.(string))
		}
		return cmp.Compare(x.(int64), y.(int64))
	})
}

func decodeAny(b []byte) any {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}
