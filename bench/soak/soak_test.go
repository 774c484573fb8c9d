package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// flat returns n minutes with the same figures.
func flat(n int) result {
	var r result
	for range n {
		m := make(minute, len(columns))
		for i := range m {
			m[i] = 100
		}
		r.minutes = append(r.minutes, m)
	}
	return r
}

func TestJudge(t *testing.T) {
	t.Parallel()
	at := func(name string) int {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		if i < 0 {
			t.Fatal("no column", name)
		}
		return i
	}
	node, disk := at("node, MB"), at("data, MB")
	for name, c := range map[string]struct {
		change func(result)
		want   string // part of the error; "" means that nothing has grown
	}{
		"nothing grows": {func(result) {}, ""},
		"a leak": {func(r result) {
			for i := range r.minutes {
				r.minutes[i][node] += float64(10 * i)
			}
		}, "node, MB grew to 280 in the last fifth; the limit is 203"},
		"growth in the first fifth": {func(r result) {
			for i := range r.minutes[:4] {
				r.minutes[i][node] = float64(10 * i)
			}
		}, ""},
		"one slow minute at the end": {func(r result) { r.minutes[19][node] = 1000 }, ""},
		"three slow minutes at the end": {func(r result) {
			for i := range 3 {
				r.minutes[17+i][node] = 1000
			}
		}, "node, MB grew to 1000"},
		"less than the noise": {func(r result) {
			for i := range r.minutes[16:] {
				r.minutes[16+i][node] = 100*1.1 + columns[node].noise
			}
		}, ""},
		"a figure that may grow": {func(r result) {
			for i := range r.minutes {
				r.minutes[i][disk] *= float64(i)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := flat(20)
			c.change(r)
			err := r.judge()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("judge: %v, want %q", err, c.want)
			}
			r.failed = err
			if said := strings.Contains(r.markdown(), "**Failed**"); said != (err != nil) {
				t.Errorf("the table says that the run failed: %v; the error is %v", said, err)
			}
		})
	}
	if err := flat(4).judge(); err == nil {
		t.Error("four minutes are judged")
	}
}

func TestGroupOf(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"/tmp/octavo engine clickhouse --listen 127.0.0.1:1": "clickhouse",
		"octavo engine kafka":                                "kafka",
		"/x/native/bin/postgres -D /data":                    "postgres",
		"postgres: octavo octavo 127.0.0.1(5) idle":          "postgres",
		"git upload-pack":                                    "others",
	} {
		if got := groupOf(strings.Split(line, " ")); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if got := groupOf(nil); got != "others" {
		t.Error("a process that has exited:", got)
	}
}

// TestSoakRuns checks a short run: every figure is measured, and every acknowledged event is stored.
func TestSoakRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: make test-long")
	}
	t.Parallel()
	c := command{Minutes: 5, Minute: 6 * time.Second, Rate: 800, Sites: 2, Dashboards: 1, Editors: 1}
	r, err := c.soak(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.minutes) != c.Minutes {
		t.Fatalf("%d minutes, want %d", len(r.minutes), c.Minutes)
	}
	for i, col := range columns {
		// On a busy machine, no answer of a dashboard may arrive in some minutes.
		if !slices.ContainsFunc(r.minutes, func(m minute) bool { return m[i] > 0 }) {
			t.Errorf("%s is never measured", col.name)
		}
	}
}

// TestTooShort checks that a run is refused if it is too short to judge.
func TestTooShort(t *testing.T) {
	t.Parallel()
	err := (&command{Minutes: 4}).Run()
	if err == nil || !strings.Contains(err.Error(), "--minutes must be at least 5") {
		t.Error(err)
	}
}
