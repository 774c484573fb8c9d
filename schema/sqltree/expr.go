package sqltree

// Expr is one ClickHouse expression. The marker method keeps other packages
// from adding node types that the printer does not know.
type Expr interface {
	print(p *printer)
	prec() int
}

// Precedences, low to high, as ClickHouse parses them.
const (
	precOr = iota + 1
	precAnd
	precNot
	precCompare
	precAdd
	precMul
	precAtom
)

// Op is a binary operator: one of the constants below, and no other.
type Op struct {
	text string
	prec int
}

// The binary operators.
var (
	Or        = Op{"OR", precOr}
	And       = Op{"AND", precAnd}
	Eq        = Op{"=", precCompare}
	Ne        = Op{"!=", precCompare}
	Lt        = Op{"<", precCompare}
	Le        = Op{"<=", precCompare}
	Gt        = Op{">", precCompare}
	Ge        = Op{">=", precCompare}
	In        = Op{"IN", precCompare}
	NotIn     = Op{"NOT IN", precCompare}
	Add       = Op{"+", precAdd}
	Sub       = Op{"-", precAdd}
	Mul       = Op{"*", precMul}
	IntDivide = Op{"DIV", precMul}
)

// constant is SQL text written in this program's source. Being an unexported
// string type, it can only be given an untyped constant by other packages:
// a string variable does not convert to it implicitly.
type constant string

type column struct{ name string }

// Col is a column or an alias.
func Col(name string) Expr { return column{name} }

type number struct{ n int64 }

// Int is an integer literal.
func Int(n int64) Expr { return number{n} }

type text struct{ s constant }

// Str is a string literal from this program's source. User values are [Param].
func Str(s constant) Expr { return text{s} }

type call struct {
	name constant
	args []Expr
}

// Call is a function call; the name is from this program's source.
func Call(name constant, args ...Expr) Expr { return call{name, args} }

type lambda struct {
	names []string
	body  Expr
}

// Lambda is a function to be given to another one. Its body names the
// parameters by [Col].
func Lambda(names []string, body Expr) Expr { return lambda{names, body} }

type binary struct {
	op   Op
	l, r Expr
}

// Bin joins two expressions by an operator.
func Bin(op Op, l, r Expr) Expr { return binary{op, l, r} }

// AllOf is the conjunction of the given expressions; of none, it is true.
func AllOf(list ...Expr) Expr { return fold(And, Int(1), list) }

// AnyOf is the disjunction of the given expressions; of none, it is false.
func AnyOf(list ...Expr) Expr { return fold(Or, Int(0), list) }

func fold(op Op, none Expr, list []Expr) Expr {
	if len(list) == 0 {
		return none
	}
	e := list[0]
	for _, next := range list[1:] {
		e = binary{op, e, next}
	}
	return e
}

type not struct{ e Expr }

// Not negates a condition.
func Not(e Expr) Expr { return not{e} }

type param struct {
	typ   Type
	value any
}

// Type is the ClickHouse type of a parameter. Only this program's source and
// [ArrayOf] make one.
type Type struct{ text string }

// T names a ClickHouse type.
func T(name constant) Type { return Type{string(name)} }

// ArrayOf is Array(t).
func ArrayOf(t Type) Type { return Type{"Array(" + t.text + ")"} }

// String is the type as ClickHouse writes it.
func (t Type) String() string { return t.text }

// Tuple is a parameter's value of a Tuple type, also inside a list.
type Tuple []any

// Param is a value bound on the server: it is sent beside the statement and
// never becomes part of its text. value is a string, an integer, a float64, a
// Tuple, or a slice of these.
func Param(t Type, value any) Expr { return param{t, value} }

func (column) prec() int   { return precAtom }
func (number) prec() int   { return precAtom }
func (text) prec() int     { return precAtom }
func (call) prec() int     { return precAtom }
func (b binary) prec() int { return b.op.prec }
func (not) prec() int      { return precNot }
func (param) prec() int    { return precAtom }
func (lambda) prec() int   { return precOr - 1 }
