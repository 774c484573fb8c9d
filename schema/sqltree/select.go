package sqltree

// Aliased is an output column of a SELECT.
type Aliased struct {
	Expr Expr
	As   string
}

// Order is one ORDER BY element.
type Order struct {
	Expr Expr
	Desc bool
}

// Select is one SELECT statement. A nil Where or Having is left out, and so is a zero Limit. It reads from Sub or Rows
// if one is set, and otherwise from Table. Join adds the columns of the joined rows with equal values in Using. Rows
// without a joined row are left out. With LimitBy, the Limit applies to the rows of each of its values. The rows of
// Union follow the statement's own rows.
type Select struct {
	Columns []Aliased
	Table   string
	Rows    Expr // a table function
	Sub     *Select
	Join    *Select
	Using   []Expr
	Where   Expr
	GroupBy []Expr
	Having  Expr
	OrderBy []Order
	Limit   int
	LimitBy []Expr
	Union   *Select
}

// Named is a parameter of a printed statement.
type Named struct {
	Name  string
	Type  Type
	Value any
}

// Statement is printed SQL with its parameters.
type Statement struct {
	SQL    string
	Params []Named
}

// Print writes the statement. Equal trees print equal text, whatever the
// values of their parameters are.
func (s *Select) Print() Statement {
	p := &printer{}
	p.selectStmt(s)
	return Statement{SQL: p.b.String(), Params: p.params}
}
