package apitest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// SiteSpace returns the id of a tenant's first site space.
func (h *Harness) SiteSpace(tenant *storetest.Tenant) string {
	h.T.Helper()
	const first = "select id from site_spaces where site_id = $1 order by id limit 1"
	var id string
	err := h.DB.QueryRow(h.T.Context(), first, tenant.Site.ID).Scan(&id)
	if err != nil {
		h.T.Fatal(err)
	}
	return id
}

// writer is a database transaction of the test. It blocks API requests that write the same rows.
type writer struct {
	pgx.Tx
	h *Harness
}

func (h *Harness) Begin() writer {
	h.T.Helper()
	tx, err := h.DB.Begin(h.T.Context())
	if err != nil {
		h.T.Fatal(err)
	}
	// Rollback does nothing if the transaction has ended.
	h.T.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(h.T.Context())) })
	return writer{tx, h}
}

func (w writer) Do(statement string, arguments ...any) {
	w.h.T.Helper()
	if _, err := w.Exec(w.h.T.Context(), statement, arguments...); err != nil {
		w.h.T.Errorf("%s: %v", statement, err)
	}
}

func (w writer) Finish() {
	w.h.T.Helper()
	if err := w.Commit(w.h.T.Context()); err != nil {
		w.h.T.Fatal(err)
	}
}

// AwaitWaiting waits until this writer blocks a request. The query runs on another connection, because the writer's
// transaction does not see connections opened later.
func (w writer) AwaitWaiting() {
	w.h.T.Helper()
	eventually.Succeeds(w.h.T, "the request to wait for a writer", func() error {
		waiting := 0
		const blocked = "select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))"
		err := w.h.DB.QueryRow(w.h.T.Context(), blocked, w.Conn().PgConn().PID()).Scan(&waiting)
		if err == nil && waiting == 0 {
			err = errors.New("nobody does")
		}
		return err
	})
}

// SiteRoot returns the published URL of the site.
func (s *SiteOf) SiteRoot() string {
	return "https://docs.example.com/base/~/sites/" + s.Base[strings.LastIndex(s.Base, "/")+1:]
}

// SiteOutline renders a site structure as text. A group is title(...), and a section is title[site spaces]. The title
// of a default has a star.
func SiteOutline(items []any) string {
	words := []string{}
	for _, item := range items {
		m := item.(map[string]any)
		word := m["title"].(string)
		if m["default"] == true {
			word += "*"
		}
		switch m["object"] {
		case "site-section-group":
			word += "(" + SiteOutline(m["children"].([]any)) + ")"
		case "site-section":
			word += "[" + SiteOutline(m["siteSpaces"].([]any)) + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (s *SiteOf) WantOutline(kind, want string) {
	s.T.Helper()
	got := s.Ok("GET", "/structure", nil, 200)
	if o := SiteOutline(got["structure"].([]any)); o != want || got["type"] != kind {
		s.T.Errorf("%s %s, want %s %s", got["type"], o, kind, want)
	}
}

func (s *SiteOf) SortItem(kind, id, where, besideKind, beside string) map[string]any {
	s.T.Helper()
	body := fmt.Sprintf(`{"item":{"type":%q,"id":%q},"position":{%q:{"type":%q,"id":%q}}}`, kind, id, where, besideKind, beside)
	return s.Ok("PATCH", "/structure/sort", body, 200)
}

func (h *Harness) FreshGroupIn(s *SiteOf) string {
	h.T.Helper()
	return s.Ok("POST", "/section-groups", map[string]any{"title": "x"}, 201)["id"].(string)
}

func (h *Harness) FreshSpace(tenant *storetest.Tenant, title string) store.Space {
	h.T.Helper()
	space, err := h.Store.CreateSpace(h.T.Context(), store.NewSpace{
		OrganizationID: tenant.Organization.ID, Title: title, Emoji: "1f4d6", EditMode: "live",
	})
	if err != nil {
		h.T.Fatal(err)
	}
	return space
}

func (h *Harness) freshSiteSpace(tenant *storetest.Tenant) string {
	h.T.Helper()
	row, err := h.Store.Sites.AddSiteSpace(h.T.Context(), tenant.Site.ID, h.FreshSpace(tenant, "Fresh").ID, nil)
	return Created(h.T, row.SiteSpace.ID, err)
}

func (h *Harness) freshSection(tenant *storetest.Tenant) string {
	h.T.Helper()
	row, err := h.Store.Sites.AddSection(h.T.Context(), tenant.Site.ID, sites.NewSection{
		SpaceID: h.FreshSpace(tenant, "Fresh").ID,
	})
	return Created(h.T, row.Section.ID, err)
}

func (h *Harness) freshGroup(tenant *storetest.Tenant) string {
	h.T.Helper()
	row, err := h.Store.Sites.AddSectionGroup(h.T.Context(), tenant.Site.ID, sites.NewSectionGroup{Title: "Guides"})
	return Created(h.T, row.ID, err)
}

// SiteOf calls the operations of one site with one token.
type SiteOf struct {
	*Harness
	Base, Token string
}

// NewSite creates a site without spaces.
func (h *Harness) NewSite(body string) *SiteOf {
	h.T.Helper()
	org := "/v1/orgs/" + h.Ours.Organization.ID
	s := &SiteOf{Harness: h, Token: h.Ours.Tokens[schema.RoleAdmin]}
	s.Base = org + "/sites"
	s.Base += "/" + s.Ok("POST", "", body, 201)["id"].(string)
	return s
}

// Ok sends a request and checks the status. If the response has a body, Ok decodes it.
func (s *SiteOf) Ok(method, path string, body any, status int) map[string]any {
	s.T.Helper()
	a := s.Do(method, s.Base+path, s.Token, body)
	if a.Status != status {
		s.T.Fatalf("%s %s %v: %d %s, want %d", method, path, body, a.Status, a.Body, status)
	}
	var value map[string]any
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &value); err != nil {
			s.T.Fatal(err)
		}
	}
	return value
}

// Refused sends a request and checks that the response is an error with this status. If `field` is not empty, the first
// detail of the error must name this field.
func (s *SiteOf) Refused(method, path string, body any, status int, field string) {
	s.T.Helper()
	e := s.WantError(s.Do(method, s.Base+path, s.Token, body), status)
	if field != "" && (len(e.Details) == 0 || e.Details[0].Field != field) {
		s.T.Errorf("%s %s %v: want a detail on %q, got %+v", method, path, body, field, e)
	}
}

func (s *SiteOf) AddSpace(title, section string) string {
	s.T.Helper()
	body := map[string]any{"spaceId": s.FreshSpace(s.Ours, title).ID}
	if section != "" {
		body["sectionId"] = section
	}
	return s.Ok("POST", "/site-spaces", body, 201)["id"].(string)
}

func (s *SiteOf) AddSection(title string) string {
	s.T.Helper()
	return s.Ok("POST", "/sections", map[string]any{"spaceId": s.FreshSpace(s.Ours, title).ID}, 201)["id"].(string)
}

// SectionTheRoot creates the site's first section for the space of the home page. The site spaces at the root move into
// this section.
func (s *SiteOf) SectionTheRoot(title string) string {
	s.T.Helper()
	home := s.Items("/site-spaces?default=true", "space.id")[0]
	return s.Ok("POST", "/sections", map[string]any{"spaceId": home, "title": title}, 201)["id"].(string)
}

// Items reads a list and returns a line for every item: the values of the given members, separated by spaces.
func (s *SiteOf) Items(path string, members ...string) []string {
	s.T.Helper()
	lines := []string{}
	for _, item := range s.Ok("GET", path, nil, 200)["items"].([]any) {
		lines = append(lines, Line(item.(map[string]any), members...))
	}
	return lines
}

// Line returns the values of the given members of a resource, separated by spaces. "a.b" names the member b of the
// member a.
func Line(item map[string]any, members ...string) string {
	words := make([]string, len(members))
	for i, member := range members {
		var value any = item
		for name := range strings.SplitSeq(member, ".") {
			value = value.(map[string]any)[name]
		}
		words[i] = fmt.Sprint(value)
	}
	return strings.Join(words, " ")
}

// PublishableKey creates a publishable key of a tenant's site and returns its id and its text.
func (h *Harness) PublishableKey(tenant *storetest.Tenant, hosts ...string) (id, text string) {
	h.T.Helper()
	row, err := h.Store.Sites.CreatePublishableKey(h.T.Context(), tenant.Site.ID, sites.NewPublishableKey{
		Name: "Pages", Hosts: hosts, DailyCap: 1_000_000, RespectGPC: true,
	})
	if err != nil {
		h.T.Fatal(err)
	}
	secret, err := h.Store.PublishableKeysSecret(h.T.Context())
	if err != nil {
		h.T.Fatal(err)
	}
	return row.ID, schema.PublishableKeyText(secret, row.ID, 1)
}

// Annotation creates an annotation on a tenant's site, as a user would, and returns its id.
func (h *Harness) Annotation(tenant *storetest.Tenant) string {
	h.T.Helper()
	at, text := time.Now().Truncate(time.Millisecond), "Annotated"
	row, err := h.Store.Sites.CreateAnnotation(h.T.Context(), tenant.Site.ID, tenant.Users[schema.RoleAdmin].ID,
		sites.AnnotationChange{At: &at, Text: &text})
	if err != nil {
		h.T.Fatal(err)
	}
	return row.ID
}
