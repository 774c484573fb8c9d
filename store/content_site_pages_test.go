package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSitePages reads the pages of a site with their paths, owners and numbers of words. Links, groups, deleted pages
// and spaces of other sites must be left out. Rows of an older version have no number of words until the next start.
func TestSitePages(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant, ctx := storetest.NewTenant(t, st, "acme"), t.Context()
	admin, creator := tenant.Users[schema.RoleAdmin], tenant.Users[schema.RoleCreate]
	spaces := storetest.Spaces(t, st, tenant.Organization.ID, nil, 2)
	if _, err := st.Sites.AddSiteSpace(ctx, tenant.Site.ID, spaces[0], nil); err != nil {
		t.Fatal(err)
	}
	// merged creates a user's change request with a change, and merges it as the administrator.
	merged := func(space, user string, change store.ContentChange) {
		t.Helper()
		request, err := st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: space, UserID: user})
		if err != nil {
			t.Fatal(err)
		}
		change.UserID, change.Names = user, slices.Repeat([]string{"x"}, len(change.Pages))
		row, err := st.ChangeContent(ctx, request, change)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.MergeChangeRequest(ctx, row.ChangeRequest, admin.ID, storetest.Allow); err != nil {
			t.Fatal(err)
		}
	}
	insert := func(kind, title, ref, into string) tree.Insert {
		i := tree.Insert{Kind: kind, Ref: ref, Attributes: tree.Attributes{Title: &title}}
		if into != "" {
			i.Into = &into
		}
		if kind == tree.KindLink {
			i.Target = schema.Data{"kind": "url", "url": "https://example.com/"}
		}
		return i
	}
	text, err := store.NewDocument(store.Text{Document: schema.NewDocument(
		schema.Block("paragraph", schema.Text("Three small words.")), schema.Block("paragraph", schema.Text("漢字")))})
	if err != nil {
		t.Fatal(err)
	}
	written := insert(tree.KindDocument, "Written", "", "group")
	written.Document = &text.Hash
	merged(tenant.Space.ID, creator.ID, store.ContentChange{
		Documents: []store.Document{text}, Pages: []tree.Change{
			insert(tree.KindGroup, "Group", "group", ""), written, insert(tree.KindLink, "Link", "", ""),
			insert(tree.KindDocument, "Same", "", ""), insert(tree.KindDocument, "Gone", "", ""),
		},
	})
	merged(spaces[0], admin.ID, store.ContentChange{Pages: []tree.Change{insert(tree.KindDocument, "Same", "", "")}})
	merged(spaces[1], admin.ID, store.ContentChange{Pages: []tree.Change{insert(tree.KindDocument, "Other", "", "")}})

	read := func(of []string) map[string]schema.SitePage {
		t.Helper()
		pages, ok, err := st.SitePages(ctx, tenant.Site.ID, of, 100)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		found := map[string]schema.SitePage{}
		for _, page := range pages {
			if page.ID == "" || page.EditedAt.IsZero() {
				t.Errorf("%+v", page)
			}
			found[page.Space+" "+page.Path] = page
		}
		return found
	}
	owner := func(id, name string) *schema.SitePageOwner { return &schema.SitePageOwner{ID: id, DisplayName: name} }
	byCreator, byAdmin := owner(creator.ID, creator.DisplayName), owner(admin.ID, admin.DisplayName)
	want := map[string]schema.SitePage{
		tenant.Space.ID + " group/written": {Title: "Written", Owner: byCreator, Words: 5},
		tenant.Space.ID + " same":          {Title: "Same", Owner: byCreator},
		tenant.Space.ID + " gone":          {Title: "Gone", Owner: byCreator},
		spaces[0] + " same":                {Title: "Same", Owner: byAdmin},
	}
	check := func(when string, got, want map[string]schema.SitePage) {
		t.Helper()
		known := map[string]schema.SitePage{}
		for key, page := range got {
			known[key] = schema.SitePage{Title: page.Title, Owner: page.Owner, Words: page.Words}
		}
		if diff := cmp.Diff(want, known); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	all := read(nil)
	check("as merged", all, want)

	// Another user renames one page and deletes another page.
	gone, kept, title := all[tenant.Space.ID+" gone"], all[tenant.Space.ID+" same"], "Other title"
	merged(tenant.Space.ID, admin.ID, store.ContentChange{Pages: []tree.Change{
		tree.Delete{Page: gone.ID}, tree.Update{Page: kept.ID, Attributes: tree.Attributes{Title: &title}},
	}})
	delete(want, tenant.Space.ID+" gone")
	want[tenant.Space.ID+" same"] = schema.SitePage{Title: title, Owner: byAdmin}
	now := read(nil)
	check("after an edit", now, want)
	if edited := now[tenant.Space.ID+" same"]; !edited.EditedAt.After(kept.EditedAt) || edited.ID != kept.ID {
		t.Errorf("%+v was edited after %+v", edited, kept)
	}
	one := map[string]schema.SitePage{spaces[0] + " same": want[spaces[0]+" same"]}
	check("one space", read([]string{spaces[0], spaces[1]}), one)
	check("no space", read([]string{}), map[string]schema.SitePage{})

	// The number that the limit is compared with includes the group and the link.
	for most, fits := range map[int]bool{5: true, 4: false} {
		pages, ok, err := st.SitePages(ctx, tenant.Site.ID, nil, most)
		if ok != fits || err != nil || !ok && pages != nil {
			t.Errorf("at most %d: %d pages, %t, %v", most, len(pages), ok, err)
		}
	}
	if _, err := conn.Exec(ctx, "update documents set words = null"); err != nil {
		t.Fatal(err)
	}
	if n := read(nil)[tenant.Space.ID+" group/written"].Words; n >= 0 {
		t.Errorf("%d words of an older version", n)
	}
	if _, err := st.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	check("after the next start", read(nil), want)
	left := storetest.Collect(t, conn, "select count(*)::text from documents where words is null")
	if strings.Join(left, "") != "0" {
		t.Errorf("%v documents have no words", left)
	}
}
