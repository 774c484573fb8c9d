package eventrows_test

import (
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestMissing: days and accepted losses are forgotten as soon as their rows are not missing any more.
func TestMissing(t *testing.T) {
	t.Parallel()
	rows, ctx := storetest.New(t).Rows, t.Context()
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }
	a := schema.MissingDay{Month: 202603, Site: "a", Day: day(1)}
	b := schema.MissingDay{Month: 202603, Site: "b", Day: day(2)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	note := func(march, april int64) {
		t.Helper()
		var list []schema.MissingRows
		for month, n := range map[schema.EventMonth]int64{202603: march, 202604: april} {
			if n > 0 {
				list = append(list, schema.MissingRows{Month: month, Rows: n, Lost: 1, First: day(1), Last: day(9)})
			}
		}
		must(rows.NoteMissing(ctx, list))
	}
	want := func(open, accepted int64, days map[schema.MissingDay]int64) {
		t.Helper()
		list, err := rows.Missing(ctx)
		must(err)
		got, err := rows.MissingDays(ctx)
		must(err)
		total := int64(0)
		for _, m := range list {
			total += m.Accepted
		}
		if schema.MissingOpen(list) != open || total != accepted || len(got) != len(days) {
			t.Errorf("missing %+v, days %v; want %d open, %d accepted, %v", list, got, open, accepted, days)
		}
		for of, n := range days {
			if got[of] != n {
				t.Errorf("%v has %d rows, want %d", of, got[of], n)
			}
		}
	}
	must(rows.NoteMissingDays(ctx, map[schema.MissingDay]int64{a: 5, b: 3}))
	must(rows.NoteMissingDays(ctx, map[schema.MissingDay]int64{b: 1}))
	note(10, 4)
	want(14, 0, map[schema.MissingDay]int64{a: 5, b: 4})
	must(rows.RestoreMissingDays(ctx, map[schema.MissingDay]int64{a: 7, b: 1}))
	note(6, 4)
	want(10, 0, map[schema.MissingDay]int64{b: 3})
	if accepted, err := rows.AcceptMissing(ctx); err != nil || accepted[202603] != 6 || accepted[202604] != 4 {
		t.Fatalf("%v: accepted %v", err, accepted)
	}
	want(0, 10, map[schema.MissingDay]int64{b: 3})
	note(8, 0) // another loss, and rows that came back
	want(2, 6, map[schema.MissingDay]int64{b: 3})
	note(2, 0)
	want(0, 2, nil) // the days have more rows than the month lacks
	note(2, 5)
	want(5, 2, nil)
	if accepted, err := rows.AcceptMissing(ctx); err != nil || len(accepted) != 1 || accepted[202604] != 5 {
		t.Fatalf("%v: accepted %v", err, accepted)
	}
}

// TestSplitMissing splits months by what is known of their rows.
func TestSplitMissing(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	list := schema.SplitMissing(
		[]schema.MissingRows{
			{Month: 202603, Rows: 10, Lost: 10, Accepted: 4, First: day, Last: day}, {Month: 202604, Rows: 1},
		},
		map[schema.MissingDay]int64{{Month: 202603, Site: "a", Day: day}: 7},
	)
	if len(list) != 3 || list[0].Site != "a" || list[0].Rows != 7 || list[1].Site != "" || list[1].Rows != 3 ||
		schema.MissingTotal(list) != 11 || schema.MissingLost(list) != 10 || schema.MissingOpen(list) != 7 ||
		!list[0].Last.Equal(day.Add(24*time.Hour)) {
		t.Errorf("%+v", list)
	}
}
