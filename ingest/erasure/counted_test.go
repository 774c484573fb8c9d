package erasure

import (
	"errors"
	"fmt"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

// count adds the uncounted rows of the events table to the store's count, as a sink does.
func (r *rig) count() {
	r.t.Helper()
	ctx := r.t.Context()
	stored, err := r.table.AllMonths(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	counted, _, err := r.store.Rows.CountedRows(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	rows := schema.RowsByMonth{}
	for month, of := range stored {
		rows.Add(month, schema.MonthRows{Rows: of.Rows - counted[month].Rows, First: 1})
	}
	end, found, err := r.store.Rows.RowsEnd(ctx, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	if !found {
		found, err = r.store.Rows.OpenRows(ctx, 0, schema.RowsEnd{Next: 1}, rows)
	} else {
		found, err = r.store.Rows.AdvanceRows(ctx, 0, end.Next, schema.RowsEnd{Next: end.Next + 1}, rows)
	}
	if err != nil || !found {
		r.t.Fatal(found, err)
	}
}

// tooMany returns an error if the store counts more rows than the events table has. If `exact` is true, it also returns
// an error if the store counts fewer rows.
func (r *rig) tooMany(exact bool) error {
	r.t.Helper()
	counted, _, err := r.store.Rows.CountedRows(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	stored, err := r.table.AllMonths(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for month, of := range counted {
		if of.Rows > stored[month].Rows || exact && of.Rows != stored[month].Rows {
			return fmt.Errorf("%d rows of %d are counted, and %d are stored", of.Rows, month, stored[month].Rows)
		}
	}
	return nil
}

// TestDeletionsAreCounted kills erasures and retentions after each step. The store must never count more rows than the
// events table has, and at the end both numbers must be equal. With -short, the test kills only after every third step.
func TestDeletionsAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	killed := errors.New("killed")
	days := 10
	passed, stride := 0, 1
	if testing.Short() {
		stride = 3
	}
	for step, through := 0, false; !through; step += stride {
		passed = 0
		site := fmt.Sprint("site", step)
		for visitor := range 3 {
			r.insert(site, visitor)
		}
		r.count()
		r.ask(site, 1)
		change := sites.InsightsSettingsChange{Retention: schema.Opt[int]{Set: true, Value: &days}}
		if err := r.store.Sites.SetInsightsSettings(t.Context(), site, change); err != nil {
			t.Fatal(err)
		}
		work := func(j *Job) error {
			if err := j.Erase(t.Context(), held); err != nil {
				return err
			}
			return j.Retain(t.Context(), held)
		}
		err := work(r.job(func(c *JobConfig) {
			c.step = func(name string) error {
				if err := r.tooMany(false); err != nil {
					t.Errorf("at step %s: %v", name, err)
				}
				if passed++; passed > step {
					return killed
				}
				return nil
			}
		}))
		if through = err == nil; !through && !errors.Is(err, killed) {
			t.Fatal(err)
		}
		if err := r.tooMany(false); err != nil {
			t.Errorf("killed at step %d: %v", step, err)
		}
		if err := work(r.job(nil)); err != nil {
			t.Fatal(err)
		}
		noted, err := r.store.Rows.NotedDeletions(t.Context())
		if err = errors.Join(err, r.tooMany(true)); err != nil || len(noted) != 0 {
			t.Errorf("after a kill at step %d: %v, deletions %v", step, err, noted)
		}
		if n := r.rows(site, 1); n != 0 {
			t.Errorf("after a kill at step %d the visitor has %d rows", step, n)
		}
	}
	if passed < 9 {
		t.Errorf("%d steps", passed)
	}
}
