package witness

import (
	"strings"
	"testing"
)

// stored returns the rows that a table has if it stores each event of the requests once.
func stored(requests ...Request) map[uint64]Row {
	rows := map[uint64]Row{}
	for _, r := range requests {
		for place := range r.Events {
			rows[EventID(r.Number, place)] = Row{Rows: 1}
		}
	}
	return rows
}

// TestCompare checks that Compare reports each error in the stored rows, and does not report a state that is allowed.
func TestCompare(t *testing.T) {
	t.Parallel()
	all := []Request{
		{Number: 0, Events: 3, Outcome: Acknowledged},
		{Number: 1, Events: 20, Outcome: Acknowledged, Keyed: true},
		{Number: 2, Events: 2, Outcome: Unknown},
		{Number: 3, Events: 2, Outcome: Failed},
		{Number: 4, Events: 2, Outcome: Refused},
		{Number: 5, Events: 1, Outcome: Unsent},
	}
	for name, c := range map[string]struct {
		plant func(rows map[uint64]Row)
		want  Verdict
		says  string
	}{
		"nothing wrong":                    {func(map[uint64]Row) {}, Verdict{Stored: 25}, ""},
		"without an answer and not stored": {func(rows map[uint64]Row) { delete(rows, EventID(2, 0)); delete(rows, EventID(2, 1)) }, Verdict{Stored: 23}, ""},
		"failed and stored": {func(rows map[uint64]Row) {
			rows[EventID(3, 0)] = Row{Rows: 1}
			rows[EventID(3, 1)] = Row{Rows: 1}
		}, Verdict{Stored: 27}, ""},
		"one lost": {func(rows map[uint64]Row) { delete(rows, EventID(1, 19)) }, Verdict{Stored: 24, Lost: 1}, "lost: 1 of 20 events of request 1 (keyed true)"},
		"a whole request lost": {func(rows map[uint64]Row) {
			for i := range 3 {
				delete(rows, EventID(0, i))
			}
		}, Verdict{Stored: 22, Lost: 3}, "lost: 3 of 3"},
		"an acknowledged one doubled":   {func(rows map[uint64]Row) { rows[EventID(0, 2)] = Row{2, "here, there"} }, Verdict{Stored: 25, Doubled: 1}, "doubled: 1 of 3 events of request 0 (acknowledged, keyed false), one of them at here, there"},
		"one without an answer doubled": {func(rows map[uint64]Row) { rows[EventID(2, 0)] = Row{Rows: 3, Where: "x"} }, Verdict{Stored: 25, Doubled: 1}, "doubled: 1 of 2 events of request 2 (unknown"},
		"torn":                          {func(rows map[uint64]Row) { delete(rows, EventID(2, 0)) }, Verdict{Stored: 24, Torn: 1}, "torn: 1 of 2 events of request 2 (unknown)"},
		"refused and stored":            {func(rows map[uint64]Row) { rows[EventID(4, 1)] = Row{Rows: 1} }, Verdict{Stored: 26, Refused: 1}, "stored although refused"},
		"never sent":                    {func(rows map[uint64]Row) { rows[EventID(99, 0)] = Row{Rows: 1} }, Verdict{Stored: 26, Foreign: 1}, "never sent"},
		"past a request's end":          {func(rows map[uint64]Row) { rows[EventID(0, 3)] = Row{Rows: 1} }, Verdict{Stored: 26, Foreign: 1}, "never sent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := stored(all[:3]...)
			c.plant(rows)
			got := Compare(all, rows)
			says := strings.Join(got.Examples, "\n")
			if !strings.Contains(says, c.says) || (c.says == "") != (says == "") {
				t.Errorf("it says %q, want %q", says, c.says)
			}
			if problems := got.Problems(); (len(problems) > 0) != (c.says != "") {
				t.Errorf("its problems are %v", problems)
			}
			got.Examples = nil
			if got.Stored != c.want.Stored || got.Lost != c.want.Lost || got.Doubled != c.want.Doubled || got.Torn != c.want.Torn ||
				got.Refused != c.want.Refused || got.Foreign != c.want.Foreign {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
