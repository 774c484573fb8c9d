package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/octavo-docs/octavo/bench/witness"
)

// browser is a tab of Chromium that is signed in to a node.
type browser struct {
	ctx   context.Context
	base  string
	close func()
}

func newBrowser(ctx context.Context, base, token string) (*browser, error) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		return nil, errors.New("Chromium is not installed (apt-get install chromium)")
	}
	allocator, end := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("lang", "en-US"))...)
	tab, leave := chromedp.NewContext(allocator)
	b := &browser{ctx: tab, base: base, close: func() { leave(); end() }}
	field := chromedp.CSS("#token")
	err = chromedp.Do(tab, chromedp.Navigate(base+"/"), chromedp.WaitVisible(field),
		chromedp.SendKeys(field, token+kb.Enter))
	if err == nil {
		err = b.until(ready)
	}
	if err != nil {
		b.close()
		return nil, fmt.Errorf("cannot sign in: %w", err)
	}
	return b, nil
}

// ready is a JavaScript expression. It is true if the page shows all figures and the last response arrived more than a
// second ago.
const ready = `document.readyState === 'complete' && !document.querySelector('#token, main[aria-busy=true]') &&
	performance.getEntriesByType('resource').every(came => came.responseEnd < performance.now() - 1000)`

func (b *browser) until(expression string) error {
	return witness.Await(b.ctx, func(context.Context) error {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && !is {
			err = fmt.Errorf("%s is false", expression)
		}
		return err
	})
}

// picture returns a screenshot of the page at a path of the node, in WebP.
func (b *browser) picture(path string, p picture) ([]byte, error) {
	scheme := "light"
	if p.dark {
		scheme = "dark"
	}
	err := chromedp.Do(b.ctx, chromedp.EmulateViewport(p.width, 900), chromedp.Func(
		func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}), chromedp.Navigate(b.base+path))
	if err == nil {
		err = b.until(ready)
	}
	if err == nil && p.follow != "" {
		if err = chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(p.follow))); err == nil {
			err = b.until(ready)
		}
	}
	if err != nil {
		return nil, err
	}
	type taken = page.CaptureScreenshotResult
	result, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (taken, error) {
		return cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: "webp", Quality: new(int64(85)), CaptureBeyondViewport: new(p.view != ""),
		})
	})
	return result.Data, err
}
