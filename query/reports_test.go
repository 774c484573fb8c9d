package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Aggregate answers an aggregate request, for most tests.
func (s *Service) Aggregate(
	ctx context.Context, who Caller, site string, body []byte, now time.Time,
) ([]byte, map[string]string, error) {
	return s.Answer(ctx, who, Aggregate, site, body, now)
}

// lowered is a report with one statement.
type lowered interface {
	report
	lower() sqltree.Statement
}

// compileReport compiles a request for a kind of report other than aggregates.
func compileReport(of Report, site, body string) (lowered, error) {
	r, err := compilers[of](reach{site: Site{ID: site}}, []byte(body), testNow)
	return r.(lowered), err
}

var reportKinds = []Report{Funnel, Retention, Transitions}

// TestReports runs testdata/reports.txt on the real engine. A case's name begins with
// its kind of report.
func TestReports(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	insert(t, conn, "site_2", fixture()[:3])
	service := newService(conn)
	cases := readCases(t, "testdata/reports.txt")
	got := make([]testCase, len(cases))
	for i, c := range cases {
		got[i] = testCase{name: c.name, request: c.request}
		word, _, _ := strings.Cut(c.name, ":")
		q := service.query(Report(word), Caller{}, testSite)
		r, err := compileReport(Report(word), testSite, c.request)
		answer, headers, err := q.reported(t.Context(), r, err)
		if err != nil {
			got[i].add("error", errorText(err))
			continue
		}
		st := r.lower()
		got[i].add("plan", r.String())
		got[i].add("sql", st.SQL)
		got[i].add("params", paramsText(st))
		got[i].add("answer", string(answer))
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			lines = append(lines, name+": "+headers[name])
		}
		got[i].add("headers", strings.Join(lines, "\n"))
	}
	golden(t, "reports", "testdata/reports.txt", cases, got)
}

// injected returns a request for each of reportKinds. The request has the text in every place that may have a text.
func injected(text string) map[Report]string {
	q := string(insights.AppendText(nil, text))
	named := string(insights.AppendText(nil, "x"+text))
	pattern := string(insights.AppendText(nil, regexp.QuoteMeta(text[:min(len(text), 100)])))
	where := `"where":[{"column":"url","operator":"notIn","values":[` + q + `]},{"or":[{"column":"entryPage","values":[{"page":` + q + `,"space":` + q + `}]},
		{"column":"visitorClaim","claim":` + q + `,"operator":"matches","values":[` + pattern + `]}]}]`
	return map[Report]string{
		Funnel: `{"range":"lastYear",` + where + `,"window":` + fmt.Sprint(1+len(text)) +
			`,"steps":[{` + where + `},{},{` + where + `}]}`,
		Retention: `{"range":"last30Days",` + where + `,"periods":` + fmt.Sprint(len(text)%50) +
			`,"first":{` + where + `},"return":{` + where + `}}`,
		Transitions: `{"range":"last7Days",` + where + `,"page":{"space":` + named + `,"page":` + named +
			`},"limit":9}`,
	}
}

// TestValuesAreNotInReports checks that statements of reports have the same text if they differ only in values. The
// engine uses every value literally. With -short, the engine gets only a fifth of the values.
func TestValuesAreNotInReports(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn)
	want := map[Report]string{}
	for i, evil := range injections {
		for of, body := range injected(evil) {
			r, err := compileReport(of, "site"+evil, body)
			if err != nil {
				t.Fatalf("%q: %v", evil, err)
			}
			sql := r.lower().SQL
			if want[of] == "" {
				want[of] = sql
			}
			if sql != want[of] {
				t.Errorf("%q changes the statement:\n%s\n%s", evil, sql, want[of])
			}
			checkSQL(t, sql)
			if testing.Short() && i%5 != 0 {
				continue
			}
			if r, err = compileReport(of, testSite, body); err != nil {
				t.Fatal(err)
			}
			if _, _, err := service.query(of, Caller{}, testSite).reported(t.Context(), r, nil); err != nil {
				t.Errorf("%s of %q: %v", of, evil, err)
			}
		}
	}
}

// TestReportsAreImmutable lowers and describes one report from several goroutines. The race detector sees any write.
func TestReportsAreImmutable(t *testing.T) {
	t.Parallel()
	for of, body := range injected("x") {
		r, err := compileReport(of, testSite, body)
		if err != nil {
			t.Fatal(err)
		}
		text, statement := r.String(), r.lower()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 50 {
					if r.lower().SQL != statement.SQL || r.String() != text {
						t.Errorf("the %s changed", of)
					}
				}
			})
		}
		group.Wait()
	}
}

// FuzzReports checks that each body gives an error that names the fault, or a statement. The statement's text must have
// only words of this program, and no text from the body.
func FuzzReports(f *testing.F) {
	for _, c := range readCases(f, "testdata/reports.txt") {
		f.Add([]byte(c.request))
	}
	for _, evil := range injections {
		for _, body := range injected(evil) {
			f.Add([]byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, of := range reportKinds {
			r, err := compileReport(of, testSite, string(body))
			if err != nil {
				if e, ok := errors.AsType[*schema.Error](err); !ok || e.Code != schema.CodeBadRequest || e.Message == "" {
					t.Fatalf("%v", err)
				}
				continue
			}
			checkSQL(t, r.lower().SQL)
		}
	})
}

// TestSessionsOutgrowMemory runs queries whose sessions need more memory than a query may use. The error must say how
// the query can need less memory.
func TestSessionsOutgrowMemory(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fillRaw(t, conn, testSite, 200_000)
	service := newService(conn, func(c *Config) { c.MaxMemory = 10 << 20 })
	for _, body := range []string{
		`{"range":"last30Days","select":[{"column":"bounceRate"},{"column":"visitorsCount"}]}`,
		`{"range":"last30Days","groupBy":[{"column":"entryPage"}]}`,
		`{"range":"last30Days","accuracy":"exact","select":[{"column":"bounceRate"},{"column":"visitorsCount"}]}`,
	} {
		_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(body), testNow)
		if e, ok := errors.AsType[*schema.Error](err); !ok || e.Code != schema.CodeBadRequest || e.Message != tooWide {
			t.Errorf("%s: %v", body, err)
		}
	}
	// With some more memory, the sessions are written to disk. Later queries write to disk in their first attempt.
	for body, statements := range map[string][2]int{
		`{"range":"last30Days","groupBy":[{"column":"visitorDevice"}],
			"select":[{"column":"visitorDevice"},{"column":"bounceRate"}]}`: {1, 1},
		`{"range":"last30Days","groupBy":[{"column":"entryPage"}]}`:                            {2, 2},
		`{"range":"last30Days","groupBy":[{"column":"entryPage"},{"column":"visitorDevice"}]}`: {2, 1},
	} {
		large := newService(conn, func(c *Config) { c.MaxMemory, c.MaxThreads = 1<<30, 2 })
		want, err := large.Explain(t.Context(), Aggregate, testSite, []byte(body), testNow)
		if err != nil || len(want.Statements) != 1 {
			t.Errorf("%s: %d statements, %v", body, len(want.Statements), err)
		}
		small := newService(conn, func(c *Config) { c.MaxMemory, c.MaxThreads = 64<<20, 2 })
		for i, n := range statements {
			x, err := small.Explain(t.Context(), Aggregate, testSite, []byte(body), testNow)
			if err != nil || len(x.Statements) > n {
				t.Errorf("%s, asking %d: %d statements, %v, want %d", body, i, len(x.Statements), err, n)
			}
			if string(x.Answer) != string(want.Answer) {
				t.Errorf("%s: %.300s from the disk, want %.300s", body, x.Answer, want.Answer)
			}
		}
	}
	// The visitors of a report are written to disk.
	body := []byte(`{"range":"last30Days","steps":[{},{}]}`)
	service = newService(conn, func(c *Config) { c.MaxMemory = 80 << 20 })
	answer, _, err := service.Answer(t.Context(), Caller{}, Funnel, testSite, body, testNow)
	if err != nil || !strings.HasPrefix(string(answer), `{"steps":[{"count":`) {
		t.Errorf("%s, %v", answer, err)
	}
}

// TestTransitionsOfErasedPages erases the events of a page after a report has counted them, and before the report reads
// the names of pages. The report must count again.
func TestTransitionsOfErasedPages(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn)
	body := []byte(`{"range":"last30Days","page":{"space":"sp1","page":"pg1"}}`)
	r, err := compilers[Transitions](reach{site: Site{ID: testSite}}, body, testNow)
	if err != nil {
		t.Fatal(err)
	}
	statements := 0
	q := service.query(Transitions, Caller{}, testSite)
	q.ran = func(ExplainedStatement) {
		if statements++; statements == 1 {
			const erase = `ALTER TABLE events DELETE WHERE page = 'pg2' SETTINGS mutations_sync = 2`
			if err := conn.Exec(t.Context(), erase); err != nil {
				t.Error(err)
			}
		}
	}
	answer, _, err := q.reported(t.Context(), r, nil)
	want := `{"views":1,"entries":1,"exits":1,"reloads":0,"from":[],"to":[]}`
	if err != nil || string(answer) != want || statements != 3 {
		t.Errorf("%s, %v after %d statements, want %s after 3", answer, err, statements, want)
	}
}

// TestReportsAreShared checks that equal reports of any kind share an answer, and that different reports do not.
func TestReportsAreShared(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn, keeping)
	keys := map[string]string{}
	for _, c := range readCases(t, "testdata/reports.txt") {
		word, _, _ := strings.Cut(c.name, ":")
		of := Report(word)
		r, err := compilers[of](reach{site: Site{ID: testSite}}, []byte(c.request), testNow)
		if err != nil {
			continue
		}
		if other, ok := keys[word+r.identity()]; ok {
			t.Errorf("%s and %s have one key", c.name, other)
		}
		keys[word+r.identity()] = c.name
		var first string
		for i := range 2 {
			now := testNow.Add(time.Duration(i) * time.Second)
			later, err := compilers[of](reach{site: Site{ID: testSite}}, []byte(c.request), now)
			q := service.query(of, Caller{}, testSite)
			answer, headers, err := q.reported(t.Context(), later, err)
			if err != nil {
				break
			}
			if _, aged := headers[headerAge]; aged != (i > 0) || i > 0 && string(answer) != first {
				t.Errorf("%s: answer %d is %s %v, after %s", c.name, i, answer, headers, first)
			}
			first = string(answer)
		}
	}
	if len(keys) < 5 {
		t.Errorf("%d reports only", len(keys))
	}
}

// TestWhereOfSteps checks errors about conditions. If requests of the report have no field `where`, the details of the
// error must not name this field. The last error is about a condition of a funnel's step, and names the step.
func TestWhereOfSteps(t *testing.T) {
	t.Parallel()
	service := newService(newSlow(t))
	for kind, want := range map[Report]string{Aggregate: "where", Funnel: "", Retention: "", Transitions: "where"} {
		e, _ := errors.AsType[*schema.Error](
			service.query(kind, Caller{}, testSite).failed(t.Context(), &clickhouse.Exception{Code: codeRegexp}),
		)
		if e == nil || e.Code != schema.CodeBadRequest || (len(e.Details) > 0) != (want != "") || want != "" && e.Details[0].Field != want || !strings.HasSuffix(e.Message, "where "+badPattern) {
			t.Errorf("%s: %+v", kind, e)
		}
	}
	step := `{"where":[` + strings.TrimSuffix(strings.Repeat(`{"column":"url","values":["a"]},`, maxFilters/2), ",") + `]},`
	body := `{"range":"lastYear","steps":[` + strings.Repeat(step, 2) + `{"where":[{"column":"url","values":["a"]}]}]}`
	_, err := compileFunnel(reach{site: Site{ID: testSite}}, []byte(body), testNow)
	if want := "steps[2].where[0] is one too many: a request must have at most 100 conditions and groups of them"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
