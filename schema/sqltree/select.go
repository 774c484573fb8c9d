package sqltree

import "strconv"

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

// Select is one SELECT statement. If Prewhere, Where or Having is nil, or Limit is 0, the clause is left out. The
// statement reads from Sub or Rows if one of them is set, and otherwise from Table. The engine reads the columns of
// Prewhere first, and other columns only where this condition is true. Join is an inner join on the columns in Using.
// Join adds the columns of the joined rows, and leaves out rows without a joined row. If LimitBy is set, Limit applies
// separately to the rows of each value of LimitBy. The rows of Union are added to the statement's own rows.
type Select struct {
	Columns  []Aliased
	Table    string
	Rows     Expr // a table function
	Sub      *Select
	Join     *Select
	Using    []Expr
	Prewhere Expr
	Where    Expr
	GroupBy  []Expr
	Having   Expr
	OrderBy  []Order
	Limit    int
	LimitBy  []Expr
	Union    *Select
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
	tree   *Select // nil if the text is not a printed tree
}

// Print writes the statement. Equal trees print equal text, whatever the
// values of their parameters are.
func (s *Select) Print() Statement { return s.print(&printer{}) }

// ParamsOf returns the number of parameters that the expressions have in a statement.
func ParamsOf(list []Expr) int {
	p := &printer{}
	p.list(list)
	return len(p.params)
}

func (s *Select) print(p *printer) Statement {
	p.selectStmt(s)
	return Statement{SQL: p.b.String(), Params: p.params, tree: s}
}

// WithInnerSetting returns the statement with a setting of its inner groupings. An inner grouping has GROUP BY, and
// groups rows that are not groups themselves. The setting does not apply to the other parts of the statement. If the
// text is not a printed tree, WithInnerSetting returns s.
func (s Statement) WithInnerSetting(name string, value uint64) Statement {
	if s.tree == nil {
		return s
	}
	return s.tree.print(&printer{inner: "\nSETTINGS " + Ident(name) + " = " + strconv.FormatUint(value, 10)})
}

// innerGroups reports whether s groups rows that are not groups.
func (s *Select) innerGroups() bool { return len(s.GroupBy) > 0 && !s.Sub.groups() }

// groups reports whether some rows of s are groups.
func (s *Select) groups() bool {
	return s != nil && (len(s.GroupBy) > 0 || s.Sub.groups() || s.Join.groups() || s.Union.groups())
}
