package eventrows_test

import (
	"maps"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestMissing checks that stored days and accepted losses are deleted as soon as their rows are no longer missing.
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
	note(8, 0) // a new loss, after the earlier rows came back
	want(2, 6, map[schema.MissingDay]int64{b: 3})
	note(2, 0)
	want(0, 2, nil) // the days have more missing rows than the month
	note(2, 5)
	want(5, 2, nil)
	if accepted, err := rows.AcceptMissing(ctx); err != nil || len(accepted) != 1 || accepted[202604] != 5 {
		t.Fatalf("%v: accepted %v", err, accepted)
	}
}

// TestDoubled checks that a month may have doubled rows, missing rows or both.
func TestDoubled(t *testing.T) {
	t.Parallel()
	rows, ctx := storetest.New(t).Rows, t.Context()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	month := func(missing, doubled int64) schema.MissingRows {
		return schema.MissingRows{Month: 202603, Rows: missing, Doubled: doubled, First: at, Last: at}
	}
	for _, step := range []struct{ missing, doubled, accepted int64 }{
		{0, 5, 0}, {7, 5, 7}, {0, 5, 0}, {3, 0, 3},
	} {
		if err := rows.NoteMissing(ctx, []schema.MissingRows{month(step.missing, step.doubled)}); err != nil {
			t.Fatal(err)
		}
		accepted, err := rows.AcceptMissing(ctx)
		if err != nil || accepted[202603] != step.accepted {
			t.Errorf("%v: accepted %v of %+v", err, accepted, step)
		}
		want := month(step.missing, step.doubled)
		want.Accepted = step.missing
		if list, err := rows.Missing(ctx); err != nil || len(list) != 1 || list[0] != want {
			t.Errorf("%v: %+v, want %+v", err, list, want)
		}
	}
	if err := rows.NoteMissing(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if list, err := rows.Missing(ctx); err != nil || len(list) != 0 {
		t.Errorf("%v: %+v", err, list)
	}
}

// TestLeaving checks which nodes have not read a notice.
func TestLeaving(t *testing.T) {
	t.Parallel()
	rows, ctx := storetest.New(t).Rows, t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	before := func(notice int64, want map[string]int64) {
		t.Helper()
		if got, err := rows.ReadersBefore(ctx, notice); err != nil || !maps.Equal(got, want) {
			t.Errorf("%v: %v have not read notice %d, want %v", err, got, notice, want)
		}
	}
	must(rows.NoteReader(ctx, "a", 0))
	must(rows.NoteReader(ctx, "b", 0))
	must(rows.NoteReader(ctx, "b", 0))
	_, err := rows.NoteLeaving(ctx, 10)
	must(err)
	last, err := rows.NoteLeaving(ctx, 5)
	must(err)
	leaving, notice, err := rows.Leaving(ctx)
	if err != nil || leaving != 15 || notice != last {
		t.Errorf("%v: %d rows, notice %d of %d", err, leaving, notice, last)
	}
	before(last, map[string]int64{"a": 0, "b": 1})
	must(rows.NoteReader(ctx, "b", notice))
	before(last, map[string]int64{"a": 0})
	must(rows.ForgetLeaving(ctx))
	if leaving, notice, err = rows.Leaving(ctx); err != nil || leaving != 0 || notice != 0 {
		t.Errorf("%v: %d rows, notice %d after all are forgotten", err, leaving, notice)
	}
	must(rows.NoteReader(ctx, "b", notice)) // node b has read later notices
	next, err := rows.NoteLeaving(ctx, 1)
	must(err)
	before(last, map[string]int64{"a": 0})
	before(next, map[string]int64{"a": 0, "b": 3})
	must(rows.ForgetReader(ctx, "a"))
	before(next, map[string]int64{"b": 3})
}

// TestSplitMissing splits missing rows of months into rows with a known site and day, and other rows.
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
