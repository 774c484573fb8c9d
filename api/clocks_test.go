package api_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dates has the files that read the calendar time as a number. A row has the number of these reads in the file, and the
// reason why a change of the machine's clock does no harm there. Limits, leases, caches and deadlines of a process must
// measure time with schema.Elapsed, or compare values of time.Now.
var dates = map[string]struct {
	uses int
	why  string
}{
	"api/access/daily_cap.go":                 {1, "a cap by the day of the calendar"},
	"api/access/site_token.go":                {2, "the end of a token, and the week of its key"},
	"api/content/exports.go":                  {1, "the end of a signed address"},
	"api/frame/authorize.go":                  {1, "a header with a date"},
	"api/frame/refusallog.go":                 {1, "any other second begins a new count"},
	"api/orgs/saml_requests.go":               {2, "the end of a signed request"},
	"api/remote/webhooks/sign.go":             {1, "the date of a signature"},
	"api/sites/visitors.go":                   {1, "the end of a token"},
	"cmd/engine/kafkaserver/retention.go":     {1, "deletes by the age of messages"},
	"cmd/engine/kafkaserver/seglog/append.go": {1, "the date of a message"},
	"ingest/balance/days.go":                  {1, "the day of a refusal"},
	"ingest/erasure/job.go":                   {8, "dates of events, and the name of a statement"},
	"ingest/erasure/list.go":                  {3, "the date up to which a site's events are deleted, and a span of dates"},
	"ingest/eventgen/generator.go":            {1, "dates of made-up events"},
	"ingest/eventgen/rhythm.go":               {2, "dates of made-up events"},
	"ingest/eventlog/batch.go":                {1, "the date of a message"},
	"ingest/eventlog/log.go":                  {1, "partitions take turns; any order does"},
	"ingest/eventstore/delete.go":             {2, "the date up to which events are deleted"},
	"ingest/intake/decode.go":                 {1, "dates of events"},
	"ingest/intake/door_decode.go":            {1, "dates of events"},
	"ingest/intake/keys_recent.go":            {2, "the date that a key of a batch is free, of the database"},
	"ingest/intake/salts.go":                  {1, "the day of a salt"},
	"ingest/intake/validate_time.go":          {1, "dates of events"},
	"ingest/sink/audit.go":                    {1, "dates of events"},
	"ingest/sink/backup.go":                   {3, "dates of events"},
	"ingest/sink/erased.go":                   {2, "dates of events"},
	"ingest/sink/freshness.go":                {1, "the date up to which events are stored"},
	"query/cursor.go":                         {2, "the date of a query's first page"},
	"query/pages.go":                          {1, "the date of an edit"},
	"query/pages_answer.go":                   {1, "the date of a query's first page"},
	"query/segments_page.go":                  {1, "the date of a query's first page"},
	"schema/insights/calendar.go":             {2, "days of a calendar"},
	"schema/insights_session.go":              {1, "the end of a token"},
	"store/sites/door_salts.go":               {1, "the day of a salt"},
}

// TestNoDurationInWallTime finds each place that reads the calendar time as a number. The difference of two such
// numbers is wrong if the machine's clock is changed between the reads. In an earlier version, all callers were refused
// for an hour after the clock was set back by an hour.
func TestNoDurationInWallTime(t *testing.T) {
	t.Parallel()
	number := regexp.MustCompile(`\.Unix(Nano|Milli|Micro)?\(\)`)
	found := countInSources(t, func(text []byte) int { return len(number.FindAll(text, -1)) })
	reasons := map[string]int{}
	for name, d := range dates {
		reasons[name] = d.uses
	}
	wantReasons(t, "reads the calendar as a number", found, reasons)
}

// countInSources calls `count` for each Go file that nodes run. It leaves out the files for which the result is 0.
func countInSources(t *testing.T, count func(text []byte) int) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, folder := range goFolders(t) {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			name := filepath.ToSlash(filepath.Join(folder, filepath.Base(path)))
			if strings.HasSuffix(name, "_test.go") || ofTools.MatchString(name) {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := count(text); n > 0 {
				found[name] = n
			}
		}
	}
	return found
}

// wantReasons checks that each file has as many places as the table of reasons says.
func wantReasons(t *testing.T, does string, found, reasons map[string]int) {
	t.Helper()
	for name, n := range found {
		if n != reasons[name] {
			t.Errorf("%s %s %d times, and has reasons for %d", name, does, n, reasons[name])
		}
	}
	for name := range reasons {
		if found[name] == 0 {
			t.Errorf("%s needs no reason any more", name)
		}
	}
}

// ofTools are the folders of programs that no node runs.
var ofTools = regexp.MustCompile(`^bench/|^cmd/gen/|^cmd/engine/enginetest/|^api/apitest/`)
