package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// savedSegments are the segments of a service, by id. A segment of one user is not visible to another user.
type savedSegments map[string]struct{ user, where string }

func (list savedSegments) config(c *Config) {
	c.Segment = func(_ context.Context, _, user, id string) ([]byte, error) {
		s, ok := list[id]
		if !ok || s.user != "" && s.user != user {
			return nil, schema.NotFound("saved segment")
		}
		return []byte(s.where), nil
	}
}

const (
	fromGermany = `[{"column":"visitorGeoCountry","values":["DE"]}]`
	fromFrance  = `[{"column":"visitorGeoCountry","values":["FR"]}]`
)

// testSegments has a segment of each kind: public, personal, with alternatives, and broken.
var testSegments = savedSegments{
	"de": {"", fromGermany}, "fr": {"", fromFrance}, "mine": {"u1", fromGermany},
	"phones": {"", `[{"or":[{"column":"visitorDevice","values":["mobile"]},
		{"column":"visitorDevice","values":["tablet"]}]}]`},
	"broken": {"", `[{"column":"gone","values":["x"]}]`},
}

func jsonOf(t interface{ Fatal(...any) }, value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// withoutNext returns an answer without its cursor, and the cursor.
func withoutNext(t interface{ Fatal(...any) }, answer []byte) (rest, cursor string) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(answer, &members); err != nil {
		t.Fatal(err)
	}
	var next struct{ Cursor string }
	if raw, ok := members["next"]; ok {
		if err := json.Unmarshal(raw, &next); err != nil {
			t.Fatal(err)
		}
	}
	delete(members, "next")
	return string(jsonOf(t, members)), next.Cursor
}

// TestReachCannotBeWidened sends random requests within random views. A caller without a view adds the view's filters
// to the request and cuts its range. Both callers get the same answer.
func TestReachCannotBeWidened(t *testing.T) {
	t.Parallel()
	conn := store(t)
	n := naiveCells(t, conn)
	events := randomEvents(rand.New(rand.NewPCG(7, 2)), 300)
	for _, some := range arrivals(events) {
		insertAt(t, conn, some.month, testSite, some.events)
	}
	segments := savedSegments{}
	oneThread := func(c *Config) {
		c.MaxThreads, c.Site = 1, ownSite
		segments.config(c)
	}
	raw, visits := newService(conn, oneThread), newService(conn, oneThread)
	visits.sources.limits = sourceLimits{many: math.MaxUint64}
	kept := newService(conn, oneThread, keeping) // views must not share answers
	states := keepingMonths(conn)
	oneThread(&states.config)
	counts, drawn := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		drawn++
		now := testNow.Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, "nanoseconds")))
		service := rapid.SampledFrom([]*Service{raw, visits, kept, kept, states}).Draw(t, "service")
		of, request := drawAsked(t, events, n, now)
		view, where, windows := drawView(t, events, n, now, segments)
		body := jsonOf(t, request)
		who := Caller{View: &view}
		got, headers, gotErr := service.Answer(context.Background(), who, of, testSite, body, now)

		plain, err := compilers[of](reach{site: Site{ID: testSite}}, body, now)
		// The request may be invalid with any view. If it is valid with this view, its range was too long, and the view
		// has cut the range.
		if err != nil {
			if cut := headers[headerRange]; gotErr == nil && cut != "" {
				from, to, _ := strings.Cut(cut, "/")
				request["range"] = map[string]string{"from": from, "to": to}
				plain, err = compilers[of](reach{site: Site{ID: testSite}}, jsonOf(t, request), now)
			}
			if gotErr != nil {
				counts["wrong"]++
				return
			}
			if err != nil {
				t.Fatalf("%s: %s, want %v", body, got, err)
			}
		}
		from, to, compared := timesOf(plain)
		cut, shown := longestCut([2]time.Time{from, to}, windows)
		if !shown {
			if !isForbidden(gotErr) {
				t.Fatalf("%s in %v: %s %v, want 403", body, windows, got, gotErr)
			}
			counts["outside"]++
			return
		}
		if cut != [2]time.Time{from, to} {
			request["range"] = naiveRange{From: cut[0], To: cut[1]}
			counts["cut"]++
			want := schema.FormatMoment(cut[0]) + "/" + schema.FormatMoment(cut[1])
			if gotErr == nil && headers[headerRange] != want {
				t.Fatalf("%s: %s is %q, want %q", body, headerRange, headers[headerRange], want)
			}
			// The range of previousPeriod depends on the cut range.
			if plain, err = compilers[of](reach{site: Site{ID: testSite}}, jsonOf(t, request), now); err == nil {
				_, _, compared = timesOf(plain)
			}
		}
		old, _ := request["where"].([]any)
		request["where"] = append(slices.Clone(old), where...)
		want, _, wantErr := raw.Answer(context.Background(), Caller{}, of, testSite, jsonOf(t, request), now)
		if compared != nil && wantErr == nil && !insideOne(*compared, windows) {
			if !isForbidden(gotErr) {
				t.Fatalf("%s in %v: %s %v, want 403 for the comparison", body, windows, got, gotErr)
			}
			counts["compared outside"]++
			return
		}
		for page := range 3 {
			if wantErr != nil || gotErr != nil {
				if fmt.Sprint(wantErr) != fmt.Sprint(gotErr) && !isForbidden(gotErr) {
					t.Fatalf("%s with %+v: %v, want %v", body, view, gotErr, wantErr)
				}
				counts["refused"]++
				return
			}
			gotRest, gotCursor := withoutNext(t, got)
			wantRest, wantCursor := withoutNext(t, want)
			if gotRest != wantRest || (gotCursor == "") != (wantCursor == "") {
				t.Fatalf("page %d of %s with %s %v %s:\n%s, want\n%s",
					page, body, view.Where, view.Segments, view.Ranges, got, want)
			}
			counts["answered"]++
			if gotCursor == "" {
				return
			}
			asked := map[string]any{}
			if err := json.Unmarshal(body, &asked); err != nil {
				t.Fatal(err)
			}
			asked["cursor"], request["cursor"] = gotCursor, wantCursor
			got, _, gotErr = service.Answer(context.Background(), who, of, testSite, jsonOf(t, asked), now)
			want, _, wantErr = raw.Answer(context.Background(), Caller{}, of, testSite, jsonOf(t, request), now)
			counts["pages"]++
		}
	})
	t.Log(counts)
	for _, kind := range []string{"wrong", "outside", "cut", "compared outside", "answered", "pages"} {
		if counts[kind] == 0 && !t.Failed() && drawn >= 400 { // 3 % of the requests are of a rare kind
			t.Errorf("no request of the kind %q was drawn", kind)
		}
	}
}

func isForbidden(err error) bool { return schema.IsCode(err, schema.CodeForbidden) }

// drawAsked draws a request of any report, as its members.
func drawAsked(t *rapid.T, events []insights.Event, n *naive, now time.Time) (Report, map[string]any) {
	of := Aggregate
	var asked any
	if rapid.IntRange(0, 3).Draw(t, "report") > 0 {
		r := drawRequest(t, events, n, now)
		if r.Compare != nil && rapid.Bool().Draw(t, "named") {
			r.Compare.words = rapid.SampledFrom(Comparisons()).Draw(t, "comparison")
		}
		asked = r
	} else {
		in, zone, where := drawReport(t, events, n)
		switch of = rapid.SampledFrom(reportKinds).Draw(t, "kind"); of {
		case Funnel:
			steps := []naiveStep{drawStep(t, events, n), drawStep(t, events, n)}
			asked = naiveFunnel{Range: in, Zone: zone, Where: where, Steps: steps}
		case Retention:
			interval := rapid.SampledFrom(naiveIntervals).Draw(t, "interval")
			asked = naiveRetention{Range: in, Zone: zone, Where: where, Interval: interval}
		default:
			asked = drawTransitions(t, in, zone, where)
		}
	}
	members := map[string]any{}
	if err := json.Unmarshal(jsonOf(t, asked), &members); err != nil {
		t.Fatal(err)
	}
	if of == Aggregate && rapid.Bool().Draw(t, "short pages") {
		members["limit"] = 1
	}
	return of, members
}

// drawView draws a view. It returns the view, its conditions in the form of a request, and its ranges as times.
func drawView(
	t *rapid.T, events []insights.Event, n *naive, now time.Time, segments savedSegments,
) (v schema.InsightsView, where []any, windows [][2]time.Time) {
	conditions := func() (list []any) {
		for range rapid.IntRange(0, 2).Draw(t, "view's filters") {
			c := drawCondition(t, events, n, 1, false)
			if naiveFilterRefusal("", []naiveFilter{c}) == "" {
				list = append(list, c)
			}
		}
		return list
	}
	if own := conditions(); own != nil {
		v.Where, where = jsonOf(t, own), own
	}
	if saved := conditions(); saved != nil {
		id := strconv.Itoa(len(segments))
		segments[id] = struct{ user, where string }{"", string(jsonOf(t, saved))}
		v.Segments, where = []string{id}, append(where, saved...)
	}
	v.Timezone = rapid.SampledFrom([]string{"", "Europe/Berlin", "Asia/Kathmandu"}).Draw(t, "view's zone")
	zone := naiveZone(cmp.Or(v.Timezone, "UTC"))
	var ranges []any
	for range rapid.IntRange(0, 2).Draw(t, "view's ranges") {
		var r naiveRange
		if rapid.Bool().Draw(t, "view's words") {
			r = drawWords(t, events, now.In(zone), 0)
			if preset, ok := r.words.(string); ok { // the model of presets works in whole seconds
				r.From, r.To, _ = resolveRange(rangeRequest{preset: preset}, ceil(now).In(zone), 0)
			}
		} else {
			bounds := drawCut(t, events)
			r = naiveRange{From: bounds[0], To: bounds[1]}
		}
		ranges, windows = append(ranges, r), append(windows, [2]time.Time{r.From, r.To})
	}
	if ranges != nil {
		v.Ranges = jsonOf(t, ranges)
	}
	return v, where, windows
}

// timesOf returns the range of a report, and the range of its comparison.
func timesOf(r report) (from, to time.Time, compared *[2]time.Time) {
	switch r := r.(type) {
	case plan:
		if r.compare != nil {
			compared = &[2]time.Time{r.compare.from, r.compare.to}
		}
		return r.from, r.to, compared
	case funnel:
		return r.from, r.to, nil
	case retention:
		return r.from, r.to, nil
	case transitions:
		return r.from, r.to, nil
	}
	panic(fmt.Sprintf("%T", r))
}

// longestCut cuts a range to the window that contains most of it.
func longestCut(in [2]time.Time, windows [][2]time.Time) (best [2]time.Time, any bool) {
	if windows == nil {
		return in, true
	}
	for _, w := range windows {
		cut := in
		if w[0].After(cut[0]) {
			cut[0] = w[0]
		}
		if w[1].Before(cut[1]) {
			cut[1] = w[1]
		}
		if cut[0].Before(cut[1]) && (!any || cut[1].Sub(cut[0]) > best[1].Sub(best[0])) {
			best, any = cut, true
		}
	}
	if best[0].Equal(in[0]) && best[1].Equal(in[1]) {
		return in, any
	}
	return best, any
}

func insideOne(r [2]time.Time, windows [][2]time.Time) bool {
	return windows == nil || slices.ContainsFunc(windows, func(w [2]time.Time) bool {
		return !r[0].Before(w[0]) && !r[1].After(w[1])
	})
}

// TestReachOfAttacks sends requests that try to leave a view. The view shows Germany's events of the last seven days.
func TestReachOfAttacks(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn, testSegments.config)
	view := &schema.InsightsView{Where: []byte(fromGermany), Ranges: []byte(`["last7Days"]`)}
	count := func(headersOf Caller, body string) (string, error) {
		answer, _, err := service.Aggregate(t.Context(), headersOf, testSite, []byte(body), testNow)
		return string(answer), err
	}
	const two = `{"columns":[{"column":"eventsCount","values":[2]}]}`
	const events = `"select":[{"column":"eventsCount"}]`
	all, err := count(Caller{}, `{"range":{"from":"0001-01-01T00:00:00Z","to":"9999-12-31T00:00:00Z"},`+events+`}`)
	if err != nil || !strings.Contains(all, `[10]`) {
		t.Fatalf("%s %v", all, err)
	}
	long := `"range":{"from":"0001-01-01T00:00:00Z","to":"9999-12-31T00:00:00Z"},`
	old := strconv.FormatInt(testNow.Add(-90*24*time.Hour).UnixMilli(), 10)
	oldCursor := schema.PageToken(cursorList+testSite, old, "x", "0")
	for name, body := range map[string]string{
		"all years":      `{` + long + events + `}`,
		"an empty where": `{"where":[],` + long + events + `}`,
		"a null where":   `{"where":null,"segments":null,` + long + events + `}`,
		"two wheres":     `{"where":[],` + long + `"where":[],"segments":[],"segments":[],` + events + `}`,
		"escaped names":  `{"\u0077here":[],"\u0073egments":[],` + long + events + `}`,
		"any": `{"where":[{"or":[{"column":"visitorGeoCountry","operator":"notIn","values":["DE"]},
			{"column":"visitorGeoCountry","values":["DE"]}]}],` + long + events + `}`,
		"or nothing":          `{"where":[{"and":[]}],` + long + events + `}`,
		"two ranges":          `{"range":"last24Hours",` + long + events + `}`,
		"a later zone":        `{"timezone":"Pacific/Kiritimati",` + long + events + `}`,
		"an empty cursor":     `{"cursor":"",` + long + events + `}`,
		"the same segment":    `{"segments":["de"],` + long + events + `}`,
		"exact":               `{"accuracy":"exact",` + long + events + `}`,
		"a month of the year": `{"range":"lastYear",` + events + `}`,
	} {
		got, err := count(Caller{View: view}, body)
		if rest, _ := withoutNext(t, []byte(cmp.Or(got, "{}"))); err != nil || rest != two && got != two {
			t.Errorf("%s: %s %v, want %s", name, got, err, two)
		}
	}
	for name, body := range map[string]string{
		"an earlier cursor":        `{"range":"last7Days","cursor":"` + oldCursor + `",` + events + `}`,
		"times outside":            `{"range":{"from":"2025-01-01","to":"2025-12-31"},` + events + `}`,
		"a comparison outside":     `{"range":"last7Days","compare":"previousPeriod",` + events + `}`,
		"a comparison with a year": `{"range":"last24Hours","compare":"previousYear",` + events + `}`,
		"a comparison with times": `{"range":"last24Hours",
			"compare":{"from":"2025-12-01","to":"2025-12-31"},` + events + `}`,
	} {
		if got, err := count(Caller{View: view}, body); !isForbidden(err) {
			t.Errorf("%s: %s %v, want 403", name, got, err)
		}
	}
	for name, body := range map[string]string{
		"another's segment": `{"range":"last7Days","segments":["mine"],` + events + `}`,
	} {
		if got, err := count(Caller{View: view}, body); !schema.IsCode(err, schema.CodeBadRequest) {
			t.Errorf("%s: %s %v, want 400", name, got, err)
		}
	}
	inside := `{"range":"last24Hours","compare":{"from":"2026-03-09","to":"2026-03-10"},` + events + `}`
	if got, err := count(Caller{View: view}, inside); err != nil {
		t.Errorf("a comparison inside: %s %v", got, err)
	}
}

// TestReachOfOldCursor checks the presets of a view for a request with a cursor. If the cursor is not older than
// pageTime, they end at the cursor's time. Otherwise they end at the present.
func TestReachOfOldCursor(t *testing.T) {
	t.Parallel()
	r := reach{ranges: []rangeRequest{{preset: "last24Hours"}}, zone: time.UTC, now: testNow}
	for age, want := range map[time.Duration]time.Duration{
		0: 0, time.Minute: time.Minute, pageTime: pageTime, pageTime + time.Millisecond: 0, 24 * time.Hour: 0,
	} {
		const year = 365 * 24 * time.Hour
		in, err := r.limit(period{from: testNow.Add(-year), to: testNow.Add(year)}, testNow.Add(-age))
		if err != nil || !in.from.Equal(testNow.Add(-24*time.Hour-want)) || !in.to.Equal(testNow.Add(-want)) {
			t.Errorf("at the age %v: %v to %v, %v", age, in.from, in.to, err)
		}
	}
}

// TestSegmentsOfRequests checks which saved segments a request may name, and its errors.
func TestSegmentsOfRequests(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn, testSegments.config, keeping)
	answer := func(user, more string) (string, error) {
		body := `{"range":"last30Days","select":[{"column":"eventsCount"}]` + more + `}`
		got, _, err := service.Aggregate(t.Context(), Caller{User: user}, testSite, []byte(body), testNow)
		return string(got), err
	}
	for _, c := range []struct{ name, user, segments, where string }{
		{"none", "", `[]`, `[]`},
		{"one", "", `["de"]`, fromGermany},
		{"a group", "", `["phones"]`, testSegments["phones"].where},
		{"a personal segment", "u1", `["mine"]`, fromGermany},
		{"two", "", `["fr","phones"]`, `[` + strings.Trim(fromFrance, "[]") + `},` + "XX"},
		{"twice", "", `["de","de"]`, fromGermany},
	} {
		if strings.HasSuffix(c.where, "XX") {
			c.where = strings.TrimSuffix(fromFrance, "]") + "," + strings.TrimPrefix(testSegments["phones"].where, "[")
		}
		got, err1 := answer(c.user, `,"segments":`+c.segments)
		want, err2 := answer(c.user, `,"where":`+c.where)
		if err1 != nil || err2 != nil || got != want {
			t.Errorf("%s: %s %v, want %s %v", c.name, got, err1, want, err2)
		}
	}
	joined, err := answer("", `,"where":[{"column":"visitorDevice","values":["desktop"]}],"segments":["fr"]`)
	both, err2 := answer("", `,"where":[{"column":"visitorDevice","values":["desktop"]},`+fromFrance[1:])
	if err != nil || err2 != nil || joined != both {
		t.Errorf("segments and where: %s %v, want %s %v", joined, err, both, err2)
	}
	many := `[` + strings.TrimSuffix(strings.Repeat(`"de",`, MaxSegments+1), ",") + `]`
	one := fromFrance[1 : len(fromFrance)-1]
	filters := `,"where":[` + strings.TrimSuffix(strings.Repeat(one+",", maxFilters), ",") + `]`
	for _, c := range []struct{ name, user, more, field string }{
		{"unknown", "", `,"segments":["de","none"]`, "segments[1]"},
		{"another's", "u2", `,"segments":["mine"]`, "segments[0]"},
		{"nobody's", "", `,"segments":["mine"]`, "segments[0]"},
		{"of an older version", "", `,"segments":["broken"]`, "segments[0].where[0].column"},
		{"no list", "", `,"segments":"de"`, "segments"},
		{"no text", "", `,"segments":[1]`, "segments[0]"},
		{"too many", "", `,"segments":` + many, "segments"},
		{"too many conditions", "", `,"segments":["de"]` + filters, "segments[0].where[0]"},
	} {
		_, err := answer(c.user, c.more)
		e, _ := errors.AsType[*schema.Error](err)
		if e == nil || e.Code != schema.CodeBadRequest || len(e.Details) == 0 || e.Details[0].Field != c.field {
			t.Errorf("%s: %+v, want a 400 that names %s", c.name, e, c.field)
		}
	}
}

// TestReachOfOtherAnswers checks that batches, live answers and visitors' segments also stay within a view, and share
// no answers with other views.
func TestReachOfOtherAnswers(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn, testSegments.config, keeping)
	whole, germany := Caller{}, Caller{View: &schema.InsightsView{Where: []byte(fromGermany)}}
	france := Caller{View: &schema.InsightsView{Segments: []string{"fr"}, Ranges: []byte(`["last24Hours"]`)}}
	old := Caller{View: &schema.InsightsView{Ranges: []byte(`[{"from":"2025-01-01","to":"2025-01-31"}]`)}}
	batch := func(who Caller) string {
		body := `{"queries":{"a":{"range":"last7Days","select":[{"column":"eventsCount"}]}}}`
		got, _, err := service.Batch(t.Context(), who, testSite, []byte(body), testNow)
		return fmt.Sprint(string(got), err)
	}
	live := func(who Caller, segments ...string) string {
		got, _, err := service.Live(t.Context(), who, testSite, segments, testNow)
		return fmt.Sprint(string(got), err)
	}
	visitors := func(who Caller) string {
		got, _, err := service.VisitorSegments(t.Context(), who, testSite, schema.PageRequest{}, testNow)
		return fmt.Sprint(string(got), err)
	}
	for range 2 { // the second answers come from caches
		for _, c := range []struct{ name, got, want string }{
			{"batch, whole", batch(whole), `"values":[6]`},
			{"batch, Germany", batch(germany), `"values":[2]`},
			{"batch, France", batch(france), `"values":[1]`},
			{"batch, old", batch(old), `"status":403`},
			{"live, whole", live(whole), `"active":{"columns":[{"column":"peopleCount","values":[1]}]}`},
			{"live, whole, Germany", live(whole, "de"), `"active":{"columns":[{"column":"peopleCount","values":[1]}]}`},
			{"live, whole, France", live(whole, "fr"), `"active":{"columns":[{"column":"peopleCount","values":[0]}]}`},
			{"live, France", live(france), `"active":{"columns":[{"column":"peopleCount","values":[0]}]}`},
			{"live, old", live(old), `do not show`},
			{"live, unknown", live(whole, "none"), `segments[0]`},
			{"live, many", live(whole, make([]string, MaxSegments+1)...), `at most 10 entries`},
			{"segments, whole", visitors(whole), `"plan":"free"`},
			{"segments, Germany", visitors(germany), `"events":2`},
			{"segments, France", visitors(france), `"title":"Anonymous"`},
			{"segments, old", visitors(old), `do not show`},
		} {
			if !strings.Contains(strings.ReplaceAll(c.got, "does not show", "do not show"), c.want) {
				t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
			}
		}
	}
	for _, who := range []Caller{germany, france} {
		if got := visitors(who); strings.Contains(got, "free") {
			t.Errorf("segments of another country: %s", got)
		}
	}
}

// TestBrokenViewsShowNothing checks that a view with broken parts refuses every query.
func TestBrokenViewsShowNothing(t *testing.T) {
	t.Parallel()
	service := newService(nil, testSegments.config)
	for name, view := range map[string]schema.InsightsView{
		"a deleted segment":  {Segments: []string{"none"}},
		"a personal segment": {Segments: []string{"mine"}},
		"a broken segment":   {Segments: []string{"broken"}},
		"an unknown column":  {Where: []byte(testSegments["broken"].where)},
		"a metric":           {Where: []byte(`[{"column":"eventsCount","operator":"greaterThan","values":[1]}]`)},
		"no JSON":            {Where: []byte(`[`)},
		"an unknown preset":  {Ranges: []byte(`["lastCentury"]`)},
		"an unknown zone":    {Ranges: []byte(`["last7Days"]`), Timezone: "Mars/Olympus"},
	} {
		who := Caller{View: &view}
		_, _, err1 := service.Aggregate(t.Context(), who, testSite, []byte(`{"range":"last7Days"}`), testNow)
		body := []byte(`{"queries":{"a":{"range":"last7Days"}}}`)
		_, _, err2 := service.Batch(t.Context(), who, testSite, body, testNow)
		_, _, err3 := service.Live(t.Context(), who, testSite, nil, testNow)
		_, _, err4 := service.VisitorSegments(t.Context(), who, testSite, schema.PageRequest{}, testNow)
		for i, err := range []error{err1, err2, err3, err4} {
			if !isForbidden(err) {
				t.Errorf("%s, call %d: %v, want 403", name, i+1, err)
			}
		}
	}
}

// TestCheckViews checks that the errors of saved conditions and ranges name the invalid member.
func TestCheckViews(t *testing.T) {
	t.Parallel()
	for where, field := range map[string]string{
		``: "", `[]`: "", fromGermany: "", testSegments["phones"].where: "",
		`{}`: "where", `[1]`: "where[0]", `[{}]`: "where[0].values",
		`[{"column":"visitorGeoCountry"}]`:                                        "where[0].values",
		`[{"or":[{"column":"none","values":["x"]}]}]`:                             "where[0].or[0].column",
		`[{"column":"eventsCount","operator":"greaterThan","values":[1]}]`:        "where[0].column",
		`[{"column":"visitorDevice","values":["mobile"]},{"column":"url","x":1}]`: "where[1].x",
	} {
		if got := fieldOf(CheckWhere([]byte(where))); got != field {
			t.Errorf("%s: the error names %q, want %q", where, got, field)
		}
	}
	many := `[` + strings.TrimSuffix(strings.Repeat(`"last7Days",`, MaxViewRanges+1), ",") + `]`
	for _, c := range []struct{ ranges, zone, field string }{
		{``, "", ""}, {`[]`, "Europe/Berlin", ""},
		{`["last7Days",{"from":"2026-01-01","to":"2026-01-31"}]`, "Europe/Berlin", ""},
		{`"last7Days"`, "", "ranges"}, {`["none"]`, "", "ranges[0]"},
		{`["last7Days",{"from":"2026-01-01"}]`, "", "ranges[1].to"},
		{`[{"from":"2026-02-01","to":"2026-01-31"}]`, "", "ranges[0].to"}, {`[]`, "Mars/Olympus", "timezone"},
		{many, "", "ranges"},
	} {
		if got := fieldOf(CheckRanges([]byte(c.ranges), c.zone)); got != c.field {
			t.Errorf("%s in %s: the error names %q, want %q", c.ranges, c.zone, got, c.field)
		}
	}
}

// fieldOf returns the member that an error names.
func fieldOf(err error) string {
	e, ok := errors.AsType[*schema.Error](err)
	if !ok || len(e.Details) == 0 {
		return strings.TrimPrefix(fmt.Sprint(err), "<nil>")
	}
	return e.Details[0].Field
}
