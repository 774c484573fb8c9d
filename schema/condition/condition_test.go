package condition

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

const claimsText = `{"plan":"Enterprise","age":42,"beta":true,"off":false,"none":null,"empty":"","tags":["a","b",3],
	"org":{"id":"o1","roles":["admin"],"länge":1},"unsigned":{"lang":"de","länder":"Ö😀x"},"length":7}`

func someClaims(tb testing.TB) map[string]any {
	tb.Helper()
	var claims map[string]any
	if err := json.Unmarshal([]byte(claimsText), &claims); err != nil {
		tb.Fatal(err)
	}
	return claims
}

// conditionCases has the results that JavaScript gives. If JavaScript throws an error, the result is false.
var conditionCases = []struct {
	text string
	want bool
}{
	{`true`, true}, {`false`, false}, {`null`, false}, {`undefined`, false}, {`0`, false}, {`-0`, false}, {`""`, false}, {`"0"`, true}, {`[]`, true},
	{`visitor.claims`, true}, {`visitor.claims.beta`, true}, {`visitor.claims.off`, false}, {`visitor.claims.none`, false},
	{`visitor.claims.plan === "Enterprise"`, true}, {`visitor.claims["plan"] == 'Enterprise'`, true},
	{`visitor.claims.plan !== "Free" && visitor.claims.age >= 42`, true}, {`visitor.claims.age < 42 || visitor.claims.off`, false},
	{`visitor.claims.missing.deep.deeper === undefined`, true}, {`visitor.claims.none.deep == null`, true}, {`visitor.claims.missing`, false},
	{`visitor.claims?.org?.id === "o1"`, true}, {`visitor.claims.unsigned.lang === "de"`, true},
	{`visitor.claims.org.roles.includes("admin")`, true}, {`visitor.claims.org["roles"][0] === "admin"`, true},
	{`visitor.claims.tags.indexOf(3) === 2`, true}, {`visitor.claims.tags.includes("3")`, false}, {`visitor.claims.tags.length == "3"`, true},
	{`visitor.claims.length === 7`, true}, {`["a", "b"].includes(visitor.claims.tags[1])`, true}, {`visitor.claims.tags[9] === undefined`, true},
	{`visitor.claims.plan.startsWith("Ent") && visitor.claims.plan.endsWith("prise")`, true},
	{`visitor.claims.plan.toLowerCase() === "enterprise" && "a".toUpperCase() === "A"`, true},
	{`visitor.claims.plan.includes("terp")`, true}, {`visitor.claims.plan.indexOf("zzz") === -1`, true},
	{`visitor.claims.unsigned.länder.length === 4`, true}, {`visitor.claims.unsigned.länder.indexOf("x") === 3`, true},
	{`visitor.claims.org.länge`, true}, {`"plan" in visitor.claims`, true}, {`"other" in visitor.claims.org`, false},
	{`"a" in ["a"]`, false}, {`0 in ["a"]`, true}, {`"a" in "abc"`, false}, {`!("a" in "abc")`, false},
	{`visitor.claims.missing.includes("a")`, false}, {`!visitor.claims.missing.includes("a")`, false}, {`!visitor.claims.missing?.includes("a")`, true},
	{`visitor.claims.age.startsWith("4")`, false}, {`visitor.claims.missing?.includes("a") ?? true`, true},
	{`visitor.claims.none ?? visitor.claims.beta`, true}, {`visitor.claims.empty ?? "x"`, false}, {`visitor.claims.empty || "x"`, true},
	{`visitor.claims.beta ? visitor.claims.off : true`, false}, {`!visitor.claims.off`, true}, {`!!visitor.claims.tags`, true},
	{`1 + 1 === 2`, true}, {`"1" + 1 === "11"`, true}, {`"3" - 1 === 2`, true}, {`7 % 4 * 2 / 3 === 2`, true}, {`-7 % 4 === -3`, true}, {`1 / 0 > 1e308`, true},
	{`0 / 0 == 0 / 0`, false}, {`[0 / 0].includes(0 / 0)`, true}, {`[0 / 0].indexOf(0 / 0) === -1`, true},
	{`"10" < "9"`, true}, {`10 < "9"`, false}, {`"b" > "a"`, true}, {`null >= 0`, true}, {`undefined >= 0`, false}, {`null == 0`, false},
	{`null == undefined`, true}, {`null === undefined`, false}, {`"" == 0`, true}, {`true == 1`, true}, {`true == "1"`, true}, {`"1" === 1`, false},
	{`"0x10" == 16`, true}, {`" 5 " == 5`, true}, {`"1_0" == 10`, false}, {`"inf" == 1 / 0`, false}, {`"Infinity" == 1 / 0`, true},
	{`[] == []`, false}, {`visitor.claims.tags == visitor.claims.tags`, false}, {`[] + 1`, false},
	{"`${visitor.claims.plan}-${visitor.claims.age}` === 'Enterprise-42'", true}, {"`${1e21} ${1e-7} ${-0} ${0.1}` === '1e+21 1e-7 0 0.1'", true},
	{`visitor.claims.toString === undefined`, true}, {`visitor.claims.__proto__ === undefined`, true}, {`"abc"[1] === "b"`, true},
	{`visitor.claims.beta // why`, true}, {"(visitor.claims.beta\n&& true)", true}, {`+"4" === 4`, true}, {`visitor.claims.beta;`, true},
}

func TestConditions(t *testing.T) {
	t.Parallel()
	claims := someClaims(t)
	for _, c := range conditionCases {
		t.Run(c.text, func(t *testing.T) {
			condition, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := condition.Allows(claims); got != c.want {
				t.Errorf("%s: %v", c.text, got)
			}
			condition.Allows(nil)
		})
	}
}

// refusedCases pairs a text with a part of the error message and the error's position.
var refusedCases = []struct {
	text, problem string
	at            int
}{
	{``, "must be one expression", 0}, {`1; 2`, "must be one expression", 0}, {`var a = 1`, "must be one expression", 0},
	{`while (true) {}`, "must be one expression", 0}, {`throw 1`, "must be one expression", 0},
	{`visitor.claims.`, "is not a valid expression", 16}, {`a b`, "is not a valid expression", 3}, {`(`, "is not a valid expression", 2},
	{`process.exit()`, `unknown method "exit"`, 9}, {`globalThis`, `unknown name "globalThis"`, 1}, {`visitor`, "only be used as visitor.claims", 1},
	{`visitor.id`, `visitor has only claims, not "id"`, 9}, {`visitor["claims"]`, "only be used as visitor.claims", 1},
	{`"ä" && eval`, `unknown name "eval"`, 8}, {`eval("1")`, "calls something that is not a method", 1},
	{`(() => 1)()`, "calls something that is not a method", 2}, {`() => 1`, "that conditions do not support", 1}, {`function () {}`, "is not a valid", 10},
	{`new Date()`, "that conditions do not support", 1}, {`this`, "that conditions do not support", 1}, {`/a/`, "that conditions do not support", 1},
	{`{"a": 1}`, "is not a valid", 5}, {`({})`, "that conditions do not support", 2}, {`1, 2`, "that conditions do not support", 1},
	{`visitor.claims.a = 1`, "that conditions do not support", 1}, {`visitor.claims.a++`, "uses the operator ++", 1}, {`typeof 1`, "uses the operator typeof", 1},
	{`1 & 2`, "uses the operator &", 1}, {`2 ** 3`, "uses the operator **", 1}, {`1 instanceof 2`, "uses the operator instanceof", 1},
	{`[...visitor.claims.tags]`, "that conditions do not support", 5}, {`[1,,2]`, "empty slot", 1}, {"a`b`", "template with a tag", 2},
	{`"a".includes()`, "calls includes with 0 arguments, it takes 1", 5}, {`"a".repeat(9)`, `unknown method "repeat"`, 5},
	{`visitor.claims.a["includes"]("b")`, "calls something that is not a method", 1}, {`10n`, "", 1},
	{strings.Repeat("a", MaxLength+1), "must have at most 1024 characters", 0}, {"\"\xff\"", "must be valid UTF-8", 0},
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range refusedCases {
		t.Run(c.text, func(t *testing.T) {
			_, err := Parse(c.text)
			refused, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %v, want a refusal", err)
			}
			if !strings.Contains(refused.Problem, c.problem) || refused.At != c.at {
				t.Errorf("%q: %v (%d)", c.text, refused, refused.At)
			}
		})
	}
}

func TestClaimsOfGo(t *testing.T) {
	t.Parallel()
	condition, err := Parse(`visitor.claims.a + visitor.claims.b === 3 && visitor.claims.c.includes("x") && visitor.claims.d === undefined`)
	if err != nil {
		t.Fatal(err)
	}
	if !condition.Allows(map[string]any{"a": 1, "b": int64(2), "c": []string{"x"}, "d": make(chan int)}) {
		t.Error("integers, lists of strings and unknown values are not accepted")
	}
	if condition.Allows(map[string]any{"a": math.NaN()}) {
		t.Error("NaN is accepted")
	}
}

func FuzzCondition(f *testing.F) {
	for _, c := range conditionCases {
		f.Add(c.text, claimsText)
	}
	for _, c := range refusedCases {
		f.Add(c.text, `{}`)
	}
	f.Fuzz(func(t *testing.T, text, claimsText string) {
		condition, err := Parse(text)
		if err != nil {
			if refused, ok := errors.AsType[*Error](err); !ok || refused.At > len(text)+1 || refused.Error() == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var claims map[string]any
		_ = json.Unmarshal([]byte(claimsText), &claims)
		first := condition.Allows(claims)
		if again := condition.Allows(claims); again != first {
			t.Fatalf("%q: two answers", text)
		}
	})
}

const benchText = `visitor.claims.plan.toLowerCase() === "enterprise" && visitor.claims.org.roles.includes("admin")`

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(benchText)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := Parse(benchText); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAllows(b *testing.B) {
	condition, err := Parse(benchText)
	if err != nil {
		b.Fatal(err)
	}
	claims := someClaims(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if !condition.Allows(claims) {
				b.Fatal("refused")
			}
		}
	})
}
