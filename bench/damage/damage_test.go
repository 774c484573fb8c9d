package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// few is a regular expression. TestDamage runs only the cases whose names it matches. `make damage` runs all cases.
const few = `^(segment of the log, flip, waiting|table of pages, zeros, stored|folder of Postgres, gone, stored)$`

// TestDamage runs the cases that `few` matches. It fails if a case has the outcome `silent` (see verdict.go).
func TestDamage(t *testing.T) {
	t.Parallel()
	r, err := newRig(t.Context(), t.TempDir(), enginetest.Octavo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.close() })
	rows, err := r.judgeAll(t.Context(), allCases(regexp.MustCompile(few)), 2, func(row row) {
		if row.outcome == silent {
			t.Errorf("%s: silent: %s", row.damageCase, row.verdict.text)
		}
		t.Logf("%s: %s: %s", row.damageCase, row.outcome, row.verdict.text)
	})
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d cases: %v", len(rows), err)
	}
}

// TestCases checks that there are at least 60 cases, and that the pattern `few` matches three of them.
func TestCases(t *testing.T) {
	t.Parallel()
	if n := len(allCases(regexp.MustCompile("."))); n < 60 {
		t.Errorf("there are %d cases", n)
	}
	if n := len(allCases(regexp.MustCompile(few))); n != 3 {
		t.Errorf("TestDamage has %d cases", n)
	}
	for _, c := range allCases(regexp.MustCompile(".")) {
		if ways[c.way] == nil {
			t.Errorf("%s: there is no such way", c)
		}
	}
}

// TestJudge checks that a wrong answer counts as `said` only if the node reports the damage and a way to repair it.
func TestJudge(t *testing.T) {
	t.Parallel()
	const (
		events   = "events by month of site 1"
		hundred  = `[{"column":"eventsCount","values":[60,40]}]`
		ninety   = `[{"column":"eventsCount","values":[60,30]}]`
		damaged  = "stored data is damaged: the operator restores the database from a backup"
		missing  = `{"level":"ERROR","msg":"Stored events are missing. octavo repair restores them."}` + "\n"
		more     = `[{"column":"eventsCount","values":[60,50]}]`
		doubled  = `{"level":"ERROR","msg":"Stored events are doubled. octavo repair leaves one of each."}` + "\n"
		logError = `{"level":"ERROR","msg":"The log is damaged. Readers go on behind the damage."}` + "\n"
	)
	const incomplete, twice = "incomplete: 10 are missing", "doubled: 10 are there twice"
	for name, c := range map[string]struct {
		got  answer
		more seen
		want outcome
	}{
		"the same":                  {answer{events, 200, hundred, "", "", ""}, seen{}, right},
		"fewer":                     {answer{events, 200, ninety, "", "", ""}, seen{}, silent},
		"an internal error":         {answer{events, 500, "internal error", "", "", ""}, seen{}, silent},
		"overloaded":                {answer{events, 503, "try again later", "", "", ""}, seen{}, silent},
		"no answer":                 {answer{events, 0, "connection refused", "", "", ""}, seen{}, silent},
		"damaged":                   {answer{events, 503, damaged, "", "", ""}, seen{}, said},
		"damaged without a way out": {answer{events, 503, "stored data is damaged: bad luck", "", "", ""}, seen{}, silent},
		"missing": {
			answer{events, 200, ninety, "10", "", incomplete},
			seen{log: missing}, said,
		},
		"doubled": {
			answer{events, 200, more, "", "10", twice},
			seen{log: doubled}, said,
		},
		"missing, and then mended": {
			answer{events, 200, ninety, "10", "", "ok"},
			seen{log: missing, later: []answer{{events, 200, hundred, "", "", "ok"}}}, said,
		},
		"missing, ready and still missing": {
			answer{events, 200, ninety, "10", "", "ok"},
			seen{log: missing, later: []answer{{events, 200, ninety, "10", "", "ok"}}}, silent,
		},
		"doubled and ready":            {answer{events, 200, more, "", "10", ""}, seen{log: doubled}, silent},
		"right and called doubled":     {answer{events, 200, hundred, "", "10", ""}, seen{}, silent},
		"missing without a line":       {answer{events, 200, ninety, "10", "", incomplete}, seen{}, silent},
		"missing and ready":            {answer{events, 200, ninety, "10", "", ""}, seen{log: missing}, silent},
		"all there and called missing": {answer{events, 200, hundred, "10", "", ""}, seen{}, silent},
		"lost and counted": {
			answer{events, 200, ninety, "", "", ""},
			seen{lost: 1, taken: 9, message: 9, log: logError}, said,
		},
		"lost without an ERROR": {
			answer{events, 200, ninety, "", "", ""},
			seen{lost: 1, taken: 9, message: 9}, silent,
		},
		"too few counted as lost": {
			answer{events, 200, `[{"values":[60,20]}]`, "", "", ""},
			seen{lost: 1, taken: 9, message: 9, log: logError}, silent,
		},
		"nothing lost and called lost": {
			answer{events, 200, hundred, "", "", ""},
			seen{lost: 1, taken: 9, message: 9, log: logError}, silent,
		},
		"more lost than was damaged": {
			answer{events, 200, `[{"values":[60]}]`, "", "", ""},
			seen{lost: 4, taken: 1, message: 9, log: logError}, silent,
		},
		"not ready, and the log says so": {
			answer{events, 503, "unavailable", "", "", ""},
			seen{ready: readiness{Status: 503}, log: missing}, said,
		},
	} {
		c.more.answers = []answer{c.got}
		if c.more.message == 0 {
			c.more.message = 1
		}
		if v := judge([]answer{{events, 200, hundred, "", "", ""}}, c.more); v.outcome != c.want {
			t.Errorf("%s: %s (%s), want %s", name, v.outcome, v.text, c.want)
		}
	}
}

// TestRefusal checks that a refusal counts only if its message names the file or folder, and says how to repair the
// damage.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]outcome{
		"octavo: error: /d/kafka/broker/journal-1 is damaged: put back a copy": refused,
		"octavo: error: /d/kafka/broker/journal-1 is damaged":                  silent,
		"octavo: error: the journal is damaged: put back a copy":               silent,
		"panic: /d/kafka/broker/journal-1 is damaged: put back a copy":         silent,
	} {
		if v := refusal("level=INFO msg=x\n"+log+"\n", "/d", "/d/kafka/broker/topics/a"); v.outcome != want {
			t.Errorf("%s: %s, want %s", log, v.outcome, want)
		}
	}
	if v := refusal("", "/d", "/d/baseline"); v.outcome != silent || !strings.Contains(v.text, "without a sentence") {
		t.Errorf("an end without a word: %+v", v)
	}
}
