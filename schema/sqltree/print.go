package sqltree

import (
	"strconv"
	"strings"
)

type printer struct {
	b      strings.Builder
	params []Named
	inner  string // clause of the inner groupings
}

func (p *printer) write(s string) { p.b.WriteString(s) }

// operand prints e, in parentheses if its precedence is lower than `least`.
func (p *printer) operand(e Expr, least int) {
	if e.prec() < least {
		p.write("(")
		e.print(p)
		p.write(")")
		return
	}
	e.print(p)
}

func (p *printer) list(list []Expr) {
	for i, e := range list {
		if i > 0 {
			p.write(", ")
		}
		e.print(p)
	}
}

func (i identifier) print(p *printer) { p.write(Ident(i.name)) }
func (n number) print(p *printer)     { p.write(strconv.FormatInt(n.n, 10)) }
func (l literal) print(p *printer)    { p.write(Quote(string(l.s))) }

func (c call) print(p *printer) {
	p.write(string(c.name))
	p.write("(")
	if len(c.params) > 0 {
		p.list(c.params)
		p.write(")(")
	}
	p.list(c.args)
	p.write(")")
}

func (o over) print(p *printer) {
	o.e.print(p)
	p.write(" OVER (")
	if len(o.by) > 0 {
		p.write("PARTITION BY ")
		p.list(o.by)
	}
	p.write(")")
}

func (a alias) print(p *printer) {
	p.write("(")
	a.e.print(p)
	p.write(" AS " + Ident(a.name) + ")")
}

func (l lambda) print(p *printer) {
	p.write("(")
	for i, name := range l.names {
		if i > 0 {
			p.write(", ")
		}
		p.write(Ident(name))
	}
	p.write(") -> ")
	l.body.print(p)
}

func (b binary) print(p *printer) {
	left := b.op.prec
	if left == precCompare {
		// Print parentheses in (a = b) = c, because few readers know how a = b = c is grouped.
		left++
	}
	p.operand(b.l, left)
	p.write(" " + b.op.text + " ")
	// The right side of a left-associative operator also needs parentheses at equal precedence: a - (b - c).
	p.operand(b.r, b.op.prec+1)
}

func (n not) print(p *printer) {
	p.write("NOT ")
	p.operand(n.e, precCompare)
}

func (i inRows) print(p *printer) {
	p.write("(")
	p.list(i.keys)
	p.write(") IN (\n")
	p.selectStmt(i.rows)
	p.write("\n)")
}

func (v param) print(p *printer) {
	name := "p" + strconv.Itoa(len(p.params))
	p.params = append(p.params, Named{Name: name, Type: v.typ, Value: v.value})
	p.write("{" + name + ":" + v.typ.text + "}")
}

func (p *printer) selectStmt(s *Select) {
	p.write("SELECT ")
	for i, c := range s.Columns {
		if i > 0 {
			p.write(", ")
		}
		c.Expr.print(p)
		if c.As != "" {
			p.write(" AS " + Ident(c.As))
		}
	}
	p.write("\nFROM ")
	switch {
	case s.Sub != nil:
		p.write("(\n")
		p.selectStmt(s.Sub)
		p.write("\n)")
		if s.Join != nil {
			p.write(" AS own") // the engine requires a name here
		}
	case s.Rows != nil:
		s.Rows.print(p)
	default:
		p.write(Ident(s.Table))
	}
	if s.Join != nil {
		p.write("\nINNER JOIN (\n")
		p.selectStmt(s.Join)
		p.write("\n) AS joined USING (")
		p.list(s.Using)
		p.write(")")
	}
	if s.Prewhere != nil {
		p.write("\nPREWHERE ")
		s.Prewhere.print(p)
	}
	if s.Where != nil {
		p.write("\nWHERE ")
		s.Where.print(p)
	}
	if len(s.GroupBy) > 0 {
		p.write("\nGROUP BY ")
		p.list(s.GroupBy)
	}
	if s.Having != nil {
		p.write("\nHAVING ")
		s.Having.print(p)
	}
	for i, o := range s.OrderBy {
		if i == 0 {
			p.write("\nORDER BY ")
		} else {
			p.write(", ")
		}
		o.Expr.print(p)
		if o.Desc {
			p.write(" DESC")
		} else {
			p.write(" ASC")
		}
	}
	if s.Limit > 0 {
		p.write("\nLIMIT " + strconv.Itoa(s.Limit))
		if len(s.LimitBy) > 0 {
			p.write(" BY ")
			p.list(s.LimitBy)
		}
	}
	if s.innerGroups() {
		p.write(p.inner)
	}
	if s.Union != nil {
		p.write("\nUNION ALL\n")
		p.selectStmt(s.Union)
	}
}

// Ident writes an identifier, and puts it in backquotes if it is not a plain word.
func Ident(name string) string {
	plain := name != ""
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(i > 0 && c >= '0' && c <= '9') {
			plain = false
			break
		}
	}
	if plain {
		return name
	}
	return "`" + escape(name, '`') + "`"
}

// Quote writes a string literal, for DDL and for constants of this program. Values of users must be parameters instead.
func Quote(s string) string { return "'" + escape(s, '\'') + "'" }

func escape(s string, quote byte) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case quote, '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case 0:
			b.WriteString(`\0`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
