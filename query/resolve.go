package query

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// resolve resolves a request's names. Presets end at `now`.
//
// Two rules give extras the meaning that users expect:
//   - If `groupBy` has a column once, the column without its extra (datetime without interval) in `select` or `order`
//     means the grouped column. A `groupBy` column without its extra means the selected column in the same way. In all
//     other cases it is the column without extra: exact time.
//   - The result is also grouped by the dimensions of `select` that `groupBy` does not name, except by exact times: see
//     lastTimes.
func resolve(r request, now time.Time) (plan, error) {
	p := plan{limit: r.limit, now: now, paged: r.cursor != nil, others: r.others, total: r.count}
	in, err := r.when(now)
	if err != nil {
		return p, err
	}
	p.scope = in.scope(r.reach)
	if !slices.Contains(accuracies, r.accuracy) {
		return p, schema.Invalid("accuracy", unknown("auto or exact", r.accuracy, accuracies), accuracies...)
	}
	p.exact = r.accuracy == accuracyExact
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
	if p.groups, err = inferExtras(groups, selects); err != nil {
		return p, err
	}
	if p.output, err = inferExtras(selects, groups); err != nil {
		return p, err
	}
	p.output = lastTimes(p.groups, p.output)
	if len(p.output) == 0 {
		p.output = append(slices.Clone(p.groups), ref{column: insights.EventsCount})
	}
	p.groups = withDimensions(p.groups, p.output)
	for _, n := range slices.Concat(groups, selects) {
		if !n.args.Interval.Cuts(in.from, in.to, in.zone) {
			return p, schema.Invalid(n.place.member(n.column.Extra.Name),
				"needs a range of at most 24 hours, or a day: choose a longer interval or a shorter range")
		}
	}
	if p.where, p.having, err = resolveConditions(r.filters); err != nil {
		return p, err
	}
	if p.order, err = resolveOrder(r.order, p.groups, p.output); err != nil {
		return p, err
	}
	if err := checkOthers(r, p); err != nil {
		return p, err
	}
	if r.fill {
		if p.fill, err = resolveFill(p); err != nil {
			return p, err
		}
	}
	if r.compare != nil {
		asked := r.timeRange
		if in.cut {
			asked = rangeRequest{} // the range is no longer the period of a preset
		}
		from, to, err := resolveComparison(*r.compare, asked, in)
		if err != nil {
			return p, err
		}
		if err := r.reach.shows("compare", from, to, now); err != nil {
			return p, err
		}
		p.compare, err = newComparison(p, from, to)
		return p, err
	}
	return p, nil
}

// when returns the request's range. If the caller sees a view, the range is cut to the view's ranges.
func (q *scopeRequest) when(now time.Time) (in period, err error) {
	if in.zone, err = insights.Location(q.timezone); err != nil {
		return in, schema.Invalid("timezone", err.Error())
	}
	day := slices.Index(insights.WeekStarts(), q.weekStart)
	if day < 0 {
		days := insights.WeekStarts()
		return in, schema.Invalid("weekStart", unknown("a day of the week", q.weekStart, days), days...)
	}
	in.week = insights.WeekStart(day)
	if in.from, in.to, err = resolveRange(q.timeRange, now.In(in.zone), in.week); err != nil {
		return in, err
	}
	in.moves, in.first = q.timeRange.preset != "", q.timeRange.firstOf(in.from)
	return q.reach.limit(in, now)
}

// scope returns the scope of the range's events.
func (in period) scope(of reach) scope {
	s := newScope(of.site.ID, in.from, in.to, in.zone)
	s.view, s.cut, s.env.Hosts = of.view, in.cut, of.site.Hosts
	s.first, s.days = in.first, of.days
	s.moves = in.moves || s.view != "" // a range of the view may move with time, and then cut more
	s.env.Zone = s.env.Zone.WeeksFrom(in.week)
	return s
}

// namedColumn is a ref with its place in the request. If the request leaves out the column's extra, such as an
// interval, inferExtras sets it.
type namedColumn struct {
	ref
	place    place
	explicit bool // whether the request gave the column's extra
}

func resolveList(list []columnRequest) ([]namedColumn, error) {
	out := make([]namedColumn, len(list))
	for i, c := range list {
		var err error
		if out[i], err = resolveColumn(c, insights.Group, insights.Measure); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// resolveColumn finds the column that a request names. The column must have one of the roles.
func resolveColumn(c columnRequest, roles ...insights.Role) (namedColumn, error) {
	n := namedColumn{place: c.place}
	column, ok := insights.ByName(c.name)
	if !ok {
		return n, schema.Invalid(c.member("column"), unknown("the name of a column", c.name, columnNames))
	}
	if !slices.ContainsFunc(roles, column.Has) {
		return n, schema.Invalid(c.member("column"), "cannot be used here: "+column.Name+" has no filter")
	}
	n.column = column
	var err error
	n.explicit, err = resolveExtras(c, column, &n.args)
	return n, err
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

// inferExtras completes each column of `list` that has no extra. It copies the extra of the same column in `others`. A
// column that is not in `others` keeps its default.
func inferExtras(list, others []namedColumn) ([]ref, error) {
	refs := make([]ref, len(list))
	for i, n := range list {
		refs[i] = n.ref
		if n.explicit {
			continue
		}
		alone := !slices.ContainsFunc(list, func(o namedColumn) bool { return o.column == n.column && o.ref != n.ref })
		var candidates []ref
		for _, o := range others {
			if o.column == n.column && !slices.Contains(candidates, o.ref) {
				candidates = append(candidates, o.ref)
			}
		}
		switch {
		case len(candidates) == 0 || slices.Contains(candidates, n.ref):
		case len(candidates) == 1 && alone:
			refs[i] = candidates[0]
		case len(candidates) > 1:
			extra := n.column.Extra.Name
			return nil, schema.Invalid(n.place.member(extra), "is required: the request names "+n.column.Name+" with more than one "+extra)
		}
	}
	return refs, nil
}

// lastTimes returns `output`, with exact times replaced by the last time of each group. It does so if a request has
// groups but no time, because such a request does not group by exact times.
func lastTimes(groups, output []ref) []ref {
	if len(groups) == 0 || slices.ContainsFunc(groups, ref.isTime) {
		return output
	}
	list := slices.Clone(output)
	for i, r := range list {
		if r.isTime() && r.args.Interval == nil {
			list[i] = ref{column: insights.LastTime}
		}
	}
	return list
}

// withDimensions returns `groups`, each once, followed by the dimensions of `output`.
func withDimensions(groups, output []ref) []ref {
	var all []ref
	for _, r := range slices.Concat(groups, output) {
		if !r.isMeasure() && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}

// resolveConditions returns the conditions on events, and the conditions on groups. A condition on a metric is a
// condition on groups.
func resolveConditions(list []conditionRequest) (where, having []condition, err error) {
	for _, r := range list {
		c, err := resolveCondition(r, false)
		if err != nil {
			return nil, nil, err
		}
		events, groups, err := r.split(c)
		if err != nil {
			return nil, nil, err
		}
		where, having = append(where, events...), append(having, groups...)
	}
	return where, having, nil
}

// resolveCondition resolves one condition. It refuses metrics if only events can be filtered.
func resolveCondition(r conditionRequest, onlyEvents bool) (c condition, err error) {
	if r.joined == "" {
		if column, ok := insights.ByName(r.name); ok && onlyEvents && column.Has(insights.Measure) {
			return c, schema.Invalid(r.member("column"), "is a metric: only events can be filtered here")
		}
		c.filter, err = resolveFilter(r.filterRequest)
		return c, err
	}
	c.joined = joints[slices.IndexFunc(joints, func(j *joint) bool { return j.word == r.joined })]
	c.list = make([]condition, len(r.list))
	for i, below := range r.list {
		if c.list[i], err = resolveCondition(below, onlyEvents); err != nil {
			return c, err
		}
	}
	return c, nil
}

// split divides c, the resolved form of r, into conditions on events and conditions on groups.
func (r conditionRequest) split(c condition) (events, groups []condition, err error) {
	onEvents, onGroups := false, false
	for f := range filters([]condition{c}) {
		onEvents, onGroups = onEvents || !f.isMeasure(), onGroups || f.isMeasure()
	}
	switch {
	case !onGroups:
		return []condition{c}, nil, nil
	case !onEvents:
		return nil, []condition{c}, nil
	case c.joined != allOf:
		return nil, nil, schema.Invalid(r.member(r.joined), "has metrics beside other columns: a group of events cannot meet one or the other")
	}
	for i, below := range c.list {
		e, g, err := r.list[i].split(below)
		if err != nil {
			return nil, nil, err
		}
		events, groups = append(events, e...), append(groups, g...)
	}
	return events, groups, nil
}

func resolveFilter(r filterRequest) (filter, error) {
	n, err := resolveColumn(r.columnRequest, insights.Filter)
	if err != nil {
		return filter{}, err
	}
	f := filter{ref: n.ref, values: make([]any, len(r.values))}
	if f.operator, err = resolveOperator(r, f.column); err != nil {
		return f, err
	}
	switch o := f.operator; {
	case o.Arity > 0 && len(f.values) != o.Arity:
		return f, schema.Invalid(r.member("values"), "must have exactly one value with the operator "+o.Word)
	case o.Most > 0 && len(f.values) > o.Most:
		return f, schema.Invalid(r.member("values"), fmt.Sprintf("must have at most %d values with the operator %s", o.Most, o.Word))
	}
	for i, raw := range r.values {
		if f.values[i], err = f.operator.Parse(f.column, raw); err != nil {
			return f, refuse(nth(r.member("values"), i), err)
		}
	}
	return f, nil
}

func resolveOperator(r filterRequest, column *insights.Column) (*insights.Operator, error) {
	named := func(o *insights.Operator) bool { return o.Word == r.operator }
	if i := slices.IndexFunc(column.Operators, named); i >= 0 {
		return column.Operators[i], nil
	}
	problem, allowed := "is not an operator of the column "+column.Name, insights.OperatorWords(column.Operators)
	if !slices.ContainsFunc(insights.Operators, named) {
		problem = unknown("an operator", r.operator, allowed)
	}
	return nil, schema.Invalid(r.member("operator"), problem, allowed...)
}

// refuse returns the error for a value that the column table refuses.
func refuse(path string, err error) error {
	if e, ok := errors.AsType[*insights.MemberError](err); ok {
		return unknownMember(path, e.Member, e.Known)
	}
	if e, ok := errors.AsType[*insights.WordError](err); ok {
		return schema.Invalid(path, unknown(e.What, e.Word, e.Known), e.Known...)
	}
	return schema.Invalid(path, err.Error())
}

func resolveOrder(o *orderRequest, groups, output []ref) ([]term, error) {
	if o == nil {
		return nil, nil
	}
	by, err := resolveColumn(o.by, insights.Group, insights.Measure)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(directions, o.direction) {
		return nil, schema.Invalid("order.direction", unknown("a direction", o.direction, directions), directions...)
	}
	t := term{ref: by.ref, desc: o.direction != directions[0]}
	if t.isMeasure() {
		return []term{t}, nil
	}
	grouped := make([]namedColumn, len(groups))
	for i, g := range groups {
		grouped[i] = namedColumn{ref: g}
	}
	inferred, err := inferExtras([]namedColumn{by}, grouped)
	if err != nil {
		return nil, err
	}
	if t.ref = lastTimes(groups, inferred)[0]; t.isMeasure() && slices.Contains(output, t.ref) {
		return []term{t}, nil
	}
	if t.ref = inferred[0]; !slices.Contains(groups, t.ref) {
		return nil, schema.Invalid(by.place.String(), "must be a metric or one of the columns that are grouped or selected: "+t.ref.String()+" is neither")
	}
	return []term{t}, nil
}

// resolveExtras reads the column's own extra and refuses other extras. `explicit` is true if the request has the extra,
// or if the column has no extra.
func resolveExtras(c columnRequest, column *insights.Column, to *insights.Arguments) (explicit bool, err error) {
	for _, extra := range insights.Extras {
		if _, ok := c.extras[extra.Name]; ok && extra != column.Extra {
			return false, schema.Invalid(c.member(extra.Name), "is not a parameter of the column "+column.Name)
		}
	}
	extra := column.Extra
	if extra == nil {
		return true, nil
	}
	raw, ok := c.extras[extra.Name]
	switch {
	case ok:
		if err := extra.Parse(raw, to); err != nil {
			return false, refuse(c.member(extra.Name), err)
		}
	case extra.Required:
		return false, schema.Invalid(c.member(extra.Name), "is required by the column "+column.Name)
	case extra.Default != nil:
		extra.Default(to)
	}
	return ok, nil
}
