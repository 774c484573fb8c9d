package sites_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestPublishedSitesAreNeverOutOfDate changes a site in every way that its readers see. After each change, it compares
// the results of two stores. The first store has cached the site before the change. The second store has empty caches.
func TestPublishedSitesAreNeverOutOfDate(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, st, "acme")
	ctx, site := t.Context(), tenant.Site.ID
	spaces := storetest.Spaces(t, st, tenant.Organization.ID, nil, 3)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(ctx)) })
	sql := func(text string) func() error {
		return func() error {
			tag, err := conn.Exec(ctx, text, site)
			if err == nil && tag.RowsAffected() == 0 {
				t.Errorf("%s changed no row", text)
			}
			return err
		}
	}
	var section string
	refs := []sites.PublishedRef{
		{Site: site}, {Site: site, ShareKey: "key"}, {Site: site, ShareLink: "link"}, {Hostname: "docs.example.com"},
	}
	for _, change := range []struct {
		name string
		run  func() error
	}{
		{"nothing", func() error { return nil }},
		{"add a site space", func() error { _, err := st.Sites.AddSiteSpace(ctx, site, spaces[0], nil); return err }},
		{"add a section", func() error {
			row, err := st.Sites.AddSection(ctx, site, sites.NewSection{SpaceID: spaces[1]})
			section = row.Section.ID
			return err
		}},
		{"add a site space to a section", func() error { _, err := st.Sites.AddSiteSpace(ctx, site, spaces[2], &section); return err }},
		{"publish", sql(`update sites set published = not published where id = $1`)},
		{"claim a hostname", sql(`update sites set hostname = 'docs.example.com' where id = $1`)},
		{"prove it", func() error {
			_, err := st.Sites.ProveHostname(ctx, site, "docs.example.com", postgres.ProvedByOperator)
			return err
		}},
		{"name a site space", sql(`update site_spaces set path = 'p' || id where site_id = $1`)},
		{"name a section", sql(`update site_sections set path = 's' || id where site_id = $1`)},
		{"hide a section from some", sql(`update site_sections set condition = 'visitor.claims.beta' where site_id = $1`)},
		{"hide a site space from some", sql(`update site_spaces set condition = 'visitor.claims.beta' where site_id = $1`)},
		{"order the site spaces", sql(`update site_spaces set rank = md5(id) where site_id = $1`)},
		{"share", sql(`insert into share_links (id, site_id, key, name, active) values ('link', $1, 'key', 'Link', true)`)},
		{"share no more", sql(`update share_links set active = false where site_id = $1`)},
		{"redirect", sql(`insert into site_redirects (id, site_id, source, source_key, kind, url) values ('r', $1, '/old', '/old', 'external', 'https://example.com')`)},
		{"redirect no more", sql(`delete from site_redirects where site_id = $1`)},
		{"remove a site space", sql(`delete from site_spaces where site_id = $1 and section_id is not null and not is_default`)},
		{"give the hostname up", sql(`update sites set hostname = null, hostname_proved_by = null, hostname_proved_at = null where id = $1`)},
		{"remove the site", sql(`delete from sites where id = $1`)},
	} {
		if err := change.run(); err != nil {
			t.Fatalf("%s: %v", change.name, err)
		}
		fresh := storetest.Open(t, url)
		for _, ref := range refs {
			got, gotErr := st.Sites.Published(ctx, ref)
			want, wantErr := fresh.Sites.Published(ctx, ref)
			if schema.AsError(gotErr) != schema.AsError(wantErr) && gotErr.Error() != wantErr.Error() {
				t.Fatalf("%s: %+v gives %v, want %v", change.name, ref, gotErr, wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %+v is out of date (-fresh +kept):\n%s", change.name, ref, diff)
			}
		}
	}
}
