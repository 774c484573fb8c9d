package main

import (
	"strings"
	"testing"
)

// stored makes the rows of whole requests.
func stored(requests ...sentRequest) map[uint64]storedRow {
	rows := map[uint64]storedRow{}
	for _, r := range requests {
		for place := range r.events {
			rows[eventID(r.number, place)] = storedRow{rows: 1}
		}
	}
	return rows
}

// The check must be able to fail: each fault is planted and found, and what is
// allowed is not taken for one.
func TestCompare(t *testing.T) {
	t.Parallel()
	all := []sentRequest{
		{number: 0, events: 3, outcome: acknowledged},
		{number: 1, events: 20, outcome: acknowledged, keyed: true},
		{number: 2, events: 2, outcome: unknown},
		{number: 3, events: 2, outcome: failed},
		{number: 4, events: 2, outcome: refused},
		{number: 5, events: 1, outcome: unsent},
	}
	for name, c := range map[string]struct {
		plant func(rows map[uint64]storedRow)
		want  verdict
		says  string
	}{
		"nothing wrong":                    {func(map[uint64]storedRow) {}, verdict{Stored: 25}, ""},
		"without an answer and not stored": {func(rows map[uint64]storedRow) { delete(rows, eventID(2, 0)); delete(rows, eventID(2, 1)) }, verdict{Stored: 23}, ""},
		"failed and stored": {func(rows map[uint64]storedRow) {
			rows[eventID(3, 0)] = storedRow{rows: 1}
			rows[eventID(3, 1)] = storedRow{rows: 1}
		}, verdict{Stored: 27}, ""},
		"one lost": {func(rows map[uint64]storedRow) { delete(rows, eventID(1, 19)) }, verdict{Stored: 24, Lost: 1}, "lost: 1 of 20 events of request 1 (keyed true)"},
		"a whole request lost": {func(rows map[uint64]storedRow) {
			for i := range 3 {
				delete(rows, eventID(0, i))
			}
		}, verdict{Stored: 22, Lost: 3}, "lost: 3 of 3"},
		"an acknowledged one doubled":   {func(rows map[uint64]storedRow) { rows[eventID(0, 2)] = storedRow{2, "here, there"} }, verdict{Stored: 25, Doubled: 1}, "doubled: 1 of 3 events of request 0 (acknowledged, keyed false), one of them at here, there"},
		"one without an answer doubled": {func(rows map[uint64]storedRow) { rows[eventID(2, 0)] = storedRow{rows: 3, where: "x"} }, verdict{Stored: 25, Doubled: 1}, "doubled: 1 of 2 events of request 2 (unknown"},
		"torn":                          {func(rows map[uint64]storedRow) { delete(rows, eventID(2, 0)) }, verdict{Stored: 24, Torn: 1}, "torn: 1 of 2 events of request 2 (unknown)"},
		"refused and stored":            {func(rows map[uint64]storedRow) { rows[eventID(4, 1)] = storedRow{rows: 1} }, verdict{Stored: 26, Refused: 1}, "stored though refused"},
		"never sent":                    {func(rows map[uint64]storedRow) { rows[eventID(99, 0)] = storedRow{rows: 1} }, verdict{Stored: 26, Foreign: 1}, "never sent"},
		"past a request's end":          {func(rows map[uint64]storedRow) { rows[eventID(0, 3)] = storedRow{rows: 1} }, verdict{Stored: 26, Foreign: 1}, "never sent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := stored(all[:3]...)
			c.plant(rows)
			got := compare(all, rows)
			says := strings.Join(got.Examples, "\n")
			if !strings.Contains(says, c.says) || (c.says == "") != (says == "") {
				t.Errorf("it says %q, want %q", says, c.says)
			}
			if more := len((&result{Verdict: got}).problems()) - len((&result{}).problems()); (more > 0) != (c.says != "") {
				t.Errorf("the run ends with %d problems more", more)
			}
			got.Examples = nil
			if got.Stored != c.want.Stored || got.Lost != c.want.Lost || got.Doubled != c.want.Doubled || got.Torn != c.want.Torn ||
				got.Refused != c.want.Refused || got.Foreign != c.want.Foreign {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
