package insights

import (
	"errors"
	"fmt"
	"regexp/syntax"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Operator is a filter operator: one row of Operators.
type Operator struct {
	Word  string // name in requests
	Arity int    // required number of values; 0 means any number
	// Most is the largest number of values. If it is 0, only the request's own limit applies.
	Most int
	// Negated is true if the operator selects all events that its condition does not select, including events without a
	// value.
	Negated bool
	// Ordered is true if the operator compares values by their order.
	Ordered bool
	// parse reads a value of the filter. If it is nil, the filter has values of the column's type.
	parse     func(raw jsontext.Value) (any, error)
	condition func(c *Column, a Arguments, value sqltree.Expr, values []any) sqltree.Expr
}

// Parse reads one value of a filter on a column into the Go value that
// [Column.Condition] takes. Its error completes the sentence "<path> ...".
func (o *Operator) Parse(c *Column, raw jsontext.Value) (any, error) {
	if o.parse != nil {
		return o.parse(raw)
	}
	return c.Value.Parse(raw)
}

// OpIn is the operator of a filter that does not name an operator.
var OpIn = &Operator{Word: "in", condition: oneOf}

// The engine compares each text and pattern of a filter with every event. These bounds limit this work.
const (
	maxTexts   = 100
	maxPattern = 256 // characters
)

// Operators has the operators of facts §3.1, and the operators on texts.
var Operators = []*Operator{
	OpIn,
	{Word: "notIn", Negated: true, condition: oneOf},
	{Word: "greaterThan", Arity: 1, Ordered: true, condition: compare(sqltree.Gt)},
	{Word: "greaterThanOrEqual", Arity: 1, Ordered: true, condition: compare(sqltree.Ge)},
	{Word: "lessThan", Arity: 1, Ordered: true, condition: compare(sqltree.Lt)},
	{Word: "lessThanOrEqual", Arity: 1, Ordered: true, condition: compare(sqltree.Le)},
	{Word: "contains", Most: maxTexts, parse: parseTextOf, condition: textTest(func(text, part sqltree.Expr) sqltree.Expr {
		return sqltree.Bin(sqltree.Gt, sqltree.Call("position", text, part), sqltree.Int(0))
	})},
	{Word: "startsWith", Most: maxTexts, parse: parseTextOf, condition: textTest(func(text, prefix sqltree.Expr) sqltree.Expr {
		return sqltree.Call("startsWith", text, prefix)
	})},
	{Word: "matches", Most: maxTexts, parse: parsePattern, condition: textTest(func(text, pattern sqltree.Expr) sqltree.Expr {
		return sqltree.Call("match", text, pattern)
	})},
}

// These lists have the operators of columns with different kinds of values.
var (
	equality   = Operators[:2:2]                                                  // for values without an order
	comparison = Operators[:6:6]                                                  // for values with an order
	textual    = append(equality[:len(equality):len(equality)], Operators[6:]...) // for texts, which have parts
)

// OperatorWords returns the words of operators.
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
	if v, ok := c.Value.(interface {
		oneOf(value sqltree.Expr, values []any) sqltree.Expr
	}); ok {
		return v.oneOf(value, values)
	}
	return sqltree.Bin(sqltree.In, value, sqltree.Param(sqltree.ArrayOf(c.Value.Type()), values))
}

func compare(op sqltree.Op) func(*Column, Arguments, sqltree.Expr, []any) sqltree.Expr {
	return func(c *Column, _ Arguments, value sqltree.Expr, values []any) sqltree.Expr {
		return sqltree.Bin(op, value, sqltree.Param(c.Value.Type(), values[0]))
	}
}

// textTest returns a function that makes the condition of an operator on texts. The condition is true if `test` is true
// for a text of the column and one of the values.
func textTest(test func(text, value sqltree.Expr) sqltree.Expr) func(*Column, Arguments, sqltree.Expr, []any) sqltree.Expr {
	return func(c *Column, a Arguments, value sqltree.Expr, values []any) sqltree.Expr {
		meets := func(text sqltree.Expr) sqltree.Expr {
			tests := make([]sqltree.Expr, len(values))
			for i, v := range values {
				tests[i] = test(text, sqltree.Param(typeString, v))
			}
			return sqltree.AnyOf(tests...)
		}
		if c.Texts != nil {
			return c.Texts(a, meets)
		}
		return meets(value)
	}
}

func parseTextOf(raw jsontext.Value) (any, error) { return parseText(raw) }

// parsePattern reads a regular expression in RE2 syntax, in which a dot also matches a newline. Go's parser and the
// engine's parser accept the same expressions, except that Go's parser knows some newer names of scripts.
func parsePattern(raw jsontext.Value) (any, error) {
	pattern, err := parseString(raw)
	if err != nil {
		return nil, err
	}
	if n := len([]rune(pattern)); n > maxPattern {
		return nil, fmt.Errorf("must have at most %d characters", maxPattern)
	}
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		problem := "must be a regular expression in the syntax of RE2"
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			problem += ": " + e.Code.String()
		}
		return nil, errors.New(problem)
	}
	return pattern, nil
}
