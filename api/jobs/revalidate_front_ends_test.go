package jobs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// ears is a front end that fails for the first calls. `deaf` is the number of these calls.
type ears struct {
	mu    sync.Mutex
	deaf  int
	heard [][]string
}

func (e *ears) Revalidate(_ context.Context, tags []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.deaf > 0 {
		e.deaf--
		return errors.New("front end docs.example.com answered 502")
	}
	e.heard = append(e.heard, tags)
	return nil
}

func (e *ears) calls() [][]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

func (b *bench) changed(organization string, tags ...string) {
	b.t.Helper()
	for _, tag := range tags {
		if _, err := b.conn.Exec(b.t.Context(), "insert into front_end_changes (organization_id, tag) values ($1, $2)", organization, tag); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bench) untold() (n int) {
	b.t.Helper()
	if err := b.conn.QueryRow(b.t.Context(), "select count(*) from front_end_changes").Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// TestFrontEndsAreTold uses a front end that fails twice. The front end is then notified once of each changed object.
// Later changes are in a second call.
func TestFrontEndsAreTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	frontEnd := &ears{deaf: 2}
	b.run(nil, func(c *Config) { c.Kinds, c.Deps.FrontEnds = []Kind{kind(revalidateFrontEnds)}, frontEnd })
	b.changed("o", "site:a", "space:b", "site:a")
	eventually.True(t, "the job to notify the front ends", func() bool { return b.untold() == 0 })
	heard := frontEnd.calls()
	if all := slices.Concat(heard...); len(heard) > 2 || !slices.Contains(all, "site:a") || !slices.Contains(all, "space:b") {
		t.Errorf("heard %q", heard)
	}
	b.changed("o", "space:c")
	eventually.True(t, "the job to notify the front ends", func() bool { return b.untold() == 0 })
	if heard := frontEnd.calls(); !slices.Equal(heard[len(heard)-1], []string{"space:c"}) {
		t.Errorf("heard %q", heard)
	}
}

// TestFrontEndsAreToldLater: front ends are notified of a change only after it has a certain age.
func TestFrontEndsAreToldLater(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.changed("o", "site:a")
	if err := b.st.Hooks.AskForRevalidation(t.Context(), time.Hour); err != nil || len(b.jobs()) != 0 {
		t.Errorf("%v %v", err, b.jobs())
	}
	if err := b.st.Hooks.AskForRevalidation(t.Context(), -time.Hour); err != nil || len(b.jobs()) != 1 {
		t.Errorf("%v %v", err, b.jobs())
	}
}

// TestNobodyToTell uses a front end that always fails. The job fails with the front end's answer as its reason, and the
// change stays stored for later.
func TestNobodyToTell(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run(nil, func(c *Config) { c.Kinds, c.Deps.FrontEnds = []Kind{kind(revalidateFrontEnds)}, &ears{deaf: 1000} })
	b.changed("o", "site:a")
	if job := b.until(schema.JobFailed)[0]; job.Reason != "front end docs.example.com answered 502" || b.untold() != 1 {
		t.Errorf("%+v, %d changes", job, b.untold())
	}
}
