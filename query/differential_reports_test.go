package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// drawReport draws the members that all requests of reports have.
func drawReport(t *rapid.T, events []insights.Event, n *naive) (r naiveRange, zone string, where []naiveFilter) {
	bounds := rapid.SampledFrom([][2]time.Time{
		{time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC), testNow},
		{daysBefore(21)(testNow), testNow}, {daysBefore(21)(testNow), testNow}, {daysBefore(15)(testNow), testNow},
		{time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)},
		drawCut(t, events), drawCut(t, events),
	}).Draw(t, "range")
	if rapid.IntRange(0, 3).Draw(t, "filtered") == 0 {
		where = append(where, drawCondition(t, events, n, 2, false))
	}
	return naiveRange{From: bounds[0], To: bounds[1]}, rapid.SampledFrom(zones).Draw(t, "zone"), where
}

// drawStep draws conditions that many events meet, in most cases.
func drawStep(t *rapid.T, events []insights.Event, n *naive) (s naiveStep) {
	switch rapid.IntRange(0, 5).Draw(t, "step") {
	case 0:
	case 1:
		s.Where = append(s.Where, drawCondition(t, events, n, 1, false))
	default:
		f := naiveFilter{Column: "eventType", Values: []any{}}
		for range rapid.IntRange(1, 2).Draw(t, "types") {
			f.Values = append(f.Values, insights.EventTypes.Word(events[rapid.IntRange(0, len(events)-1).Draw(t, "like")].Type))
		}
		s.Where = append(s.Where, f)
	}
	return s
}

// drawTransitions draws a request about a page that some events may be about.
func drawTransitions(t *rapid.T, in naiveRange, zone string, where []naiveFilter) naiveTransitions {
	r := naiveTransitions{Range: in, Zone: zone, Where: where}
	r.Limit = rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "limit")
	if rapid.Bool().Draw(t, "at a path") {
		path := rapid.SampledFrom([]string{"/", "/x", "/x/", "/b", "/x/%20y", "/none"}).Draw(t, "path")
		r.Page = map[string]string{"path": path}
		return r
	}
	r.Page = map[string]string{
		"space": rapid.SampledFrom([]string{"sp1", "sp2"}).Draw(t, "space"),
		"page":  rapid.SampledFrom([]string{"p1", "p2", "p3"}).Draw(t, "page"),
	}
	return r
}

// TestDifferentialReports compares random funnels, retentions and transitions with the naive
// evaluator.
func TestDifferentialReports(t *testing.T) {
	t.Parallel()
	conn := store(t)
	n := naiveCells(t, conn)
	data := map[string][]insights.Event{"none": nil}
	for i, size := range []int{3, 400} {
		site := fmt.Sprint("site", i)
		data[site] = randomEvents(rand.New(rand.NewPCG(11, uint64(i))), size)
		insert(t, conn, site, data[site])
	}
	oneThread := func(c *Config) { c.MaxThreads, c.Site = 1, ownSite }
	raw, visits := newService(conn, oneThread), newService(conn, oneThread)
	visits.sources.limits = sourceLimits{many: math.MaxUint64}
	asked, converted, stepped, read := map[Report]int{}, 0, 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		site := rapid.SampledFrom([]string{"none", "site0", "site1", "site1", "site1", "site1"}).Draw(t, "site")
		service := rapid.SampledFrom([]*Service{raw, visits, visits}).Draw(t, "service")
		in, zone, where := drawReport(t, data["site1"], n)
		refusal := naiveFilterRefusal("where", where)
		var request any
		var want map[string]any
		of := rapid.SampledFrom(reportKinds).Draw(t, "report")
		asked[of]++
		switch of {
		case Funnel:
			f := naiveFunnel{Range: in, Zone: zone, Where: where, By: rapid.SampledFrom([]string{"", "visitor", "session"}).Draw(t, "by")}
			f.Window = rapid.SampledFrom([]int{0, 1, 3600, 86400, 5 * 86400, 366 * 86400}).Draw(t, "window")
			if strict := rapid.IntRange(0, 2).Draw(t, "strict"); strict > 0 {
				f.Strict = new(strict > 1)
			}
			for i := range rapid.IntRange(2, 5).Draw(t, "steps") {
				f.Steps = append(f.Steps, drawStep(t, data["site1"], n))
				if refusal == "" {
					refusal = naiveFilterRefusal(fmt.Sprintf("steps[%d].where", i), f.Steps[i].Where)
				}
			}
			if refusal == "" {
				want = map[string]any{"steps": n.funnel(data[site], f)}
			}
			request = f
		case Retention:
			r := naiveRetention{Range: in, Zone: zone, Where: where}
			r.Interval = rapid.SampledFrom(naiveIntervals).Draw(t, "interval")
			r.Week = drawWeek(t)
			if rapid.Bool().Draw(t, "first") {
				step := drawStep(t, data["site1"], n)
				r.First = &step
				if refusal == "" {
					refusal = naiveFilterRefusal("first.where", step.Where)
				}
			}
			if rapid.Bool().Draw(t, "return") {
				step := drawStep(t, data["site1"], n)
				r.Return = &step
				if refusal == "" {
					refusal = naiveFilterRefusal("return.where", step.Where)
				}
			}
			if periods := rapid.IntRange(-1, 20).Draw(t, "periods"); periods >= 0 {
				r.Periods = &periods
			}
			if refusal == "" {
				cohorts, ok := n.retention(data[site], r)
				if want = map[string]any{"cohorts": cohorts}; !ok {
					refusal = "interval cuts the range into more than 400 buckets"
				}
			}
			request = r
		default:
			r := drawTransitions(t, in, zone, where)
			if refusal == "" {
				want = n.transitions(data[site], r)
			}
			request = r
		}
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		got, headers, err := service.Answer(context.Background(), Caller{}, of, site, body, testNow)
		if refusal != "" {
			if e, ok := errors.AsType[*schema.Error](err); !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, refusal) {
				t.Fatalf("%s: %v, want a 400 that %s", body, err, refusal)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if !same(want, decodeAny(got)) {
			t.Fatalf("%s on %s of %s:\ngot  %s\nwant %v", body, site, headers[headerSource], got, want)
		}
		read[string(of)+" of "+headers[headerSource]]++
		if strings.Contains(string(got), `"from":[{`) && strings.Contains(string(got), `"to":[{`) {
			stepped++
		}
		if strings.Contains(string(got), `"conversionFromPrevious":0.`) {
			converted++
		}
	})
	t.Logf("%v, %d funnels with a part that went on, %d transitions both ways; %v", asked, converted, stepped, read)
	if asked[Funnel] > 200 && (converted < asked[Funnel]/20 || stepped < asked[Transitions]/50 ||
		read["retention of visits"] == 0 || read["retention of raw"] == 0) {
		t.Errorf("of %v, %d funnels have a part that went on, %d transitions both ways; %v",
			asked, converted, stepped, read)
	}
}
