package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestNodesMigrateTogether migrates one empty database from several nodes concurrently.
func TestNodesMigrateTogether(t *testing.T) {
	t.Parallel()
	url := enginetest.Postgres(t)
	applied := make([]int, 4)
	var wait sync.WaitGroup
	for i := range applied {
		wait.Go(func() {
			st, err := store.New(postgres.Config{URL: url}, store.Config{})
			if err != nil {
				t.Error(err)
				return
			}
			if applied[i], err = st.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	slices.Sort(applied)
	if applied[len(applied)-1] == 0 || applied[len(applied)-2] != 0 {
		t.Errorf("migrations applied by node: %v", applied)
	}
	st := storetest.Open(t, url)
	if err := st.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := st.Migrate(t.Context()); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
}

func TestNotReadyWithoutMigrations(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, enginetest.Postgres(t))
	if err := st.Ready(t.Context()); err == nil {
		t.Error("an empty database is ready")
	}
}

// TestBootstrapRace starts several nodes that all try to create the first user.
func TestBootstrapRace(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	want := store.Bootstrap{Token: "my-own-token-of-16", OrganizationTitle: "Acme", SiteTitle: "Docs"}
	var mu sync.Mutex
	var made []store.Bootstrapped
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			b, err := st.Bootstrap(t.Context(), want)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if b.Created {
				made = append(made, b)
			}
		})
	}
	wait.Wait()
	if len(made) != 1 {
		t.Fatalf("%d nodes created the first user", len(made))
	}
	principal, err := st.Authenticate(t.Context(), schema.HashToken([]byte(want.Token)))
	if err != nil || principal.UserID != made[0].User.ID || principal.Kind != schema.TokenUser {
		t.Errorf("%+v %v", principal, err)
	}
	access, err := st.Sites.Site(t.Context(), principal.UserID, made[0].Organization.ID, made[0].Site.ID)
	if err != nil || access.Role != schema.RoleAdmin || access.Site.Title != "Docs" {
		t.Errorf("%+v %v", access, err)
	}
	if again, err := st.Bootstrap(t.Context(), store.Bootstrap{Token: "another-token-of-16"}); err != nil || again.Created {
		t.Errorf("%+v %v", again, err)
	}
	if _, err := st.Authenticate(t.Context(), schema.HashToken([]byte("another-token-of-16"))); !schema.IsCode(err, schema.CodeUnauthorized) {
		t.Errorf("a second bootstrap token is accepted: %v", err)
	}
}

func TestBootstrapTokens(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	for _, token := range []string{"short", strings.Repeat("x", 15), "with a space in it", "tab\tin a long token", "ünïcödé-tökéns-too"} {
		if _, err := st.Bootstrap(t.Context(), store.Bootstrap{Token: token}); !schema.IsCode(err, schema.CodeBadRequest) {
			t.Errorf("%q: %v", token, err)
		}
	}
	made, err := st.Bootstrap(t.Context(), store.Bootstrap{})
	if err != nil || !made.Created || !strings.HasPrefix(made.Token, schema.TokenPrefix) || made.Organization.ID != "" {
		t.Errorf("%+v %v", made, err)
	}
}

// TestInsightsKeyRace requests the insights key on several nodes concurrently.
func TestInsightsKeyRace(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	keys := make([]string, 6)
	nodes := make([]*store.Store, len(keys))
	for i := range nodes {
		// Each node connects before the race, because connecting takes longer than the race.
		nodes[i] = storetest.Open(t, url)
		if err := nodes[i].Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for i, st := range nodes {
		wait.Go(func() {
			key, err := st.InsightsKey(t.Context())
			if err != nil || len(key) != 32 {
				t.Errorf("%x %v", key, err)
			}
			keys[i] = string(key)
		})
	}
	wait.Wait()
	if len(slices.Compact(keys)) != 1 {
		t.Errorf("nodes have different keys: %x", keys)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "acme")
	user := tenant.Users[schema.RoleRead]
	secret, row, err := st.CreateToken(t.Context(), store.NewToken{User: "ACME-read@example.com", Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	if !schema.ValidToken(secret) || !strings.HasPrefix(secret, schema.TokenPrefix) || len(secret) != len(schema.TokenPrefix)+52 {
		t.Errorf("token %q", secret)
	}
	if strings.Contains(fmt.Sprintf("%+v %s", row, row.Hash), secret) {
		t.Error("the row contains the token")
	}
	hash := schema.HashToken([]byte(secret))
	principal, err := st.Authenticate(t.Context(), hash)
	if err != nil || principal.UserID != user.ID || principal.TokenID != row.ID || !principal.LastUsedAt.IsZero() {
		t.Errorf("%+v %v", principal, err)
	}
	key, err := st.Authenticate(t.Context(), schema.HashToken([]byte(tenant.SiteKey)))
	if err != nil || key.Kind != schema.TokenSite || key.SiteID != tenant.Site.ID || key.OrganizationID != tenant.Organization.ID || key.UserID != "" {
		t.Errorf("%+v %v", key, err)
	}

	// The last use is written at most once in a minute.
	used := time.Now().Truncate(time.Millisecond)
	for _, at := range []time.Time{used, used.Add(59 * time.Second)} {
		if err := st.TouchTokens(t.Context(), []string{row.ID}, at); err != nil {
			t.Fatal(err)
		}
	}
	if principal, _ = st.Authenticate(t.Context(), hash); !principal.LastUsedAt.Equal(used) {
		t.Errorf("last used %s, want %s", principal.LastUsedAt, used)
	}

	for range 2 {
		if err := st.RevokeToken(t.Context(), row.ID); err != nil {
			t.Error(err)
		}
	}
	if _, err := st.Authenticate(t.Context(), hash); !schema.IsCode(err, schema.CodeUnauthorized) {
		t.Errorf("revoked: %v", err)
	}
	tokens, err := st.ListTokens(t.Context(), store.TokenFilter{User: user.ID})
	if err != nil || len(tokens) != 2 || tokens[1].RevokedAt == nil || tokens[1].Name != "laptop" {
		t.Errorf("%+v %v", tokens, err)
	}
	if tokens, err = st.ListTokens(t.Context(), store.TokenFilter{SiteID: tenant.Site.ID}); err != nil || len(tokens) != 1 {
		t.Errorf("%+v %v", tokens, err)
	}
	for name, bad := range map[string]struct {
		token store.NewToken
		code  schema.Code
	}{
		"of nobody":       {store.NewToken{}, schema.CodeBadRequest},
		"of two":          {store.NewToken{User: user.ID, SiteID: tenant.Site.ID}, schema.CodeBadRequest},
		"of unknown user": {store.NewToken{User: "nobody@example.com"}, schema.CodeNotFound},
		"of unknown site": {store.NewToken{SiteID: "nothing"}, schema.CodeNotFound},
	} {
		if _, _, err := st.CreateToken(t.Context(), bad.token); !schema.IsCode(err, bad.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := st.RevokeToken(t.Context(), "nothing"); !schema.IsCode(err, schema.CodeNotFound) {
		t.Errorf("revoking an unknown token: %v", err)
	}
}

// TestErrorsAreInterpreted checks that each kind of failure gets its code, and that the public message contains no text
// of the database.
func TestErrorsAreInterpreted(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	user, _ := storetest.User(t, st, "ann")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	stopped, err := store.New(postgres.Config{URL: url}, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := stopped.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopped.Stop()
	for name, test := range map[string]struct {
		code schema.Code
		run  func() error
	}{
		"unique": {schema.CodeConflict, func() error {
			_, err := st.Orgs.CreateUser(t.Context(), orgs.NewUser{DisplayName: "Ann", Email: "ANN@example.com"})
			return err
		}},
		"no rows":     {schema.CodeNotFound, func() error { _, err := st.Orgs.User(t.Context(), "nobody"); return err }},
		"foreign key": {schema.CodeNotFound, func() error { return st.Orgs.SetMember(t.Context(), "nothing", user.ID, schema.RoleRead) }},
		"check":       {schema.CodeInternal, func() error { return st.Orgs.SetMember(t.Context(), "nothing", user.ID, "king") }},
		"text": {schema.CodeBadRequest, func() error {
			_, err := st.Orgs.CreateUser(t.Context(), orgs.NewUser{DisplayName: "a\x00b"})
			return err
		}},
		"cancelled": {schema.CodeUnavailable, func() error { _, err := st.Orgs.User(cancelled, "nobody"); return err }},
		"stopped":   {schema.CodeUnavailable, func() error { _, err := stopped.Orgs.User(t.Context(), "nobody"); return err }},
	} {
		err := test.run()
		e, ok := errors.AsType[*schema.Error](err)
		if !ok || e.Code != test.code {
			t.Errorf("%s: %v, want %d", name, err, test.code)
			continue
		}
		if test.code == schema.CodeUnavailable && e.RetryAfterSeconds() == 0 {
			t.Errorf("%s: no Retry-After", name)
		}
		for _, word := range []string{"SQLSTATE", "constraint", "users_", "violates", "pool"} {
			if strings.Contains(e.Message, word) {
				t.Errorf("%s: the public message is %q", name, e.Message)
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:secret@127.0.0.1:1/x", "postgres://u:secret@127.0.0.1:bad/x"} {
		st, err := store.New(postgres.Config{URL: url}, store.Config{})
		if err == nil {
			err = st.Start(t.Context())
		}
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestSiteIsAllOrNothing creates a site with a valid space and a space of another tenant. No site may be created.
func TestSiteIsAllOrNothing(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ours, theirs := storetest.NewTenant(t, st, "ours"), storetest.NewTenant(t, st, "theirs")
	_, err := st.Sites.Create(t.Context(), sites.NewSite{
		OrganizationID: ours.Organization.ID, Type: "basic", Title: "x", Visibility: "public",
		Spaces: []string{ours.Space.ID, theirs.Space.ID},
	})
	if e := schema.AsError(err); err == nil || e.Code != schema.CodeBadRequest || e.Details[0].Field != "spaces[1]" {
		t.Errorf("got %v", err)
	}
	page, err := st.Sites.List(t.Context(), ours.Organization.ID, sites.Filter{}, "", 10)
	if err != nil || page.Total != 1 {
		t.Errorf("%+v %v", page, err)
	}
}
