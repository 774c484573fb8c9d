package sites_test

import (
	"slices"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestPublishableKeys creates, changes, rotates and deletes keys. The keys of another site must not change.
func TestPublishableKeys(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ours, theirs := storetest.NewTenant(t, st, "ours"), storetest.NewTenant(t, st, "theirs")
	ctx := t.Context()
	foreign, err := st.Sites.CreatePublishableKey(ctx, theirs.Site.ID, sites.NewPublishableKey{
		Name: "Theirs", Hosts: []string{"docs.example.org"}, DailyCap: 7, RespectGPC: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	key, err := st.Sites.CreatePublishableKey(ctx, ours.Site.ID, sites.NewPublishableKey{
		Name: "Ours", Hosts: []string{"docs.example.com", "*.example.com"}, DailyCap: 1000,
	})
	if err != nil || key.Generation != 1 || key.PreviousEndsAt != nil || key.RespectGpc {
		t.Fatalf("%+v, %v", key, err)
	}
	gpc := true
	changed, err := st.Sites.UpdatePublishableKey(ctx, ours.Site.ID, key.ID,
		sites.PublishableKeyChange{RespectGPC: &gpc})
	if err != nil || !changed.RespectGpc || changed.Name != "Ours" || !slices.Equal(changed.Hosts, key.Hosts) {
		t.Errorf("%+v, %v", changed, err)
	}
	name, most := "Renamed", int64(5)
	changed, err = st.Sites.UpdatePublishableKey(ctx, ours.Site.ID, key.ID, sites.PublishableKeyChange{
		Name: &name, DailyCap: &most, Hosts: []string{"localhost"},
	})
	if err != nil || changed.Name != name || changed.DailyCap != most || len(changed.Hosts) != 1 {
		t.Errorf("%+v, %v", changed, err)
	}
	until := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	if rotated, err := st.Sites.RotatePublishableKey(ctx, ours.Site.ID, key.ID, until); err != nil ||
		rotated.Generation != 2 || !rotated.PreviousEndsAt.Equal(until) {
		t.Errorf("%+v, %v", rotated, err)
	}
	posting, err := st.Sites.PostingKey(ctx, key.ID)
	if err != nil || posting.Site.SiteID != ours.Site.ID || posting.Site.OrganizationID != ours.Organization.ID {
		t.Fatalf("%+v, %v", posting, err)
	}
	for generation, want := range []struct {
		ends  time.Time
		works bool
	}{{}, {until, true}, {time.Time{}, true}, {}} {
		if ends, works := posting.Ends(generation); !ends.Equal(want.ends) || works != want.works {
			t.Errorf("generation %d ends %v, works %t", generation, ends, works)
		}
	}

	// Calls with the other site's id return not_found.
	for what, err := range map[string]error{
		"read":   second(st.Sites.PublishableKey(ctx, ours.Site.ID, foreign.ID)),
		"update": second(st.Sites.UpdatePublishableKey(ctx, ours.Site.ID, foreign.ID, sites.PublishableKeyChange{Name: &name})),
		"rotate": second(st.Sites.RotatePublishableKey(ctx, ours.Site.ID, foreign.ID, until)),
	} {
		if !schema.IsCode(err, schema.CodeNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := st.Sites.DeletePublishableKey(ctx, ours.Site.ID, foreign.ID); err != nil {
		t.Error(err)
	}
	if kept, err := st.Sites.PublishableKey(ctx, theirs.Site.ID, foreign.ID); err != nil || kept.Generation != 1 ||
		kept.Name != "Theirs" {
		t.Errorf("%+v, %v", kept, err)
	}
	page, err := st.Sites.ListPublishableKeys(ctx, ours.Site.ID, "", 10)
	if err != nil || page.Total != 1 || len(page.Rows) != 1 || page.Rows[0].ID != key.ID {
		t.Errorf("%+v, %v", page, err)
	}
	if err := st.Sites.DeletePublishableKey(ctx, ours.Site.ID, key.ID); err != nil {
		t.Error(err)
	}
	if _, err := st.Sites.PostingKey(ctx, key.ID); !schema.IsCode(err, schema.CodeNotFound) {
		t.Error(err)
	}
	// Keys are deleted with their site.
	if err := st.Sites.Delete(ctx, theirs.Site.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Sites.PostingKey(ctx, foreign.ID); !schema.IsCode(err, schema.CodeNotFound) {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }
