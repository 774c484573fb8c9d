package mergeexpr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
)

// growth has, for each function of the language, expressions that use the function to make the text `a` larger.
var growth = map[string][]string{
	"_+_": {`a + a`, `(b"x" + bytes(a) + bytes(a)).size() > 0 ? a + a : a`},
	"format": {
		`"%s%s%s%s%s%s%s%s%s%s".format([a,a,a,a,a,a,a,a,a,a])`, `"%s".format([[a,a,a,a,a,a,a,a]])`,
		`"%.20f%.20e".format([1.5,1.5]) + a + a`, `"%s%s".format([{"k": a}, {a: a}])`, `(a + "%s").format([a, a, a])`,
	},
	"replace": {
		`a.replace("", a)`, `a.replace("x", a + a)`, `a.replace("", a, 1000000)`, `a.replace("x", a, -1) + a`,
	},
	"join":          {`[a, a, a, a].join(a)`, `a.split("").join(a)`, `[a, a, a, a, a].join()`},
	"split":         {`a.split("").join("xx")`, `a.split("", 100000).join("xx")`},
	"strings.quote": {`strings.quote(a + a)`}, "reverse": {`(a + a).reverse()`}, "trim": {`(a + a).trim()`},
	"lowerAscii": {`(a + a).lowerAscii()`}, "upperAscii": {`(a + a).upperAscii()`},
	"substring": {`(a + a).substring(0)`}, "charAt": {`a + a + a.charAt(0)`},
	"indexOf": {`a.indexOf(a) == 0 ? a + a : a`}, "lastIndexOf": {`a.lastIndexOf(a) == 0 ? a + a : a`},
	"string": {`string(bytes(a + a))`}, "bytes": {`string(bytes(a) + bytes(a))`}, "size": {`a.size() > 0 ? a + a : a`},
	"contains": {`a.contains(a) ? a + a : a`}, "startsWith": {`a.startsWith(a) ? a + a : a`},
	"endsWith": {`a.endsWith(a) ? a + a : a`},
	"matches": {
		`a.matches("(x+x+)+y") ? a : a + a`, `a.matches(a) ? a + a : a`, `"x".matches(a + "{100}") ? a + a : a + a`,
		`"x".matches("((((" + a + "{9}){9}){9}){9}") ? a + a : a + a`, `(a + a).matches("(.{1,240})*y") ? a : a + a`,
	},
	"_==_": {`a == a ? a + a : a`, `[[a,a],[a,a]] == [[a,a],[a,a]] ? a + a : a`}, "_!=_": {`a != a ? a : a + a`},
	"_<_": {`a < a ? a : a + a`}, "_<=_": {`a <= a ? a + a : a`}, "_>_": {`a > a ? a : a + a`},
	"_>=_": {`a >= a ? a + a : a`}, "@in": {`a in [a, a, a] ? a + a : a`, `a in {a: a} ? a + a : a`},
	"_[_]":  {`[a + a][0]`},
	"_?_:_": {`true ? a + a : a`}, "_&&_": {`a == a && a == a ? a + a : a`}, "_||_": {`a == a || a == a ? a + a : a`},
	"!_": {`!(a == a) ? a : a + a`}, "dyn": {`string(dyn(a + a))`}, "type": {`type(a) == string ? a + a : a`},
}

// small has the functions whose arguments and results are small: numbers, times and booleans.
var small = strings.Fields(`-_ _-_ _*_ _/_ _%_ int uint double bool duration timestamp
	@not_strictly_false __not_strictly_false__ in _in_
	getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours
	getMilliseconds getMinutes getMonth getSeconds`)

// TestGrowth applies each function to its own output, as often as an expression can. The values of a call can be freed
// after the next call. A hundred expressions may allocate at most 384 MB, and may take at most two seconds of processor
// time.
func TestGrowth(t *testing.T) {
	env, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	for name := range env.Functions() {
		if growth[name] == nil && !slices.Contains(small, name) {
			t.Errorf("the function %s is not tried", name)
		}
	}
	many := facts
	many.ChangeRequest.Description = strings.Repeat("Größe ", 20_000)
	many.Reviews = make([]Review, 200)
	starts := []string{`changeRequest.description`, `"x"`, `actor + "\\"`}
	if testing.Short() {
		starts = starts[:1]
	}
	grown := 0
	for _, steps := range growth {
		for _, step := range steps {
			for _, start := range starts {
				text := "[" + start + "]"
				for add := ".map(a," + step + ")"; len(text)+len(add) < MaxLength-10; {
					text += add
				}
				text += ".size() > 0"
				grown += evaluate(t, many, text)
			}
		}
	}
	lists := []string{
		`[a,a,a,a]`, `a + a`, `{"k": a, "l": a}`, `[a].map(b, a + a)`, `[a, a].filter(b, b == a)`,
	}
	for _, list := range lists {
		text := "[[1]]"
		for add := ".map(a," + list + ")"; len(text)+len(add) < MaxLength-10; {
			text += add
		}
		grown += evaluate(t, many, text+".size() > 0")
	}
	if grown == 0 {
		t.Error("no expression came to a limit")
	}
}

// evaluate returns 1 if an evaluation reached a limit. Other programs slow an evaluation down, because they share the
// processor's caches and memory. So `evaluate` repeats a slow evaluation, and then compares its time with the time that
// writing the same number of bytes takes at that moment. The evaluation may take twelve times as long.
func evaluate(t *testing.T, facts Facts, text string) int {
	t.Helper()
	if _, err := Parse(text); err != nil {
		return 0 // some expressions have a wrong type, such as a sum of lists of lists
	}
	const mostMade = 384 << 20
	mostSpent := 2 * time.Second
	spent, made, err := evaluateRules(t, facts, text)
	if spent > mostSpent {
		mostSpent = max(mostSpent, 12*cputime.Of(func() {
			for range mostMade >> 20 {
				made1MB = bytes.Repeat([]byte{1}, 1<<20)
			}
		}))
		spent, made, err = evaluateRules(t, facts, text)
	}
	if made > mostMade || spent > mostSpent {
		t.Errorf("%s of %s, %d MB: %v: %s", spent, mostSpent, made>>20, err, text)
	}
	if err != nil {
		return 1
	}
	return 0
}

// made1MB has an allocation that the test does not read, so that the compiler does not remove it.
var made1MB []byte

// evaluateRules evaluates as many rules as an organization may have.
func evaluateRules(t *testing.T, facts Facts, text string) (spent time.Duration, made uint64, err error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	evaluation := Evaluation{Facts: facts}
	spent = cputime.Of(func() {
		for range 100 {
			if _, e := evaluation.Allows(t.Context(), text); e != nil {
				err = e
			}
		}
	})
	runtime.ReadMemStats(&after)
	return spent, after.TotalAlloc - before.TotalAlloc, err
}

// TestContextEndsEvaluation evaluates a long loop in a context that has ended.
func TestContextEndsEvaluation(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the caller is gone")
	cancel(gone)
	if _, err := (&Evaluation{Facts: facts}).Allows(ctx, `reviews.all(r, r.user != "")`); !errors.Is(err, gone) {
		t.Errorf("Allows returns %v", err)
	}
}

// TestExpressionsShareTheirCost evaluates an expression three times. Each evaluation costs half of the limit.
func TestExpressionsShareTheirCost(t *testing.T) {
	t.Parallel()
	many := facts
	many.Reviews = make([]Review, 80)
	const loop = `reviews.all(r, reviews.all(s, r.user == s.user))`
	evaluation := Evaluation{Facts: many}
	got := make([]string, 3)
	for i := range got {
		allowed, err := evaluation.Allows(t.Context(), loop)
		got[i] = fmt.Sprint(allowed, " ", err)
	}
	if got[0] != "true <nil>" || !strings.Contains(got[2], "cost too much together") {
		t.Errorf("%q", got)
	}
}
