package query

import (
	"bytes"
	"strings"
	"testing"
)

// TestExplain checks that the explanation has the plan and the answer's headers. If a count exceeds the memory limit,
// the explanation has both attempts and the cost of each.
func TestExplain(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fillRaw(t, conn, testSite, 400_000)
	body := []byte(`{"range":"last30Days","select":[{"column":"visitorsCount"}]}`)
	small := newService(conn, func(c *Config) { c.MaxMemory = 12 << 20 })
	x, err := small.Explain(t.Context(), Aggregate, testSite, body, testNow)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Statements) != 2 || x.Statements[0].Err == nil || x.Statements[1].Err != nil ||
		x.Statements[1].RowsRead != 400_000 || x.Statements[1].Rows != 1 {
		t.Errorf("%+v", x.Statements)
	}
	var text bytes.Buffer
	if err := x.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"PLAN\n  site: site_1\n", "STATEMENT 1, of raw: ", "uniqExact(visitor)", "FAILED: ", "STATEMENT 2, of raw: ",
		"400000 rows read, 1 rows", "uniqCombined64(19)(visitor)",
		`p0 String = "site_1"`, "ANSWER: ", "Octavo-Result: approximate", "Octavo-Error-Bound: 1%",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if _, err := newService(conn).Explain(t.Context(), Aggregate, testSite, []byte(`{"range":"never"}`), testNow); err == nil {
		t.Error("a wrong request is explained")
	}
	for of, request := range map[Report]string{Funnel: `{"range":"last24Hours","steps":[{},{}]}`, Retention: `{"range":"last24Hours"}`} {
		x, err := newService(conn).Explain(t.Context(), of, testSite, []byte(request), testNow)
		if err != nil || len(x.Statements) != 1 || !strings.Contains(x.Plan, ": any event\n") || x.Headers[headerResult] != "exact" || len(x.Answer) == 0 {
			t.Errorf("%s: %+v, %v", request, x, err)
		}
	}
}
