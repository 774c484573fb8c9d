package browsertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// steps returns the conditions of the funnel's steps in the page's query. Each condition has a column and a value.
func (a asked) steps() []string {
	a.t.Helper()
	var funnel struct {
		Steps []struct {
			Where []struct {
				Column string
				Values []string
			}
		}
	}
	if err := json.Unmarshal(a.queries["funnel"], &funnel); err != nil {
		a.t.Fatal(err)
	}
	var steps []string
	for _, step := range funnel.Steps {
		steps = append(steps, step.Where[0].Column+" "+step.Where[0].Values[0])
	}
	return steps
}

// TestDashboardJourneys compares a funnel and the returning visitors with the API's answers. The test adds steps and
// removes a step with the keyboard. The address must have the steps.
func TestDashboardJourneys(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signIn(d.overview())
	d.press(".")
	d.until(`document.querySelector('[data-panel=funnel] tbody tr') && document.querySelector('.cohorts tbody tr')`)
	d.accessible("dashboard-journeys", 1280, 768, 390)

	compare := func(names ...string) {
		t.Helper()
		d.run(`document.activeElement.blur()`) // in a focused field, r would be typed
		a := d.asks()
		steps := a.answer("funnel")["steps"].([]any)
		if got := d.texts("[data-panel=funnel] tbody th"); len(got) != len(names) || len(steps) != len(names) {
			t.Fatalf("the page has the steps %q, the API %d", got, len(steps))
		}
		for at, name := range names {
			step := steps[at].(map[string]any)
			cells := d.texts(fmt.Sprintf("[data-panel=funnel] tbody tr:nth-child(%d) > *", at+1))
			want := []string{
				fmt.Sprintf("%d. %s", at+1, name), grouped(step["count"]),
				percent(step["count"].(float64), steps[0].(map[string]any)["count"].(float64)), "50%",
			}
			if at == 0 {
				want[3] = "–"
			}
			if !slices.Equal(cells[:4], want) {
				t.Errorf("step %d: the page has %q, the API %q", at+1, cells[:4], want)
			}
		}
	}
	compare("Searched", "Opened a result", "Rated a page")
	a := d.asks()
	row := 0
	var running []string
	for _, cohort := range a.answer("retention")["cohorts"].([]any) {
		cohort := cohort.(map[string]any)
		visitors := cohort["visitors"].(float64)
		if visitors == 0 {
			continue
		}
		row++
		want := []string{grouped(visitors)}
		for _, back := range cohort["returned"].([]any)[1:] {
			want = append(want, percent(back.(float64), visitors))
		}
		if row == 1 {
			running = want[2:]
		}
		if got := d.texts(fmt.Sprintf(".cohorts tbody tr:nth-child(%d) td", row)); !slices.Equal(got, want) {
			t.Errorf("cohort %v: the page has %q, the API %q", cohort["start"], got, want)
		}
	}
	if got := len(d.texts(".cohorts tbody tr")); got != row || row != 2 {
		t.Errorf("the page has %d cohorts, the API %d", got, row)
	}

	// The last day of the range is today, so the figures of this day can still grow.
	if got := d.texts(".cohorts .running"); !slices.Equal(got, running) || len(got) != 1 {
		t.Errorf("the page marks %q as figures of today, want %q", got, running)
	}

	hostile := `/"><img src=x onerror="window.broken=1">`
	d.run(`document.querySelector('.journey-form select').focus()`)
	d.press("Page")
	d.until(`document.querySelector('.journey-form input')`)
	d.run(`document.querySelector('.journey-form input').focus()`)
	d.press(hostile + kb.Enter)
	d.until(`document.querySelectorAll('[data-panel=funnel] tbody tr').length === 4`)
	d.shown()
	compare("Searched", "Opened a result", "Rated a page", hostile)
	d.run(`document.querySelectorAll('[data-panel=funnel] tbody button')[1].focus()`)
	d.press(kb.Enter)
	d.until(`document.querySelectorAll('[data-panel=funnel] tbody tr').length === 3`)
	d.shown()
	compare("Searched", "Rated a page", hostile)
	want := []string{"eventType search_type_query", "eventType page_post_feedback", "urlPath " + hostile}
	if got := d.asks().steps(); !slices.Equal(got, want) {
		t.Errorf("the page asks for %q, want %q", got, want)
	}
	if at := d.location(); strings.Count(at, "then=") != 3 {
		t.Errorf("the address is %s", at)
	}
	d.run(`history.back()`)
	d.until(`document.querySelectorAll('[data-panel=funnel] tbody tr').length === 4`)
	if eval[bool](d, `'broken' in window`) {
		t.Error("the page has run the text of a step")
	}
	d.figures.set(func(m *madeUp) { m.zero = true })
	d.press("r")
	d.until(`document.querySelector('[data-panel=retention] .none')?.textContent === 'Nobody visited.'`)
	d.accessible("dashboard-journeys-empty", 390)
	d.quiet()
}
