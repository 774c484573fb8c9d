package insights_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

func annotationsPath(h *apitest.Harness) string {
	return sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights/annotations"
}

// annotation calls an operation as an editor of the site, and returns the annotation in the answer.
func annotation(h *apitest.Harness, method, path string, body any, status int) schema.Annotation {
	h.T.Helper()
	return apitest.Ask[schema.Annotation](h, schema.RoleCreate, method, path, body, status)
}

func listed(h *apitest.Harness, query string) schema.List[schema.Annotation] {
	h.T.Helper()
	return apitest.Ask[schema.List[schema.Annotation]](h, schema.RoleRead, "GET", annotationsPath(h)+query, nil, 200)
}

// TestAnnotationLife creates an annotation as a user, reads it by all operations, changes it and deletes it.
func TestAnnotationLife(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base, user := annotationsPath(h), h.Ours.Users[schema.RoleCreate]
	made := annotation(h, "POST", base, map[string]any{
		"text": "A talk.", "at": "2026-03-01T12:00:00.1234Z", "page": "p1", "space": h.Ours.Space.ID, "path": "/guide",
	}, 201)
	if made.Kind != schema.AnnotationManual || made.Text != "A talk." || made.Date != "" || made.Page != "p1" ||
		made.Space != h.Ours.Space.ID || made.Path != "/guide" ||
		made.CreatedBy == nil || made.CreatedBy.ID != user.ID ||
		schema.FormatMoment(made.At) != "2026-03-01T12:00:00.124Z" || made.CreatedAt.IsZero() {
		t.Fatalf("%+v", made)
	}
	one := base + "/" + made.ID
	if got := annotation(h, "GET", one, nil, 200); got.Text != made.Text || !got.At.Equal(made.At) {
		t.Errorf("%+v", got)
	}
	got := annotation(h, "PATCH", one, `{}`, 200)
	if got.Text != made.Text || got.Page != "p1" || !got.At.Equal(made.At) {
		t.Errorf("%+v", got)
	}
	got = annotation(h, "PATCH", one,
		`{"text":"Two talks.","date":"2026-03-29","page":null,"space":null,"path":null}`, 200)
	if got.Text != "Two talks." || got.Date != "2026-03-29" || got.Page+got.Space+got.Path != "" ||
		schema.FormatMoment(got.At) != "2026-03-29T00:00:00.000Z" || got.CreatedBy.ID != user.ID {
		t.Errorf("%+v", got)
	}
	// If the site's time zone changes, an annotation of a day moves with it. An annotation of a moment does not move.
	// Answers have times in milliseconds, so this time is truncated.
	before := time.Now().Truncate(time.Millisecond)
	moment := annotation(h, "POST", base, `{"text":"Now."}`, 201)
	if moment.At.Before(before) || moment.At.After(time.Now()) {
		t.Errorf("made now, at %v", moment.At)
	}
	settings := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights/settings"
	for zone, want := range map[string]string{
		"Asia/Kolkata": "2026-03-28T18:30:00.000Z", "Europe/Berlin": "2026-03-28T23:00:00.000Z",
	} {
		h.Want(200, "PATCH", settings, h.Ours.Tokens[schema.RoleAdmin], map[string]any{"timezone": zone})
		if got := annotation(h, "GET", one, nil, 200); schema.FormatMoment(got.At) != want || got.Date != "2026-03-29" {
			t.Errorf("in %s: %+v", zone, got)
		}
		if got := annotation(h, "PATCH", one, `{"date":"2026-03-29"}`, 200); schema.FormatMoment(got.At) != want {
			t.Errorf("set in %s: %+v", zone, got)
		}
	}
	if got := annotation(h, "GET", base+"/"+moment.ID, nil, 200); !got.At.Equal(moment.At) {
		t.Errorf("%v, was %v", got.At, moment.At)
	}
	if got := annotation(h, "PATCH", one, `{"at":"2026-03-01T00:00:00+02:00"}`, 200); got.Date != "" ||
		schema.FormatMoment(got.At) != "2026-02-28T22:00:00.000Z" {
		t.Errorf("%+v", got)
	}
	for range 2 {
		h.Want(http.StatusNoContent, "DELETE", one, h.Ours.Tokens[schema.RoleCreate], nil)
	}
	for method, body := range map[string]any{"GET": nil, "PATCH": `{"text":"x"}`} {
		h.WantError(h.Do(method, one, h.Ours.Tokens[schema.RoleCreate], body), http.StatusNotFound)
	}
}

// TestAnnotationsByThemselves makes changes for which Octavo adds an annotation to the site, and changes for which it
// adds none.
func TestAnnotationsByThemselves(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	site := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID)
	other := h.Want(201, "POST", "/v1/orgs/"+h.Ours.Organization.ID+"/sites", admin,
		map[string]any{"title": "Other", "spaces": []string{h.Ours.Space.ID}})["id"].(string)
	// want checks that there is exactly one new annotation, and checks its members.
	seen, began := listed(h, "").Count, time.Now().Truncate(time.Millisecond)
	want := func(kind, text, path string, pages int) schema.Annotation {
		t.Helper()
		list := listed(h, "")
		if seen++; list.Count != seen {
			t.Fatalf("%s: %d annotations, want %d", text, list.Count, seen)
		}
		a := list.Items[0]
		named := len(a.Pages)
		if a.Page != "" {
			named++
		}
		if a.Kind != kind || a.Text != text || a.Path != path || named != pages || a.CreatedBy == nil ||
			a.CreatedBy.ID != h.Ours.Users[schema.RoleAdmin].ID || a.At.Before(began) || a.At.After(time.Now()) {
			t.Errorf("%+v, want %s %q", a, kind, text)
		}
		return a
	}
	wantNone := func(what string) {
		t.Helper()
		if list := listed(h, ""); list.Count != seen {
			t.Errorf("%s annotates: %+v", what, list.Items[0])
		}
	}

	page, _, _ := h.MergedPage(h.Ours)
	title := h.Want(200, "GET", "/v1/spaces/"+h.Ours.Space.ID, admin, nil)["title"].(string)
	merged := want(schema.AnnotationMerge, "Change request 1 was merged into "+title+".", "", 1)
	if merged.Page != page || merged.Space != h.Ours.Space.ID || merged.ChangeRequest == "" {
		t.Errorf("%+v", merged)
	}
	// The merge adds an annotation to each site that shows the space.
	elsewhere := apitest.Ask[schema.List[schema.Annotation]](h, schema.RoleAdmin, "GET",
		sitePath(h.Ours.Organization.ID, other)+"/insights/annotations", nil, 200)
	if elsewhere.Count != 1 || elsewhere.Items[0].ChangeRequest != merged.ChangeRequest ||
		elsewhere.Items[0].ID == merged.ID {
		t.Errorf("%+v", elsewhere)
	}
	if list := h.Want(200, "GET", sitePath(h.Theirs.Organization.ID, h.Theirs.Site.ID)+"/insights/annotations",
		h.Theirs.Tokens[schema.RoleAdmin], nil); list["count"] != 0.0 {
		t.Errorf("%v", list)
	}

	h.Want(200, "POST", site+"/unpublish", admin, nil) // The site may already be published.
	seen = listed(h, "").Count
	h.Want(200, "POST", site+"/unpublish", admin, nil)
	wantNone("unpublishing again")
	h.Want(200, "POST", site+"/publish", admin, nil)
	want(schema.AnnotationPublication, "The site was published.", "", 0)
	h.Want(200, "POST", site+"/publish", admin, nil)
	wantNone("publishing again")
	h.Want(200, "POST", site+"/unpublish", admin, nil)
	want(schema.AnnotationPublication, "The site was unpublished.", "", 0)

	external := map[string]any{"kind": "external", "url": "https://example.com/new"}
	redirect := func(source string, draft bool) string {
		t.Helper()
		return h.Want(201, "POST", site+"/redirects", admin,
			map[string]any{"source": source, "destination": external, "draft": draft})["id"].(string)
	}
	id := redirect("/old", false)
	want(schema.AnnotationRedirect, "A redirect of /old was created.", "/old", 0)
	h.Want(200, "PATCH", site+"/redirects/"+id, admin, map[string]any{"source": "/old", "destination": external})
	wantNone("a change of nothing")
	h.Want(200, "PATCH", site+"/redirects/"+id, admin, `{"source":"/older"}`)
	want(schema.AnnotationRedirect, "A redirect of /older was changed.", "/older", 0)
	again := map[string]any{"source": "/older", "destination": external}
	h.WantError(h.Do("POST", site+"/redirects", admin, again), 409)
	wantNone("a refused redirect")
	draft := redirect("/draft", true)
	wantNone("a draft")
	h.Want(200, "PATCH", site+"/redirects/"+draft, admin, `{"draft":false}`)
	want(schema.AnnotationRedirect, "A redirect of /draft was changed.", "/draft", 0)
	h.WantError(h.Do("PATCH", site+"/redirects/"+schema.NewID(), admin, `{"draft":false}`), 404)
	h.Want(204, "DELETE", site+"/redirects/"+draft, admin, nil)
	wantNone("a deletion")

	// Users can delete the annotations that Octavo has added, and cannot change them.
	one := annotationsPath(h) + "/" + merged.ID
	h.WantError(h.Do("PATCH", one, admin, `{"text":"x"}`), http.StatusConflict)
	h.Want(204, "DELETE", one, admin, nil)
	h.WantError(h.Do("GET", one, admin, nil), http.StatusNotFound)
	// All annotations are deleted with the site.
	h.Want(204, "DELETE", site, admin, nil)
	h.Exec("do $$ begin " +
		"assert (select count(*) = 1 from insights_annotations), 'annotations of a deleted site'; end $$")
}

// TestAnnotationLists reads all pages of a list of annotations, some with the same time, while annotations are added
// and deleted. It also filters the list.
func TestAnnotationLists(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := annotationsPath(h)
	var all []string // The newest annotation is the last.
	for i := range 9 {
		at := fmt.Sprintf("2026-03-%02dT00:00:00Z", 1+i/3)
		body := map[string]any{"text": "x", "at": at, "page": fmt.Sprint("p", i%2)}
		all = append(all, annotation(h, "POST", base, body, 201).ID)
	}
	h.MergedPage(h.Ours)
	slices.Reverse(all)
	ids := func(query string) (ids []string) {
		t.Helper()
		page := ""
		for {
			list := listed(h, query+"&limit=2"+page)
			for _, a := range list.Items {
				ids = append(ids, a.ID)
			}
			if list.Next == nil {
				if list.Count != int64(len(ids)) {
					t.Errorf("%s: %d of %d", query, len(ids), list.Count)
				}
				return ids
			}
			page = "&page=" + url.QueryEscape(list.Next.Page)
		}
	}
	for query, want := range map[string][]string{
		"?kind=manual":                  all,
		"?kind=manual&kind=publication": all,
		"?kind=import":                  nil,
		"?from=2026-03-02T00:00:00Z&to=2026-03-03T00:00:00Z":             all[3:6],
		"?from=2026-03-03T00:00:00%2B00:00&to=2026-03-03T00:00:00.0001Z": all[:3],
		"?to=2026-03-01T00:00:00Z":                                       nil,
		"?pageId=p0&to=2026-03-02T00:00:00Z":                             {all[6], all[8]},
	} {
		if got := ids(query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	first := listed(h, "?kind=manual&limit=4")
	h.Want(204, "DELETE", base+"/"+first.Items[3].ID, h.Ours.Tokens[schema.RoleCreate], nil)
	annotation(h, "POST", base, `{"text":"late","at":"2026-04-01T00:00:00Z"}`, 201)
	next := listed(h, "?kind=manual&limit=100&page="+url.QueryEscape(first.Next.Page))
	if len(next.Items) != 5 || next.Items[0].ID != all[4] {
		t.Errorf("%+v", next)
	}
	read := h.Ours.Tokens[schema.RoleRead]
	for _, query := range []string{
		"?page=" + url.QueryEscape(first.Next.Page), "?kind=incident", "?from=yesterday", "?from=2026-03-01", "?page=x",
	} {
		h.WantError(h.Do("GET", base+query, read, nil), http.StatusBadRequest)
	}
}

// TestAnnotationRights: editors of a site can write its annotations, and callers who may query its events can read
// them. They cannot do so on other sites.
func TestAnnotationRights(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := annotationsPath(h)
	id, foreign := h.Annotation(h.Ours), h.Annotation(h.Theirs)
	writes := [][3]string{
		{"POST", base, `{"text":"x"}`}, {"PATCH", base + "/" + id, `{"text":"x"}`}, {"DELETE", base + "/" + id, ""},
	}
	reads := [][3]string{{"GET", base, ""}, {"GET", base + "/" + id, ""}}
	call := func(token string, c [3]string) apitest.Answer {
		if c[2] == "" {
			return h.Do(c[0], c[1], token, nil)
		}
		return h.Do(c[0], c[1], token, c[2])
	}
	for _, role := range []schema.Role{schema.RoleRead, schema.RoleEdit, schema.RoleReview} {
		for _, c := range writes {
			h.WantError(call(h.Ours.Tokens[role], c), http.StatusForbidden)
		}
		for _, c := range reads {
			if a := call(h.Ours.Tokens[role], c); a.Status != 200 {
				t.Errorf("%v for %v: %d", c, role, a.Status)
			}
		}
	}
	for _, c := range append(writes, reads...) {
		h.WantError(call(h.Ours.SiteKey, c), http.StatusForbidden)
		h.WantError(call(h.Theirs.Tokens[schema.RoleAdmin], c), http.StatusNotFound)
		h.WantError(call("", c), http.StatusUnauthorized)
	}
	admin := h.Ours.Tokens[schema.RoleAdmin]
	h.WantError(h.Do("GET", base+"/"+foreign, admin, nil), http.StatusNotFound)
	h.WantError(h.Do("PATCH", base+"/"+foreign, admin, `{"text":"x"}`), http.StatusNotFound)
	h.Want(204, "DELETE", base+"/"+foreign, admin, nil)
	theirs := sitePath(h.Theirs.Organization.ID, h.Theirs.Site.ID) + "/insights/annotations/" + foreign
	if got := h.Want(200, "GET", theirs, h.Theirs.Tokens[schema.RoleAdmin], nil); got["text"] != "Annotated" {
		t.Errorf("%v", got)
	}
	// A space of another organization is refused with the same error as a space that does not exist.
	for _, space := range []string{h.Theirs.Space.ID, schema.NewID()} {
		e := h.WantError(h.Do("POST", base, admin, map[string]any{"text": "x", "space": space}), http.StatusBadRequest)
		if e.Details[0].Field != "space" {
			t.Errorf("%+v", e)
		}
	}
}

// TestAnnotationTexts: answers have the texts of annotations exactly as they were sent, even with unusual characters.
// Texts that cannot be stored or shown are refused.
func TestAnnotationTexts(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base, token := annotationsPath(h), h.Ours.Tokens[schema.RoleCreate]
	for _, text := range []string{
		"'; drop table insights_annotations; --", `<script>alert(1)</script>`, `\u0041 "{number}" {space} $1 %s`,
		"a\nb\tc\r",
		"\u202eright to left\u2066", "👩‍🔬 é e\u0301 \ufeff", strings.Repeat("界", 500), "=cmd()", "\u0001\u007f",
	} {
		body := map[string]any{"text": text, "path": "/%2e%2e/é?<b>"}
		if got := annotation(h, "POST", base, body, 201); got.Text != text {
			t.Errorf("%q, sent %q", got.Text, text)
		}
	}
	for name, body := range map[string]map[string]any{
		"text":  {},
		"text ": {"text": nil},
		"text0": {"text": ""}, "text1": {"text": " \n"},
		"text2": {"text": strings.Repeat("x", 501)}, "text3": {"text": "a\x00b"},
		"text4": {"text": 5},
		"date":  {"text": "x", "at": "2026-03-01T00:00:00Z", "date": "2026-03-01"},
		"date0": {"text": "x", "date": "2026-02-30"}, "date1": {"text": "x", "date": "1970-12-31"},
		"date2": {"text": "x", "date": "2105-01-01"},
		"at":    {"text": "x", "at": "2026-03-01"}, "at1": {"text": "x", "at": "0001-01-01T00:00:00Z"},
		"page": {"text": "x", "page": "a b"}, "page1": {"text": "x", "page": strings.Repeat("x", 65)},
		"path": {"text": "x", "path": "guide"}, "path1": {"text": "x", "path": "/a\nb"},
		"path2": {"text": "x", "path": "/" + strings.Repeat("x", 1024)},
		"space": {"text": "x", "space": ""},
		"kind":  {"text": "x", "kind": "merge"}, "createdBy": {"text": "x", "createdBy": "me"},
	} {
		member := strings.TrimRight(name, " 0123456789")
		e := h.WantError(h.Do("POST", base, token, body), http.StatusBadRequest)
		if !strings.Contains(e.Message, member) {
			t.Errorf("%v: %+v", body, e)
		}
	}
	// The text of an annotation that Octavo adds is shortened if it is too long. A placeholder in the title of a space
	// is not replaced.
	h.Exec("update spaces set title = $2 where id = $1", h.Ours.Space.ID, "{number}"+strings.Repeat("界", 600))
	h.MergedPage(h.Ours)
	got := listed(h, "?kind=merge").Items[0].Text
	if want := "Change request 1 was merged into {number}界"; !strings.HasPrefix(got, want) || len([]rune(got)) != 500 {
		t.Errorf("%q", got)
	}
}
