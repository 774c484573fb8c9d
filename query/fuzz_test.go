package query

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// FuzzAggregate checks that any body gives an error that names its fault, or a statement that contains only this
// program's words. The test checks the statement's literals against a closed grammar, which has no place for user text.
func FuzzAggregate(f *testing.F) {
	for _, cases := range rowFiles(f) {
		for _, c := range cases {
			f.Add([]byte(c.request))
		}
	}
	for _, evil := range injections {
		quoted := string(insights.AppendText(nil, evil))
		f.Add([]byte(`{"range":"lastYear","where":[{"column":"visitorClaim","claim":` + quoted + `,"values":[` + quoted + `]}],"select":[{"column":"visitorClaim","claim":` + quoted + `}]}`))
		f.Add([]byte(`{"range":"lastYear","select":[{"column":` + quoted + `}]}`))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := compile(Site{ID: testSite}, body, testNow)
		if err != nil {
			e, ok := errors.AsType[*schema.Error](err)
			if !ok || e.Code != schema.CodeBadRequest || e.Message == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		checkSQL(t, lower(p).SQL)
		checkSQL(t, lower(bounded(p)).SQL)
	})
}

// injections are texts that broke other builders of SQL.
var injections = []string{
	`'`, `''`, `\'`, `\\'`, `"`, "`", `';DROP TABLE events;--`, `' OR 1=1 --`, `') OR ('1'='1`, `x' UNION ALL SELECT * FROM system.users --`,
	`{p0:String}`, `{p0:Identifier}`, `@p0`, `?`, `$1`, `%s`, `%27`, "\x00", "a\x00'b", "\n", "\r\n", "\t", `\N`, `\n`, `\x27`, "\u2028", "ʼ", "＇",
	`Europe/Berlin') , sleep(3), ('`, `/* */`, `--`, `#`, `;`, `) SETTINGS readonly=0 --`, `FORMAT Null`, "\xff\xfe", strings.Repeat("'", 300),
}

var (
	// literals has this program's literals: all texts that may be between quotes.
	literals = map[string]bool{
		"UTC":           true,
		"":              true,
		`\\types`:       true,
		"s":             true,
		"[":             true,
		"Array(String)": true,
		"openapi":       true,
		"tag":           true,
		"/":             true,
		"://":           true,
		"direct":        true,
		"internal":      true,
		"referral":      true,
	}
	quoted = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'`)
	plain  = regexp.MustCompile(`^[A-Za-z0-9_(),.{}: \n=<>!+*-]*$`)
)

func checkSQL(t testing.TB, sql string) {
	t.Helper()
	for _, m := range quoted.FindAllStringSubmatch(sql, -1) {
		if !literals[m[1]] {
			t.Fatalf("the literal %q is in %s", m[1], sql)
		}
	}
	if rest := quoted.ReplaceAllString(sql, ""); !plain.MatchString(rest) {
		t.Fatalf("unexpected characters in %s", sql)
	}
}

// TestValuesAreNotInSQL checks that statements have the same text if they differ only in values, claims, sites and
// times.
func TestValuesAreNotInSQL(t *testing.T) {
	t.Parallel()
	request := func(text string) string {
		q := string(insights.AppendText(nil, text))
		pattern := string(insights.AppendText(nil, regexp.QuoteMeta(text[:min(len(text), 100)])))
		return `{"range":"lastYear","select":[{"column":"visitorClaim","claim":` + q + `},{"column":"visitorsCount"}],
			"where":[{"column":"url","values":[` + q + `]},{"column":"page","values":[{"page":` + q + `,"space":` + q + `}]},
			{"column":"visitorClaim","claim":` + q + `,"operator":"notIn","values":[` + q + `,` + q + `]},{"column":"visitorClaimProperty","values":[` + q + `]},
			{"or":[{"column":"url","operator":"contains","values":[` + q + `]},{"and":[{"column":"visitorClaim","claim":` + q + `,"operator":"startsWith","values":[` + q + `]},
			{"column":"visitorClaimProperty","operator":"matches","values":[` + pattern + `]}]}]},
			{"column":"eventLinkTargetValue","values":[{"kind":"url","url":` + q + `}]}]}`
	}
	var want string
	for i, evil := range injections {
		p, err := compile(Site{ID: "site" + evil}, []byte(request(evil)), daysBefore(-i)(testNow))
		if err != nil {
			t.Fatalf("%q: %v", evil, err)
		}
		got := lower(p).SQL
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%q changes the statement:\n%s\n%s", evil, got, want)
		}
		checkSQL(t, got)
	}
}

// TestInjections runs the injections on the real engine. Each text matches only itself, byte by byte. With -short, each
// text runs with a quarter of the filters, and the next text runs with other filters.
func TestInjections(t *testing.T) {
	t.Parallel()
	conn := store(t)
	var events []insights.Event
	for _, evil := range injections {
		e := fixture()[0]
		e.Query, e.URL, e.Space, e.Page = evil, evil, evil, evil
		e.Claims = []insights.Claim{{Name: "c" + evil, Value: evil}}
		events = append(events, e)
	}
	insert(t, conn, testSite, events)
	service := newService(conn)
	for i, evil := range injections {
		t.Run(strconv.Quote(evil), func(t *testing.T) {
			if !utf8.ValidString(evil) {
				t.Skip("not UTF-8: JSON cannot hold it")
			}
			pattern := "^" + regexp.QuoteMeta(evil) + "$"
			if len(evil) > 250 {
				pattern = "^'{300}$"
			}
			q, name := string(insights.AppendText(nil, evil)), string(insights.AppendText(nil, "c"+evil))
			for j, filter := range []string{
				`{"column":"eventSearchQuery","values":[` + q + `]}`,
				`{"column":"url","values":["no",` + q + `]}`,
				`{"column":"page","values":[{"page":` + q + `,"space":` + q + `}]}`,
				`{"column":"visitorClaim","claim":` + name + `,"values":[` + q + `]}`,
				`{"column":"visitorClaimProperty","values":[` + name + `]}`,
				`{"or":[{"column":"eventSearchQuery","operator":"matches","values":[` + string(insights.AppendText(nil, pattern)) + `]}]}`,
				`{"and":[{"column":"visitorClaimProperty","operator":"startsWith","values":[` + name + `]},{"column":"url","values":[` + q + `]}]}`,
			} {
				if testing.Short() && (i+j)%4 != 0 {
					continue
				}
				body := `{"range":"lastYear","where":[` + filter + `],"select":[{"column":"eventsCount"},{"column":"eventSearchQuery"}]}`
				got, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(body), testNow)
				if err != nil {
					t.Errorf("%s: %v", filter, err)
					continue
				}
				var want strings.Builder
				want.WriteString("eventsCount: [1]\neventSearchQuery: [" + string(insights.AppendText(nil, evil)) + "]")
				if text := rowsText(t, got); text != want.String() {
					t.Errorf("%s: %s, want %s", filter, text, want.String())
				}
			}
		})
	}
}

// TestPlanIsImmutable lowers and runs one plan from 8 goroutines. The race detector detects any write, and all
// statements must be equal.
func TestPlanIsImmutable(t *testing.T) {
	t.Parallel()
	body := `{"range":"lastYear","select":[{"column":"datetime","interval":"day"},{"column":"visitorClaim","claim":"plan"},{"column":"eventSearchQuery"},{"column":"visitorsCount"}],
		"where":[{"column":"visitorsCount","operator":"greaterThan","values":[0]},{"column":"url","operator":"notIn","values":["a","b"]}]}`
	p, err := compile(Site{ID: testSite}, []byte(body), testNow)
	if err != nil {
		t.Fatal(err)
	}
	text, statements := p.String(), make([]sqltree.Statement, 8)
	var group sync.WaitGroup
	for i := range statements {
		group.Go(func() {
			for range 50 {
				statements[i] = lower(p).Statement
				_ = lower(bounded(p))
				_ = decide(p)
			}
		})
	}
	group.Wait()
	for _, s := range statements {
		if s.SQL != statements[0].SQL || len(s.Params) != len(statements[0].Params) {
			t.Errorf("statements differ:\n%s\n%s", s.SQL, statements[0].SQL)
		}
	}
	if p.String() != text {
		t.Errorf("the plan changed:\n%s\n%s", text, p.String())
	}
}
