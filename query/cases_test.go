package query

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

var update = flag.String("update", "", "write one kind of golden file: rows, plan or sql")

// A case file is a list of cases. A case has the line "=== name", the request, and sections. Each section is an
// expected part of the result. The files under testdata/rows have "--- rows" or "--- error". If the answer's headers
// are not usualHeaders, the case also has "--- headers". testdata/plan.txt and testdata/sql.txt have a dozen of these
// requests (see shapes), with their plans and their statements.
type testCase struct {
	name, request string
	sections      []section
}

type section struct{ name, text string }

func (c *testCase) add(name, text string) {
	c.sections = append(c.sections, section{name, strings.TrimSpace(text)})
}

func parseCases(text string) []testCase {
	var cases []testCase
	for part := range strings.SplitSeq("\n"+text, "\n=== ") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, rest, _ := strings.Cut(part, "\n")
		pieces := strings.Split("\n"+rest, "\n--- ")
		c := testCase{name: strings.TrimSpace(name), request: strings.TrimSpace(pieces[0])}
		for _, piece := range pieces[1:] {
			head, body, _ := strings.Cut(piece, "\n")
			c.add(strings.TrimSpace(head), body)
		}
		cases = append(cases, c)
	}
	return cases
}

func printCases(cases []testCase) string {
	var b strings.Builder
	for i, c := range cases {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "=== %s\n%s\n", c.name, c.request)
		for _, s := range c.sections {
			fmt.Fprintf(&b, "--- %s\n%s\n", s.name, s.text)
		}
	}
	return b.String()
}

func readCases(t testing.TB, path string) []testCase {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parseCases(string(text))
}

// rowFiles returns the cases of each file with rows.
func rowFiles(t testing.TB) map[string][]testCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/rows/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	files := map[string][]testCase{}
	for _, path := range paths {
		files[path] = readCases(t, path)
	}
	return files
}

// golden compares the cases of a file with their results, case by case. If the flag -update names `kind`, it writes the
// results to the file instead.
func golden(t *testing.T, kind, path string, want, got []testCase) {
	t.Helper()
	if *update == kind {
		if err := os.WriteFile(path, []byte(printCases(got)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(want) != len(got) {
		t.Errorf("%s has %d cases, want %d", path, len(want), len(got))
	}
	for i := range min(len(want), len(got)) {
		t.Run(got[i].name, func(t *testing.T) {
			if diff := cmp.Diff(want[i], got[i], cmp.AllowUnexported(testCase{}, section{})); diff != "" {
				t.Errorf("%s (-want +got; -update %s writes it):\n%s", path, kind, diff)
			}
		})
	}
}

// usualHeaders are the headers of most cases. These cases read all rows of the fixture.
const usualHeaders = "Octavo-Result: exact\nOctavo-Rows-Read: 10\nOctavo-Source: raw"

// TestCases runs the case files on the real engine.
func TestCases(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	insert(t, conn, "site_2", fixture()[:3])
	service := newService(conn)
	for path, cases := range rowFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			got := make([]testCase, len(cases))
			for i, c := range cases {
				got[i] = runCase(t, service, c)
			}
			golden(t, "rows", path, cases, got)
		})
	}
}

func runCase(t *testing.T, s *Service, c testCase) testCase {
	t.Helper()
	got := testCase{name: c.name, request: c.request}
	body, headers, err := s.Aggregate(t.Context(), Caller{}, testSite, []byte(c.request), testNow)
	if err != nil {
		got.add("error", errorText(err))
		return got
	}
	got.add("rows", rowsText(t, body))
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines = append(lines, name+": "+headers[name])
	}
	if text := strings.Join(lines, "\n"); text != usualHeaders {
		got.add("headers", text)
	}
	return got
}

// shapes are the cases whose plans and statements have golden files. There is a case for each feature that changes
// the form of a statement.
var shapes = []string{
	"only a range", "by day", "select order, a grouped dimension that is not selected, a column twice",
	"hours and days, from coarse to fine", "two claims", "claim names", "place", "link target", "ratings order by their balance",
	"filters are joined by and", "metrics filter groups", "claims", "places", "ratings leave out what has none",
	"a session counts once in each of its groups, with all that it is", "filters on entry and exit pages", "filled days have no mean",
}

func shapeCases(t *testing.T, add func(c *testCase, p plan)) []testCase {
	t.Helper()
	var cases []testCase
	for _, file := range rowFiles(t) {
		for _, c := range file {
			if slices.Contains(shapes, c.name) {
				p, err := compile(Site{ID: testSite}, []byte(c.request), testNow)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				got := testCase{name: c.name, request: c.request}
				add(&got, p)
				cases = append(cases, got)
			}
		}
	}
	slices.SortFunc(cases, func(a, b testCase) int { return slices.Index(shapes, a.name) - slices.Index(shapes, b.name) })
	if len(cases) != len(shapes) {
		t.Fatalf("%d of %d shapes are cases", len(cases), len(shapes))
	}
	return cases
}

func TestPlans(t *testing.T) {
	t.Parallel()
	got := shapeCases(t, func(c *testCase, p plan) { c.add("plan", p.String()) })
	golden(t, "plan", "testdata/plan.txt", readCases(t, "testdata/plan.txt"), got)
}

// TestSQL compares the statements of the shapes and of the visitor segments with their golden files.
func TestSQL(t *testing.T) {
	t.Parallel()
	add := func(c *testCase, name string, st sqltree.Statement) {
		c.add(name, st.SQL)
		c.add("params", paramsText(st))
	}
	got := shapeCases(t, func(c *testCase, p plan) {
		st := lower(p).Statement
		add(c, "sql", st)
		if estimate := lower(bounded(p)).Statement; estimate.SQL != st.SQL {
			add(c, "bounded", estimate)
		}
		if of, ok := p.ofVisits(p.sourceRefs()); ok && len(p.sessions) > 0 {
			p.scope = of
			add(c, "from visits", lower(p).Statement)
		}
	})
	part := segmentPage{
		to: testNow, days: 30, after: &segmentKey{1, 2, "x"}, limit: 1, reach: reach{site: Site{ID: testSite}},
	}
	sc := part.scope()
	segments := testCase{name: "visitor segments"}
	add(&segments, "shared claims", lowerSharedClaims(sc))
	add(&segments, "page", lowerSegments(sc, []string{"plan"}, part))
	add(&segments, "count", lowerSegmentCount(sc, []string{"plan"}))
	golden(t, "sql", "testdata/sql.txt", readCases(t, "testdata/sql.txt"), append(got, segments))
}

func paramsText(st sqltree.Statement) string {
	var params []string
	for _, n := range st.Params {
		params = append(params, fmt.Sprintf("%s %s %q", n.Name, n.Type, fmt.Sprint(n.Value)))
	}
	return strings.Join(params, "\n")
}

// answerColumns are the columns of an answer.
type answerColumns []struct {
	Column string         `json:"column"`
	Claim  string         `json:"claim"`
	Values jsontext.Value `json:"values"`
}

// rowsText returns an answer as text: a line for each column, and then the other parts of the answer.
func rowsText(t testing.TB, body []byte) string {
	t.Helper()
	var result struct {
		Columns answerColumns `json:"columns"`
		Compare struct {
			Range   map[string]string `json:"range"`
			Columns answerColumns     `json:"columns"`
		} `json:"compare"`
		Next struct {
			Cursor string `json:"cursor"`
		} `json:"next"`
		Others *struct {
			Columns answerColumns `json:"columns"`
		} `json:"others"`
		RowsTotal *int `json:"rowsTotal"`
	}
	if err := json.Unmarshal(body, &result, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var lines []string
	add := func(columns answerColumns) {
		for _, c := range columns {
			name := c.Column
			if c.Claim != "" {
				name += "(" + c.Claim + ")"
			}
			lines = append(lines, name+": "+string(c.Values))
		}
	}
	add(result.Columns)
	if r := result.Compare.Range; r != nil {
		lines = append(lines, "compared with "+r["from"]+" to "+r["to"])
		add(result.Compare.Columns)
	}
	if result.Others != nil {
		lines = append(lines, "others")
		add(result.Others.Columns)
	}
	if result.RowsTotal != nil {
		lines = append(lines, fmt.Sprint("rows in total: ", *result.RowsTotal))
	}
	if result.Next.Cursor != "" {
		lines = append(lines, "next")
	}
	return strings.Join(lines, "\n")
}

func errorText(err error) string {
	e, ok := errors.AsType[*schema.Error](err)
	if !ok {
		return "NOT A SCHEMA ERROR: " + err.Error()
	}
	text := fmt.Sprintf("%d %s", e.Code, e.Message)
	for _, d := range e.Details {
		text += "\nfield: " + d.Field
	}
	if e.Cause != nil {
		text += "\ncause: " + e.Cause.Error()
	}
	return text
}
