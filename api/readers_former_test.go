package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// TestReadersSeeNothingFormer calls the operations for readers. The site, the space and everything in it had the word
// "Formerly" in their earlier names, and no answer may have this word. Change requests change the current content.
func TestReadersSeeNothingFormer(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	claims := published(h, h.Ours)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	site, space := "/v1/orgs/"+claims.Organization+"/sites/"+claims.Site, "/v1/spaces/"+claims.Space
	rename := func(title string) {
		t.Helper()
		h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"title": title + " site"})
		h.Want(http.StatusOK, "PATCH", space, admin, map[string]any{"title": title + " space", "emoji": "1f600"})
	}
	named := func(title, emoji string) string {
		return fmt.Sprintf(
			`"title":"%s page","description":"%[1]s described","slug":"%s-page","emoji":"%s","icon":"%[2]s-icon"`,
			title,
			strings.ToLower(title),
			emoji,
		)
	}
	target := func(title string) string {
		return `"target":{"kind":"url","url":"https://` + strings.ToLower(title) + `.example/"}`
	}
	text := func(title string) string { return `"document":{"markdown":"` + title + ` written."}` }

	rename("Formerly")
	first := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleAdmin, first.ID,
		`{"operation":"insert_page","ref":"p",`+named("Formerly", "1f47b")+`,`+text("Formerly")+`}`,
		`{"operation":"insert_page","into":"p","title":"Below","slug":"below"}`,
		`{"operation":"insert_page","into":"p","title":"Formerly gone","slug":"formerly-gone",`+
			`"document":{"markdown":"Gone."}}`,
		`{"operation":"insert_page","type":"link","title":"Formerly linked",`+target("Formerly")+`}`,
		`{"operation":"insert_page","type":"group","title":"Formerly grouped","slug":"formerly-grouped"}`)
	h.MergeNow(first.ID)
	ids := map[string]string{}
	var each func(pages []schema.RevisionPage)
	each = func(pages []schema.RevisionPage) {
		for i := range pages {
			ids[pages[i].Title] = pages[i].ID
			each(pages[i].Pages)
		}
	}
	each(apitest.Ask[schema.RevisionPages](h, schema.RoleAdmin, "GET", space+"/content/pages", nil, 200).Pages)
	page, below := ids["Formerly page"], ids["Below"]
	edited := func(title, emoji string) []string {
		return []string{
			`{"operation":"update_page","page":"` + page + `",` + named(title, emoji) + `,` + text(title) + `}`,
			`{"operation":"update_page","page":"` + ids["Formerly linked"] + `","title":"` + title + ` linked",` +
				target(
					title,
				) + `}`,
			`{"operation":"update_page","page":"` + ids["Formerly grouped"] + `","title":"` + title +
				` grouped","slug":"` +
				strings.ToLower(title) + `-grouped"}`,
		}
	}
	rename("Present")
	second := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleAdmin, second.ID, append(edited("Present", "1f600"),
		`{"operation":"update_page","page":"`+below+`","into":null}`,
		`{"operation":"delete_page","page":"`+ids["Formerly gone"]+`"}`)...)
	revision := h.MergeNow(second.ID).Revision
	draft := h.ChangeRequest(h.Ours)
	h.ChangeContent(
		schema.RoleAdmin,
		draft.ID,
		append(edited("Drafted", "1f680"), `{"operation":"delete_page","page":"`+below+`"}`)...)
	h.RunJobs()

	user := h.Ours.Tokens[schema.RoleRead]
	for _, path := range []string{
		space + "/revisions/" + revision + "/changes?limit=100", h.RequestPath(draft.ID) + "/changes?limit=100",
	} {
		a := h.Do("GET", path, user, nil)
		if told := string(a.Body); !strings.Contains(told, `"before"`) || !strings.Contains(told, "page_deleted") {
			t.Errorf("a member is told no former state: %d %s", a.Status, told)
		}
	}
	preview := claims
	preview.ChangeRequest, preview.User = draft.ID, h.Ours.Users[schema.RoleRead].ID
	tokens := map[string]string{"reader": siteToken(h, claims), "preview": siteToken(h, preview)}
	fill := strings.NewReplacer("{pageId}", page, "{revisionId}", revision, "{changeRequestId}", draft.ID)
	called := map[string]int{}
	check := func(t *testing.T, h *apitest.Harness, who, method, path string, body any, inDraft bool) {
		t.Helper()
		a := h.Do(method, path, tokens[who], body)
		if a.Status < 300 {
			called[who]++
		}
		told := strings.ToLower(string(a.Body))
		never := []string{"formerly", "1f47b", `"before"`, "deleted"}
		if inDraft {
			never = append(
				never,
				"present page",
				"present-page",
				"present described",
				"present.example",
				"present linked",
				"present-grouped",
			)
		}
		for _, word := range never {
			if strings.Contains(told, word) {
				t.Errorf("%s: %s %s answers %q: %d %s", who, method, path, word, a.Status, a.Body)
			}
		}
	}
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if !op.Scope.Readers {
			return
		}
		inDraft, title := op.Scope.Object == access.OnChangeRequest, "present"
		if inDraft {
			title = "drafted"
		}
		filled := *op
		filled.Path = strings.ReplaceAll(fill.Replace(op.Path), "{pagePath}", title+"-page")
		path, body := h.Example(&filled, h.Ours)
		for who := range tokens {
			check(t, h, who, op.Method, path, body, inDraft)
		}
	})
	for who := range tokens {
		for _, path := range []string{
			space + "/search?query=formerly", site + "/search?query=formerly", space + "/content/path/formerly-page",
			space + "/content/path/formerly-page%2Fbelow", space + "/content/path/formerly-grouped",
			space + "/content/page/" + ids["Formerly gone"], space + "/content/page/" + page + "?format=markdown",
			space + "/revisions/" + revision + "/changes?limit=100&metadata=false&computed=false",
		} {
			check(t, h, who, "GET", path, nil, false)
		}
		check(t, h, who, "GET", h.RequestPath(draft.ID)+"/changes?limit=100", nil, true)
	}
	if called["reader"] < 20 || called["preview"] < called["reader"]+6 {
		t.Errorf("too few calls were answered: %v", called)
	}
}
