package sqltree

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func printed(e Expr) string {
	s := (&Select{Columns: []Aliased{{Expr: e}}, Table: "t"}).Print().SQL
	return strings.TrimSuffix(strings.TrimPrefix(s, "SELECT "), "\nFROM t")
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	a, b, c := Col("a"), Col("b"), Col("c")
	for _, x := range []struct {
		e    Expr
		want string
	}{
		{Bin(Sub, a, Bin(Mul, b, c)), "a - b * c"},
		{Bin(Mul, Bin(Sub, a, b), c), "(a - b) * c"},
		{Bin(Sub, a, Bin(Sub, b, c)), "a - (b - c)"},
		{Bin(Sub, Bin(Sub, a, b), c), "a - b - c"},
		{Bin(Mul, a, Bin(Mul, b, c)), "a * (b * c)"},
		{Bin(And, Bin(Or, a, b), c), "(a OR b) AND c"},
		{Bin(Or, Bin(And, a, b), c), "a AND b OR c"},
		{Bin(Eq, Bin(Eq, a, b), c), "(a = b) = c"},
		{Not(Bin(And, a, b)), "NOT (a AND b)"},
		{Not(Bin(Eq, a, b)), "NOT a = b"},
		{Not(Not(a)), "NOT (NOT a)"},
		{Bin(And, Not(a), b), "NOT a AND b"},
		{Bin(Eq, Not(a), b), "(NOT a) = b"},
		{Bin(In, Bin(Or, a, b), c), "(a OR b) IN c"},
		{Bin(Sub, a, Int(-1)), "a - -1"},
		{Bin(Lt, Int(-5), a), "-5 < a"},
		{Call("f", Lambda([]string{"a", "b"}, Bin(And, a, b)), c), "f((a, b) -> a AND b, c)"},
		{Call("f", a, Bin(Or, b, c), Call("g")), "f(a, b OR c, g())"},
		{Parametric("f", []Expr{Int(1), Str("x")}, a, Bin(Or, b, c)), "f(1, 'x')(a, b OR c)"},
		{OverAll(Call("count")), "count() OVER ()"},
		{Call("f", As(Bin(And, a, b), "d"), Col("d")), "f((a AND b AS d), d)"},
		{OverEach(Call("min", a), b, Call("f", c)), "min(a) OVER (PARTITION BY b, f(c))"},
		{AllOf(), "1"},
		{AnyOf(), "0"},
		{AllOf(a, Bin(Or, b, c), a), "a AND (b OR c) AND a"},
		{AnyOf(a, Bin(And, b, c)), "a OR b AND c"},
		{Str(`it's \`), `'it\'s \\'`},
		{Col("a b`\\"), "`a b\\`\\\\`"},
		{Col(""), "``"},
	} {
		t.Run(x.want, func(t *testing.T) {
			if got := printed(x.e); got != x.want {
				t.Errorf("%s, want %s", got, x.want)
			}
		})
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	inner := &Select{Columns: []Aliased{{Expr: Col("x")}}, Table: "events", Where: Bin(Eq, Col("site"), Param(T("String"), "s"))}
	s := &Select{
		Columns: []Aliased{{Expr: Col("x"), As: "d0"}, {Expr: Call("count"), As: "m1"}}, Sub: inner,
		Where: Bin(In, Col("x"), Param(ArrayOf(T("UInt8")), []any{1})), GroupBy: []Expr{Col("d0"), Col("x")},
		Having: Bin(Gt, Col("m1"), Param(T("Float64"), 1.5)), OrderBy: []Order{{Expr: Col("m1"), Desc: true}, {Expr: Col("d0")}}, Limit: 7,
	}
	want := "SELECT x AS d0, count() AS m1\nFROM (\nSELECT x\nFROM events\nWHERE site = {p0:String}\n)\nWHERE x IN {p1:Array(UInt8)}\n" +
		"GROUP BY d0, x\nHAVING m1 > {p2:Float64}\nORDER BY m1 DESC, d0 ASC\nLIMIT 7"
	got := s.Print()
	if got.SQL != want {
		t.Errorf("%s\nwant %s", got.SQL, want)
	}
	s.LimitBy = []Expr{Col("x"), Col("d0")}
	if limited := s.Print().SQL; limited != want+" BY x, d0" {
		t.Error(limited)
	}
	first := &Select{Columns: inner.Columns, Table: "events", Prewhere: inner.Where, Where: Bin(Gt, Col("x"), Int(0))}
	if read := first.Print().SQL; read != "SELECT x\nFROM events\nPREWHERE site = {p0:String}\nWHERE x > 0" {
		t.Error(read)
	}
	if len(got.Params) != 3 || got.Params[1].Name != "p1" || got.Params[1].Type.String() != "Array(UInt8)" {
		t.Errorf("%v", got.Params)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	number := func(n int) Expr { return Param(T("UInt8"), n) }
	s := &Select{
		Columns: []Aliased{{Expr: Col("x")}}, Table: "t", Where: Bin(Eq, Col("y"), number(2)),
		Join: &Select{Columns: []Aliased{{Expr: Col("k")}, {Expr: Col("y")}}, Table: "u", Where: Bin(Eq, Col("z"), number(1))}, Using: []Expr{Col("k"), Col("l")},
	}
	want := "SELECT x\nFROM t\nINNER JOIN (\nSELECT k, y\nFROM u\nWHERE z = {p0:UInt8}\n) AS joined USING (k, l)\nWHERE y = {p1:UInt8}"
	if got := s.Print(); got.SQL != want || got.Params[1].Value != 2 {
		t.Errorf("%s\nwant %s", got.SQL, want)
	}
	// If there is a join, the statement in FROM has a name.
	s = &Select{Columns: s.Columns, Sub: &Select{Columns: s.Columns, Table: "t"}, Join: s.Join, Using: s.Using[:1]}
	want = "SELECT x\nFROM (\nSELECT x\nFROM t\n) AS own\n" +
		"INNER JOIN (\nSELECT k, y\nFROM u\nWHERE z = {p0:UInt8}\n) AS joined USING (k)"
	if got := s.Print(); got.SQL != want {
		t.Errorf("%s\nwant %s", got.SQL, want)
	}
}

func TestInRows(t *testing.T) {
	t.Parallel()
	keys := []Expr{Col("k"), Col("l")}
	columns := []Aliased{{Expr: Col("k")}, {Expr: Col("l")}}
	rows := &Select{Columns: columns, Table: "t", Where: Bin(Gt, Col("x"), Int(0))}
	want := "NOT (k, l) IN (\nSELECT k, l\nFROM t\nWHERE x > 0\n) AND y"
	if got := printed(AllOf(Not(InRows(keys, rows)), Col("y"))); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestRoundTrip prints random trees, and reads the text with a parser that uses the documented precedences of the
// operators. The result is the same tree.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	operators := []Op{Or, And, Eq, Ne, Lt, Le, Gt, Ge, In, Sub, Mul}
	var draw func(t *rapid.T, depth int) Expr
	draw = func(t *rapid.T, depth int) Expr {
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		switch {
		case depth == 0 || kind < 2:
			return Col(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "column"))
		case kind == 2:
			return Int(rapid.Int64Range(-9, 9).Draw(t, "number"))
		case kind == 3:
			return Not(draw(t, depth-1))
		case kind == 4:
			return Call("f", draw(t, depth-1), draw(t, depth-1))
		default:
			return Bin(rapid.SampledFrom(operators).Draw(t, "operator"), draw(t, depth-1), draw(t, depth-1))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t, 5)
		text := printed(e)
		p := &testParser{tokens: testTokens.FindAllString(text, -1)}
		back := p.expression(precOr)
		if len(p.tokens) != 0 {
			t.Fatalf("%s: left over %v", text, p.tokens)
		}
		if back != explicit(e) {
			t.Fatalf("%s\nreads as %s\nwant     %s", text, back, explicit(e))
		}
	})
}

// explicit writes a tree with parentheses around every operation.
func explicit(e Expr) string {
	switch e := e.(type) {
	case binary:
		return "(" + explicit(e.l) + " " + e.op.text + " " + explicit(e.r) + ")"
	case not:
		return "(NOT " + explicit(e.e) + ")"
	case call:
		var args []string
		for _, a := range e.args {
			args = append(args, explicit(a))
		}
		return string(e.name) + "(" + strings.Join(args, " ") + ")"
	case number:
		return strconv.FormatInt(e.n, 10)
	case identifier:
		return e.name
	}
	return "?"
}

var testTokens = regexp.MustCompile(`[A-Za-z]+|\d+|[<>!]=|[-*=<>(),]`)

// testParser is a precedence-climbing parser. All operators are left-associative.
type testParser struct{ tokens []string }

func (p *testParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *testParser) take() string {
	token := p.tokens[0]
	p.tokens = p.tokens[1:]
	return token
}

var testPrecedence = map[string]int{
	"OR": precOr, "AND": precAnd, "=": precCompare, "!=": precCompare, "<": precCompare, "<=": precCompare, ">": precCompare,
	">=": precCompare, "IN": precCompare, "-": precAdd, "*": precMul,
}

func (p *testParser) expression(least int) string {
	left := p.operand()
	for {
		prec := testPrecedence[p.peek()]
		if prec == 0 || prec < least {
			return left
		}
		op := p.take()
		left = "(" + left + " " + op + " " + p.expression(prec+1) + ")"
	}
}

func (p *testParser) operand() string {
	switch token := p.take(); token {
	case "(":
		e := p.expression(precOr)
		p.take()
		return e
	case "NOT":
		return "(NOT " + p.expression(precCompare) + ")"
	case "-":
		return "-" + p.take()
	default:
		if p.peek() != "(" {
			return token
		}
		p.take()
		var args []string
		for p.peek() != ")" {
			args = append(args, p.expression(precOr))
			if p.peek() == "," {
				p.take()
			}
		}
		p.take()
		return token + "(" + strings.Join(args, " ") + ")"
	}
}

// FuzzQuote: reading a quoted text gives the same text, and ends at the closing quote.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a", `'`, `\`, `\'`, "`", "\x00", "\n", "\xff", `';--`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for quoted, quote := range map[string]byte{Quote(s): '\'', "`" + escape(s, '`') + "`": '`'} {
			if quoted[0] != quote || unquote(t, quoted[1:], quote) != s {
				t.Fatalf("%q is quoted as %s", s, quoted)
			}
		}
		plain := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
		if id := Ident(s); id[0] != '`' && (id != s || !plain.MatchString(s)) {
			t.Fatalf("%q is written as %s", s, id)
		}
	})
}

// unquote reads the rest of a literal up to the closing quote, as ClickHouse does.
func unquote(t *testing.T, rest string, quote byte) string {
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == quote:
			if i != len(rest)-1 {
				t.Fatalf("%q ends early", rest)
			}
			return b.String()
		case c == '\\':
			i++
			switch rest[i] {
			case 'n':
				b.WriteByte('\n')
			case '0':
				b.WriteByte(0)
			default:
				b.WriteByte(rest[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	t.Fatalf("%q does not end", rest)
	return ""
}

func TestInnerSetting(t *testing.T) {
	t.Parallel()
	a, b := Col("a"), Col("b")
	grouped := func(of *Select) *Select { return &Select{Columns: []Aliased{{Expr: a}}, Sub: of, GroupBy: []Expr{a}} }
	rows := func() *Select {
		return &Select{Columns: []Aliased{{Expr: a}}, Table: "t", Where: Bin(Gt, b, Param(T("UInt8"), 1))}
	}
	const (
		text = "SELECT a\nFROM t\nWHERE b > {p0:UInt8}"
		set  = "\nSETTINGS bytes = 7"
		by   = "\nGROUP BY a"
	)
	in := func(text string) string { return "SELECT a\nFROM (\n" + text + "\n)" }
	second := strings.ReplaceAll(text, "p0", "p1")
	both := rows()
	both.Union = rows()
	of, joined := in(text), grouped(grouped(rows()))
	joined.Join, joined.Using = grouped(rows()), []Expr{a}
	for name, c := range map[string]struct {
		tree *Select
		want string
	}{
		"rows":   {rows(), text},
		"groups": {grouped(rows()), of + by + set},
		"first groups": {
			&Select{Columns: []Aliased{{Expr: a}}, Table: "t", GroupBy: []Expr{a}, Limit: 3},
			"SELECT a\nFROM t" + by + "\nLIMIT 3" + set,
		},
		"groups of groups": {grouped(grouped(rows())), in(of+by+set) + by},
		"groups of columns of groups": {
			grouped(&Select{Columns: []Aliased{{Expr: a}}, Sub: grouped(rows())}), in(in(of+by+set)) + by,
		},
		"groups of a union": {grouped(both), in(text+"\nUNION ALL\n"+second) + by + set},
		"joined groups": {
			joined, in(of+by+set) + " AS own\nINNER JOIN (\n" + in(second) + by + set + "\n) AS joined USING (a)" + by,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := c.tree.Print()
			got := st.WithInnerSetting("bytes", 7)
			if got.SQL != c.want || len(got.Params) != len(st.Params) {
				t.Errorf("%s\nwant\n%s", got.SQL, c.want)
			}
			if without := strings.ReplaceAll(got.SQL, set, ""); without != st.SQL {
				t.Errorf("%s\nwant\n%s", without, st.SQL)
			}
		})
	}
	drop := Statement{SQL: "DROP TABLE t"}
	if got := drop.WithInnerSetting("bytes", 7); got.SQL != drop.SQL {
		t.Error(got.SQL)
	}
}
