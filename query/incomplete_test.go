package query

import (
	"maps"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// TestLacksMeanwhile: if the events table loses or regains rows while a query reads it, the answer reports the missing
// rows.
func TestLacksMeanwhile(t *testing.T) {
	t.Parallel()
	var known []schema.MissingRows
	service := &Service{config: Config{Missing: func() []schema.MissingRows { return known }}}
	all := []scope{{from: time.Unix(0, 0), to: time.Unix(2e9, 0)}}
	rows := []schema.MissingRows{{Rows: 7, First: time.Unix(0, 0).UTC(), Last: time.Unix(1e9, 0).UTC()}}
	for name, known2 := range map[string][][]schema.MissingRows{"leave": {nil, rows}, "come back": {rows, nil}} {
		for _, exact := range []bool{false, true} {
			q, headers := &query{service: service}, map[string]string{}
			all[0].exact = exact
			known = known2[0]
			err := q.lacks(all)
			known = known2[1]
			if err == nil {
				err = q.lacksNow()
			}
			if q.incomplete(headers); headers[headerMissing] != "7" || (schema.DamageOf(err) != nil) != exact {
				t.Errorf("rows that %s: %v, exact %v: %v", name, headers, exact, err)
			}
		}
	}
}

// TestDoubled checks that an answer reports the number of doubled rows on the days of its range. A request for an exact
// answer is refused.
func TestDoubled(t *testing.T) {
	t.Parallel()
	day := func(day int) time.Time { return time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC) }
	service := &Service{config: Config{Missing: func() []schema.MissingRows {
		return []schema.MissingRows{
			{Month: 202603, Rows: 2, First: day(1), Last: day(2)},
			{Month: 202603, Doubled: 5, First: day(8), Last: day(9)},
		}
	}}}
	for name, c := range map[string]struct {
		from, to int
		want     map[string]string
	}{
		"doubled": {7, 11, map[string]string{headerDoubled: "5", headerDoubledRange: "2026-03-08..2026-03-09"}},
		"both": {1, 20, map[string]string{
			headerDoubled: "5", headerDoubledRange: "2026-03-08..2026-03-09",
			headerComplete: "false", headerMissing: "2", headerMissingRange: "2026-03-01..2026-03-02",
		}},
		"neither": {20, 21, map[string]string{}},
	} {
		q := &query{service: service}
		headers := map[string]string{}
		if err := q.lacks([]scope{{from: day(c.from), to: day(c.to)}}); err != nil {
			t.Fatal(err)
		}
		if q.incomplete(headers); !maps.Equal(headers, c.want) {
			t.Errorf("%s: %v, want %v", name, headers, c.want)
		}
	}
	err := (&query{service: service}).lacks([]scope{{from: day(8), to: day(9), exact: true}})
	if schema.DamageOf(err) == nil {
		t.Errorf("an exact answer: %v", err)
	}
}

// TestLacks checks which answers report missing events. If events are missing, a request for an exact answer is
// refused.
func TestLacks(t *testing.T) {
	t.Parallel()
	day := func(month, day int) time.Time { return time.Date(2026, time.Month(month), day, 0, 0, 0, 0, time.UTC) }
	missing := []schema.MissingRows{
		{Month: 202603, Rows: 7, First: day(3, 2), Last: day(4, 1)},
		{Month: 202605, Rows: 100, First: day(4, 20), Last: day(5, 9)},
	}
	within := func(from, to time.Time) scope { return scope{from: from, to: to} }
	for name, c := range map[string]struct {
		ranges []scope
		rows   string // "" means that no row is missing
		days   string
	}{
		"before":            {[]scope{within(day(1, 1), day(3, 1))}, "", ""},
		"between":           {[]scope{within(day(4, 2), day(4, 19))}, "", ""},
		"after":             {[]scope{within(day(5, 10), day(7, 1))}, "", ""},
		"one":               {[]scope{within(day(3, 31), day(4, 2))}, "7", "2026-03-02..2026-04-01"},
		"inside":            {[]scope{within(day(5, 1), day(5, 2))}, "100", "2026-04-20..2026-05-09"},
		"both":              {[]scope{within(day(1, 1), day(7, 1))}, "107", "2026-03-02..2026-05-09"},
		"sessions reach it": {[]scope{within(day(5, 9).Add(missingMargin-1), day(6, 1))}, "100", "2026-04-20..2026-05-09"},
		"a comparison":      {[]scope{within(day(6, 1), day(7, 1)), within(day(5, 1), day(6, 1))}, "100", "2026-04-20..2026-05-09"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &Service{config: Config{Missing: func() []schema.MissingRows { return missing }}}
			q := &query{service: service}
			if err := q.lacks(c.ranges); err != nil {
				t.Fatal(err)
			}
			headers, want := map[string]string{}, map[string]string{}
			if c.rows != "" {
				want = map[string]string{headerComplete: "false", headerMissing: c.rows, headerMissingRange: c.days}
			}
			if q.incomplete(headers); !maps.Equal(headers, want) {
				t.Errorf("%v, want %v", headers, want)
			}
			for i := range c.ranges {
				c.ranges[i].exact = true
			}
			err := (&query{service: service}).lacks(c.ranges)
			if damage := schema.DamageOf(err); (damage != nil) != (c.rows != "") {
				t.Errorf("an exact answer: %v", err)
			}
		})
	}
}
