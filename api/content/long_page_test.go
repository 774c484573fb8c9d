package content_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
)

// largest returns a text of the size of the largest page. It repeats a piece.
func largest(piece string) string {
	return strings.Repeat(piece, schema.MaxPage/len(piece)) + strings.Repeat("x", schema.MaxPage%len(piece))
}

// longPages are pages of the largest size. Some have the largest number of bytes as JSON, and others have the largest
// number of nodes.
var longPages = map[string]string{
	"chinese":  contenttest.LongChinese(),
	"page":     contenttest.LongPage(),
	"controls": largest("\x01"),
	"quotes":   "```\n" + largest(strings.Repeat(`"`, 30) + "\n")[:schema.MaxPage-9] + "\n```\n",
}

// TestLongPages writes pages of the largest size as Markdown, reads them in both formats, and writes the results. If a
// page has one more byte, it is refused by every operation that takes the text of a page.
func TestLongPages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	h := apitest.New(t)
	token := h.Ours.Tokens[schema.RoleEdit]
	quoted := func(value any) string {
		t.Helper()
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	}
	for name, text := range longPages {
		if len(text) != schema.MaxPage {
			t.Fatalf("%s has %d bytes", name, len(text))
		}
		request := h.ChangeRequest(h.Ours)
		path := h.RequestPath(request.ID)
		write := func(change string) apitest.Answer {
			return h.Do("POST", path+"/content", token, `{"changes":[`+change+`]}`)
		}
		written := write(
			`{"operation":"insert_page","title":"` + name + `","document":{"markdown":` + quoted(text) + `}}`,
		)
		if written.Status != 200 {
			t.Errorf("%s: %d %.500s", name, written.Status, written.Body)
			continue
		}
		read := func(format string) schema.RevisionPage {
			return apitest.Ask[schema.RevisionPage](
				h,
				schema.RoleRead,
				"GET",
				path+"/content/path/"+name+"?format="+format,
				nil,
				200,
			)
		}
		page := read("markdown")
		if page.Markdown == nil || *page.Markdown != text {
			t.Errorf("%s: other Markdown is read", name)
		}
		document := read("document").Document
		update := `{"operation":"update_page","page":"` + page.ID + `","document":`
		for form, body := range map[string]string{
			"document": `{"document":` + quoted(document) + `}`, "markdown": `{"markdown":` + quoted(text) + `}`,
		} {
			if len(body) > 16<<20 {
				t.Errorf("%s: %d bytes of %s", name, len(body), form)
			}
			if a := write(update + body + `}`); a.Status != 200 {
				t.Errorf("%s, %s written back: %d %.500s", name, form, a.Status, a.Body)
			}
			if again := read("document").Document; quoted(again.Nodes) != quoted(document.Nodes) {
				t.Errorf("%s: another document is read after %s was written back", name, form)
			}
		}
		t.Logf("%s: %d nodes, %d bytes of JSON", name, document.Size(), len(quoted(document)))
	}
	request := h.ChangeRequest(h.Ours)
	above := `{"markdown":` + quoted(contenttest.LongWords()+"x") + `}`
	text := `{"document":{"nodes":[{"type":"paragraph","nodes":[{"leaves":[{"text":` + quoted(
		contenttest.LongWords()+"x",
	) + `}]}]}]}}`
	many := `{"document":{"nodes":[` + strings.Repeat(
		`{"type":"paragraph"},`,
		schema.MaxDocumentNodes,
	) + `{"type":"divider"}]}}`
	wide := `{"document":{"nodes":[{"type":"integration","data":{"integration":"a","block":"b","props":{"own":` +
		quoted(
			strings.Repeat("x", 15<<20),
		) + `}}}]}}`
	list := func(most int, between string) string {
		numbers := make([]string, most)
		for i := range numbers {
			numbers[i] = strconv.Itoa(i)
		}
		return strings.Join(numbers, between)
	}
	cells := `{"document":{"nodes":[{"type":"table","data":{"view":{"type":"grid","hideHeader":false,"columns":["c` +
		list(400, `","c`) + `"]},"definition":{},"records":{"r` +
		list(300, `":{"orderIndex":"","values":{}},"r`) +
		`":{"orderIndex":"","values":{}}}}}]}}`
	for body, problem := range map[string]string{
		cells: ".document must have at most 100000 nodes and cells of tables",
		above: ".markdown must have at most 1048576 bytes in UTF-8",
		text:  ".document must have at most 1048576 bytes of text",
		many:  ".document must have at most 100000 nodes and cells of tables",
		wide:  ".document must have at most 15728640 bytes as JSON",
		`{"markdown":` + quoted(strings.Repeat("a\n\n",
			schema.MaxPage/3)) + `}`: ".markdown must have at most 100000 nodes and cells of tables",
	} {
		for place, sent := range map[string][2]string{
			"changes[0].document": {h.RequestPath(request.ID) + "/content",
				`{"changes":[{"operation":"insert_page","title":"above","document":%s}]}`},
			"pages[0].document": {"/v1/spaces/" + h.Ours.Space.ID + "/change-request-templates",
				`{"title":"above","pages":[{"title":"a","document":%s}]}`},
		} {
			e := h.WantError(h.Do("POST", sent[0], token, fmt.Sprintf(sent[1], body)), 400)
			if len(e.Details) != 1 || e.Details[0].Field+" "+e.Details[0].Problem != place+problem {
				t.Errorf("%.60s: want %s%s, got %+v", body, place, problem, e)
			}
		}
	}
	e := h.WantError(h.Do("POST", "/v1/spaces/"+h.Ours.Space.ID+"/comments", token, `{"body":`+cells+`}`), 400)
	if len(e.Details) != 1 || e.Details[0].Field+" "+e.Details[0].Problem != "body.document "+schema.ProblemNodes {
		t.Errorf("a comment with a wide table: %+v", e)
	}
	// The limit for comments is smaller.
	e = h.WantError(h.Do("POST", "/v1/spaces/"+h.Ours.Space.ID+"/comments", token, `{"body":{"markdown":`+
		quoted(strings.Repeat("ä", schema.MaxMarkdown+1))+`}}`), 400)
	if len(e.Details) != 1 || e.Details[0].Field != "body.markdown" {
		t.Errorf("a comment: %+v", e)
	}
	// These bodies need much more memory when they are decoded than when they are sent.
	for _, body := range []string{
		`{"changes":[` + strings.Repeat(`{},`, 1<<20) + `{}]}`,
		`{"changes":[{"operation":"insert_page","title":"a","target":{"a":[` + strings.Repeat(`0,`, 5<<20) + `0]}}]}`,
	} {
		h.WantError(h.Do("POST", h.RequestPath(request.ID)+"/content", token, body), 413)
	}
}
