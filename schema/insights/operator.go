package insights

import "github.com/octavo-docs/octavo/schema/sqltree"

// Operator is a filter operator: one row of Operators.
type Operator struct {
	Word  string // in requests
	Arity int    // the number of values it takes; 0 is any number
	// Negated operators select what their condition does not, including events
	// without a value.
	Negated   bool
	condition func(c *Column, a Arguments, value sqltree.Expr, values []any) sqltree.Expr
}

// OpIn is the operator of a filter that names none.
var OpIn = &Operator{Word: "in", condition: oneOf}

// Operators are the operators of facts §3.1.
var Operators = []*Operator{
	OpIn,
	{Word: "notIn", Negated: true, condition: oneOf},
	{Word: "greaterThan", Arity: 1, condition: compare(sqltree.Gt)},
	{Word: "greaterThanOrEqual", Arity: 1, condition: compare(sqltree.Ge)},
	{Word: "lessThan", Arity: 1, condition: compare(sqltree.Lt)},
	{Word: "lessThanOrEqual", Arity: 1, condition: compare(sqltree.Le)},
}

// equality are the operators of values without an order.
var equality = Operators[:2:2]

// OperatorWords are the words of a column's operators.
func OperatorWords(operators []*Operator) []string {
	words := make([]string, len(operators))
	for i, o := range operators {
		words[i] = o.Word
	}
	return words
}

func oneOf(c *Column, a Arguments, value sqltree.Expr, values []any) sqltree.Expr {
	if c.Match != nil {
		return c.Match(a, values)
	}
	return sqltree.Bin(sqltree.In, value, sqltree.Param(sqltree.ArrayOf(c.Value.Type()), values))
}

func compare(op sqltree.Op) func(*Column, Arguments, sqltree.Expr, []any) sqltree.Expr {
	return func(c *Column, _ Arguments, value sqltree.Expr, values []any) sqltree.Expr {
		return sqltree.Bin(op, value, sqltree.Param(c.Value.Type(), values[0]))
	}
}
