package content_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/api/remote/chat/chattest"
	"github.com/octavo-docs/octavo/api/remote/translation"
	"github.com/octavo-docs/octavo/api/remote/translation/translationtest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/store"
)

// translationBench is an API server together with a language model.
type translationBench struct {
	*apitest.Harness
	translator translation.Provider
	source     string
	one        string // path of the translation

	mu   sync.Mutex
	sent []string
	// answer answers the requests to the model if it is not nil.
	answer func(chattest.Request) chattest.Answer
}

func newTranslationBench(t *testing.T) *translationBench {
	t.Helper()
	b := &translationBench{Harness: apitest.New(t)}
	server := chattest.New(t, func(r chattest.Request) chattest.Answer {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.answer != nil {
			return b.answer(r)
		}
		return b.loud(r)
	})
	b.translator, b.source = translationtest.Model(t, server), b.Ours.Space.ID
	return b
}

// loud answers a request correctly, and records the texts of the request.
func (b *translationBench) loud(r chattest.Request) chattest.Answer {
	for _, text := range translationtest.Asked(b.T, r).Texts {
		b.sent = append(b.sent, text.Text)
	}
	return translationtest.LoudModel(b.T, r)
}

func (b *translationBench) do(status int, method, path string, body any) map[string]any {
	b.T.Helper()
	return b.Want(status, method, path, b.Ours.Tokens[schema.RoleAdmin], body)
}

// edit changes the main content of a space with a change request.
func (b *translationBench) edit(space string, changes ...string) {
	b.T.Helper()
	base := "/v1/spaces/" + space + "/change-requests"
	request := base + "/" + b.do(http.StatusCreated, "POST", base, map[string]any{})["id"].(string)
	b.do(http.StatusOK, "POST", request+"/content", `{"changes":[`+strings.Join(changes, ",")+`]}`)
	if got := b.do(http.StatusOK, "POST", request+"/merge", nil); got["result"] != "merge" {
		b.T.Fatalf("not merged: %v", got)
	}
}

// create creates the translation into German.
func (b *translationBench) create() {
	b.T.Helper()
	path := "/v1/orgs/" + b.Ours.Organization.ID + "/translations"
	made := b.do(http.StatusCreated, "POST", path, fmt.Sprintf(`{"source":{"space":%q,"language":"en"},"language":"de",
		"instructions":{"nodes":[{"type":"paragraph","nodes":[{"object":"text","leaves":[{"text":"Be formal."}]}]}]}}`, b.source))
	b.one = path + "/" + made["id"].(string)
}

// runJobs runs the queued jobs. It returns the texts that were sent to the model.
func (b *translationBench) runJobs() []string {
	b.T.Helper()
	b.mu.Lock()
	b.sent = nil
	b.mu.Unlock()
	if failed := jobstest.RunAllWith(b.T, b.Store, b.translator); len(failed) > 0 {
		b.T.Fatalf("jobs failed: %+v", failed)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.Sort(b.sent)
	return b.sent
}

// run requests a run of the translation, and runs it. It returns the texts that were sent to the model.
func (b *translationBench) run() []string {
	b.T.Helper()
	b.do(http.StatusNoContent, "POST", b.one+"/run", nil)
	return b.runJobs()
}

func (b *translationBench) translation() map[string]any {
	b.T.Helper()
	return shape.Want(b.T, translationShape, b.Do("GET", b.one, b.Ours.Tokens[schema.RoleRead], nil).Body)
}

// copied returns the id of the space with the translation.
func (b *translationBench) copied() string {
	b.T.Helper()
	result, ok := b.translation()["result"].(map[string]any)
	if !ok {
		b.T.Fatal("there is no result")
	}
	return result["space"].(string)
}

// reports returns the kind and the text of each report of the last run.
func (b *translationBench) reports() []string {
	b.T.Helper()
	list := b.do(http.StatusOK, "GET", b.one+"/runs?limit=1", nil)["items"].([]any)
	run := shape.Want(b.T, translationRunShape, b.Do("GET", b.one+"/runs/"+list[0].(map[string]any)["id"].(string), b.Ours.Tokens[schema.RoleRead], nil).Body)
	if run["state"] != "done" {
		b.T.Fatalf("the run is %v", run)
	}
	var reports []string
	shown, _ := run["reports"].([]any)
	for _, r := range shown {
		r, _ := r.(map[string]any)
		reports = append(reports, fmt.Sprintf("%v: %v", r["kind"], r["text"]))
	}
	return reports
}

// page returns the id and the document of a page in the main content of a space.
func (b *translationBench) page(space, title string) (id string, d schema.Document) {
	b.T.Helper()
	row, err := b.Store.SpaceByID(b.T.Context(), space)
	if err != nil {
		b.T.Fatal(err)
	}
	pages := apitest.Ask[schema.RevisionPages](b.Harness, schema.RoleAdmin, "GET", "/v1/spaces/"+space+"/content/pages", nil, 200).Pages
	var find func([]schema.RevisionPage)
	find = func(pages []schema.RevisionPage) {
		for _, p := range pages {
			if p.Title == title {
				id = p.ID
			}
			find(p.Pages)
		}
	}
	find(pages)
	if id == "" {
		b.T.Fatalf("%s has no page %q: %s", space, title, outline(pages))
	}
	_, text, err := b.Store.PageText(b.T.Context(), space, row.Revision, id)
	if err != nil {
		b.T.Fatal(err)
	}
	return id, text.Document
}

func (b *translationBench) outline(space string) string {
	b.T.Helper()
	return outline(apitest.Ask[schema.RevisionPages](b.Harness, schema.RoleAdmin, "GET", "/v1/spaces/"+space+"/content/pages", nil, 200).Pages)
}

// replace returns a change that replaces a text in the document of a page.
func (b *translationBench) replace(space, title, from, to string) string {
	b.T.Helper()
	id, d := b.page(space, title)
	text, err := json.Marshal(d)
	if err != nil {
		b.T.Fatal(err)
	}
	if strings.Count(string(text), from) != 1 {
		b.T.Fatalf("%q is not once in %s", from, text)
	}
	return fmt.Sprintf(`{"operation":"update_page","page":%q,"document":{"document":%s}}`, id, strings.Replace(string(text), from, to, 1))
}

func leaf(text string) string { return `{"object":"text","leaves":[{"text":"` + text + `"}]}` }

func paragraph(text string) string { return `{"type":"paragraph","nodes":[` + leaf(text) + `]}` }

// everyBlock is a document with every kind of block that contains text, and with some blocks without text. %[1]s is the
// id of a file, and %[2]s is the id of a page.
var everyBlock = `{"nodes":[
	{"type":"heading-1","data":{"id":"start"},"nodes":[` + leaf("First steps") + `]},
	{"type":"heading-2","nodes":[` + leaf("Second heading") + `]},
	{"type":"paragraph","nodes":[{"object":"text","leaves":[{"text":"Run "},{"text":"npm install","marks":[{"type":"code"}]},{"text":" & "},{"text":"wait","marks":[{"type":"bold"}]},{"text":", then see "}]},
		{"type":"link","data":{"ref":{"kind":"page","page":"%[2]s"}},"nodes":[` + leaf("the other page") + `]}, ` + leaf(".") + `]},
	` + paragraph("Each space has pages.") + `,
	{"type":"list-unordered","nodes":[{"type":"list-item","nodes":[` + paragraph("An item") + `]},{"type":"list-item","nodes":[` + paragraph("A space in a list") + `]}]},
	{"type":"list-ordered","data":{"start":3},"nodes":[{"type":"list-item","nodes":[` + paragraph("A numbered item") + `]}]},
	{"type":"list-tasks","nodes":[{"type":"list-item","data":{"checked":true},"nodes":[` + paragraph("A task") + `]}]},
	{"type":"divider"},
	{"type":"blockquote","nodes":[` + paragraph("A quotation") + `]},
	{"type":"hint","data":{"style":"info"},"nodes":[` + paragraph("A hint") + `]},
	{"type":"images","nodes":[{"type":"image","data":{"ref":{"kind":"file","file":"%[1]s"},"alt":"An alternative"},"fragments":[{"fragment":"caption","nodes":[` + paragraph("A caption") + `]}]}]},
	{"type":"code","data":{"syntax":"js"},"nodes":[{"type":"code-line","nodes":[` + leaf("let space = 1") + `]}]},
	{"type":"math","data":{"formula":"a+b"}},
	{"type":"embed","data":{"url":"https://example.com/video"}},
	{"type":"expandable","fragments":[{"fragment":"expandable-title","type":"expandable-title","nodes":[` + paragraph("A question") + `]},{"fragment":"expandable-body","type":"expandable-body","nodes":[` + paragraph("An answer") + `]}]},
	{"type":"tabs","nodes":[{"type":"tabs-item","data":{"title":"A tab"},"meta":{"id":"tab-1"},"nodes":[` + paragraph("In a tab") + `]}]},
	{"type":"table","data":{"view":{"type":"grid","columns":["c","d"],"hideHeader":false},
		"definition":{"c":{"id":"c","type":"text","title":"A column","textAlignment":"left"},"d":{"id":"d","type":"select","title":"A choice","multiple":false,"options":[{"value":"v","label":"An option","color":"blue"}]}},
		"records":{"r":{"orderIndex":"1","values":{"c":"f1","d":"v"}},"s":{"orderIndex":"2","values":{"c":"A plain cell"}}}},
		"fragments":[{"fragment":"f1","nodes":[` + paragraph("A cell") + `]}]},
	{"type":"stepper","nodes":[{"type":"stepper-step","data":{},"nodes":[` + paragraph("A step") + `]}]},
	{"type":"integration","data":{"integration":"mermaid","block":"diagram","props":{"content":"graph space"}}}
]}`

// write writes the first content of the source space.
func (b *translationBench) write() {
	b.T.Helper()
	b.edit(b.source,
		`{"operation":"insert_files","files":[{"name":"a.png","base64":"`+base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nxx"))+`"}]}`,
		`{"operation":"insert_page","type":"group","title":"Guides","ref":"guides"}`,
		`{"operation":"insert_page","into":"guides","title":"Other page","description":"What else there is","document":{"document":{"nodes":[`+paragraph("Nothing here.")+`]}}}`,
	)
	other, _ := b.page(b.source, "Other page")
	files := b.do(http.StatusOK, "GET", "/v1/spaces/"+b.source+"/content", nil)["files"].([]any)
	file := files[0].(map[string]any)["id"].(string)
	b.edit(b.source,
		fmt.Sprintf(`{"operation":"insert_page","title":"Welcome","at":0,"document":{"document":`+everyBlock+`}}`, file, other),
		fmt.Sprintf(`{"operation":"insert_page","type":"link","title":"Shortcut","target":{"kind":"page","page":%q,"space":%q}}`, other, b.source),
	)
}

func TestTranslationOfEveryBlock(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.write()
	b.create()
	sent := b.run()
	for _, text := range sent {
		if strings.Contains(text, "let space") || strings.Contains(text, "graph") {
			t.Errorf("what must stay was sent: %q", text)
		}
	}
	translated := b.translation()
	stats, _ := translated["stats"].(map[string]any)
	if translated["status"] != "completed" || stats["runs"] != 1.0 || stats["totalWords"].(float64) < 60 || stats["latestPages"] != 4.0 || stats["totalDuration"].(float64) < 1 {
		t.Errorf("translation %v", translated)
	}
	if reports := b.reports(); reports != nil {
		t.Errorf("reports %v", reports)
	}
	copied := b.copied()
	space := b.do(http.StatusOK, "GET", "/v1/spaces/"+copied, nil)
	if space["language"] != "de" || space["revision"] != translated["result"].(map[string]any)["revision"] || space["title"] != strings.ToUpper(b.Ours.Space.Title) {
		t.Errorf("the copy is %v", space)
	}
	if got, want := b.outline(copied), "d:WELCOME@welcome g:GUIDES@guides(d:OTHER PAGE@guides/other-page) l:SHORTCUT"; got != want {
		t.Errorf("the copy has %s", got)
	}
	_, source := b.page(b.source, "Welcome")
	_, target := b.page(copied, "WELCOME")
	if problems := target.Problems(""); problems != nil {
		t.Errorf("problems %+v", problems)
	}
	// In the translated copy, all text is in capital letters, except the protected parts.
	want := strings.NewReplacer("NPM INSTALL", "npm install", "LET SPACE = 1", "let space = 1", "A+B", "a+b", "HTTPS://EXAMPLE.COM/VIDEO", "https://example.com/video",
		"MERMAID/DIAGRAM", "mermaid/diagram").Replace(strings.ToUpper(content.Plain(source)))
	want = strings.ReplaceAll(want, "\tV\n", "\tv\n")
	if diff := cmp.Diff(want, content.Plain(target)); diff != "" {
		t.Error(diff)
	}
	kept := func(d schema.Document) (list []string) {
		var walk func(nodes []schema.Node)
		walk = func(nodes []schema.Node) {
			for _, n := range nodes {
				ref, _ := json.Marshal(n.Data["ref"])
				list = append(list, fmt.Sprint(n.Type, " ", n.Key, " ", n.Meta["id"], " ", n.Data["id"], " ", n.Data["props"], string(ref)))
				walk(n.Nodes)
				for _, f := range n.Fragments {
					walk(f.Nodes)
				}
			}
		}
		walk(d.Nodes)
		return list
	}
	if diff := cmp.Diff(kept(source), kept(target)); diff != "" {
		t.Error(diff)
	}
	// The image is a file of the translated copy. The link between the pages leads to the page in the copy.
	files := b.do(http.StatusOK, "GET", "/v1/spaces/"+copied+"/content", nil)["files"].([]any)
	if len(files) != 1 {
		t.Errorf("files %v", files)
	}
	pages := b.do(http.StatusOK, "GET", "/v1/spaces/"+copied+"/content/pages", nil)["pages"].([]any)
	if shortcut, _ := pages[2].(map[string]any)["target"].(map[string]any); shortcut["space"] != copied {
		t.Errorf("the link leads to %v", shortcut)
	}
	// Another run has no text to send.
	revision := space["revision"]
	if sent := b.run(); sent != nil {
		t.Errorf("sent again: %v", sent)
	}
	if again := b.translation(); again["result"].(map[string]any)["revision"] != revision || again["stats"].(map[string]any)["latestPages"] != 0.0 || again["stats"].(map[string]any)["runs"] != 2.0 {
		t.Errorf("the second run made %v", again)
	}
}

// TestTranslationFollows checks that a translation is updated automatically when its source changes. Only changed
// segments are sent to the model.
func TestTranslationFollows(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.write()
	b.create()
	b.run()
	copied := b.copied()
	step := func(name string, sent []string, want ...string) {
		t.Helper()
		slices.Sort(want)
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("%s: the model was sent other segments: %s", name, diff)
		}
	}
	b.edit(b.source, b.replace(b.source, "Welcome", "An item", "Another item"))
	step("an edited block", b.runJobs(), "Another item")
	_, d := b.page(copied, "WELCOME")
	if text := content.Plain(d); !strings.Contains(text, "ANOTHER ITEM") || strings.Contains(text, "AN ITEM") {
		t.Errorf("the copy has %s", text)
	}
	// A change of the glossary affects the segments that contain the term.
	glossary := "/v1/orgs/" + b.Ours.Organization.ID + "/translations-glossary"
	b.do(http.StatusNoContent, "PUT", glossary, `{"operations":[{"type":"insert","translations":{"en":"space","DE":"Bereich"}}]}`)
	step("a term", b.run(), "Each space has pages.", "A space in a list")
	_, d = b.page(copied, "WELCOME")
	if text := content.Plain(d); !strings.Contains(text, "EACH Bereich HAS PAGES.") {
		t.Errorf("the copy has %s", text)
	}
	// Pages of the source space are moved, renamed and deleted. A page that exists only in the copy stays.
	b.edit(copied, `{"operation":"insert_page","title":"Impressum"}`)
	other, _ := b.page(b.source, "Other page")
	b.edit(b.source, fmt.Sprintf(`{"operation":"update_page","page":%q,"into":null,"at":0,"title":"Another page","slug":"another"}`, other),
		`{"operation":"insert_page","title":"News","document":{"document":{"nodes":[`+paragraph("It is new.")+`]}}}`)
	step("pages", b.runJobs(), "Another page", "It is new.", "News")
	if got, want := b.outline(copied), "d:ANOTHER PAGE@another d:WELCOME@welcome g:GUIDES@guides l:SHORTCUT d:Impressum@impressum d:NEWS@news"; got != want && got != strings.Replace(want, "d:Impressum@impressum d:NEWS@news", "d:NEWS@news d:Impressum@impressum", 1) {
		t.Errorf("the copy has %s", got)
	}
	news, _ := b.page(b.source, "News")
	b.edit(b.source, fmt.Sprintf(`{"operation":"delete_page","page":%q}`, news))
	step("a deleted page", b.runJobs())
	if got := b.outline(copied); strings.Contains(got, "NEWS") || !strings.Contains(got, "Impressum") {
		t.Errorf("the copy has %s", got)
	}
	// After the translation is deleted, the copy still exists.
	b.do(http.StatusNoContent, "DELETE", b.one, nil)
	b.edit(b.source, b.replace(b.source, "Welcome", "A hint", "A warning"))
	step("no translation", b.runJobs())
	b.do(http.StatusOK, "GET", "/v1/spaces/"+copied, nil)
}

// TestTranslationFollowsDuringFirstRun changes the source space during the first run of the translation. The translated
// copy must contain these changes too.
func TestTranslationFollowsDuringFirstRun(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.write()
	b.create()
	change, changed := b.replace(b.source, "Welcome", "A hint", "A warning"), false
	b.answer = func(r chattest.Request) chattest.Answer {
		if !changed {
			changed = true
			b.edit(b.source, change)
		}
		return b.loud(r)
	}
	b.run()
	if _, d := b.page(b.copied(), "WELCOME"); !strings.Contains(content.Plain(d), "A WARNING") {
		t.Errorf("the copy has %s", content.Plain(d))
	}
}

// TestTranslationKeepsCorrections corrects a text in the translated copy. The correction stays. After the source text
// has changed, a report names the correction.
func TestTranslationKeepsCorrections(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.write()
	b.create()
	b.run()
	copied := b.copied()
	has := func(name, text string, reports ...string) {
		t.Helper()
		_, d := b.page(copied, "WELCOME")
		if plain := content.Plain(d); !strings.Contains(plain, text) {
			t.Errorf("%s: the copy has not %q:\n%s", name, text, plain)
		}
		if diff := cmp.Diff(reports, b.reports()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	b.edit(copied, b.replace(copied, "WELCOME", "A HINT", "Ein Hinweis"))
	b.edit(b.source, b.replace(b.source, "Welcome", "An item", "Another item"))
	b.runJobs()
	has("another block changed", "ANOTHER ITEM")
	has("another block changed", "Ein Hinweis")
	b.edit(b.source, b.replace(b.source, "Welcome", "A hint", "A strong hint"))
	b.runJobs()
	has("its source changed", "Ein Hinweis", "correction-outdated: A strong hint")
	b.run()
	has("it stays so", "Ein Hinweis", "correction-outdated: A strong hint")
	b.edit(copied, b.replace(copied, "WELCOME", "Ein Hinweis", "Ein deutlicher Hinweis"))
	b.run()
	has("it was corrected again", "Ein deutlicher Hinweis")
	b.edit(b.source, b.replace(b.source, "Welcome", "A strong hint", "A hint"))
	b.runJobs()
	has("its source changed again", "Ein deutlicher Hinweis", "correction-outdated: A hint")
	// After the correction is reverted, the text in the copy follows the source text again.
	b.edit(copied, b.replace(copied, "WELCOME", "Ein deutlicher Hinweis", "A HINT"))
	b.run()
	has("it was taken back", "A HINT")
	b.edit(b.source, b.replace(b.source, "Welcome", "A hint", "A warning"))
	b.runJobs()
	has("and follows", "A WARNING")
	// Titles are segments too. If a page of the source space is deleted, its corrected page in the copy is also
	// deleted.
	welcome, _ := b.page(b.source, "Welcome")
	b.edit(copied, fmt.Sprintf(`{"operation":"update_page","page":%q,"title":"Willkommen"}`, welcome))
	b.edit(b.source, fmt.Sprintf(`{"operation":"update_page","page":%q,"title":"Hello"}`, welcome))
	b.runJobs()
	if got := b.outline(copied); !strings.HasPrefix(got, "d:Willkommen@") {
		t.Errorf("the copy has %s", got)
	}
	if diff := cmp.Diff([]string{"correction-outdated: Hello"}, b.reports()); diff != "" {
		t.Error(diff)
	}
	b.edit(b.source, fmt.Sprintf(`{"operation":"delete_page","page":%q}`, welcome))
	b.runJobs()
	if got := b.outline(copied); strings.Contains(got, "Willkommen") {
		t.Errorf("the copy has %s", got)
	}
	if diff := cmp.Diff([]string{"correction-removed: <nil>"}, b.reports()); diff != "" {
		t.Error(diff)
	}
}

// TestTranslationGoesOn lets a run fail in the middle. The retry sends only the texts that the failed attempt has not
// translated.
func TestTranslationGoesOn(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	var blocks []string
	for i := range 100 {
		blocks = append(blocks, paragraph(fmt.Sprintf("Paragraph number %d", i)))
	}
	b.edit(b.source, `{"operation":"insert_page","title":"Long","document":{"document":{"nodes":[`+strings.Join(blocks, ",")+`]}}}`)
	b.create()
	failing := 0
	b.answer = func(r chattest.Request) chattest.Answer {
		if len(b.sent) >= 40 && failing < 4 {
			failing++ // one more failure than a run itself retries
			return chattest.Answer{Status: http.StatusServiceUnavailable}
		}
		return b.loud(r)
	}
	b.do(http.StatusNoContent, "POST", b.one+"/run", nil)
	b.do(http.StatusNoContent, "POST", b.one+"/run", nil) // a single waiting job serves both requests
	sent := b.runJobs()
	if want := 102; len(sent) != want || len(slices.Compact(slices.Clone(sent))) != want {
		t.Errorf("%d segments were sent, not %d", len(sent), want)
	}
	runs := b.do(http.StatusOK, "GET", b.one+"/runs", nil)
	run := runs["items"].([]any)[0].(map[string]any)
	if runs["count"] != 1.0 || run["state"] != "done" || run["segments"] != 102.0 || run["reason"] != nil {
		t.Errorf("runs %v", runs)
	}
	_, d := b.page(b.copied(), "LONG")
	if text := content.Plain(d); strings.Count(text, "PARAGRAPH NUMBER") != 100 {
		t.Errorf("the copy has %s", text)
	}
}

// TestTranslationFails runs a translation without a translator, and with a translator that does not answer. The run
// fails and has the reason.
func TestTranslationFails(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.write()
	b.create()
	fails := func(name string, translator translation.Provider, reason string) {
		t.Helper()
		b.do(http.StatusNoContent, "POST", b.one+"/run", nil)
		failed := jobstest.RunAllWith(t, b.Store, translator)
		if len(failed) == 0 || failed[0].Kind != (schema.TranslateSpace{}).Kind() || failed[0].Attempt != 1 || !strings.Contains(failed[0].Reason, reason) {
			t.Errorf("%s: jobs %+v", name, failed)
		}
		shown := b.translation()
		last, _ := shown["lastRun"].(map[string]any)
		if shown["status"] != "pending" || shown["result"] != nil || last["state"] != "failed" || !strings.Contains(fmt.Sprint(last["reason"]), reason) {
			t.Errorf("%s: %v", name, shown)
		}
		if runs := shown["stats"].(map[string]any)["runs"]; runs != 0.0 {
			t.Errorf("%s: %v runs are counted", name, runs)
		}
	}
	fails("no translator", nil, "OCTAVO_TRANSLATOR")
	b.answer = func(chattest.Request) chattest.Answer { return chattest.Answer{Status: http.StatusUnauthorized} }
	fails("a wrong key", b.translator, "does not accept its key")
	libre := translation.NewLibreTranslate(translationtest.NewLibre(t, translationtest.LoudLibre).Config(t))
	b.do(http.StatusNoContent, "DELETE", b.one, nil)
	path := "/v1/orgs/" + b.Ours.Organization.ID + "/translations"
	made := b.do(http.StatusCreated, "POST", path, fmt.Sprintf(`{"source":{"space":%q,"language":"en"},"language":"yue"}`, b.source))
	b.one = path + "/" + made["id"].(string)
	fails("no such language", libre, "does not translate between these languages")
}

// TestTranslationByLibreTranslate translates with LibreTranslate. The translated copy contains the glossary's
// translations of its terms.
func TestTranslationByLibreTranslate(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.write()
	b.create()
	b.translator = translation.NewLibreTranslate(translationtest.NewLibre(t, translationtest.LoudLibre).Config(t))
	b.do(http.StatusNoContent, "PUT", "/v1/orgs/"+b.Ours.Organization.ID+"/translations-glossary", `{"operations":[{"type":"insert","translations":{"en":"space","de":"Bereich"}}]}`)
	b.run()
	_, d := b.page(b.copied(), "WELCOME")
	if text := content.Plain(d); !strings.Contains(text, "EACH Bereich HAS PAGES.") || !strings.Contains(text, "RUN npm install & WAIT, THEN SEE THE OTHER PAGE.") {
		t.Errorf("the copy has %s", text)
	}
}

// TestTranslationReports checks that segments are reported if the model refuses them or translates them badly. Refused
// segments are sent again in the next run.
func TestTranslationReports(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.edit(b.source, `{"operation":"insert_page","title":"Page","document":{"document":{"nodes":[`+paragraph("Forbidden words")+`,`+paragraph("A space")+`,
		{"type":"paragraph","nodes":[{"object":"text","leaves":[{"text":"Lost "},{"text":"mark","marks":[{"type":"bold"}]}]}]}]}}}`)
	b.do(http.StatusNoContent, "PUT", "/v1/orgs/"+b.Ours.Organization.ID+"/translations-glossary", `{"operations":[{"type":"insert","translations":{"en":"space","de":"Bereich"}}]}`)
	b.create()
	refuse := true
	b.answer = func(r chattest.Request) chattest.Answer {
		var translations []string
		for _, text := range translationtest.Asked(b.T, r).Texts {
			switch {
			case strings.HasPrefix(text.Text, "Forbidden") && refuse:
				return chattest.Answer{FinishReason: "content_filter"}
			case text.Text == "A space":
				translations = append(translations, "Ein Raum")
			case strings.HasPrefix(text.Text, "Lost <"):
				translations = append(translations, "LOST")
			default:
				translations = append(translations, translationtest.Loud(text.Text))
			}
		}
		return translationtest.Said(translations...)
	}
	b.run()
	if diff := cmp.Diff([]string{"refused: Forbidden words", "term-missing: A space", "placeholder-lost: Lost mark"}, b.reports()); diff != "" {
		t.Error(diff)
	}
	_, d := b.page(b.copied(), "PAGE")
	if text := content.Plain(d); text != "Forbidden words\nEin Raum\nLOST MARK" {
		t.Errorf("the copy has %q", text)
	}
	refuse = false
	b.run()
	if diff := cmp.Diff([]string{"term-missing: A space", "placeholder-lost: Lost mark"}, b.reports()); diff != "" {
		t.Error(diff)
	}
}

// TestTranslationOfClosedSpace checks users who cannot see the source space. They see neither the translated copy nor
// texts of the source space in reports.
func TestTranslationOfClosedSpace(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.write()
	b.CloseSpace(b.source)
	b.create()
	b.answer = func(r chattest.Request) chattest.Answer {
		for _, text := range translationtest.Asked(b.T, r).Texts {
			if text.Text == "Nothing here." {
				return chattest.Answer{FinishReason: "content_filter"}
			}
		}
		return b.loud(r)
	}
	b.run()
	copied := b.copied()
	if got := b.reports(); !slices.Equal(got, []string{"refused: <nil>"}) {
		t.Errorf("who does not see the source is told %q", got)
	}
	list := b.do(http.StatusOK, "GET", b.one+"/runs", nil)["items"].([]any)
	run := b.do(http.StatusOK, "GET", b.one+"/runs/"+list[0].(map[string]any)["id"].(string), nil)
	if report := run["reports"].([]any)[0].(map[string]any); report["text"] != "Nothing here." {
		t.Errorf("who sees the source is told %v", report)
	}
	b.WantError(b.Do("GET", "/v1/spaces/"+copied, b.Ours.Tokens[schema.RoleRead], nil), http.StatusNotFound)
	b.do(http.StatusOK, "GET", "/v1/spaces/"+copied, nil)
}

// TestTranslationOfSpaceClosedLater takes access to the source after its copy was made. The copy is open to more people
// than its source then, so it gets no more content until it is closed, too.
func TestTranslationOfSpaceClosedLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// prepare makes the source visible to a reader, before the copy is made. end takes this from `space`.
		prepare, end func(b *translationBench, space string)
	}{
		"level": {func(*translationBench, string) {}, func(b *translationBench, space string) {
			b.do(http.StatusOK, "PATCH", "/v1/spaces/"+space, `{"defaultLevel":null}`)
		}},
		"grant": {func(b *translationBench, space string) {
			b.CloseSpace(space)
			reader := store.Subjects{Users: []string{b.Ours.Users[schema.RoleRead].ID}}
			b.GrantSpace(b.Ours, space, reader, schema.RoleRead)
		}, func(b *translationBench, space string) {
			reader := b.Ours.Users[schema.RoleRead].ID
			b.do(http.StatusNoContent, "DELETE", "/v1/spaces/"+space+"/permissions/users/"+reader, nil)
		}},
		"collection": {func(*translationBench, string) {}, func(b *translationBench, space string) {
			closed := b.Collection(b.Ours, nil)
			b.CloseCollection(closed)
			b.Exec("update spaces set parent_id = $1 where id = $2", closed, space)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTranslationBench(t)
			b.write()
			c.prepare(b, b.source)
			b.create()
			b.run()
			copied := b.copied()
			reader := b.Ours.Tokens[schema.RoleRead]
			b.Want(http.StatusOK, "GET", "/v1/spaces/"+copied, reader, nil)
			c.end(b, b.source)
			b.edit(b.source, b.replace(b.source, "Welcome", "An item", "A secret item"))
			jobstest.RunAllWith(t, b.Store, b.translator)
			if latest := b.runs()[0]; latest["state"] != "failed" ||
				!strings.Contains(fmt.Sprint(latest["reason"]), "the copy is open to more people than its source") {
				t.Errorf("%v", latest)
			}
			_, d := b.page(copied, "WELCOME")
			if text := content.Plain(d); strings.Contains(text, "SECRET") || !strings.Contains(text, "AN ITEM") {
				t.Errorf("the copy has %s", text)
			}
			c.end(b, copied)
			b.do(http.StatusNoContent, "POST", b.one+"/run", nil)
			jobstest.RunAllWith(t, b.Store, b.translator)
			if latest := b.runs()[0]; latest["state"] != "done" {
				t.Errorf("%v", latest)
			}
			b.WantError(b.Do("GET", "/v1/spaces/"+copied, reader, nil), http.StatusNotFound)
			_, d = b.page(copied, "WELCOME")
			if text := content.Plain(d); !strings.Contains(text, "A SECRET ITEM") {
				t.Errorf("the closed copy has %s", text)
			}
		})
	}
}

// runs returns the runs of the translation, the newest first.
func (b *translationBench) runs() (list []map[string]any) {
	b.T.Helper()
	for _, run := range b.do(http.StatusOK, "GET", b.one+"/runs", nil)["items"].([]any) {
		list = append(list, run.(map[string]any))
	}
	return list
}

// TestTranslationWithoutCopy deletes the copy. The next requested run creates the copy again. A change of the source
// space does not create it.
func TestTranslationWithoutCopy(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.write()
	b.create()
	b.run()
	copied := b.copied()
	b.do(http.StatusNoContent, "DELETE", "/v1/spaces/"+copied, nil)
	b.edit(b.source, b.replace(b.source, "Welcome", "A hint", "A warning"))
	if sent := b.runJobs(); sent != nil || b.translation()["result"] != nil {
		t.Errorf("sent %v for a copy that is gone", sent)
	}
	if sent := b.run(); len(sent) != 1 || b.copied() == copied {
		t.Errorf("sent %v", sent)
	}
}

// TestTranslationTriesAgain checks that a run is retried if the copy changes during the run. In another case, the job
// still has the former organization of the space.
func TestTranslationTriesAgain(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.write()
	b.create()
	b.run()
	copied, text := b.copied(), "A hint"
	during := func(to string, happens func()) {
		t.Helper()
		b.edit(b.source, b.replace(b.source, "Welcome", text, to))
		text = to
		b.answer = func(r chattest.Request) chattest.Answer {
			if happens != nil {
				happens()
				happens = nil
			}
			return b.loud(r)
		}
		if sent := b.runJobs(); len(sent) != 1 {
			t.Errorf("sent %v", sent)
		}
		if last := b.translation()["lastRun"].(map[string]any); last["state"] != "done" {
			t.Errorf("%s: the run is %v", to, last)
		}
		if _, d := b.page(b.copied(), "WELCOME"); !strings.Contains(content.Plain(d), strings.ToUpper(to)) {
			t.Errorf("the copy has %s", content.Plain(d))
		}
	}
	b.edit(copied, b.replace(copied, "WELCOME", "A TASK", "Something to do"))
	during("A warning", func() {
		b.Exec("update translations set made_revision = (select revision from spaces where id = result_space_id) where result_space_id = $1", copied)
	})
	during("A danger", func() { b.do(http.StatusNoContent, "DELETE", "/v1/spaces/"+copied, nil) })
	if b.copied() == copied {
		t.Error("the copy is there although it was deleted")
	}
	b.edit(b.source, b.replace(b.source, "Welcome", text, "A success"))
	b.Exec(`update river_job set args = jsonb_set(args, '{organization}', '"another"') where kind = 'translate_space'`)
	b.runJobs()
	if last := b.translation()["lastRun"].(map[string]any); last["state"] != "done" {
		t.Errorf("the run is %v", last)
	}
}

// TestTranslationOfTitle translates the title of a space. If the translated title is too long, the title stays
// unchanged.
func TestTranslationOfTitle(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	b.do(http.StatusOK, "PATCH", "/v1/spaces/"+b.source, `{"title":"Frequently asked questions"}`)
	b.create()
	b.answer = func(chattest.Request) chattest.Answer { return translationtest.Said(strings.Repeat("ä", 51)) }
	b.run()
	if got := b.do(http.StatusOK, "GET", "/v1/spaces/"+b.copied(), nil)["title"]; got != "Frequently asked questions" {
		t.Errorf("the title is %q", got)
	}
}
