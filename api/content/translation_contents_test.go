package content_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/remote/chat/chattest"
	"github.com/octavo-docs/octavo/schema"
)

// upload adds a file to the source space, and returns the file's id.
func (b *translationBench) upload(name, text string) (id string) {
	b.T.Helper()
	b.edit(b.source, fmt.Sprintf(`{"operation":"insert_files","files":[{"name":%q,"base64":%q}]}`, name, base64.StdEncoding.EncodeToString([]byte(text))))
	for _, file := range b.do(http.StatusOK, "GET", "/v1/spaces/"+b.source+"/content", nil)["files"].([]any) {
		if file := file.(map[string]any); file["name"] == name {
			id = file["id"].(string)
		}
	}
	return id
}

func contentBlock(id string) string {
	return fmt.Sprintf(`{"type":"reusable-content","data":{"ref":{"kind":"reusable-content","reusableContent":%q}}}`, id)
}

// shown returns a page as readers see it. Each block that refers to a reusable content is replaced by the text of this
// content.
func (b *translationBench) shown(space, title string) string {
	b.T.Helper()
	id, _ := b.page(space, title)
	revision := b.do(http.StatusOK, "GET", "/v1/spaces/"+space, nil)["revision"].(string)
	d := b.do(http.StatusOK, "GET", "/v1/spaces/"+space+"/revisions/"+revision+"/page/"+id+"/document?dereferenced=reusable-contents", nil)
	text, err := json.Marshal(d)
	if err != nil {
		b.T.Fatal(err)
	}
	return string(text)
}

// TestTranslationOfReusableContents checks that reusable contents are translated like pages, and each content only
// once. In the translated copy, the translated contents have new files. All other contents have the same files as in
// the source space.
func TestTranslationOfReusableContents(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	notice := b.upload("notice.md", "---\ntitle: A notice   # kept\n---\n\n## Mind the gap\n\nRead [on](other.md), and `run it`.\n\n```\nsome code\n```\n")
	code := b.upload("code.md", "```\nonly code\n```\n")
	broken := b.upload("broken.md", "no text: \xff\xfe\n")
	b.edit(b.source,
		`{"operation":"insert_page","title":"One","document":{"document":{"nodes":[`+
			strings.Join([]string{paragraph("First."), contentBlock(notice), contentBlock(code), contentBlock(broken), contentBlock("none")}, ",")+`]}}}`,
		`{"operation":"insert_page","title":"Two","document":{"document":{"nodes":[{"type":"hint","data":{"style":"info"},"nodes":[`+paragraph("Second.")+`]},`+contentBlock(notice)+`]}}}`)
	b.create()
	var once []string
	for _, text := range b.run() {
		if strings.Contains(text, "gap") || strings.Contains(text, "Read") || strings.Contains(text, "code") {
			once = append(once, text)
		}
	}
	if len(once) != 2 || once[0] != "Mind the gap" || !strings.HasPrefix(once[1], "Read ") {
		t.Errorf("of the contents the model was sent %q", once)
	}
	copied := b.copied()
	for _, title := range []string{"ONE", "TWO"} {
		text := b.shown(copied, title)
		if !strings.Contains(text, "MIND THE GAP") || strings.Contains(text, "Mind the gap") || !strings.Contains(text, "run it") || !strings.Contains(text, "some code") {
			t.Errorf("%s: %s", title, text)
		}
	}
	if text := b.shown(copied, "ONE"); !strings.Contains(text, "only code") || !strings.Contains(text, `"`+broken+`"`) || !strings.Contains(text, `"none"`) {
		t.Errorf("what is not translated: %s", text)
	}
	if text := b.shown(b.source, "One"); !strings.Contains(text, "Mind the gap") {
		t.Errorf("the source has %s", text)
	}
	names := func() (names []string) {
		for _, file := range b.do(http.StatusOK, "GET", "/v1/spaces/"+copied+"/content", nil)["files"].([]any) {
			names = append(names, file.(map[string]any)["name"].(string))
		}
		slices.Sort(names)
		return names
	}
	if got := names(); !slices.Equal(got, []string{"broken.md", "code.md", "notice.md"}) {
		t.Errorf("the copy has the files %q", got)
	}
	// Another run changes nothing.
	revision := b.do(http.StatusOK, "GET", "/v1/spaces/"+copied, nil)["revision"]
	if sent := b.run(); len(sent) != 0 || b.do(http.StatusOK, "GET", "/v1/spaces/"+copied, nil)["revision"] != revision {
		t.Errorf("another run sent %q", sent)
	}
	// A term of the glossary changes the text of a content. Corrections of the page with this content stay.
	b.edit(copied, b.replace(copied, "TWO", "SECOND.", "Zweitens."))
	b.do(http.StatusNoContent, "PUT", "/v1/orgs/"+b.Ours.Organization.ID+"/translations-glossary", `{"operations":[{"type":"insert","translations":{"en":"gap","de":"Spalt"}}]}`)
	if sent := b.run(); !slices.Equal(sent, []string{"Mind the gap"}) {
		t.Errorf("for a term the model was sent %q", sent)
	}
	if text := b.shown(copied, "TWO"); !strings.Contains(text, "MIND THE Spalt") || !strings.Contains(text, "Zweitens.") {
		t.Errorf("with a term: %s", text)
	}
}

// TestTranslationOfContentThatIsTooLong translates a reusable content whose translation is too long. The content stays
// in the language of the source space, and a report says this.
func TestTranslationOfContentThatIsTooLong(t *testing.T) {
	t.Parallel()
	b := newTranslationBench(t)
	long := b.upload("long.md", "It grows.\n\n```\n"+strings.Repeat("x", 64<<10-40)+"\n```\n")
	b.edit(b.source, `{"operation":"insert_page","title":"One","document":{"document":{"nodes":[`+paragraph("First.")+`,`+contentBlock(long)+`]}}}`)
	b.answer = func(r chattest.Request) chattest.Answer {
		answer := b.loud(r)
		answer.Text = strings.Replace(answer.Text, "IT GROWS.", "IT GROWS"+strings.Repeat(" AND GROWS", 10)+".", 1)
		return answer
	}
	b.create()
	b.run()
	if text := b.shown(b.copied(), "ONE"); !strings.Contains(text, "It grows.") || !strings.Contains(text, "FIRST.") {
		t.Errorf("the copy has %.300s", text)
	}
	if got := b.reports(); len(got) != 1 || !strings.HasPrefix(got[0], schema.ReportRefused) {
		t.Errorf("the reports are %q", got)
	}
}
