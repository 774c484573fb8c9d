package api_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// byOwnTime has the deleting statements that use a time other than deletion_time. A row has the reason why no data is
// lost if the clock is ahead.
var byOwnTime = map[string]string{
	"AnnotateSites":                "keeps a number of annotations; now() is when one was made",
	"BeginRetention":               "deletes by deletion_time; now() is when it did",
	"DeleteOldIntegrationEvents":   "keeps a number of events",
	"DeleteOldIntegrationScripts":  "keeps a number of versions",
	"DeleteOldIntegrationVersions": "keeps a number of versions",
	"DropOldTranslationRuns":       "keeps a number of runs",
	"hasten":                       "ends a leader's term that lies far ahead; another term follows",
	"forget_audit_entries":         "its caller gives it a time of deletion_time",
}

// TestStatementsDeleteByGuardedTime finds each SQL statement of the store that deletes rows and contains a time. This
// time must be deletion_time. While the clock is in doubt, deletion_time is the year 1970, so no row is old enough to
// be deleted. An earlier version used the node's clock: a node that started in a wrong year deleted 41,500 events.
func TestStatementsDeleteByGuardedTime(t *testing.T) {
	t.Parallel()
	deletes := regexp.MustCompile(`(?i)\b(delete from|truncate)\b`)
	aged := regexp.MustCompile(`(?i)\b(now\(\)|clock_timestamp|current_(date|time)|interval)|` +
		`(_at|_until|\bat|\bday|\bturn|_end) *<|` +
		`sqlc\.n?arg\((before|older_than|until|since|kept|\w+_at|\w+_before)\)`)
	own := regexp.MustCompile(`(?i)\b(now\(\)|clock_timestamp|current_(date|time))|` +
		`sqlc\.n?arg\((before|older_than|\w+_before)\)`)
	found := map[string]bool{}
	for name, text := range statementsOfStore(t) {
		if !deletes.MatchString(text) || !aged.MatchString(text) {
			continue
		}
		if strings.Contains(text, "deletion_time()") && !own.MatchString(text) {
			continue
		}
		found[name] = true
		if byOwnTime[name] == "" {
			t.Errorf("%s deletes, and knows a time that is not deletion_time():\n%s", name, text)
		}
	}
	for name := range byOwnTime {
		if !found[name] {
			t.Errorf("%s needs no reason any more", name)
		}
	}
}

// statementsOfStore returns the store's SQL queries and SQL functions without comments. The keys are their names.
func statementsOfStore(t *testing.T) map[string]string {
	t.Helper()
	begin := regexp.MustCompile(`(?m)^(?:-- name: |create or replace function )(\w+)`)
	comment := regexp.MustCompile(`(?m)^ *--.*$`)
	statements := map[string]string{}
	for _, pattern := range []string{"store/queries/*.sql", "store/functions/*.sql", "store/access/*.sql"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			at := begin.FindAllStringSubmatchIndex(text, -1)
			for i, match := range at {
				end := len(text)
				if i+1 < len(at) {
					end = at[i+1][0]
				}
				name := text[match[2]:match[3]]
				statements[name] = comment.ReplaceAllString(text[match[1]:end], "")
			}
		}
	}
	return statements
}

// filesByAge has the Go files that delete data and use a time. A row has the number of deletions in the file, and the
// reason why no data is lost if the clock is ahead.
var filesByAge = map[string]struct {
	deletes int
	why     string
}{
	"api/jobs/runner.go":                  {3, "keeps all jobs: the sweep deletes them"},
	"api/jobs/sweep.go":                   {1, "by Store.Clock.DeletionTime"},
	"api/remote/gitsync/cache.go":         {2, "copies of repositories, by the time of the sweep"},
	"cmd/engine/kafkaserver/retention.go": {1, "by Config.Clock, which a node writes while the clock is trusted"},
	"cmd/engine/pgserver/reap.go":         {1, "the lock of a server that is gone; the time bounds a wait"},
	"cmd/octavo/agents.go":                {1, "a file that could not be written whole"},
	"ingest/eventstore/damage.go":         {1, "damaged states, which are computed again"},
	"ingest/eventstore/delete.go":         {2, "rows that the erasure or the retention of the store names, and states"},
	"query/statecache/tables.go":          {1, "states, which are computed again"},
}

// TestCodeDeletesByGuardedTime finds each Go file that deletes files, rows of events or messages, and that contains a
// time.
func TestCodeDeletesByGuardedTime(t *testing.T) {
	t.Parallel()
	deletes := regexp.MustCompile(
		`os\.Remove(All)?\(|DELETE WHERE|DROP PARTITION|\.trim\(|JobRetentionPeriod|\bTTL \w+ \+`,
	)
	aged := regexp.MustCompile(`ModTime\(\)|time\.Now\(\)|time\.Since\(|MaxTime|now\.Sub|time\.Time\b`)
	found := countInSources(t, func(text []byte) int {
		if !aged.Match(text) {
			return 0
		}
		return len(deletes.FindAll(text, -1))
	})
	maps.DeleteFunc(found, func(name string, _ int) bool { return strings.Contains(name, "test/") })
	reasons := map[string]int{}
	for name, f := range filesByAge {
		reasons[name] = f.deletes
	}
	wantReasons(t, "knows a time and deletes", found, reasons)
}
