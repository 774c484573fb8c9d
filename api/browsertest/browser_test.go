package browsertest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// tab is a tab of a browser. The browser has no cookies at first.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// chromium returns the path of Chromium's program. If Chromium is not installed, it skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("Chromium is not installed: nobody has seen these pages in a browser (apt-get install chromium)")
	}
	return program
}

// newTab starts a separate browser, so that tests do not share cookies. `flags` has the names and values of additional
// command-line flags.
func newTab(t *testing.T, flags ...string) *tab {
	t.Helper()
	program := chromium(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		chromedp.NoSandbox,        // root needs this flag; the browser opens only our pages
		chromedp.IgnoreCertErrors, // the tests' servers create their own certificates
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1024, 640))
	for i := 0; i < len(flags); i += 2 {
		options = append(options, chromedp.Flag(flags[i], flags[i+1]))
	}
	deadline, cancel := t.Context(), context.CancelFunc(func() {})
	if at, ok := t.Deadline(); ok {
		// End the test a minute before its deadline, so that the failure names the step that does not end.
		deadline, cancel = context.WithDeadline(deadline, at.Add(-time.Minute))
	}
	t.Cleanup(cancel)
	allocator, cancel := chromedp.NewExecAllocator(deadline, options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	b.do(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

// hear records the errors in the browser's console. HTTP statuses are not errors, because the tests check them.
func (b *tab) hear(event any) {
	var complaint string
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Source != log.EntrySourceNetwork {
			complaint = e.Entry.Text
		}
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Text
	}
	if complaint != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaints = append(b.complaints, complaint)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// ask runs one step in the browser and returns its value.
func ask[T any](b *tab, step chromedp.Action[T]) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, step)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// open opens an address, and waits until a page shows the element. It follows redirects.
func (b *tab) open(address, selector string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS(selector)))
}

// until waits until an expression of the page is true. It repeats the evaluation after an error, because an expression
// has no value while the browser leaves a page.
func (b *tab) until(expression string) {
	b.t.Helper()
	eventually.Succeeds(b.t, expression, func() error {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && !is {
			err = errors.New("it is false")
		}
		return err
	})
}

// press types keys like a keyboard. If the page handles a key, it can prevent the browser from inserting the character
// into the focused field. chromedp.KeyEvent would always insert the character.
func (b *tab) press(keys string) {
	b.t.Helper()
	for _, key := range keys {
		events := kb.Encode(key)
		down := *events[0]
		if len(events) > 2 {
			down.Type, down.Text = input.DispatchKeyEventTypeKeyDown, events[1].Text
		}
		for _, event := range []*input.DispatchKeyEventParams{&down, events[len(events)-1]} {
			b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
				_, err := chromedp.Call(ctx, input.DispatchKeyEvent, *event)
				return err
			}))
		}
	}
}

func (b *tab) location() string { return ask(b, chromedp.Location()) }

// text returns the visible text of the page.
func (b *tab) text() string { return ask(b, chromedp.Text(chromedp.CSS("body"))) }

// cookies returns the names of the browser's cookies.
func (b *tab) cookies() []string {
	b.t.Helper()
	held := ask(b, func(ctx context.Context, t *chromedp.Target) (storage.GetCookiesResult, error) {
		return cdp.Call(ctx, t, storage.GetCookies, storage.GetCookiesParams{})
	})
	var names []string
	for _, cookie := range held.Cookies {
		names = append(names, cookie.Name)
	}
	return names
}

// looksFine checks on a wide and on a narrow screen that the page fits and that its style applies. It also saves
// screenshots.
func (b *tab) looksFine(name string) {
	b.t.Helper()
	for suffix, width := range map[string]int64{"wide": 1024, "narrow": 390} {
		b.do(chromedp.EmulateViewport(width, 640))
		if wide := ask(b, chromedp.Evaluate[int64]("document.documentElement.scrollWidth")); wide > width {
			b.t.Errorf("%s: %d pixels do not fit in %d", name, wide, width)
		}
		if folder := os.Getenv("OCTAVO_TEST_SCREENSHOTS"); folder != "" {
			picture := ask(b, chromedp.FullScreenshot(100))
			if err := os.WriteFile(filepath.Join(folder, name+"-"+suffix+".png"), picture, 0o600); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	// The content security policy must allow our style. Without it, the page has the browser's default style.
	if style := ask(b, chromedp.Evaluate[string]("getComputedStyle(document.body).maxWidth")); style != "640px" {
		b.t.Errorf("%s: the page's style does not apply: %s", name, style)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		b.t.Errorf("%s: the browser complains: %s", name, strings.Join(b.complaints, "; "))
	}
}
