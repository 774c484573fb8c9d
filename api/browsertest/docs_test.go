package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// until waits until an expression of the page is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	eventually.True(b.t, expression, func() bool { return ask(b, chromedp.Evaluate[bool]("Boolean("+expression+")")) })
}

// scheme lets the page see the reader's choice of light or dark.
func (b *tab) scheme(name string) {
	b.t.Helper()
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
			},
		})
		return chromedp.Void{}, err
	})
}

// axe runs the rules of WCAG 2.2, A and AA, and returns what breaks them. source is the text of axe-core.
func (b *tab) axe(source string) []string {
	b.t.Helper()
	ask(b, chromedp.Evaluate[bool](source+`; window.found = undefined
		axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r => {
			const why = n => n.html + ' ' + n.any.map(c => c.message)
			window.found = r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(why).join(' | '))
		}, fault => { window.found = [String(fault)] }); true`))
	b.until("window.found")
	return ask(b, chromedp.Evaluate[[]string]("window.found"))
}

// calm requires that the browser complained about nothing, such as a breach of the policy.
func (b *tab) calm() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		b.t.Errorf("the browser complains: %s", strings.Join(b.complaints, "; "))
	}
}

// TestDocsOpenAtOnce opens the first page: all its bytes, each request's host, and the time until it is there.
func TestDocsOpenAtOnce(t *testing.T) {
	t.Parallel()
	chromium(t)
	h := apitest.New(t)
	h.Do("GET", "/docs", "", nil) // The first request builds all pages.
	b := newTab(t)
	b.open(h.Base+"/docs", "#find")
	b.until("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
	const entries = "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
	const most = 60 << 10
	bytes := ask(b, chromedp.Evaluate[int](entries+".reduce((sum, e) => sum + e.transferSize, 0)"))
	took := ask(b, chromedp.Evaluate[float64]("performance.getEntriesByType('navigation')[0].loadEventEnd"))
	t.Logf("the first page has %d bytes on the wire, and is there after %.0f ms", bytes, took)
	if bytes == 0 || bytes > most {
		t.Errorf("the first page has %d bytes on the wire, want at most %d", bytes, most)
	}
	b.do(chromedp.KeyEvent("/funnel"))
	b.until("document.querySelector('#found li')")
	requested := ask(b, chromedp.Evaluate[[]string](entries+".map(e => e.name)"))
	if len(requested) < 4 {
		t.Errorf("the page requests %v", requested)
	}
	for _, address := range requested {
		if !strings.HasPrefix(address, h.Base+"/docs") {
			t.Errorf("the page requests %s", address)
		}
	}
	b.calm()
}

// TestDocsByKeyboard finds an operation with the keyboard alone, chooses a language that stays, and sends a request
// with a pasted token, which the browser does not keep.
func TestDocsByKeyboard(t *testing.T) {
	t.Parallel()
	chromium(t)
	h := apitest.New(t)
	b := newTab(t)
	find := func(words, id string) {
		t.Helper()
		b.do(chromedp.KeyEvent("/" + words))
		b.until(`document.querySelector('#found [aria-selected="true"]')?.textContent.startsWith('` + id + `')`)
		b.do(chromedp.KeyEvent(kb.Enter))
		b.until("location.hash === '#" + id + "' && document.getElementById('" + id + "')")
	}
	b.open(h.Base+"/docs", "#find")
	find("events funnel", "getSiteEventsFunnel")
	if where := b.location(); where != h.Base+"/docs/insights#getSiteEventsFunnel" {
		t.Errorf("the search leads to %s", where)
	}
	b.do(chromedp.Click(chromedp.CSS("#in-go")))
	b.until("getComputedStyle(document.querySelector('#getSiteEventsFunnel .in-go')).display === 'block'")
	b.until("getComputedStyle(document.querySelector('#getSiteEventsFunnel .in-curl')).display === 'none'")
	find("GET /v1/user", "getAuthenticatedUser")
	b.until("document.querySelector('#in-go').checked")
	token := h.Ours.Tokens[schema.RoleAdmin]
	b.do(chromedp.Focus(chromedp.CSS("#getAuthenticatedUser .try")), chromedp.KeyEvent(kb.Enter))
	b.until("document.activeElement.matches('#getAuthenticatedUser input[type=password]')")
	b.do(chromedp.KeyEvent(token + kb.Enter))
	b.until("document.querySelector('#getAuthenticatedUser output pre')")
	if text := b.text(); !strings.Contains(text, "200") || !strings.Contains(text, `"object": "user"`) {
		t.Errorf("the request from the page answers %s", text)
	}
	kept := ask(b, chromedp.Evaluate[string]("JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie"))
	if strings.Contains(kept, token) || len(b.cookies()) > 0 {
		t.Errorf("the browser keeps %s", kept)
	}
	b.do(chromedp.KeyEvent(kb.Tab))
	b.calm()
}

// TestDocsAccessible checks pages of each kind: they fit the screen, and the rules of axe find nothing, light and dark,
// on a desk and on a phone.
func TestDocsAccessible(t *testing.T) {
	t.Parallel()
	chromium(t)
	source, err := os.ReadFile(filepath.Join("..", "dashboard", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("axe-core is not installed: nobody has checked that everybody can use these pages (make dashboard)")
	}
	h := apitest.New(t)
	b := newTab(t)
	for _, page := range []string{"", "/operations", "/insights", "/sso", "/cookbook", "/privacy"} {
		b.open(h.Base+"/docs"+page, "#find")
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			for _, width := range []int64{1280, 390} {
				b.do(chromedp.EmulateViewport(width, 900))
				name := fmt.Sprintf("docs%s-%s-%d", strings.ReplaceAll(page, "/", "-"), scheme, width)
				b.picture(name)
				if wide := ask(b, chromedp.Evaluate[int64]("document.documentElement.scrollWidth")); wide > width {
					t.Errorf("%s: %d pixels do not fit", name, wide)
				}
				for _, finding := range b.axe(string(source)) {
					t.Errorf("%s: %s", name, finding)
				}
			}
		}
	}
	b.calm()
}

// picture saves what the screen shows.
func (b *tab) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("OCTAVO_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	shot := ask(b, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(folder, url.PathEscape(name)+".png"), shot, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
