package query

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// sample returns a valid filter value of a column. It is the first candidate that the column can parse.
func sample(t testing.TB, c insights.Column) string {
	t.Helper()
	candidates := []string{
		`"2026-03-01T00:00:00Z"`, `1`, `true`, `{"page":"p","space":"s"}`, `{"latitude":1,"longitude":2,"h3":"8928308280fffff"}`,
		`{"kind":"space","space":"s"}`, `"x"`, `null`,
	}
	for _, field := range strings.FieldsFunc(c.Value.Shape(), func(r rune) bool { return r == ' ' || r == ',' }) {
		candidates = append(candidates, `"`+field+`"`)
	}
	for _, v := range candidates {
		if _, err := c.Value.Parse(jsontext.Value(v)); err == nil {
			return v
		}
	}
	t.Fatalf("no sample value parses for %s (%s)", c.Name, c.Value.Shape())
	return ""
}

// extraMember returns the column's extra parameter with a valid value.
func extraMember(t testing.TB, c insights.Column) string {
	t.Helper()
	if c.Extra == nil {
		return ""
	}
	for _, v := range []string{`"week"`, `3`, `"plan"`} {
		if c.Extra.Parse(jsontext.Value(v), &insights.Arguments{}) == nil {
			return `,"` + c.Extra.Name + `":` + v
		}
	}
	t.Fatalf("no value parses as %s", c.Extra.Name)
	return ""
}

// TestEveryColumn runs each column of the table in each role and with each operator on the real engine. Each query
// returns rows, or exactly the error that the column's roles and operators require. In the short form, columns take
// turns with the directions of an order, and operators with the lists of values.
func TestEveryColumn(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn)
	run := func(t *testing.T, want, format string, args ...any) {
		t.Helper()
		body := fmt.Sprintf(format, args...)
		_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(body), testNow)
		if want == "" && err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if want != "" {
			e, ok := errors.AsType[*schema.Error](err)
			if !ok || e.Code != schema.CodeBadRequest || !strings.Contains(e.Message, want) {
				t.Errorf("%s: %v, want a 400 with %q", body, err, want)
			}
		}
	}
	for n, c := range insights.Columns() {
		if c.Name == "" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			column := `{"column":"` + c.Name + `"` + extraMember(t, c) + `}`
			group := ""
			if !c.Has(insights.Group) {
				group = "groupBy[0].column is a metric"
			}
			run(t, group, `{"range":"lastYear","groupBy":[%s]}`, column)
			run(t, "", `{"range":"lastYear","select":[%s]}`, column)
			run(t, "", `{"range":"lastYear","select":[%s,{"column":"visitorsCount"}]}`, column)
			directions := []string{"asc", "desc"}
			if testing.Short() {
				directions = directions[n%2:][:1]
			}
			for _, direction := range directions {
				run(t, "", `{"range":"lastYear","select":[{"column":"urlPath"},%s],"order":{"by":%s,"direction":"%s"}}`, column, column, direction)
			}
			filter := extraMember(t, c)
			if c.Extra != nil && !c.Extra.Required {
				filter = "" // filters only accept required extras
			}
			if !c.Has(insights.Filter) {
				run(t, "has no filter", `{"range":"lastYear","where":[{"column":"%s","values":[1]}]}`, c.Name)
				return
			}
			value := sample(t, c)
			for i, o := range insights.Operators {
				want := ""
				if !slices.Contains(c.Operators, o) {
					want = "where[0].operator is not an operator of the column " + c.Name
				}
				rests := []string{"", `,"groupBy":[{"column":"urlPath"}]`, `,"select":[` + column + `]`}
				if testing.Short() { // in the short form, each operator runs with a single member of rests
					rests = rests[i%len(rests):][:1]
				}
				for _, rest := range rests {
					run(t, want, `{"range":"lastYear","where":[{"column":"%s"%s,"operator":"%s","values":[%s]}]%s}`, c.Name, filter, o.Word, value, rest)
				}
				lists := ""
				if o.Arity == 1 {
					lists = "must have exactly one value"
				}
				if want != "" {
					lists = want
				}
				values := []string{"", value + "," + value}
				if testing.Short() && lists == "" { // a list that is refused needs no statement
					values = values[(n+i)%2:][:1]
				}
				for _, list := range values {
					run(t, lists, `{"range":"lastYear","where":[{"column":"%s"%s,"operator":"%s","values":[%s]}]}`,
						c.Name, filter, o.Word, list)
				}
			}
		})
	}
}

// TestNoColumnByName keeps this package free of column names. A column's special behavior belongs in its row.
func TestNoColumnByName(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range insights.Columns() {
		if c.Name != "" {
			names = append(names, regexp.QuoteMeta(c.Name))
		}
		for _, f := range c.Fields {
			names = append(names, regexp.QuoteMeta(f.Name))
		}
	}
	literal := regexp.MustCompile(`"(` + strings.Join(names, "|") + `)"`)
	// These words are from requests and segments. They are not columns.
	shared := regexp.MustCompile(`json:"|\[?"(time|claims|column)"\]? *$`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if literal.MatchString(line) && !shared.MatchString(line) {
				t.Errorf("%s:%d names a column: %s", file, i+1, strings.TrimSpace(line))
			}
		}
	}
}
