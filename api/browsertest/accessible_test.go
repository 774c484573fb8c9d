package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// accessible checks the page at each width, in light and dark mode. The page must fit the screen, and must not violate
// axe's rules. The method also saves screenshots.
func (b *tab) accessible(name string, widths ...int64) {
	b.t.Helper()
	for _, width := range widths {
		b.do(chromedp.EmulateViewport(width, 900))
		for _, scheme := range []string{"light", "dark"} {
			b.prefers(scheme)
			as := fmt.Sprintf("%s-%s-%d", name, scheme, width)
			b.picture(as)
			rules := allRules
			if scheme == "dark" {
				rules = colourRules
			}
			for _, finding := range b.axe(rules) {
				b.t.Errorf("%s: %s", as, finding)
			}
		}
		if wide := ask(b, chromedp.Evaluate[int64]("document.documentElement.scrollWidth")); wide > width {
			b.t.Errorf("%s: %d pixels do not fit in %d", name, wide, width)
		}
	}
}

// prefers makes the browser report that its user prefers a colour scheme and reduced motion.
func (b *tab) prefers(scheme string) {
	b.t.Helper()
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			},
		})
		return chromedp.Void{}, err
	})
}

const (
	// allRules selects the rules of WCAG 2.2, levels A and AA, and axe's best practices.
	allRules = `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`
	// colourRules selects the rules about colours. In dark mode, only these rules can have other results than in light
	// mode.
	colourRules = `{type: 'rule', values: ['color-contrast', 'link-in-text-block']}`
)

// axe returns descriptions of the elements that violate the rules.
func (b *tab) axe(rules string) []string {
	b.t.Helper()
	if !ask(b, chromedp.Evaluate[bool]("'axe' in window")) {
		source, err := os.ReadFile(filepath.Join("..", "dashboard", "node_modules", "axe-core", "axe.min.js"))
		if err != nil {
			b.t.Fatalf("%v (make dashboard)", err)
		}
		b.run(string(source))
	}
	b.run(`window.found = undefined
		axe.run({runOnly: ` + rules + `, resultTypes: ['violations'], preload: false}).then(r => {
			const said = n => n.html + ' ' + n.any.map(c => c.message)
			window.found = r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(said).join(' | '))
		}, fault => { window.found = [String(fault)] })`)
	b.until("window.found")
	return ask(b, chromedp.Evaluate[[]string]("window.found"))
}

// picture saves a screenshot of the whole page if OCTAVO_TEST_SCREENSHOTS is set.
func (b *tab) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("OCTAVO_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture := ask(b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// quiet fails the test if the browser's console has errors, for example violations of the content security policy.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		b.t.Errorf("the browser complains: %s", strings.Join(b.complaints, "; "))
	}
}
