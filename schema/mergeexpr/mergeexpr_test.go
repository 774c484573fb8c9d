package mergeexpr

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
)

var facts = Facts{
	Actor: "u1",
	ChangeRequest: ChangeRequest{
		Number: 7, Status: "open", Subject: "docs: Größe", Description: "Fixes ABC-12.", Author: "u1", Outdated: true,
	},
	Reviews: []Review{
		{User: "u2", Status: "approved", Requested: true}, {User: "u3", Status: "changes-requested"}, {User: "u1", Contributor: true},
	},
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`true`:                          "true",
		`actor == changeRequest.author`: "true",
		`changeRequest.subject.startsWith("docs: ") && changeRequest.subject.size() < 20`:      "true",
		`changeRequest.description.matches("[A-Z]+-[0-9]+")`:                                   "true",
		`changeRequest.subject.lowerAscii().contains("wip")`:                                   "false",
		`reviews.filter(r, r.status == "approved").size() >= 2`:                                "false",
		`reviews.exists(r, r.status == "approved" && !r.contributor)`:                          "true",
		`!reviews.exists(r, r.status == "changes-requested")`:                                  "false",
		`changeRequest.number > 5 && changeRequest.status == "open" && changeRequest.outdated`: "true",
		`reviews[5].status == ""`:                                                              "fails: index out of bounds: 5",
		`1 / (changeRequest.number - 7) > 0`:                                                   "fails: division by zero",

		``:                                   "is empty, at character 1",
		` `:                                  "is empty, at character 1",
		`changeRequest.nothing == 1`:         "undefined field 'nothing', at character 14",
		`visitor.claims.x`:                   "undeclared reference to 'visitor', at character 1",
		"true &&\n  nothing":                 "undeclared reference to 'nothing', at character 11",
		`"ä" == "ö" && x`:                    "undeclared reference to 'x', at character 15",
		`changeRequest.subject`:              "must be true or false, not string, at character 1",
		`1 + "a" == 2`:                       "found no matching overload for '_+_' applied to '(int, string)', at character 3",
		`(`:                                  "Syntax error: mismatched input '<EOF>' expecting",
		`system("ls")`:                       "undeclared reference to 'system', at character 7",
		`changeRequest.subject.matches("(")`: "error parsing regexp: missing closing ): `(`, at character 1",
		strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100): "expression recursion limit exceeded: 32, at character",
		`"` + strings.Repeat("x", MaxLength) + `" == ""`:             "must have at most 1024 characters, at character 1025",
	} {
		var got string
		_, err := Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("%q: %T", text, err)
			}
			got = err.Error()
		} else if allowed, err := (&Evaluation{Facts: facts}).Allows(t.Context(), text); err != nil {
			got = "fails: " + err.Error()
		} else {
			got = fmt.Sprint(allowed)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestCostIsBounded nests loops over the maximum number of reviews. Without the limit on costs, the expression would
// run practically forever.
func TestCostIsBounded(t *testing.T) {
	t.Parallel()
	text := `true`
	for i := range 8 {
		text = fmt.Sprintf(`reviews.all(r%d, %s)`, i, text)
	}
	many := facts
	many.Reviews = make([]Review, 200)
	spent := cputime.Of(func() {
		allowed, err := (&Evaluation{Facts: many}).Allows(t.Context(), text)
		if err == nil || allowed || !strings.Contains(err.Error(), "cost limit exceeded") {
			t.Errorf("Allows returns %t, %v; want false and the cost limit", allowed, err)
		}
	})
	if spent > 5*time.Second { // Allows takes only milliseconds
		t.Errorf("Allows took %s, want at most 5s", spent)
	}
	for _, growing := range []string{
		`[1,2,3,4,5,6,7,8].map(a, [1,2,3,4,5,6,7,8].map(b, [1,2,3,4,5,6,7,8].map(c, [1,2,3,4,5,6,7,8].map(d, [1,2,3,4,5,6,7,8].map(e, [1,2,3,4,5,6,7,8].map(f, "x")))))).size() > 0`,
	} {
		_, err := (&Evaluation{Facts: many}).Allows(t.Context(), growing)
		if err == nil || !strings.Contains(err.Error(), "cost limit exceeded") {
			t.Errorf("%s: %v", growing, err)
		}
	}
}

// FuzzParse searches for expressions that make Parse panic, and for problems whose position is outside of the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`true`, `reviews.exists(r, r.status == "approved")`, `changeRequest.x`, "a\nb", `"\u00e4"`, `1/0 == 1`, `[1][2] == 3`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Parse(text)
		if err == nil {
			_, _ = (&Evaluation{Facts: facts}).Allows(t.Context(), text)
			return
		}
		found, ok := errors.AsType[*Error](err)
		if !ok || found.At < 1 || found.At > utf8.RuneCountInString(text)+1 {
			t.Errorf("%q: %v", text, err)
		}
	})
}
