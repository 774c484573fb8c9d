package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSweepFollowsTheBacklog: the sweep runs batches until no rows are left, however many batches this takes.
func TestSweepFollowsTheBacklog(t *testing.T) {
	t.Parallel()
	left := 1000
	more, err := repeat(t.Context(), sweepTime, func(context.Context) (bool, error) {
		left--
		return left > 0, nil
	})
	if more || err != nil || left != 0 {
		t.Errorf("%d steps are left, %v, %v", left, more, err)
	}
	broken := errors.New("the database is away")
	more, err = repeat(t.Context(), sweepTime, func(context.Context) (bool, error) { return false, broken })
	if more || !errors.Is(err, broken) {
		t.Errorf("after an error: %v, %v", more, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	more, err = repeat(ctx, sweepTime, func(ctx context.Context) (bool, error) { cancel(); return true, ctx.Err() })
	if more || err == nil {
		t.Errorf("when the node stops: %v, %v", more, err)
	}
}

// TestSweepKeepsTheAuditLogAsLongAsItIsSet: audit entries older than the setting are deleted, also entries without an
// organization. If the setting is 0, no entry is deleted.
func TestSweepKeepsTheAuditLogAsLongAsItIsSet(t *testing.T) {
	t.Parallel()
	address := storetest.URL(t)
	st := storetest.Open(t, address)
	storetest.NewTenant(t, st, "acme")
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	// Make half of the entries ten days old. Disable the trigger that forbids changes of entries first.
	for _, sql := range []string{
		"alter table audit_log disable trigger audit_log_stays",
		"update audit_log set at = at - interval '10 days' where id % 2 = 0",
		"alter table audit_log enable trigger audit_log_stays",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	entries := func() (old, fresh int) {
		t.Helper()
		err := conn.QueryRow(t.Context(), `
			select count(*) filter (where at < now() - interval '1 day'),
			    count(*) filter (where at >= now() - interval '1 day')
			from audit_log`).Scan(&old, &fresh)
		if err != nil {
			t.Fatal(err)
		}
		return old, fresh
	}
	old, fresh := entries()
	var ours, installation int
	const half = `select count(organization_id), count(*) filter (where organization_id is null)
		from audit_log where id % 2 = 0`
	if err := conn.QueryRow(t.Context(), half).
		Scan(&ours, &installation); err != nil || ours == 0 || installation == 0 || fresh == 0 {
		t.Fatal(ours, installation, fresh, err)
	}
	for _, step := range []struct {
		keep time.Duration
		old  int
	}{{0, old}, {11 * 24 * time.Hour, old}, {9 * 24 * time.Hour, 0}} {
		s := NewSweep(SweepConfig{
			Store: st, AuditRetention: step.keep, PacksDir: t.TempDir(), GitCacheDir: t.TempDir(),
		})
		if more, err := s.Once(t.Context()); more || err != nil {
			t.Fatal(more, err)
		}
		gotOld, gotFresh := entries()
		if got, want := fmt.Sprint(gotOld, gotFresh), fmt.Sprint(step.old, fresh); got != want {
			t.Errorf("OCTAVO_AUDIT_RETENTION=%s leaves %s old and fresh entries, want %s", step.keep, got, want)
		}
	}
}

// TestSweepInDoubt creates an old object of every kind that the sweep deletes. It sets the clock days ahead of the
// latest time that a node has recorded. The sweep then deletes no old objects, until an operator confirms the time.
func TestSweepInDoubt(t *testing.T) {
	t.Parallel()
	address := storetest.URL(t)
	st, conn := storetest.Open(t, address), storetest.Connect(t, address)
	tenant := storetest.NewTenant(t, st, "acme")
	organization, site, space := tenant.Organization.ID, tenant.Site.ID, tenant.Space.ID
	user := tenant.Users[schema.RoleAdmin].ID
	old := []struct {
		table, condition, insert string
		values                   []any
	}{
		{"email_invites", "expires_at < now()", `
			insert into email_invites (organization_id, user_id, email, created_by, expires_at)
			values ($1, $2, 'a@example.com', $2, now() - interval '1 hour')`, []any{organization, user}},
		{"mail_counts", "day < current_date - 1", `
			insert into mail_counts (subject, day, mails) values ('x', current_date - 2, 1)`, nil},
		{"saml_answers", "true", `
			with p as (insert into saml_providers (id, organization_id, label, entity_id, certificate, sso_url)
			values ('p', $1, '', 'e', 'c', 'https://sso.example.com') returning id)
			insert into saml_answers (provider_id, request_id, expires_at)
			select id, 'r', now() - interval '1 hour' from p`, []any{organization}},
		{"door_salts", "true", `
			insert into door_salts (day, salt) values (current_date - 5, decode(repeat('00', 32), 'hex'))`, nil},
		{"event_keys", "true", `
			insert into event_keys (
				site_id, key, body_hash, message_id, log_partition, log_offset, leased_until, created_at)
			values ($1, 'k', 'b', 'm', 0, 0, now(), now() - interval '25 hours')`, []any{site}},
		{"pdfs", "true", `insert into pdfs (space_id, key, revision, page, alone, used_at)
			values ($1, 'k', 'r', '', false, now() - interval '25 hours')`, []any{space}},
		{"pdf_contents", "true", `
			insert into pdf_contents (content, begun_at) values ('c', now() - interval '3 hours')`, nil},
		{"front_end_changes", "tag = 'old'", `
			insert into front_end_changes (organization_id, tag, counts_from)
			values ($1, 'old', now() - interval '8 days')`, []any{organization}},
		{"river_job", "kind = 'done'", `insert into river_job (state, finalized_at, max_attempts, args, kind)
			values ('completed', now() - interval '25 hours', 1, '{}', 'done')`, nil},
		{"river_job", "kind = 'failed'", `insert into river_job (state, finalized_at, max_attempts, args, kind)
			values ('discarded', now() - interval '31 days', 1, '{}', 'failed')`, nil},
	}
	for _, o := range old {
		if _, err := conn.Exec(t.Context(), o.insert, o.values...); err != nil {
			t.Fatal(o.table, err)
		}
	}
	packs := t.TempDir()
	file := filepath.Join(packs, "pack")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, time.Time{}, time.Now().Add(-packAge-time.Hour)); err != nil {
		t.Fatal(err)
	}
	sweep := NewSweep(SweepConfig{
		Store: st, AuditRetention: time.Nanosecond, PacksDir: packs, GitCacheDir: t.TempDir(),
	})
	for _, step := range []struct {
		name, statement string
		kept            bool
	}{
		{"between two looks", "update clock set seen_at = now() - interval '400 days'", true},
		{"in doubt", "update clock set seen_at = now(), doubt = 'ahead', doubted_at = now()", true},
		{"confirmed", "", false},
	} {
		if step.statement == "" {
			if _, err := st.Clock.Confirm(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else if _, err := conn.Exec(t.Context(), step.statement); err != nil {
			t.Fatal(err)
		}
		if more, err := sweep.Once(t.Context()); more || err != nil {
			t.Fatal(more, err)
		}
		for _, o := range old {
			var kept bool
			exists := "select exists (select from " + o.table + " where " + o.condition + ")"
			err := conn.QueryRow(t.Context(), exists).Scan(&kept)
			if err != nil || kept != step.kept {
				t.Errorf("%s: %s %s: kept %v, %v", step.name, o.table, o.condition, kept, err)
			}
		}
		var entries bool
		const old = "select exists (select from audit_log where at < now() - interval '1 ms')"
		if err := conn.QueryRow(t.Context(), old).
			Scan(&entries); err != nil || step.kept && !entries {
			t.Errorf("%s: audit entries are kept: %v, %v", step.name, entries, err)
		}
		if _, err := os.Stat(file); (err == nil) != step.kept {
			t.Errorf("%s: a pack: %v", step.name, err)
		}
	}
}

// TestSweepAfterFailures makes the steps for local folders fail. The steps behind them still delete a space and an
// organization, and the error has the name of the failed step.
func TestSweepAfterFailures(t *testing.T) {
	t.Parallel()
	address := storetest.URL(t)
	st, conn := storetest.Open(t, address), storetest.Connect(t, address)
	acme, other := storetest.NewTenant(t, st, "acme"), storetest.NewTenant(t, st, "other")
	space := storetest.Spaces(t, st, acme.Organization.ID, nil, 1)[0]
	if err := st.DeleteSpace(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	if err := st.Orgs.Delete(t.Context(), other.Organization.ID); err != nil {
		t.Fatal(err)
	}
	cache, long := t.TempDir(), time.Now().Add(-365*24*time.Hour)
	stuck, begun := filepath.Join(cache, "a-folder"), filepath.Join(cache, "begun")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(stuck, "inside"), 0o700), os.WriteFile(begun, nil, 0o600),
		os.Chtimes(stuck, long, long), os.Chtimes(begun, long, long.Add(-time.Hour)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	sweep := NewSweep(SweepConfig{Store: st, PacksDir: begun + "/not-a-folder", GitCacheDir: cache})
	more, err := sweep.Once(t.Context())
	if more || err == nil || !strings.Contains(err.Error(), "cannot delete the Git cache: ") ||
		!strings.Contains(err.Error(), "cannot delete Git packs: ") {
		t.Errorf("%v, %v", more, err)
	}
	for what, count := range map[string]string{
		"revisions of the space": "select count(*) from revisions where space_id = '" + space + "'",
		"the organization":       "select count(*) from organizations where id = '" + other.Organization.ID + "'",
	} {
		var left int
		if err := conn.QueryRow(t.Context(), count).Scan(&left); err != nil || left > 0 {
			t.Errorf("%s: %d rows are left, %v", what, left, err)
		}
	}
	if _, err := os.Stat(begun); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file behind the folder is there: %v", err)
	}
}
