package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
)

// TestRepairSteps lets steps of a repair fail. After a failed look for doubled rows, the next step must run, and the
// failure must be reported. After another failure, and if the missing rows are unknown, the repair must stop.
func TestRepairSteps(t *testing.T) {
	t.Parallel()
	look := fmt.Errorf("%w: the month is too large", sink.ErrDoubledUnknown)
	broken := errors.New("no answer")
	before, after := []schema.MissingRows{{Rows: 5}}, []schema.MissingRows{{Rows: 2}}
	for name, c := range map[string]struct {
		list         []schema.MissingRows
		err          error
		unknown, end error
		rows         int64 // number of missing rows after the steps
	}{
		"success":           {before, nil, nil, nil, 2},
		"a failed look":     {before, look, look, nil, 2},
		"nothing is known":  {nil, look, nil, look, 0},
		"a failed check":    {before, broken, nil, broken, 5},
		"no rows are there": {[]schema.MissingRows{}, look, look, nil, 2},
	} {
		missing, unknown, err := inSteps(
			func() ([]schema.MissingRows, error) { return c.list, c.err },
			func() ([]schema.MissingRows, error) { return after, nil },
		)
		if !errors.Is(unknown, c.unknown) || !errors.Is(err, c.end) || (unknown == nil) != (c.unknown == nil) ||
			schema.MissingTotal(missing) != c.rows {
			t.Errorf("%s: %+v, unknown %v, error %v", name, missing, unknown, err)
		}
	}
}
