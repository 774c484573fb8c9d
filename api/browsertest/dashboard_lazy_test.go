package browsertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/octavo-docs/octavo/schema"
)

// block prevents the browser from loading addresses that match a pattern. If it is called without a pattern, the
// browser can load all addresses again.
func (b *tab) block(patterns ...string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		var rules network.SetBlockedURLsParams
		for _, pattern := range patterns {
			rules.URLPatterns = append(rules.URLPatterns, &network.BlockPattern{URLPattern: pattern, Block: true})
		}
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, network.SetBlockedURLs, rules)
		return err
	}))
}

// uncached turns off the tab's cache.
func (b *tab) uncached() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		return err
	}))
}

// slow delays the answers of addresses that match a pattern.
func (b *tab) slow(pattern string, by time.Duration) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		rules := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{
			URLPattern: pattern, Latency: float64(by.Milliseconds()), DownloadThroughput: -1, UploadThroughput: -1,
		}}}
		_, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, rules)
		return err
	}))
}

// moreFile matches the address of the bundle's file with all views except the overview.
const moreFile = "*://*:*/o/more.*"

// TestDashboardLazy checks that the page loads the file of the other views once, when a reader opens the first of these
// views. Without a network, the view must appear when the network is back. If only the file is missing, for example
// after an upgrade of the node, the page must reload. If the file is still missing, the page must say so and offer a
// retry.
func TestDashboardLazy(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	const files = `performance.getEntriesByType('resource').filter(e => e.name.includes('/o/more.')).length`
	d.signIn(d.overview())
	if n := eval[int](d, files); n != 0 {
		t.Error("the overview loads the file of other views")
	}
	for _, step := range []struct{ key, shows string }{
		{"3", "[data-total=typed]"}, {"1", "[data-total=sessions]"}, {"2", "[data-panel=list]"},
		{"3", "[data-total=typed]"},
	} {
		d.press(step.key)
		d.until(`document.querySelector('` + step.shows + `')`)
		d.shown()
	}
	if n := eval[int](d, files); n != 1 {
		t.Errorf("the file of other views is loaded %d times", n)
	}

	notice := func(says string) {
		t.Helper()
		d.until(`document.querySelector('main[aria-busy=false] .notice')?.textContent.includes('` + says + `')`)
		d.accessible("dashboard-lazy-"+says[:6], 1280, 390)
	}
	d.uncached()
	d.do(chromedp.Navigate(d.h.Base + d.overview()))
	d.shown()
	d.slow(moreFile, 5*time.Second)
	d.press("3")
	const said = `document.querySelector('[aria-busy=true] :has(+ .skeleton) [role=status]')?.textContent`
	d.until(said + ` === 'Loading figures…'`)
	d.picture("dashboard-lazy-waits")
	d.until(`document.querySelector('[data-total=typed]')`)
	d.do(chromedp.Navigate(d.h.Base + d.overview()))
	d.shown()
	d.offline(true)
	d.press("3")
	notice("cannot be reached")
	if says := d.text(); strings.Contains(says, "Nobody searched") {
		t.Errorf("the page knows no figures, and says: %s", says)
	}
	d.offline(false)
	d.until(`document.querySelector('[data-total=typed]')`)
	d.shown()

	d.block(moreFile)
	link := d.h.Base + d.overview() + "#in=" + d.h.BrowserLink(d.h.Ours.Tokens[schema.RoleAdmin])
	d.do(chromedp.Navigate("about:blank"))
	d.open(link, "[data-total=people]")
	d.shown()
	d.press("3")
	d.until(`performance.getEntriesByType('navigation')[0].type === 'reload'`)
	notice("A part of this page did not come.")
	d.run(`document.querySelector('.notice button').click()`)
	notice("A part of this page did not come.")
	d.block()
	d.run(`document.querySelector('.notice button').click()`)
	d.until(`document.querySelector('[data-total=typed]')`)
	d.shown()
	d.quiet()
}
