package browsertest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// TestTrackerComesBack returns to a page in the browser's back-forward cache. The tracker must count another view.
func TestTrackerComesBack(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	base := site(t, map[string]string{
		"/kept": `<p id="in">x` + d.tag("o.docs", ""),
		"/next": `<p id="next">x`,
	})
	b := newReader(t)
	b.open(base+"/kept", "#in")
	d.await("page_view", 1)
	b.open(base+"/next", "#next")
	d.await("page_leave", 1)
	b.run(`setTimeout(() => history.back())`)
	// The second view has the page itself as referrer. A page that was loaded again would have no referrer.
	again := d.await("page_view", 2)[1]
	if again.text("url") != base+"/kept" || again.text("referrer") != base+"/kept" {
		t.Errorf("%v", again)
	}
	b.close()
	d.await("page_leave", 2)
	d.await("page_view", 2)
}

// TestTrackerHidden opens a page in a hidden tab. The tracker must count the page only when the tab becomes visible.
func TestTrackerHidden(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	base := site(t, map[string]string{"/": `<title>Hidden</title><p id="in">x` + d.tag("o", "")})
	b := newReader(t)
	hidden := &tab{t: t}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		behind := target.CreateTargetParams{URL: base, Background: new(true)}
		made, err := chromedp.CallBrowser(ctx, target.CreateTarget, behind)
		if err == nil {
			var cancel context.CancelFunc
			hidden.ctx, cancel = chromedp.NewContext(b.ctx, chromedp.WithTargetID(made.TargetID))
			t.Cleanup(cancel)
		}
		return err
	}))
	hidden.until(`window.octavo`)
	hidden.run(`octavo('ask_view')`)
	d.await("ask_view", 1)
	d.await("page_view", 0)
	hidden.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.BringToFront, cdp.Empty{})
		return err
	}))
	if seen := d.await("page_view", 1)[0]; seen.text("title") != "Hidden" {
		t.Errorf("%v", seen)
	}
}

// TestTrackerPrerendered lets the browser prerender a page before the reader opens it. The tracker must count the page
// once, when it is shown. chromedp would prevent prerendering, so the pages have scripts that do what a test would do.
func TestTrackerPrerendered(t *testing.T) {
	t.Parallel()
	program := chromium(t)
	d := newDoor(t)
	// Chromium prerenders only pages of secure origins, such as localhost.
	base := strings.Replace(site(t, map[string]string{
		"/": `<script type="speculationrules">{"prerender": [{"urls": ["/soon"], "eagerness": "immediate"}]}</script>
			<script>setInterval(() => { if (localStorage.ready) location.href = '/soon' }, 50)</script>`,
		"/soon": `<title>Soon</title>` + d.tag("o", "") + `<script>
			addEventListener('load', () => {
				history.replaceState({}, '', '/sooner')
				octavo('ask_question', {query: String(document.prerendering)})
				localStorage.ready = 'yes'
			})</script>`,
	}), "docs.test", "localhost", 1)
	profile := t.TempDir()
	browser := exec.CommandContext(t.Context(), program,
		"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--host-resolver-rules=MAP *.test 127.0.0.1", "--user-data-dir="+profile, "--remote-debugging-port=0", base+"/")
	browser.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-browser.Process.Pid, syscall.SIGKILL)
		_ = browser.Wait()
		// Repeat the removal, because processes of the browser that are still exiting may write files.
		eventually.Succeeds(t, "an empty profile", func() error { return os.RemoveAll(profile) })
	})
	if asked := d.await("ask_question", 1)[0]; asked.text("query") != "true" {
		t.Errorf("the page was not prerendered: %v", asked)
	}
	if seen := d.await("page_view", 1)[0]; seen.text("title") != "Soon" || seen.text("url") != base+"/sooner" {
		t.Errorf("%v", seen)
	}
}
