package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/octavo-docs/octavo/api/tracker"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// trackerKey is the publishable key that the pages of these tests use.
const trackerKey = "opk_test"

// event is an event as the tracker sends it in JSON.
type event map[string]any

func (e event) text(member string) string { text, _ := e[member].(string); return text }

// has fails the test if a member of the event differs from the wanted value. If the wanted value is nil, the member
// must be absent.
func (e event) has(t *testing.T, want event) {
	t.Helper()
	for member, value := range want {
		if e[member] != value {
			t.Errorf("%s is %v, want %v: %v", member, e[member], value, e)
		}
	}
}

// opens returns the record id of the search result that the event opened.
func (e event) opens() string {
	result, _ := e["result"].(map[string]any)
	record, _ := result["recordId"].(string)
	return record
}

// attempt is a request with a batch of events.
type attempt struct {
	id, body string
	late     int
	events   []event
}

// door is a server that serves the tracker's files and records the batches that browsers send.
type door struct {
	t *testing.T
	// base is the server's address in the pages. The pages themselves have another host.
	base string

	mu       sync.Mutex
	attempts []attempt
	// answer writes the answer to the n-th attempt; the first attempt has the number 1. If it is nil, the answer is
	// 204.
	answer func(w http.ResponseWriter, n int)
	// asked has the requests that are not simple requests in the sense of CORS, for example preflight requests.
	asked []string
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{t: t}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	d.base = strings.Replace(server.URL, "127.0.0.1", "octavo.test", 1)
	return d
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
	for _, file := range tracker.Files() {
		if r.URL.Path == file.Path {
			w.Header().Set("Content-Type", file.Media)
			_, _ = w.Write(file.Plain)
			return
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	text := strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain")
	if r.Method != http.MethodPost || r.URL.Path != "/e/"+trackerKey || !text {
		d.asked = append(d.asked, fmt.Sprintf("%s %s %s", r.Method, r.URL, r.Header.Get("Content-Type")))
		return
	}
	body, err := io.ReadAll(r.Body)
	got := attempt{body: string(body)}
	if err == nil {
		var sent struct {
			ID     string
			Events []event
		}
		if err = json.Unmarshal(body, &sent); err == nil {
			got.id, got.events = sent.ID, sent.Events
			got.late, err = strconv.Atoi(r.URL.Query().Get("late"))
		}
	}
	if err != nil {
		d.t.Errorf("a batch is damaged: %v %s", err, body)
	}
	d.attempts = append(d.attempts, got)
	if d.answer != nil {
		d.answer(w, len(d.attempts))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// answers sets the function that writes the answers, and forgets the attempts so far.
func (d *door) answers(with func(w http.ResponseWriter, n int)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer, d.attempts = with, nil
}

// tries returns the attempts that were received so far.
func (d *door) tries() []attempt {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]attempt(nil), d.attempts...)
}

// events returns the events of all batches, without repeated attempts. It fails the test if two attempts of a batch
// have different bytes.
func (d *door) events() []event {
	d.t.Helper()
	bodies := map[string]string{}
	var list []event
	for _, a := range d.tries() {
		if known, ok := bodies[a.id]; ok {
			if known != a.body {
				d.t.Errorf("the batch %s has two bodies", a.id)
			}
			continue
		}
		bodies[a.id] = a.body
		list = append(list, a.events...)
	}
	return list
}

// of returns the events of a type.
func (d *door) of(kind string) []event {
	d.t.Helper()
	var list []event
	for _, e := range d.events() {
		if e.text("type") == kind {
			list = append(list, e)
		}
	}
	return list
}

// await waits until `count` events of a type have arrived, and fails if there are more.
func (d *door) await(kind string, count int) []event {
	d.t.Helper()
	eventually.Succeeds(d.t, fmt.Sprintf("%d events %s", count, kind), func() error {
		if got := d.of(kind); len(got) < count {
			return fmt.Errorf("there are %d in %v", len(got), d.events())
		}
		return nil
	})
	got := d.of(kind)
	if len(got) != count {
		d.t.Errorf("%d events %s, want %d: %v", len(got), kind, count, got)
	}
	return got
}

// simple fails the test if the browser sent requests that are not simple, such as preflight requests.
func (d *door) simple() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.asked) > 0 {
		d.t.Errorf("other requests arrived: %v", d.asked)
	}
}

// tag returns the element that loads a bundle. `attributes` has additional attributes of the element. The attribute
// data-local allows a browser that a test controls to send events.
func (d *door) tag(bundle, attributes string) string {
	return fmt.Sprintf(`<script defer src="%s/%s.js" data-key="%s" data-local="on" %s></script>`,
		d.base, bundle, trackerKey, attributes)
}

// site serves the pages of a documentation site, by path. The server ignores the host of a request.
func site(t *testing.T, pages map[string]string) (base string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html>"+page)
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "docs.test", 1)
}

// newReader starts a browser that resolves all host names under .test to this machine.
func newReader(t *testing.T) *tab { return newTab(t, "host-resolver-rules", "MAP *.test 127.0.0.1") }

// another opens another tab in the same browser.
func (b *tab) another() *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	other := &tab{t: b.t, ctx: ctx}
	other.do(chromedp.Navigate("about:blank"))
	return other
}

// close closes the tab as a reader does, so that the page gets its last JavaScript events.
func (b *tab) close() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, target.CloseTarget, target.CloseTargetParams{TargetID: t.TargetID})
		return err
	}))
}

// offline cuts or restores the network of the tab's page.
func (b *tab) offline(is bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		rules := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{
			{Offline: is, DownloadThroughput: -1, UploadThroughput: -1}}}
		if _, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, rules); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{
			Offline: is, DownloadThroughput: -1, UploadThroughput: -1})
		return err
	}))
}

// run evaluates a statement in the page.
func (b *tab) run(script string) {
	b.t.Helper()
	ask(b, chromedp.Evaluate[bool]("(() => {"+script+"})(), true"))
}

// awaitTries waits until `count` attempts have arrived.
func (d *door) awaitTries(count int) {
	d.t.Helper()
	eventually.Succeeds(d.t, fmt.Sprintf("%d attempts", count), func() error {
		if got := d.tries(); len(got) < count {
			return fmt.Errorf("there are %d", len(got))
		}
		return nil
	})
}

// awaitSent waits until the page knows the outcome of `count` requests that sent batches.
func (b *tab) awaitSent(count int) {
	b.t.Helper()
	b.until(fmt.Sprintf(
		`performance.getEntriesByType('resource').filter((r) => r.name.includes('/e/')).length >= %d`, count))
}
