package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
)

var update = flag.Bool("update", false, "write what the case files should hold")

// A case file is a list of cases. Each starts with "=== name", then the
// request; the sections "--- plan", "--- sql", "--- params", "--- rows" and
// "--- headers", or "--- error" alone, are what it must give.
type testCase struct {
	name, request string
	sections      []section
}

type section struct{ name, text string }

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
			c.sections = append(c.sections, section{strings.TrimSpace(head), strings.TrimSpace(body)})
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

func caseFiles(t testing.TB) map[string][]testCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	files := map[string][]testCase{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = parseCases(string(text))
	}
	return files
}

// TestCases runs the case files on the real engine. With -update it writes
// their sections instead.
func TestCases(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	insert(t, conn, "site_2", fixture()[:3])
	service := newService(conn)
	for path, cases := range caseFiles(t) {
		got := make([]testCase, len(cases))
		t.Run(filepath.Base(path), func(t *testing.T) {
			for i, c := range cases {
				got[i] = runCase(t, service, c)
				if !*update {
					t.Run(c.name, func(t *testing.T) {
						if diff := cmp.Diff(c.sections, got[i].sections, cmp.AllowUnexported(section{})); diff != "" {
							t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
						}
					})
				}
			}
		})
		if *update {
			if err := os.WriteFile(path, []byte(printCases(got)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func runCase(t *testing.T, s *Service, c testCase) testCase {
	t.Helper()
	c.sections = nil
	add := func(name, text string) { c.sections = append(c.sections, section{name, strings.TrimSpace(text)}) }
	p, err := compile(testSite, []byte(c.request), testNow)
	if err == nil {
		st := lower(p)
		add("plan", p.String())
		add("sql", st.SQL)
		var params []string
		for _, n := range st.Params {
			params = append(params, fmt.Sprintf("%s %s %q", n.Name, n.Type, fmt.Sprint(n.Value)))
		}
		add("params", strings.Join(params, "\n"))
	}
	body, headers, err := s.Aggregate(t.Context(), Asker{}, testSite, []byte(c.request), testNow)
	if err != nil {
		add("error", errorText(err))
		return c
	}
	add("rows", rowsText(t, body))
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines = append(lines, name+": "+headers[name])
	}
	add("headers", strings.Join(lines, "\n"))
	return c
}

// rowsText is one line per column.
func rowsText(t testing.TB, body []byte) string {
	t.Helper()
	var result struct {
		Columns []struct {
			Column string
			Claim  string
			Values json.RawMessage
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&result); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var lines []string
	for _, c := range result.Columns {
		name := c.Column
		if c.Claim != "" {
			name += "(" + c.Claim + ")"
		}
		lines = append(lines, name+": "+string(c.Values))
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
