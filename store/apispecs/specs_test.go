package apispecs_test

import (
	"fmt"
	"testing"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/apispecs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestOldVersionsOfSpecsAreDeleted checks that only the newest three versions of each specification stay stored.
func TestOldVersionsOfSpecsAreDeleted(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	org := storetest.NewTenant(t, storetest.Open(t, url), "ours").Organization.ID
	few, err := store.New(postgres.Config{URL: url, MaxConns: 4}, store.Config{OpenAPIVersions: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := few.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(few.Stop)
	set := func(slug, text string) apispecs.Spec {
		spec, _, err := few.Specs.Set(t.Context(), org, slug, apispecs.Source{Text: text, Document: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		return spec
	}
	other := set("other", "x")
	var ids []string
	for i := range 5 {
		spec := set("pets", fmt.Sprint(i))
		ids = append(ids, *spec.LastVersion)
		page, err := few.Specs.ListVersions(t.Context(), spec.ID, 0, 10)
		if err != nil || len(page.Rows) != min(i+1, 3) || page.Rows[0].ID != ids[i] || page.Total != int64(min(i+1, 3)) {
			t.Errorf("after %d: %+v %v", i+1, page, err)
		}
	}
	if _, err := few.Specs.Version(t.Context(), org, "pets", &ids[1]); err == nil {
		t.Error("the second version is still there")
	}
	if _, err := few.Specs.Version(t.Context(), org, "pets", &ids[2]); err != nil {
		t.Error(err)
	}
	if page, err := few.Specs.ListVersions(t.Context(), other.ID, 0, 10); err != nil || len(page.Rows) != 1 {
		t.Errorf("%+v %v", page, err)
	}
}
