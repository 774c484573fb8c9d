package insights

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Role is a use that a query can make of a column.
type Role uint8

// The roles.
const (
	Filter  Role = 1 << iota // usable in where
	Group                    // usable in groupBy, select and order
	Measure                  // an aggregate: usable in select and order; in where, it filters groups
	Time                     // can have an interval
)

// NullRule says how an absent value of a column appears in responses, and how filters match it.
type NullRule uint8

// The null rules.
const (
	// NeverNull means that every event has a value.
	NeverNull NullRule = iota
	// AsNull means that an absent value is shown as null, and that null in a filter matches it.
	AsNull
	// AsEmpty means that an absent value is shown as "", and that "" in a filter matches it.
	AsEmpty
	// Excluded means that events without a value are left out if a query selects the column or groups by it. The
	// contract has no word for an absent value in these columns.
	Excluded
	// AsZero means that an absent value is shown as 0, and that 0 in a filter matches it. Events without a value match
	// no comparison by order.
	AsZero
)

// Privacy is the degree to which a column identifies a person.
type Privacy uint8

// The privacy classes.
const (
	Content   Privacy = iota // describes the site, not the visitor
	Coarse                   // a value that many visitors share
	Pseudonym                // a keyed hash
	Personal                 // may identify a person: stored only if it is sent, or if the site requires it
)

// Column is one row of the column table.
type Column struct {
	// Name is the public name. It is "" if the column is stored but cannot be queried.
	Name      string
	Roles     Role
	Value     Value
	Operators []*Operator
	Null      NullRule
	Extra     *Extra // Extra is nil if the column has no extra parameter
	// Unique is true for a Measure that counts distinct values. Env.Counting says how exactly they are counted.
	Unique  bool
	Fields  []Field // stored form of the column; nil for a derived column
	Privacy Privacy
	Doc     string
	// Visit has the stored columns from which the value is read in a row of visits. All events of such a row have equal
	// values in these columns. Counters are the numbers that a Measure sums up. A column without Visit and Counters can
	// be read only from events.
	Visit    []string
	Counters []*Counter
	// Several is true if an event can have several values of the column. The event is then counted once for each value.
	Several bool
	// Session has the parts of the event's whole session that the column reads. A Measure with Session parts reads one
	// row for each session, so it counts each session once.
	Session []*SessionPart
	// InSessions returns the aggregate of a Measure that counts sessions, over the rows of [SessionsInGroups]. It is
	// nil for other measures.
	InSessions func() sqltree.Expr

	// Expr returns the expression for the value. For a Measure, it returns the aggregate.
	Expr func(Arguments, Env) sqltree.Expr
	// Grouped has other keys for grouping by the column. If it is nil, groups use the value of Expr.
	Grouped *Grouped
	// HasValue returns the condition that an event has a value. It is set for Excluded columns, and for columns whose
	// comparisons leave out events without a value.
	HasValue func() sqltree.Expr
	// Match replaces the condition of the operator `in`. It is set for columns whose values are not compared with Expr,
	// or can be compared faster by another expression.
	Match func(a Arguments, values []any) sqltree.Expr
	// Texts returns the condition that one of the column's texts meets the test. It is set for columns whose texts
	// differ from the value of Expr.
	Texts func(a Arguments, meets func(text sqltree.Expr) sqltree.Expr) sqltree.Expr
	// Rank has the value by which `order` sorts. If it is nil, `order` sorts by the value of Expr.
	Rank *Rank
	// Nothing returns the value of a Measure in a group without events that the measure counts. If Nothing is nil,
	// this value is zero.
	Nothing func() sqltree.Expr
}

// Grouped has keys for grouping rows. The engine compares the keys faster than the values.
type Grouped struct {
	// Keys returns the expressions of the keys, which are numbers. Rows with equal values have equal keys.
	Keys func() []sqltree.Expr
	// Value returns the expression for the value of a group.
	Value func() sqltree.Expr
}

// Rank is an order of values.
type Rank struct {
	// Of returns the expression for the rank of a value of the column's Expr.
	Of func(value sqltree.Expr) sqltree.Expr
	// New returns a pointer into which a rank can be scanned.
	New func() any
}

// Has reports whether the column has all of the given roles.
func (c *Column) Has(r Role) bool { return c.Roles&r == r }

// Condition returns the condition of a filter with the operator `op` and the given values. `value` is the column's
// expression or its alias. If an event has no value in an Excluded column, it satisfies only negated operators. If an
// event has no value in another column with HasValue, it satisfies no operator that compares by order.
func (c *Column) Condition(op *Operator, a Arguments, value sqltree.Expr, values []any) sqltree.Expr {
	condition := op.condition(c, a, value, values)
	if c.HasValue != nil && (c.Null == Excluded || op.Ordered) {
		condition = sqltree.AllOf(c.HasValue(), condition)
	}
	if op.Negated {
		condition = sqltree.Not(condition)
	}
	return condition
}

// Env has the inputs that all expressions of a statement share. Inputs for a single column are in Arguments.
type Env struct {
	// Zone is the time zone in which times are cut to intervals.
	Zone Zone
	// Counting is the method by which Unique measures count.
	Counting Counting
	// Visits is true if the statement reads rows of visits or sessions, and not events. In these rows, each of the
	// Counters has a column.
	Visits bool
	// Hosts are the site's own hosts.
	Hosts []string
	// States is true if the statement reads rows with the aggregate states of [Column.States].
	States bool
}

// Counting is a method of counting distinct values.
type Counting uint8

// These are the methods of counting, beginning with the most exact method.
const (
	CountExact    Counting = iota
	CountTotals            // fast, for a single cell: exact up to TotalsExactly
	CountBounded           // in bounded memory: exact up to UniquesBound
	CountSketched          // fast: exact up to SketchedExactly
)

// Value is the type of a column's values, in JSON and in ClickHouse.
type Value interface {
	// Shape returns a description of the JSON form, for the documentation and for error messages.
	Shape() string
	// Type is the ClickHouse type of one filter value.
	Type() sqltree.Type
	// Parse reads one filter value into the Go value that is bound as Type.
	// Its error completes the sentence "<path> ...".
	Parse(raw jsontext.Value) (any, error)
	// New returns a pointer into which the value of Expr can be scanned.
	New() any
	// Append writes a scanned value as JSON.
	Append(dst []byte, scanned any) []byte
}

// Some statements use these columns even if the request does not name them.
var (
	Datetime      = byName["datetime"]
	EventType     = byName["eventType"]
	EventsCount   = byName["eventsCount"]
	SessionsCount = byName["sessionsCount"]
	VisitorsCount = byName["visitorsCount"]
	ClaimProperty = byName["visitorClaimProperty"]
)

// LastTime is the time of a group's last event. Requests use it under the name `datetime`: see the documentation of
// package query.
var LastTime = func() *Column {
	c := metric(Datetime.Name, timeValue{}, nil, "Time of the last event.", lastEvent.count, lastEvent)
	return &c
}()

// ByName finds a public column.
func ByName(name string) (*Column, bool) {
	c, ok := byName[name]
	return c, ok
}

// Columns returns the column table, in the order in which the documentation lists the columns. Callers must not change
// it.
func Columns() []Column { return columns }

var byName, fields, knownFields = index(columns)

func index(list []Column) (map[string]*Column, []Field, uint64) {
	names := make(map[string]*Column, len(list))
	var stored []Field
	var mask uint64
	for i := range list {
		if list[i].Name != "" {
			names[list[i].Name] = &list[i]
		}
		for _, f := range list[i].Fields {
			mask |= 1 << f.id
			stored = append(stored, f)
		}
	}
	// The log encoding has an event's fields in the order of their ids.
	slices.SortFunc(stored, func(a, b Field) int { return int(a.id) - int(b.id) })
	return names, stored, mask
}

// String returns the word for the privacy class in the documentation.
func (p Privacy) String() string {
	return [...]string{Content: "content", Coarse: "coarse", Pseudonym: "pseudonym", Personal: "personal"}[p]
}
