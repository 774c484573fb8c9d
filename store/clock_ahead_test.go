package store_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/apispecs"
	"github.com/octavo-docs/octavo/store/clock"
	"github.com/octavo-docs/octavo/store/storetest"
)

// setBack sets the clock right, after it was 400 days ahead.
func (b *wrongClock) setBack() {
	b.t.Helper()
	b.exec(strings.ReplaceAll(setClock, "- interval", "+ interval"))
}

// longestPauses are the pauses in these tests.
var longestPauses = clock.Pauses{Job: 2 * time.Hour, Fetch: 2 * time.Hour}

// TestRowsAfterClockWasAhead makes rows while Postgres's clock is 400 days ahead, and then sets the clock right.
// Nothing may wait until the clock reaches these times again. A pause that a right clock can set must stay unchanged.
func TestRowsAfterClockWasAhead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// columns lists the columns that have times in the future when the clock is right.
		columns string
		// make creates rows while the clock is ahead. `later` is called when the clock is right, and checks that
		// nothing waits.
		make, later func(*wrongClock)
	}{
		"deliveries": {"webhook_deliveries.next_attempt_at webhooks.due_at webhooks.held_until", func(b *wrongClock) {
			commentOn(b)
			b.must(nil, b.st.Hooks.AskForDeliveries(b.t.Context()))
			b.exec("delete from river_job")
			b.fail()
			b.fail()
			b.must(nil, b.st.Hooks.RestWebhook(b.t.Context(), b.hook.ID))
		}, func(b *wrongClock) {
			b.must(nil, b.st.Hooks.AskForDeliveries(b.t.Context()))
			b.wants(1, "select count(*) from river_job where kind = 'deliver_webhooks'")
			b.due()
		}},
		"fetches of specifications": {"openapi_specs.fetch_at", func(b *wrongClock) {
			url := "https://a.example/openapi.yaml"
			b.must(b.st.Specs.Create(b.t.Context(), b.tenant.Organization.ID, "pets", apispecs.Source{URL: &url}))
			begun, found, err := b.st.Specs.StartFetch(b.t.Context(), b.tenant.Organization.ID, nil)
			if err != nil || !found {
				b.t.Fatal(found, err)
			}
			b.must(nil, b.st.Specs.EndFetch(b.t.Context(), begun, apispecs.Fetch{Pause: time.Hour}))
			b.exec("delete from river_job")
		}, func(b *wrongClock) {
			b.must(nil, b.st.Specs.AskForFetches(b.t.Context()))
			b.wants(1, "select count(*) from river_job where kind = 'fetch_openapi'")
		}},
		"Git operations": {"git_operations.timestamp", func(b *wrongClock) {
			b.queueGit()
			b.queueGit()
			b.exec("update git_operations set state = 'done'")
			b.exec("delete from river_job")
		}, func(b *wrongClock) {
			if _, run, err := b.st.StartGitOperation(b.t.Context(), b.queueGit().ID); err != nil || !run {
				b.t.Errorf("a new operation runs: %v, %v", run, err)
			}
			b.wants(3, `select count(distinct "timestamp") from git_operations`)
		}},
		"Git synchronizations": {"git_syncs.imported_at git_syncs.synced_at", func(b *wrongClock) {
			b.sync("first")
			b.sync("second")
		}, func(b *wrongClock) {
			b.wants(1, "select count(*) from git_syncs a join git_syncs b on a.id = 'first' and b.id = 'second' "+
				"where a.synced_at < b.synced_at and a.imported_at < b.imported_at and b.synced_at <= now()")
		}},
		"turns of jobs": {"job_turns.turn", func(b *wrongClock) {
			b.exec("insert into job_turns (kind, party, turn) values ('k', 'p', now())")
		}, func(b *wrongClock) {
			b.wants(1, "select count(*) from job_turns where turn <= now()")
		}},
		"PDFs": {"pdfs.asked_at", func(b *wrongClock) {
			b.exec(`insert into pdfs (space_id, key, revision, page, alone) values ($1, 'k', 'r', '', false)`,
				b.tenant.Space.ID)
		}, func(b *wrongClock) {
			b.wants(1, "select count(*) from pdfs where asked_at <= now()")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			b := &wrongClock{t: t, conn: storetest.Connect(t, url), st: storetest.Open(t, url)}
			b.tenant, b.hook = storetest.Hooked(t, b.st)
			c.make(b)
			b.wantHastened("")
			b.setBack()
			b.wantHastened(c.columns)
			b.wantHastened("")
			c.later(b)
		})
	}
}

// wantHastened checks that Hasten corrects exactly these columns.
func (b *wrongClock) wantHastened(columns string) {
	b.t.Helper()
	hastened, err := b.st.Clock.Hasten(b.t.Context(), longestPauses)
	b.must(nil, err)
	if got := strings.Join(slices.Sorted(maps.Keys(hastened)), " "); got != columns {
		b.t.Errorf("hastens %q, want %q", got, columns)
	}
}

// queueGit queues an import.
func (b *wrongClock) queueGit() store.GitOperation {
	b.t.Helper()
	o, err := b.st.QueueGitOperation(b.t.Context(), store.NewGitOperation{
		OrganizationID: b.tenant.Organization.ID, SpaceID: b.tenant.Space.ID, Kind: schema.GitImport,
		URL: "https://git.example/a.git", Ref: "refs/heads/main", Timestamp: time.Now(),
		UserID: b.tenant.Users[schema.RoleAdmin].ID,
	})
	b.must(nil, err)
	return o
}

// sync records a synchronization with a branch.
func (b *wrongClock) sync(branch string) {
	b.t.Helper()
	b.exec(`insert into git_syncs (id, space_id, remote, commit_hash, revision, synced_at, imported_at)
		values ($1, $2, $1, 'c', 'r', clock_timestamp(), clock_timestamp())`, branch, b.tenant.Space.ID)
}

// TestLastUseAfterClockWasAhead: a later use replaces the time of a use that was recorded while the clock was 400 days
// ahead. A use that is reported late does not replace a later use.
func TestLastUseAfterClockWasAhead(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	b := &wrongClock{t: t, conn: storetest.Connect(t, url), st: storetest.Open(t, url)}
	b.tenant, _ = storetest.Hooked(t, b.st)
	user := b.tenant.Users[schema.RoleAdmin].ID
	b.exec("insert into tokens (id, hash, kind, name, user_id) values ('t', 'h', 'user', 'n', $1)", user)
	use := func(at time.Time) {
		b.must(nil, b.st.TouchTokens(t.Context(), []string{"t"}, at))
		b.must(nil, b.st.Orgs.SeeMember(t.Context(), b.tenant.Organization.ID, user, at))
	}
	wants := func(at time.Time) {
		t.Helper()
		used := storetest.Collect(t, b.conn, "select extract(epoch from last_used_at)::bigint::text from tokens "+
			"where id = 't' union all select extract(epoch from last_seen_at)::bigint::text from memberships "+
			"where last_seen_at is not null")
		if want := strconv.FormatInt(at.Unix(), 10); !slices.Equal(used, []string{want, want}) {
			t.Errorf("%q, want twice %s", used, want)
		}
	}
	now := time.Now().Truncate(time.Second)
	use(now.Add(400 * 24 * time.Hour))
	wants(now.Add(400 * 24 * time.Hour))
	use(now)
	wants(now)
	use(now.Add(-time.Hour))
	wants(now)
}
