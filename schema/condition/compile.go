package condition

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// compile has a case for each kind of node in the subset.
func (c *compiler) compile(node ast.Expression) expression {
	switch node := node.(type) {
	case *ast.StringLiteral:
		return constant(validText(node.Value.String()))
	case *ast.NumberLiteral:
		return c.number(node)
	case *ast.BooleanLiteral:
		return constant(node.Value)
	case *ast.NullLiteral:
		return constant(nil)
	case *ast.Identifier:
		if node.Name == "undefined" {
			return constant(undefined{})
		}
		if node.Name == "visitor" {
			return c.refuse(node.Idx, "visitor can only be used as visitor.claims")
		}
		return c.refuse(node.Idx, "has an unknown name %q, only visitor.claims is known", node.Name.String())
	case *ast.ArrayLiteral:
		return c.array(node)
	case *ast.TemplateLiteral:
		return c.template(node)
	case *ast.DotExpression:
		return c.dot(node)
	case *ast.BracketExpression:
		return c.bracket(node)
	case *ast.OptionalChain:
		return c.compile(node.Expression)
	case *ast.Optional:
		return c.compile(node.Expression)
	case *ast.CallExpression:
		return c.call(node)
	case *ast.UnaryExpression:
		return c.unary(node)
	case *ast.BinaryExpression:
		return c.binary(node)
	case *ast.ConditionalExpression:
		test, yes, no := c.compile(node.Test), c.compile(node.Consequent), c.compile(node.Alternate)
		return func(e *evaluation) any {
			if truthy(test(e)) {
				return yes(e)
			}
			return no(e)
		}
	case nil:
		return c.refuse(1, "has an empty slot in an array")
	}
	return c.refuse(node.Idx0(), "uses syntax that conditions do not support")
}

func constant(value any) expression { return func(*evaluation) any { return value } }

func (c *compiler) number(node *ast.NumberLiteral) expression {
	switch value := node.Value.(type) {
	case int64:
		return constant(float64(value))
	case float64:
		return constant(value)
	}
	return c.refuse(node.Idx, "has a number that conditions do not support")
}

func (c *compiler) all(nodes []ast.Expression) []expression {
	list := make([]expression, len(nodes))
	for i, node := range nodes {
		list[i] = c.compile(node)
	}
	return list
}

func (c *compiler) array(node *ast.ArrayLiteral) expression {
	items := c.all(node.Value)
	return func(e *evaluation) any {
		values := make([]any, len(items))
		for i, item := range items {
			values[i] = item(e)
		}
		return values
	}
}

func (c *compiler) template(node *ast.TemplateLiteral) expression {
	if node.Tag != nil {
		return c.refuse(node.OpenQuote, "has a template with a tag")
	}
	parts := c.all(node.Expressions)
	return func(e *evaluation) any {
		var b strings.Builder
		for i, element := range node.Elements {
			b.WriteString(validText(element.Parsed.String()))
			if i < len(parts) {
				b.WriteString(e.toString(parts[i](e)))
			}
		}
		return b.String()
	}
}

func isVisitor(node ast.Expression) bool {
	identifier, ok := node.(*ast.Identifier)
	return ok && identifier.Name == "visitor"
}

func (c *compiler) dot(node *ast.DotExpression) expression {
	name := node.Identifier.Name.String()
	if isVisitor(node.Left) {
		if name != "claims" {
			return c.refuse(node.Identifier.Idx, "visitor has only claims, not %q", name)
		}
		return func(e *evaluation) any { return e.claims }
	}
	left := c.compile(node.Left)
	return func(e *evaluation) any { return member(left(e), name) }
}

func (c *compiler) bracket(node *ast.BracketExpression) expression {
	left, key := c.compile(node.Left), c.compile(node.Member)
	return func(e *evaluation) any { return member(left(e), e.toString(key(e))) }
}

// call compiles the call of a method. It refuses calls of functions and of unknown methods.
func (c *compiler) call(node *ast.CallExpression) expression {
	callee, ok := node.Callee.(*ast.DotExpression)
	if !ok {
		return c.refuse(node.Idx0(), "calls something that is not a method")
	}
	name := callee.Identifier.Name.String()
	m, known := methods[name]
	if !known {
		return c.refuse(callee.Identifier.Idx, "calls the unknown method %q", name)
	}
	if len(node.ArgumentList) != m.arguments {
		return c.refuse(callee.Identifier.Idx, "calls %s with %d arguments, it takes %d", name, len(node.ArgumentList), m.arguments)
	}
	_, optional := callee.Left.(*ast.Optional)
	receiver, arguments := c.compile(callee.Left), c.all(node.ArgumentList)
	return func(e *evaluation) any {
		on := receiver(e)
		if optional && nullish(on) {
			return undefined{}
		}
		var argument any = undefined{}
		if len(arguments) > 0 {
			argument = arguments[0](e)
		}
		return m.call(e, on, argument)
	}
}

func (c *compiler) unary(node *ast.UnaryExpression) expression {
	operator, ok := unaries[node.Operator]
	if !ok || node.Postfix {
		return c.refuse(node.Idx0(), "uses the operator %s", node.Operator)
	}
	operand := c.compile(node.Operand)
	return func(e *evaluation) any { return operator(e, operand(e)) }
}

func (c *compiler) binary(node *ast.BinaryExpression) expression {
	left, right := c.compile(node.Left), c.compile(node.Right)
	if stops, ok := shortCircuits[node.Operator]; ok {
		return func(e *evaluation) any {
			if value := left(e); stops(value) {
				return value
			}
			return right(e)
		}
	}
	operator, ok := binaries[node.Operator]
	if !ok {
		return c.refuse(node.Idx0(), "uses the operator %s", node.Operator)
	}
	return func(e *evaluation) any { return operator(e, left(e), right(e)) }
}

// shortCircuits has a row for each operator that may skip its right side. The row's function reports whether the left
// side is the result. The right side is then skipped.
var shortCircuits = map[token.Token]func(left any) bool{
	token.LOGICAL_AND: func(left any) bool { return !truthy(left) },
	token.LOGICAL_OR:  truthy,
	token.COALESCE:    func(left any) bool { return !nullish(left) },
}
