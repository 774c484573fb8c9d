package query

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// resolve gives a request's names meaning. now is what presets end at.
//
// Two rules make extras mean what users expect:
//   - A column that select or order names without its extra (datetime without
//     interval) is the grouped one, if groupBy has that column once; and the
//     other way round for groupBy, if select has that column once. Otherwise
//     it is the column without extra: exact time.
//   - Dimensions of select are grouped by, whether groupBy names them or not.
func resolve(site string, r request, now time.Time) (plan, error) {
	p := plan{site: site, limit: r.limit}
	var err error
	if p.from, p.to, err = resolveRange(r.bounds, now); err != nil {
		return p, err
	}
	selects, err := resolveList(r.selects)
	if err != nil {
		return p, err
	}
	groups, err := resolveList(r.groups)
	if err != nil {
		return p, err
	}
	for i, g := range groups {
		if g.isMeasure() {
			return p, schema.Invalid(at(nth("groupBy", i), "column"), "is a metric: only dimensions can be grouped by")
		}
	}
	if p.groups, err = settle(groups, selects); err != nil {
		return p, err
	}
	if p.output, err = settle(selects, groups); err != nil {
		return p, err
	}
	if len(p.output) == 0 {
		p.output = append(slices.Clone(p.groups), ref{column: insights.EventsCount})
	}
	p.groups = withDimensions(p.groups, p.output)
	if p.filters, err = resolveFilters(r.filters); err != nil {
		return p, err
	}
	p.order, err = resolveOrder(r.order, p.groups)
	return p, err
}

// mention is a ref as the request wrote it.
type mention struct {
	ref
	path  string
	named bool // whether the request gave the column's extra
}

func resolveList(list []columnRequest) ([]mention, error) {
	out := make([]mention, len(list))
	for i, c := range list {
		var err error
		if out[i], err = resolveColumn(c, insights.Group, insights.Measure); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// resolveColumn finds a column that has one of the roles.
func resolveColumn(c columnRequest, roles ...insights.Role) (mention, error) {
	m := mention{path: c.path}
	path := at(c.path, "column")
	column, ok := insights.ByName(c.name)
	if !ok {
		return m, schema.Invalid(path, unknown("the name of a column", c.name, columnNames))
	}
	if !slices.ContainsFunc(roles, column.Has) {
		return m, schema.Invalid(path, "cannot be used here: "+column.Name+" has no filter")
	}
	m.column = column
	var err error
	m.named, err = resolveExtras(c, column, &m.args)
	return m, err
}

var columnNames = func() []string {
	var names []string
	for _, c := range insights.Columns() {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	return names
}()

// settle replaces what list names without an extra by what others name with
// one, and drops nothing: select may repeat a column.
func settle(list, others []mention) ([]ref, error) {
	refs := make([]ref, len(list))
	for i, m := range list {
		refs[i] = m.ref
		if m.named {
			continue
		}
		alone := !slices.ContainsFunc(list, func(o mention) bool { return o.column == m.column && o.ref != m.ref })
		var meant []ref
		for _, o := range others {
			if o.column == m.column && !slices.Contains(meant, o.ref) {
				meant = append(meant, o.ref)
			}
		}
		switch {
		case len(meant) == 0 || slices.Contains(meant, m.ref):
		case len(meant) == 1 && alone:
			refs[i] = meant[0]
		case len(meant) > 1:
			return nil, schema.Invalid(at(m.path, m.column.Extra.Name),
				"is required: the request names "+m.column.Name+" with more than one "+m.column.Extra.Name)
		}
	}
	return refs, nil
}

// withDimensions is groups, each once, and the dimensions of output after them.
func withDimensions(groups, output []ref) []ref {
	var all []ref
	for _, r := range slices.Concat(groups, output) {
		if !r.isMeasure() && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}

func resolveFilters(list []filterRequest) ([]filter, error) {
	filters := make([]filter, len(list))
	for i, r := range list {
		m, err := resolveColumn(r.columnRequest, insights.Filter)
		if err != nil {
			return nil, err
		}
		f := filter{ref: m.ref, operator: insights.OpIn}
		if f.operator, err = resolveOperator(r, f.column); err != nil {
			return nil, err
		}
		if f.values, err = parseValues(r.values, f.column); err != nil {
			return nil, err
		}
		if arity := f.operator.Arity; arity > 0 && len(f.values) != arity {
			return nil, schema.Invalid(at(r.path, "values"), "must have exactly one value with the operator "+f.operator.Word)
		}
		filters[i] = f
	}
	return filters, nil
}

func resolveOperator(r filterRequest, column *insights.Column) (*insights.Operator, error) {
	if r.operator == nil {
		return insights.OpIn, nil
	}
	word, err := r.operator.text()
	if err != nil {
		return nil, err
	}
	named := func(o *insights.Operator) bool { return o.Word == word }
	if i := slices.IndexFunc(column.Operators, named); i >= 0 {
		return column.Operators[i], nil
	}
	allowed := insights.OperatorWords(column.Operators)
	if slices.ContainsFunc(insights.Operators, named) {
		return nil, r.operator.invalid("is not an operator of the column "+column.Name, allowed...)
	}
	return nil, r.operator.invalid(unknown("an operator", word, allowed), allowed...)
}

func parseValues(list []node, column *insights.Column) ([]any, error) {
	values := make([]any, len(list))
	for i, n := range list {
		var err error
		if values[i], err = column.Value.Parse(jsontext.Value(n.raw)); err != nil {
			return nil, n.refuse(err)
		}
	}
	return values, nil
}

func resolveOrder(o *orderRequest, groups []ref) ([]term, error) {
	if o == nil {
		return nil, nil
	}
	m, err := resolveColumn(o.by, insights.Group, insights.Measure)
	if err != nil {
		return nil, err
	}
	t := term{ref: m.ref}
	if o.direction != nil {
		word, err := o.direction.text()
		if err != nil {
			return nil, err
		}
		if word != "asc" && word != "desc" {
			return nil, o.direction.invalid(unknown("a direction", word, []string{"asc", "desc"}), "asc", "desc")
		}
		t.desc = word == "desc"
	}
	if t.isMeasure() {
		return []term{t}, nil
	}
	if !m.named {
		mentions := make([]mention, len(groups))
		for i, g := range groups {
			mentions[i] = mention{ref: g}
		}
		settled, err := settle([]mention{m}, mentions)
		if err != nil {
			return nil, err
		}
		t.ref = settled[0]
	}
	if !slices.Contains(groups, t.ref) {
		return nil, o.by.invalid("must be a metric or one of the columns that are grouped or selected: " + t.ref.String() + " is neither")
	}
	return []term{t}, nil
}

// resolveExtras reads the column's own extra and refuses the others. named
// reports whether the request gave it.
func resolveExtras(c columnRequest, column *insights.Column, to *insights.Arguments) (named bool, err error) {
	for _, extra := range insights.Extras {
		if n, ok := c.extras[extra.Name]; ok && extra != column.Extra {
			return false, n.invalid("is not a parameter of the column " + column.Name)
		}
	}
	extra := column.Extra
	if extra == nil {
		return true, nil
	}
	n, ok := c.extras[extra.Name]
	switch {
	case ok:
		if err := extra.Parse(jsontext.Value(n.raw), to); err != nil {
			return false, n.refuse(err)
		}
	case extra.Required:
		return false, schema.Invalid(at(c.path, extra.Name), "is required by the column "+column.Name)
	case extra.Default != nil:
		extra.Default(to)
	}
	return ok, nil
}
