package sqltree

// Aliased is an output column of a SELECT.
type Aliased struct {
	Expr Expr
	As   string
}

// Order is an element of ORDER BY.
type Order struct {
	Expr Expr
	Desc bool
}

// Select is one SELECT statement. If Where or Having is nil, or Limit is 0, the clause is left out. The statement reads
// from Sub or Rows if one of them is set, and otherwise from Table. Join is an inner join on the columns in Using: it
// adds the columns of the joined rows, and leaves out rows without a joined row. If LimitBy is set, Limit applies
// separately to the rows of each value of LimitBy. The rows of Union are added to the statement's own rows.
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

// Statement is the text of a statement with its parameters.
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
