// Package storetest gives each test a separate, migrated Postgres database with a Store. Only tests of store and of
// packages that import store may import it.
package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/hooks"
	"github.com/octavo-docs/octavo/store/issues"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// InviteLifetime is the lifetime of invites in tests.
const InviteLifetime = 30 * 24 * time.Hour

// URL returns the URL of a fresh database to which all migrations are applied.
func URL(t testing.TB) string {
	t.Helper()
	url, _ := enginetest.PostgresTemplate(t, "store", func(url string) (string, error) { return "", migrate(url) })
	return url
}

func migrate(url string) error {
	st, err := store.New(postgres.Config{URL: url}, store.Config{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
	defer cancel()
	_, err = st.Migrate(ctx)
	return err
}

// Tenants returns the URL of a fresh database with two tenants. All tests of a test run get the same two tenants, in
// separate databases.
func Tenants(t testing.TB) (url string, ours, theirs *Tenant) {
	t.Helper()
	url, note := enginetest.PostgresTemplate(t, "tenants", func(url string) (string, error) {
		if err := migrate(url); err != nil {
			return "", err
		}
		st := started(t, url)
		defer st.Stop()
		// JSON keys cannot be null, so a guest's key in Tokens and Users is "".
		text := func(r schema.Role) ([]byte, error) { return json.Marshal(string(r)) }
		roles := json.WithMarshalers(json.MarshalFunc(text))
		note, err := json.Marshal([]*Tenant{NewTenant(t, st, "ours"), NewTenant(t, st, "theirs")}, roles)
		return string(note), err
	})
	var tenants []*Tenant
	if err := json.Unmarshal([]byte(note), &tenants); err != nil || len(tenants) != 2 {
		t.Fatalf("the tenants %q: %v", note, err)
	}
	return url, tenants[0], tenants[1]
}

// New returns a started Store on a fresh database. The Store stops when the test ends.
func New(t testing.TB) *store.Store {
	t.Helper()
	return Open(t, URL(t))
}

// Open returns a started Store on a database that the test already has. The Store stops when the test ends.
func Open(t testing.TB, url string) *store.Store {
	t.Helper()
	st := started(t, url)
	t.Cleanup(st.Stop)
	return st
}

// Connect returns a connection to a database. The connection closes when the test ends.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// Collect runs a statement that selects one text column, and returns the texts.
func Collect(t testing.TB, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func started(t testing.TB, url string) *store.Store {
	t.Helper()
	st, err := store.New(postgres.Config{URL: url, MaxConns: 8}, store.Config{
		Invites: orgs.Config{InviteLifetime: InviteLifetime, InvitesByMail: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return st
}

// Allow is a store.MergeJudge that allows all merges.
func Allow(store.MergeFacts, bool) error { return nil }

// User creates a user with a token.
func User(t testing.TB, st *store.Store, name string) (orgs.User, string) {
	t.Helper()
	user, err := st.Orgs.CreateUser(t.Context(), orgs.NewUser{DisplayName: name, Email: name + "@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return user, Token(t, st, store.NewToken{User: user.ID, Name: name})
}

// Token creates a token and returns its secret.
func Token(t testing.TB, st *store.Store, token store.NewToken) string {
	t.Helper()
	secret, _, err := st.CreateToken(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// Tenant is an organization with a member of every role, a site with its key, and a space.
type Tenant struct {
	Organization orgs.Organization
	Site         sites.Site
	Space        store.Space
	// Tokens has a token for each role. The guest's role is "".
	Tokens  map[schema.Role]string
	Users   map[schema.Role]orgs.User
	SiteKey string
}

// NewTenant creates a tenant. name distinguishes the tenant from other tenants in the same database.
func NewTenant(t testing.TB, st *store.Store, name string) *Tenant {
	t.Helper()
	tenant := &Tenant{Tokens: map[schema.Role]string{}, Users: map[schema.Role]orgs.User{}}
	admin, token := User(t, st, name+"-admin")
	tenant.Users[schema.RoleAdmin], tenant.Tokens[schema.RoleAdmin] = admin, token
	membership, err := st.Orgs.Create(t.Context(), admin.ID, orgs.NewOrganization{Title: name})
	if err != nil {
		t.Fatal(err)
	}
	tenant.Organization = membership.Organization
	for _, role := range append(schema.Roles(), schema.RoleGuest) {
		if role == schema.RoleAdmin {
			continue
		}
		user, token := User(t, st, fmt.Sprintf("%s-%s", name, role))
		tenant.Users[role], tenant.Tokens[role] = user, token
		if err := st.Orgs.SetMember(t.Context(), tenant.Organization.ID, user.ID, role); err != nil {
			t.Fatal(err)
		}
	}
	tenant.Space, err = st.CreateSpace(t.Context(), store.NewSpace{
		OrganizationID: tenant.Organization.ID, Title: "Handbook", Emoji: "1f4d6", EditMode: "live",
	})
	if err != nil {
		t.Fatal(err)
	}
	site, err := st.Sites.Create(t.Context(), sites.NewSite{
		OrganizationID: tenant.Organization.ID, Type: "basic", Title: "Docs", Visibility: "public", Spaces: []string{tenant.Space.ID},
	})
	if err != nil {
		t.Fatal(err)
	}
	tenant.Site = site.Site
	tenant.SiteKey = Token(t, st, store.NewToken{SiteID: site.Site.ID, Name: name})
	return tenant
}

// Spaces creates n spaces and returns their ids. The spaces are in the collection parentID, or in no collection if
// parentID is nil.
func Spaces(t testing.TB, st *store.Store, organizationID string, parentID *string, n int) []string {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		row, err := st.CreateSpace(t.Context(), store.NewSpace{
			OrganizationID: organizationID, ParentID: parentID, Title: fmt.Sprintf("Space %d", i), Emoji: "1f4d6", EditMode: "live",
		})
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = row.ID
	}
	return ids
}

// Hooked creates a tenant with a webhook for these types of events. If `events` is empty, the webhook gets all events.
func Hooked(t testing.TB, st *store.Store, events ...string) (*Tenant, hooks.Webhook) {
	t.Helper()
	tenant := NewTenant(t, st, "hooked")
	w, _, err := st.Hooks.CreateWebhook(t.Context(), hooks.NewWebhook{
		OrganizationID: tenant.Organization.ID, URL: "https://receiver.example.com/", Active: true,
		Events: events,
	})
	if err != nil {
		t.Fatal(err)
	}
	return tenant, w
}

// Conversation returns a new conversation with an issue for each title.
func Conversation(id string, titles ...string) issues.NewConversation {
	c := issues.NewConversation{SourceID: id, Parts: []byte(`[]`), Metadata: []byte(`{}`)}
	for _, title := range titles {
		c.Issues = append(c.Issues, issues.NewIssue{
			Title: title, Details: []byte(`{}`), Impact: "low", Words: []string{title},
		})
	}
	return c
}

// Enqueue enqueues jobs, each in a separate transaction.
func Enqueue(t testing.TB, conn *pgx.Conn, args ...schema.JobArgs) {
	t.Helper()
	for _, a := range args {
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			return postgres.Enqueue(t.Context(), db.New(tx), a)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
