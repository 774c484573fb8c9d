package store_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/issues"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// statements counts the statements that were sent to Postgres. A batch is counted once, because it takes one round
// trip.
type statements struct{ n atomic.Int64 }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	s.n.Add(1)
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	s.n.Add(1)
	return ctx
}

func (*statements) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// counted returns a Store whose statements are counted.
func counted(t *testing.T, url string) (*store.Store, *statements) {
	t.Helper()
	st, err := store.New(postgres.Config{
		URL: url, Quotas: postgres.Quotas{Organizations: 100, Sites: 1000, Spaces: 1000, Conversations: 10_000},
	}, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var sent statements
	store.Trace(st, &sent)
	if err := st.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Stop)
	return st, &sent
}

// TestOperationsTakeFewStatements runs the main operations and counts their statements, including statements that begin
// and end transactions. Operations on lists must take equally many statements for long and short lists.
func TestOperationsTakeFewStatements(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	other := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, other, "acme")
	st, sent := counted(t, url)
	ctx, org, site, admin := t.Context(), tenant.Organization.ID, tenant.Site.ID, tenant.Users[schema.RoleAdmin].ID
	viewer := postgres.Viewer{UserID: tenant.Users[schema.RoleRead].ID, Role: schema.RoleRead}
	spaces := storetest.Spaces(t, st, org, nil, 40)
	// The first section is not counted, because it also creates a section for the root. From the second section on,
	// each section takes the same number of statements.
	if _, err := st.Sites.AddSection(ctx, site, sites.NewSection{SpaceID: spaces[0]}); err != nil {
		t.Fatal(err)
	}
	next := 0
	fresh := func() string { next++; return spaces[next] }
	section := func() string {
		row, err := st.Sites.AddSection(ctx, site, sites.NewSection{SpaceID: fresh()})
		if err != nil {
			t.Fatal(err)
		}
		return row.Section.ID
	}
	collection, err := st.CreateCollection(ctx, store.NewCollection{OrganizationID: org, Title: "Guides"})
	if err != nil {
		t.Fatal(err)
	}
	request, err := st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: tenant.Space.ID, UserID: admin})
	if err != nil {
		t.Fatal(err)
	}
	var sections []string
	for range 6 {
		sections = append(sections, section())
	}
	conversations := func(n int) []issues.NewConversation {
		list := make([]issues.NewConversation, n)
		for i := range list {
			list[i] = issues.NewConversation{
				SourceID: fmt.Sprint("c", i), Parts: []byte("[]"), Metadata: []byte("{}"),
				Issues: []issues.NewIssue{{Title: "It fails", Details: []byte("{}"), Impact: "high"}},
			}
		}
		return list
	}
	glossary := func(n int) (list []store.GlossaryOperation) {
		for range n {
			list = append(list, store.GlossaryOperation{Type: schema.GlossaryInsert, Translations: map[string]string{"en": "word"}})
		}
		return list
	}
	invited := func(n int) (list []orgs.PersonToInvite) {
		for i := range n {
			list = append(list, orgs.PersonToInvite{Email: fmt.Sprintf("p%d@example.com", i)})
		}
		return list
	}
	markdown, above, below := "Text", "Above", "Deep"
	written, err := store.NewDocument(store.Text{Document: schema.NewDocument(), Markdown: &markdown})
	if err != nil {
		t.Fatal(err)
	}
	edited, err := st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: tenant.Space.ID, UserID: admin})
	if err != nil {
		t.Fatal(err)
	}
	changed, err := st.ChangeContent(ctx, edited, store.ContentChange{
		UserID: admin, Names: []string{"a", "b"}, Documents: []store.Document{written}, Pages: []tree.Change{
			tree.Insert{Kind: tree.KindDocument, Ref: "above", Attributes: tree.Attributes{Title: &above}},
			tree.Insert{Kind: tree.KindDocument, Into: schema.Some("above").Value, Attributes: tree.Attributes{Title: &below, Document: &written.Hash}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	head := changed.ChangeRequest.Revision
	tops, err := other.Pages(ctx, tenant.Space.ID, head) // read through other, so that st does not cache the tree yet
	if err != nil {
		t.Fatal(err)
	}
	deep := tops[len(tops)-1].Pages[0].ID
	place, body := store.Place{SpaceID: tenant.Space.ID}, store.CommentBody{Sent: []byte(`{"markdown":"a"}`), Made: []byte(`{"nodes":[]}`)}
	for range 30 {
		if _, err := st.CreateComment(ctx, store.NewComment{Place: place, UserID: admin, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Orgs.SAMLRequestKey(ctx); err != nil { // the first call creates the key
		t.Fatal(err)
	}
	users := []string{tenant.Users[schema.RoleRead].ID, tenant.Users[schema.RoleEdit].ID, tenant.Users[schema.RoleReview].ID}
	// River is used once before the count, because at its first use it queries the kind of database.
	storetest.Enqueue(t, storetest.Connect(t, url), schema.IndexSpace{Organization: "any", Space: "any"})
	for _, op := range []struct {
		name string
		most int64
		run  func() error
	}{
		{"read a key", 1, func() error { _, err := st.Orgs.SAMLRequestKey(ctx); return err }},
		{"read a site", 1, func() error { _, err := st.Sites.Site(ctx, admin, org, site); return err }},
		{"read a site for its readers", 3, func() error {
			_, err := st.Sites.Published(ctx, sites.PublishedRef{Site: site, ShareKey: "none"})
			return err
		}},
		{"read it again", 1, func() error { _, err := st.Sites.Published(ctx, sites.PublishedRef{Site: site}); return err }},
		{"read a space", 1, func() error { _, err := st.Space(ctx, admin, tenant.Space.ID); return err }},
		{"find the places of spaces", 1, func() error { _, err := st.Sites.PlacesOfSpaces(ctx, spaces...); return err }},
		{"read a collection", 1, func() error { _, err := st.Collection(ctx, admin, collection.ID); return err }},
		{"list sites", 2, func() error { _, err := st.Sites.List(ctx, org, sites.Filter{}, "", 50); return err }},
		{"list spaces", 3, func() error { _, err := st.ListSpaces(ctx, viewer, org, "", 50); return err }},
		{"list members", 3, func() error { _, err := st.Orgs.ListMembers(ctx, org, orgs.MemberFilter{}, nil, 50); return err }},
		{"list sections", 3, func() error { _, err := st.Sites.ListSections(ctx, site, "", 50); return err }},
		{"read the structure of a site", 5, func() error { _, err := st.Sites.Structure(ctx, site); return err }},
		{"read the customizations of a site", 1, func() error {
			_, overrides, err := st.Sites.Customizations(ctx, site)
			if len(overrides) < len(sections) {
				err = errors.Join(err, fmt.Errorf("%d site spaces", len(overrides)))
			}
			return err
		}},
		{"create a site of one space", 7, func() error {
			_, err := st.Sites.Create(ctx, sites.NewSite{
				OrganizationID: org, Type: "basic", Title: "A", Visibility: "public", Spaces: spaces[:1],
			})
			return err
		}},
		{"create a site of many spaces", 7, func() error {
			_, err := st.Sites.Create(ctx, sites.NewSite{
				OrganizationID: org, Type: "basic", Title: "A", Visibility: "public", Spaces: spaces[:30],
			})
			return err
		}},
		{"add a section", 10, func() error { _, err := st.Sites.AddSection(ctx, site, sites.NewSection{SpaceID: fresh()}); return err }},
		{"add a site space", 8, func() error { _, err := st.Sites.AddSiteSpace(ctx, site, fresh(), &sections[0]); return err }},
		{"change a section", 6, func() error {
			_, err := st.Sites.UpdateSection(ctx, site, sections[0], sites.SectionChange{Title: &tenant.Site.Title})
			return err
		}},
		{"group one section", 9, func() error {
			_, err := st.Sites.AddSectionGroup(ctx, site, sites.NewSectionGroup{Title: "G", Sections: sections[:1]})
			return err
		}},
		{"group many sections", 9, func() error {
			_, err := st.Sites.AddSectionGroup(ctx, site, sites.NewSectionGroup{Title: "G", Sections: sections})
			return err
		}},
		{"create a space", 7, func() error {
			_, err := st.CreateSpace(ctx, store.NewSpace{OrganizationID: org, Title: "S", Emoji: "x", EditMode: "live"})
			return err
		}},
		{"ingest a conversation", 12, func() error {
			return st.Issues.IngestConversations(ctx, org, "email", time.Now(), conversations(1))
		}},
		{"ingest many conversations", 10, func() error {
			return st.Issues.IngestConversations(ctx, org, "chat", time.Now(), conversations(200))
		}},
		{"add many terms", 5, func() error { _, err := st.UpdateGlossary(ctx, org, glossary(500)); return err }},
		{"invite many", 4, func() error { _, err := st.Orgs.InviteByEmail(ctx, org, admin, invited(200), false); return err }},
		{"read the documents of many comments", 5, func() error {
			comments, err := st.ListComments(ctx, place, store.CommentFilter{}, false, nil, 50)
			var rows []*store.CommentRow
			for i := range comments.Rows {
				rows = append(rows, &comments.Rows[i])
			}
			if err = errors.Join(err, st.ReadDocuments(ctx, rows)); len(rows) != 30 {
				err = errors.Join(err, fmt.Errorf("%d comments", len(rows)))
			}
			for _, row := range rows {
				made, madeErr := st.CommentDocument(ctx, *row, nil)
				if err = errors.Join(err, madeErr); string(made) != `{"nodes": []}` {
					err = errors.Join(err, fmt.Errorf("made %s", made))
				}
			}
			return err
		}},
		{"read the text of a page", 1, func() error {
			_, text, err := st.PageText(ctx, tenant.Space.ID, head, deep)
			if err == nil && text.Markdown == nil {
				err = errors.New("no text")
			}
			return err
		}},
		{"read a page with its text", 3, func() error {
			node, _, err := st.PageText(ctx, tenant.Space.ID, head, deep)
			placed, placedErr := st.Placed(ctx, tenant.Space.ID, head, node)
			if err = errors.Join(err, placedErr); placed.Path != "above/deep" {
				err = errors.Join(err, fmt.Errorf("path %q", placed.Path))
			}
			return err
		}},
		{"resolve the links of a page", 1, func() error {
			found, err := st.PagesAt(ctx, tenant.Space.ID, head, []string{"above/deep", "above", "nothing", "above/nothing"})
			if len(found) != 2 || found["above/deep"] != deep {
				err = errors.Join(err, fmt.Errorf("found %v", found))
			}
			return err
		}},
		{"write the links of a page", 1, func() error {
			found, err := st.PathsOf(ctx, tenant.Space.ID, head, []string{deep, "nothing"})
			if len(found) != 1 || found[deep] != "above/deep" {
				err = errors.Join(err, fmt.Errorf("found %v", found))
			}
			return err
		}},
		{"read the pages of a revision", 1, func() error { _, err := st.Pages(ctx, tenant.Space.ID, head); return err }},
		{"read the pages of a revision again", 0, func() error { _, err := st.Pages(ctx, tenant.Space.ID, head); return err }},
		{"read a page of them with its text", 1, func() error {
			node, _, err := st.PageText(ctx, tenant.Space.ID, head, deep)
			placed, placedErr := st.Placed(ctx, tenant.Space.ID, head, node)
			if err = errors.Join(err, placedErr); placed.Path != "above/deep" {
				err = errors.Join(err, fmt.Errorf("path %q", placed.Path))
			}
			return err
		}},
		{"ask for reviews", 8, func() error {
			_, err := st.RequestReviewers(ctx, store.ReviewRequest{ChangeRequestID: request.ID, UserIDs: users, RequestedBy: admin})
			return err
		}},
		{"merge", 16, func() error {
			_, err := st.MergeChangeRequest(ctx, request, admin, storetest.Allow)
			return err
		}},
	} {
		before := sent.n.Load()
		if err := op.run(); err != nil {
			t.Errorf("%s: %v", op.name, err)
			continue
		}
		if n := sent.n.Load() - before; n > op.most {
			t.Errorf("%s takes %d statements, want at most %d", op.name, n, op.most)
		} else if n < op.most {
			t.Errorf("%s takes only %d statements: lower its bound of %d", op.name, n, op.most)
		}
	}
}

// TestEveryQueryIsCalled fails for a generated query that no code calls.
func TestEveryQueryIsCalled(t *testing.T) {
	t.Parallel()
	parse := func(pattern string) (files []*ast.File) {
		t.Helper()
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		return files
	}
	called := map[string]bool{}
	for _, file := range append(parse("*.go"), parse("*/*.go")...) {
		if file.Name.Name == "db" {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				called[selector.Sel.Name] = true
			}
			return true
		})
	}
	for _, file := range append(parse("db/*.sql.go"), parse("db/batch.go")...) {
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name != "WithTx" && f.Name.Name != "Close" && !called[f.Name.Name] {
				t.Errorf("nothing calls %s", f.Name.Name)
			}
		}
	}
}
