package sites_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestAnnotationsMakeRoom checks that if the quota is reached, only the newest of Octavo's annotations of each kind
// stay. A user's new annotation must be refused instead.
func TestAnnotationsMakeRoom(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	tenant := storetest.NewTenant(t, storetest.Open(t, url), "ours")
	st, err := store.New(postgres.Config{URL: url, Quotas: postgres.Quotas{Annotations: 3}}, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Stop)
	ctx, site, user := t.Context(), tenant.Site.ID, tenant.Users[schema.RoleAdmin].ID
	at, text := time.Now(), "x"
	for i := range 4 {
		_, err := st.Sites.CreateAnnotation(ctx, site, user, sites.AnnotationChange{At: &at, Text: &text})
		if (err != nil) != (i == 3) {
			t.Fatalf("number %d by hand: %v", i+1, err)
		}
	}
	for range 3 {
		for _, published := range []bool{!tenant.Site.Published, tenant.Site.Published} {
			if _, err := st.Sites.Publish(ctx, site, published); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 5 {
		url := "https://example.com"
		if _, err := st.Sites.CreateRedirect(ctx, site, sites.NewRedirect{
			Source:      fmt.Sprint("/", i),
			Destination: schema.SiteRedirectDestination{Kind: schema.RedirectToExternal, URL: &url},
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{schema.AnnotationManual, schema.AnnotationPublication, schema.AnnotationRedirect} {
		page, err := st.Sites.ListAnnotations(ctx, site, sites.AnnotationFilter{Kinds: []string{kind}}, nil, 10)
		if err != nil || page.Total != 3 || len(page.Rows) != 3 {
			t.Errorf("%s: %d annotations, %v", kind, page.Total, err)
		}
		if kind != schema.AnnotationRedirect {
			continue
		}
		for i, row := range page.Rows {
			if want := fmt.Sprint("/", 4-i); *row.Path != want {
				t.Errorf("%s stays, not %s", *row.Path, want)
			}
		}
	}
}

// TestAnnotatedSiteIsDeleted checks that a change of a space succeeds while a site of the space is being deleted.
func TestAnnotatedSiteIsDeleted(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, st, "ours")
	request, err := st.CreateChangeRequest(t.Context(), store.NewChangeRequest{
		SpaceID: tenant.Space.ID, UserID: tenant.Users[schema.RoleAdmin].ID,
	})
	if err != nil {
		t.Fatal(err)
	}
	conn := storetest.Connect(t, url)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "delete from sites where id = $1", tenant.Site.ID); err != nil {
		t.Fatal(err)
	}
	merged := make(chan error, 1)
	go func() {
		_, err := st.MergeChangeRequest(t.Context(), request, tenant.Users[schema.RoleAdmin].ID, storetest.Allow)
		merged <- err
	}()
	waitForLock(t, storetest.Connect(t, url))
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-merged; err != nil {
		t.Error(err)
	}
	var n int
	if err := conn.QueryRow(t.Context(), "select count(*) from insights_annotations").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d annotations, %v", n, err)
	}
}

// waitForLock waits until a session of the test's database waits for another session's lock.
func waitForLock(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	eventually.True(t, "a lock that waits for the deletion", func() bool {
		var waiting bool
		err := conn.QueryRow(t.Context(), `select exists (
			select from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock')`).Scan(&waiting)
		return err == nil && waiting
	})
}
