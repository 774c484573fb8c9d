package sink

import (
	"context"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema"
)

// lastRow is a Store with only the method LastStored. It has a row at the given offset.
type lastRow struct {
	eventstore.Store
	offset uint64
}

func (s lastRow) LastStored(_ context.Context, _ uint16, from, _ uint64) (uint64, bool, error) {
	return s.offset, s.offset >= from, nil
}

func (lastRow) Months(context.Context, uint16, uint64, uint64) (schema.RowsByMonth, error) {
	return nil, nil
}

// TestRowsOfAnEarlierLog begins to count a partition when the store already has a row. The row belongs to an earlier
// log if its offset is not below the log's end. Messages that arrived after the partition was assigned belong to the
// log.
func TestRowsOfAnEarlierLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		then, now   int64 // the log's end at the assignment, and at the first write to the ledger
		offset      uint64
		fromEarlier bool
	}{
		{"a row of this sink, of a log that was empty", 0, 1, 0, false},
		{"the last row of a log that grew", 3, 8, 7, false},
		{"a row before the assignment", 3, 3, 2, false},
		{"a row where the log ends", 3, 3, 3, true},
		{"a row far behind a log that grew", 3, 8, 20, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ledger := &modelLedger{}
			r := newRowCounts(&Config{Rows: ledger, Store: lastRow{offset: c.offset}})
			p := &partition{}
			p.end.Store(c.then)
			r.open(p)
			p.end.Store(c.now)
			if err := r.write(t.Context(), time.Minute); err != nil || ledger.end.Mixed != c.fromEarlier {
				t.Errorf("%v, of an earlier log: %v", err, ledger.end.Mixed)
			}
		})
	}
}
