package store_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestCollectionsFromBeforeDepth removes the depth column and adds it again while there are collections, like an upgrade.
func TestCollectionsFromBeforeDepth(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, st, "tenant")
	var parent *string
	var ids []string
	for range 3 {
		row, err := st.CreateCollection(t.Context(), store.NewCollection{OrganizationID: tenant.Organization.ID, ParentID: parent, Title: "C"})
		if err != nil {
			t.Fatal(err)
		}
		parent, ids = &row.ID, append(ids, row.ID)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	migration, err := os.ReadFile("migrations/00022_collection_depth.sql")
	if err != nil {
		t.Fatal(err)
	}
	up, down, ok := strings.Cut(string(migration), "-- +goose Down")
	if !ok {
		t.Fatal("the migration has no way down")
	}
	for _, statements := range []string{down, up} {
		if _, err := conn.Exec(t.Context(), statements, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range ids {
		var depth int
		if err := conn.QueryRow(t.Context(), "select depth from collections where id = $1", id).Scan(&depth); err != nil || depth != i+1 {
			t.Errorf("depth %d, want %d: %v", depth, i+1, err)
		}
	}
}
