package sink

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
)

// auditWorld is a model of a table and its ledger, with sinks that insert rows and jobs that delete rows. Between two
// reads of an audit, a sink or a job may do its next step.
type auditWorld struct {
	t        *rapid.T
	stored   int64 // rows of the events table
	inserted int64 // rows that are stored but not yet counted
	counted  int64 // rows of the ledger
	deleted  int64 // rows that deletions have removed from the ledger so far
	noted    int64 // rows that are subtracted from the ledger but still stored
	lost     int64
	doubled  int64
	missing  []schema.MissingRows
	quiet    bool
}

func (w *auditWorld) steps() {
	if w.quiet {
		return
	}
	for range rapid.IntRange(0, 3).Draw(w.t, "steps") {
		n := rapid.Int64Range(1, 9).Draw(w.t, "rows")
		switch rapid.IntRange(0, 4).Draw(w.t, "step") {
		case 0:
			w.stored, w.inserted = w.stored+n, w.inserted+n
		case 1:
			w.counted, w.inserted = w.counted+w.inserted, 0
		case 2: // a deletion subtracts counted rows from the ledger, before it deletes them
			if n = min(n, w.stored-w.doubled-w.inserted-w.noted); n > 0 {
				w.counted, w.deleted, w.noted = w.counted-n, w.deleted+n, w.noted+n
			}
		default:
			n = min(n, w.noted)
			w.stored, w.noted = w.stored-n, w.noted-n
		}
	}
}

func (w *auditWorld) CountedRows(context.Context) (schema.RowsByMonth, int64, error) {
	w.steps()
	return schema.RowsByMonth{modelMonth: {Rows: w.counted, First: 1_700_000_000_000}}, w.deleted, nil
}

func (w *auditWorld) AllMonths(context.Context) (schema.RowsByMonth, error) {
	w.steps()
	return schema.RowsByMonth{modelMonth: {Rows: w.stored}}, nil
}

// RowsEnds and MonthsFrom return results as if each message of the log had one row, and rows were stored in the order
// of the log.
func (w *auditWorld) RowsEnds(context.Context) (map[int]int64, error) {
	w.steps()
	return map[int]int64{0: w.counted + w.deleted}, nil
}

func (w *auditWorld) MonthsFrom(
	_ context.Context, ends map[int]int64, _ []schema.EventMonth,
) (schema.RowsByMonth, error) {
	w.steps()
	// In this model, only rows that were counted are deleted or lost.
	return schema.RowsByMonth{modelMonth: {Rows: w.counted + w.deleted + w.inserted - ends[0]}}, nil
}

func (w *auditWorld) NotedDeletions(context.Context) (map[string]string, error) {
	w.steps()
	if w.noted > 0 {
		return map[string]string{"a deletion": ""}, nil
	}
	return nil, nil
}

func (w *auditWorld) Missing(context.Context) ([]schema.MissingRows, error) { return w.missing, nil }

func (w *auditWorld) NoteMissing(_ context.Context, missing []schema.MissingRows) error {
	w.missing = missing
	return nil
}

// TestAuditModel runs audits while sinks and jobs work. An audit must never report more missing rows than were lost.
// When sinks and jobs are idle, it must report all lost rows.
func TestAuditModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &auditWorld{t: t, stored: 100, counted: 100}
		w.steps()
		if rapid.Bool().Draw(t, "loss") {
			w.lost = min(rapid.Int64Range(1, 20).Draw(t, "lost"), w.stored-w.inserted-w.noted)
			w.stored -= w.lost
		}
		for range 5 {
			found := schema.RowsByMonth{}
			if err := lookAt(t.Context(), w, w, nil, found); err != nil && !errors.Is(err, errDeleting) {
				t.Fatal(err)
			}
			if rows := found[modelMonth].Rows; rows > w.lost {
				t.Fatalf("%d rows are missing, and %d were lost: %+v", rows, w.lost, w)
			}
		}
		w.quiet = true
		w.counted, w.inserted = w.counted+w.inserted, 0
		w.stored, w.noted = w.stored-w.noted, 0
		found := schema.RowsByMonth{}
		if err := lookAt(t.Context(), w, w, nil, found); err != nil || found[modelMonth].Rows != w.lost {
			t.Fatalf("%v: %d rows are missing, and %d were lost: %+v", err, found[modelMonth].Rows, w.lost, w)
		}
	})
}

// TestSurplusModel looks for surplus rows while sinks and jobs work. A comparison must never report more rows than were
// doubled. When sinks and jobs are idle, it must report all doubled rows.
func TestSurplusModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &auditWorld{t: t, stored: 100, counted: 100}
		w.steps()
		doubled := rapid.Int64Range(0, 20).Draw(t, "doubled")
		w.stored += doubled
		w.doubled = doubled
		for range 5 {
			found, err := lookForSurplus(t.Context(), w, w)
			if err != nil || found[modelMonth] > doubled {
				t.Fatalf("%v: %d rows too many, and %d are doubled: %+v", err, found[modelMonth], doubled, w)
			}
		}
		w.quiet = true
		w.stored, w.noted = w.stored-w.noted, 0
		if found, err := lookForSurplus(t.Context(), w, w); err != nil || found[modelMonth] != doubled {
			t.Fatalf("%v: %d rows too many, and %d are doubled: %+v", err, found[modelMonth], doubled, w)
		}
	})
}

// TestAudit checks that the recorded times of a loss do not change unless more rows are lost. The loss ends when the
// rows are stored again.
func TestAudit(t *testing.T) {
	t.Parallel()
	w := &auditWorld{stored: 90, counted: 100, quiet: true}
	first, err := Audit(t.Context(), w, w)
	if err != nil || len(first) != 1 || first[0].Rows != 10 || first[0].Month != modelMonth ||
		first[0].First.UnixMilli() != 1_700_000_000_000 || first[0].Last.Before(first[0].First) {
		t.Fatalf("%v: %+v", err, first)
	}
	w.stored = 95
	again, err := Audit(t.Context(), w, w)
	if err != nil || len(again) != 1 || again[0].Rows != 5 || !again[0].Last.Equal(first[0].Last) {
		t.Fatalf("%v: %+v after %+v", err, again, first)
	}
	w.stored = 100
	if end, err := Audit(t.Context(), w, w); err != nil || len(end) != 0 || len(w.missing) != 0 {
		t.Fatalf("%v: %+v, noted %+v", err, end, w.missing)
	}
}
