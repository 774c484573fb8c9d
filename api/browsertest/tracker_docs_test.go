package browsertest

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestTrackerDocs uses a page as readers of documentation do. It follows links, downloads files, copies code, and sends
// feedback.
func TestTrackerDocs(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	// Links do not open their pages here, so that the same page sends the events of all links.
	base := site(t, map[string]string{"/": `<title>Docs</title>
		<script>addEventListener('click', (e) => e.preventDefault())</script>` + d.tag("o.docs", "") + `
		<header><a id="top" href="http://away.test/top">top</a></header>
		<nav><a id="bar" href="http://away.test/bar">bar</a></nav>
		<aside><nav><a id="side" href="http://away.test/side">side</a></nav></aside>
		<main class="has-sidebar" id="in"><div class="md-sidebar__inner"><nav><a id="inner" href="http://away.test/inner">inner</a></nav></div><a id="link" href="http://away.test/link?q=1"><b id="bold">link</b></a> <a id="inside" href="/page">inside</a>
			<a id="file" href="/sdk.tar.gz?v=2">file</a> <a id="other" href="http://files.test/guide.PDF">guide</a> <a id="mail" href="mailto:a@example.com">mail</a>
			<svg width="20" height="20"><a href="http://away.test/svg"><rect id="svg" width="20" height="20"/></a></svg>
			<div class="language-js"><button id="copy" title="Copy"><i>c</i></button>
				<pre id="code">one(); two()</pre></div>
			<button id="copypage" title="Copy page">copy page</button><p id="prose">prose</p>
			<form name="feedback"><button id="no" data-md-value="0">no</button>
				<button id="yes" data-md-value="1">yes</button></form>
		</main><div style="height: 5000px"></div>
		<footer><a id="foot" href="http://away.test/foot">foot</a></footer>
		<script>document.forms.feedback.addEventListener('submit', (e) => e.preventDefault())
			// The button copies by a selection, as Starlight's does without a secure origin.
			document.getElementById('copy').addEventListener('click', () => document.getElementById('code')
				.dispatchEvent(new ClipboardEvent('copy', {bubbles: true})))</script>`})
	b := newReader(t)
	b.open(base+"/", "#in")
	clicked := "top bar side inner bold inside file other mail svg copy copypage foot"
	for id := range strings.FieldsSeq(clicked) {
		b.run(`document.getElementById('` + id + `').dispatchEvent(
			new MouseEvent('click', {bubbles: true, cancelable: true}))`)
	}
	b.run(`document.getElementById('link').dispatchEvent(new MouseEvent('auxclick', {bubbles: true, button: 1}));
		document.getElementById('link').dispatchEvent(new MouseEvent('auxclick', {bubbles: true, button: 2}))`)
	for _, id := range []string{"code", "prose"} {
		b.run(`getSelection().selectAllChildren(document.getElementById('` + id + `')); 
			document.getElementById('` + id + `').dispatchEvent(new ClipboardEvent('copy', {bubbles: true}))`)
	}
	b.run(`document.forms.feedback.requestSubmit(document.getElementById('no'))
		document.forms.feedback.requestSubmit(document.getElementById('yes'))`)

	targets := func(events []event) (list [][2]any) {
		for _, e := range events {
			link := e["link"].(map[string]any)
			list = append(list, [2]any{link["target"].(map[string]any)["url"], link["position"]})
		}
		return list
	}
	want := [][2]any{
		{"http://away.test/top", "header"}, {"http://away.test/bar", "header"}, {"http://away.test/side", "sidebar"}, {"http://away.test/inner", "sidebar"}, {"http://away.test/link?q=1", "content"},
		{"http://away.test/foot", "footer"}, {"http://away.test/link?q=1", "content"},
	}
	got := targets(d.await("link_click", len(want)))
	for i := range min(len(want), len(got)) {
		if got[i] != want[i] {
			t.Errorf("link %d is %v, want %v", i, got[i], want[i])
		}
	}
	if got := targets(d.await("file_download", 2)); got[0] != [2]any{base + "/sdk.tar.gz?v=2", "content"} || got[1] != [2]any{"http://files.test/guide.PDF", "content"} {
		t.Errorf("%v", got)
	}
	d.await("code_copy", 2) // the button and its copy event cause one event together, and the selection causes another
	var ratings []any
	for _, e := range d.await("page_post_feedback", 2) {
		ratings = append(ratings, e["feedback"].(map[string]any)["rating"])
	}
	if ratings[0] != "bad" || ratings[1] != "good" {
		t.Errorf("%v", ratings)
	}
	d.simple()
}

// TestTrackerEngagement reads a page for some time, scrolls, opens the next page, and leaves this page immediately.
func TestTrackerEngagement(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	base := site(t, map[string]string{"/": `<title>Docs</title>` + d.tag("o.docs", "") +
		`<p id="in">x<div style="height: 6400px"></div>`})
	b := newReader(t)
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		focus := emulation.SetFocusEmulationEnabledParams{Enabled: true}
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, focus)
		return err
	}))
	b.open(base+"/", "#in")
	// The test controls the page's clock.
	b.run(`const real = performance.now.bind(performance); window.ahead = 0; performance.now = () => real() + ahead`)
	b.run(`ahead = 40_000; scrollTo(0, 3200)`)
	b.until(`scrollY == 3200`)
	b.run(`dispatchEvent(new Event('blur'))`)
	b.run(`history.pushState({}, '', '/next')`)
	leave := d.await("page_leave", 1)[0]
	if seconds := leave["seconds"].(float64); leave.text("url") != base+"/" || seconds < 40 || seconds > 200 {
		t.Errorf("%v", leave)
	}
	if depth := leave["depth"].(float64); depth < 55 || depth > 65 {
		t.Errorf("%v", leave)
	}
	b.run(`scrollTo(0, 0)`)
	b.close()
	if leave := d.await("page_leave", 2)[1]; leave.text("url") != base+"/next" || leave["seconds"].(float64) > 100 {
		t.Errorf("%v", leave)
	}
}

// TestTrackerSearch types queries with and without results, and abandoned queries. It opens a result with the mouse and
// with the keyboard.
func TestTrackerSearch(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	base := site(t, map[string]string{"/": `<title>Docs</title><div id="in">x</div>` + d.tag("o.docs", "") + `
		<input id="plain"><div id="box"><input id="q" class="DocSearch-Input"><ul id="list" role="listbox"></ul></div>
		<script>
			// An index of one word. The result is there a moment after the word.
			const input = document.getElementById('q'), list = document.getElementById('list')
			input.addEventListener('input', (e, typed = input.value) => setTimeout(() => {
				list.dataset.of = typed
				list.innerHTML = 'webhooks'.startsWith(typed)
					? '<li role="option" aria-selected="true"><a id="hit" href="/a#hook">A</a></li>' +
						'<li role="option"><a href="/b">B</a></li>' : ''
			}, 50))
			addEventListener('click', (e) => {
				if (!e.target.closest('a')) return
				e.preventDefault()
				document.getElementById('box').hidden = true
			})
		</script>`})
	b := newReader(t)
	b.open(base+"/", "#in")
	b.do(chromedp.SendKeys(chromedp.CSS("#plain"), "secret"))

	b.do(chromedp.SendKeys(chromedp.CSS("#q"), "webh"))
	if found := d.await("search_type_query", 1)[0]; found.text("query") != "webh" || found["resultsCount"] != 2.0 {
		t.Errorf("%v", found)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), "xyz"))
	if none := d.await("search_type_query", 2)[1]; none.text("query") != "webhxyz" || none["resultsCount"] != 0.0 {
		t.Errorf("%v", none)
	}
	b.run(`q.value = ''; q.dispatchEvent(new Event('input', {bubbles: true}))`)
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), "web"), chromedp.WaitVisible(chromedp.CSS("#hit")))
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), "\r"))
	check := func(i int) {
		t.Helper()
		typed, opened := d.await("search_type_query", 3+i)[2+i], d.await("search_open_result", 1+i)[i]
		typed.has(t, event{"resultsCount": 2.0})
		if opened.text("query") != typed.text("query") || opened.opens() != base+"/a#hook" {
			t.Errorf("%v %v", typed, opened)
		}
	}
	check(0)
	b.do(
		chromedp.SendKeys(chromedp.CSS("#q"), "hoo"),
		chromedp.WaitReady(chromedp.CSS("[data-of=webhoo]")), // after each letter, the page creates new rows
		chromedp.Click(chromedp.CSS("#hit")),
	)
	check(1)
	// The page is closed before results appear, so the tracker does not know the number of results of this query.
	b.run(`q.value = 'left'; q.dispatchEvent(new Event('input', {bubbles: true}))`)
	b.close()
	if left := d.await("search_type_query", 5)[4]; left.text("query") != "left" || left["resultsCount"] != nil {
		t.Errorf("%v", left)
	}
}
