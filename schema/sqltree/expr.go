package sqltree

import "strings"

// Expr is a ClickHouse expression. Its methods are unexported, so only this package can define node types.
type Expr interface {
	print(p *printer)
	prec() int
}

// These are the precedences of ClickHouse's operators, from low to high.
const (
	precOr = iota + 1
	precAnd
	precNot
	precCompare
	precAdd
	precMul
	precAtom
)

// Op is a binary operator. The variables below have all operators.
type Op struct {
	text string
	prec int
}

// The binary operators.
var (
	Or  = Op{"OR", precOr}
	And = Op{"AND", precAnd}
	Eq  = Op{"=", precCompare}
	Ne  = Op{"!=", precCompare}
	Lt  = Op{"<", precCompare}
	Le  = Op{"<=", precCompare}
	Gt  = Op{">", precCompare}
	Ge  = Op{">=", precCompare}
	In  = Op{"IN", precCompare}
	Sub = Op{"-", precAdd}
	Mul = Op{"*", precMul}
)

// constant is SQL text from this program's source. The type is unexported, so other packages can pass only untyped
// constants: a string variable is not implicitly converted to the type.
type constant string

type identifier struct{ name string }

// Col returns a column or an alias.
func Col(name string) Expr { return identifier{name} }

type number struct{ n int64 }

// Int returns an integer literal.
func Int(n int64) Expr { return number{n} }

type literal struct{ s constant }

// Str returns a string literal with text from this program's source. Values of users must be a [Param] instead.
func Str(s constant) Expr { return literal{s} }

type call struct {
	name   constant
	params []Expr // parameters of an aggregate function, in separate parentheses before the arguments
	args   []Expr
}

// Call returns a function call. The name must be from this program's source.
func Call(name constant, args ...Expr) Expr { return call{name: name, args: args} }

// Parametric returns a call of an aggregate function that has parameters and arguments: name(params)(args).
func Parametric(name constant, params []Expr, args ...Expr) Expr { return call{name, params, args} }

type over struct {
	e  Expr
	by []Expr
}

// OverAll returns an aggregate over all rows that a statement has before its limit.
func OverAll(aggregate Expr) Expr { return over{e: aggregate} }

// OverEach returns an aggregate over all rows that have the same values of `by`.
func OverEach(aggregate Expr, by ...Expr) Expr { return over{aggregate, by} }

type alias struct {
	e    Expr
	name string
}

// As gives an expression a name, under which other expressions of the statement read it with [Col].
func As(e Expr, name string) Expr { return alias{e, name} }

type lambda struct {
	names []string
	body  Expr
}

// Lambda returns an argument of a higher-order function. Its body refers to the parameters with [Col].
func Lambda(names []string, body Expr) Expr { return lambda{names, body} }

type binary struct {
	op   Op
	l, r Expr
}

// Bin joins two expressions by an operator.
func Bin(op Op, l, r Expr) Expr { return binary{op, l, r} }

// AllOf joins conditions with AND. If there are no conditions, the result is true.
func AllOf(list ...Expr) Expr { return fold(And, Int(1), list) }

// AnyOf joins conditions with OR. If there are no conditions, the result is false.
func AnyOf(list ...Expr) Expr { return fold(Or, Int(0), list) }

func fold(op Op, empty Expr, list []Expr) Expr {
	if len(list) == 0 {
		return empty
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

type inRows struct {
	keys []Expr
	rows *Select
}

// InRows returns the condition that the values of `keys` equal a row that the statement `rows` returns.
func InRows(keys []Expr, rows *Select) Expr { return inRows{keys, rows} }

type param struct {
	typ   Type
	value any
}

// Type is the ClickHouse type of a parameter, made by [T], [ArrayOf] or [TupleOf].
type Type struct{ text string }

// T names a ClickHouse type.
func T(name constant) Type { return Type{string(name)} }

// ArrayOf returns the type Array(t).
func ArrayOf(t Type) Type { return Type{"Array(" + t.text + ")"} }

// TupleOf returns the type Tuple(types...).
func TupleOf(types ...Type) Type {
	texts := make([]string, len(types))
	for i, t := range types {
		texts[i] = t.text
	}
	return Type{"Tuple(" + strings.Join(texts, ",") + ")"}
}

// String returns the type in ClickHouse's syntax.
func (t Type) String() string { return t.text }

// Tuple is the value of a parameter that has a Tuple type. It may also be an element in an array of tuples.
type Tuple []any

// Param returns a parameter. The server binds its value, which is sent separately and is never a part of the
// statement's text. `value` is a string, an integer, a float64, a Tuple, or a slice of these types.
func Param(t Type, value any) Expr { return param{t, value} }

func (identifier) prec() int { return precAtom }
func (number) prec() int     { return precAtom }
func (literal) prec() int    { return precAtom }
func (call) prec() int       { return precAtom }
func (over) prec() int       { return precAtom }
func (alias) prec() int      { return precAtom }
func (b binary) prec() int   { return b.op.prec }
func (not) prec() int        { return precNot }
func (inRows) prec() int     { return precCompare }
func (param) prec() int      { return precAtom }
func (lambda) prec() int     { return precOr - 1 }
