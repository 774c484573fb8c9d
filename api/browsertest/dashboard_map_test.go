package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// mapFile matches the address of the file with the map of countries.
const mapFile = "*://*:*/o/world.*"

// readersOf has countries by their codes. The map draws a country as an outline, or as a dot if it is very small. It
// cannot draw the last entries: an unknown country, and two codes that belong to no country.
var readersOf = []any{
	"US", "DE", "IN", "BR", "FR", "JP", "GB", "CA", "AU", "NL", "ES", "PL", "ZA", "MX", "ID", "SG", "XK", nil, "ZZ",
	"constructor",
}

// caption is the sentence below the map.
const caption = `document.querySelector('[data-panel=countries] figcaption').textContent`

// mapped opens an overview, and waits until its map has been drawn.
func mapped(t *testing.T) *dashboard {
	t.Helper()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) { m.keys = map[string][]any{"visitorGeoCountry": readersOf} })
	d.signIn(d.overview())
	d.drawn()
	return d
}

// drawn waits until the map has been drawn.
func (d *dashboard) drawn() {
	d.t.Helper()
	d.until(`document.querySelector('.map path')`)
}

// TestDashboardMap compares the map's colours and sentences with the countries in the API's answer. The test selects a
// country with the pointer and with keys, and filters by it. The table must have all countries.
func TestDashboardMap(t *testing.T) {
	t.Parallel()
	d := mapped(t)
	a := d.asks()
	type row struct {
		name  string
		value float64
	}
	var rows []row
	values := a.column("countries", "peopleCount")
	for i, code := range a.column("countries", "visitorGeoCountry") {
		if code, ok := code.(string); ok {
			name := eval[string](d, fmt.Sprintf(`new Intl.DisplayNames('en', {type: 'region', fallback: 'code'}).of(
				/^[A-Z]{2}$/.test(%q) ? %q : 'ZZ')`, code, code))
			if code == "constructor" {
				name = code
			}
			rows = append(rows, row{name, values[i].(float64)})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return int(b.value - a.value) })
	said := func(r row) string { return r.name + ": " + grouped(r.value) }
	sentence := fmt.Sprintf("%s people, the most of %d countries.", said(rows[0]), len(rows))
	if got := eval[string](d, caption); got != sentence {
		t.Errorf("the map says %q", got)
	}
	shades := eval[map[string]float64](d, `Object.fromEntries([...document.querySelectorAll('.map .has')]
		.map(e => [e.dataset.at, Number(e.style.getPropertyValue('--shade'))]))`)
	if len(shades) != len(readersOf)-3 {
		t.Errorf("the map shows %d countries", len(shades))
	}
	if spots := eval[int](d, `document.querySelectorAll('.map .spot').length`); spots != 1 {
		t.Errorf("the map shows %d spots", spots)
	}
	last := 2.0
	for at := range rows {
		if shade, ok := shades[fmt.Sprint(at)]; ok {
			if shade > last || shade < 0.25 || shade > 1 {
				t.Errorf("%s has the shade %g", rows[at].name, shade)
			}
			last = shade
		}
	}

	d.run(`document.querySelector('.map [role=group]').focus()`)
	for at, key := range []string{kb.ArrowRight, kb.ArrowDown, kb.ArrowLeft, kb.End, kb.Home} {
		d.press(key)
		d.until(fmt.Sprintf(`%s === %q`, caption, said(rows[[]int{0, 1, 0, len(rows) - 1, 0}[at]])))
	}
	d.picture("dashboard-map-pointed")
	d.press(kb.Enter)
	d.until(`document.querySelector('.chip')?.textContent.includes('Country is ` + rows[0].name + `')`)
	d.press("x")
	d.until(`!document.querySelector('.chip')`)
	d.shown()
	d.drawn()
	d.run(`document.querySelector('.map .spot').dispatchEvent(new MouseEvent('click', {bubbles: true, altKey: true}))`)
	d.until(`document.querySelector('.chip')?.textContent.includes('Country is not Singapore')`)
	d.press("x")
	d.until(`!document.querySelector('.chip')`)
	d.shown()

	if n := len(d.texts("[data-panel=countries] .rows li")); n != 4 {
		t.Errorf("%d rows are below the map", n)
	}
	d.run(`document.querySelector('[data-panel=countries] [aria-pressed]').click()`)
	d.until(`!document.querySelector('.map')`)
	if n := len(d.texts("[data-panel=countries] .rows li")); n != len(readersOf) {
		t.Errorf("the table has %d rows", n)
	}
	d.accessible("dashboard-map-table", 1280, 390)
	d.quiet()
}

// TestDashboardMapAccessible checks that the map violates no rule of axe. If there are no countries, the panel must say
// so. If the map's file is missing, the panel must show the list.
func TestDashboardMapAccessible(t *testing.T) {
	t.Parallel()
	d := mapped(t)
	d.accessible("dashboard-map", 1280, 768, 390)
	d.do(chromedp.EmulateViewport(1280, 900))
	one := func(m *madeUp) { m.keys = map[string][]any{"visitorGeoCountry": {"NZ"}} }
	d.figures.set(one)
	d.press("r")
	d.until(`/^New Zealand: [0-9,]+ people\.$/.test(` + caption + `)`)
	d.accessible("dashboard-map-one", 1280, 390)
	d.figures.set(func(m *madeUp) { m.keys["visitorGeoCountry"] = []any{nil} })
	d.press("r")
	d.until(`document.querySelector('[data-panel=countries] .none')?.textContent.includes('No country is known')`)
	d.accessible("dashboard-map-none", 1280, 390)

	d.figures.set(func(m *madeUp) { m.keys["visitorGeoCountry"] = readersOf })
	d.uncached()
	d.block(mapFile)
	d.do(chromedp.Navigate(d.h.Base + d.overview()))
	d.shown()
	d.until(`document.querySelectorAll('[data-panel=countries] .rows li').length === 9`)
	if eval[bool](d, `!!document.querySelector('.map')`) {
		t.Error("there is a map without its file")
	}
	d.picture("dashboard-map-missing")
	var blocked []string
	d.mu.Lock()
	blocked, d.complaints = d.complaints, nil
	d.mu.Unlock()
	for _, complaint := range blocked {
		if !strings.Contains(complaint, "/o/world.") && !strings.Contains(complaint, "ERR_BLOCKED_BY_CLIENT") {
			t.Errorf("the browser complains: %s", complaint)
		}
	}
}
