package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSweepFollowsTheBacklog: the sweep continues as long as more is left,
// without a bound on the number of batches.
func TestSweepFollowsTheBacklog(t *testing.T) {
	t.Parallel()
	left := 1000
	more, err := repeat(t.Context(), func(context.Context) (bool, error) {
		left--
		return left > 0, nil
	})
	if more || err != nil || left != 0 {
		t.Errorf("%d steps are left, %v, %v", left, more, err)
	}
	broken := errors.New("the database is away")
	more, err = repeat(t.Context(), func(context.Context) (bool, error) { return false, broken })
	if more || !errors.Is(err, broken) {
		t.Errorf("after an error: %v, %v", more, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	more, err = repeat(ctx, func(ctx context.Context) (bool, error) { cancel(); return true, ctx.Err() })
	if more || err == nil {
		t.Errorf("when the node stops: %v, %v", more, err)
	}
}

// TestSweepKeepsTheAuditLogAsLongAsItIsSet: the entries that are older than the setting go, those of the installation too; 0 keeps all.
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
	// Half of them happened ten days ago. The trigger lets nobody say so.
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
		err := conn.QueryRow(t.Context(), `select count(*) filter (where at < now() - interval '1 day'), count(*) filter (where at >= now() - interval '1 day')
			from audit_log`).Scan(&old, &fresh)
		if err != nil {
			t.Fatal(err)
		}
		return old, fresh
	}
	old, fresh := entries()
	var ours, installation int
	if err := conn.QueryRow(t.Context(), "select count(organization_id), count(*) filter (where organization_id is null) from audit_log where id % 2 = 0").
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
