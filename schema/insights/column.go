package insights

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Role is a part that a column can have in a query.
type Role uint8

// The roles.
const (
	Filter  Role = 1 << iota // in where
	Group                    // usable in groupBy, select and order
	Measure                  // an aggregate: in select and order; in where, it filters groups
	Time                     // takes an interval
)

// NullRule is the meaning of an absent value of an event in a column.
type NullRule uint8

// The null rules.
const (
	// NeverNull: every event has a value.
	NeverNull NullRule = iota
	// AsNull: an absent value reads as null, and null in a filter matches it.
	AsNull
	// AsEmpty: an absent value reads as "", and "" in a filter matches it.
	AsEmpty
	// Excluded: if the column is selected or grouped by, events without a value are left out. The contract has no word
	// for an absent value there.
	Excluded
	// AsZero: an absent value reads as 0, and 0 in a filter matches it. Comparisons ignore absent values.
	AsZero
)

// Privacy is the degree to which a column identifies a person.
type Privacy uint8

// The privacy classes.
const (
	Content   Privacy = iota // about the site, not the visitor
	Coarse                   // shared by many visitors
	Pseudonym                // a keyed hash
	Personal                 // may identify a person: stored only if sent, or if the site's setting requires it
)

// Column is one row of the column table.
type Column struct {
	// Name is the public name; "" if the column is stored but cannot be queried.
	Name      string
	Roles     Role
	Value     Value
	Operators []*Operator
	Null      NullRule
	Extra     *Extra // nil if the column has no extra parameter
	// Unique marks a Measure that counts different values: exactly, or with
	// Env.Counting exactly up to UniquesBound, or with a sketch.
	Unique  bool
	Fields  []Field // the stored form of the column; nil for a derived column
	Privacy Privacy
	Doc     string
	// Visit has the stored columns from which the value is read in a row of visits. All events of such a row have equal
	// values in these columns. Counters are the numbers that a Measure sums up. A column without Visit and Counters is
	// only read from events.
	Visit    []string
	Counters []*Counter
	// Several means that an event counts once for each of its values of the column.
	Several bool
	// Session has the parts of the event's whole session that the column reads. A Measure reads rows with one row per
	// session, so it counts each session once.
	Session []*SessionPart
	// InSessions aggregates a Measure that counts sessions, from the rows of [SessionsInGroups]; nil for other
	// measures.
	InSessions func() sqltree.Expr

	// Expr reads the value, or aggregates it for a Measure.
	Expr func(Arguments, Env) sqltree.Expr
	// Grouped is an alternative way to group by the column. If it is nil, groups use the value of Expr.
	Grouped *Grouped
	// HasValue is the condition "the event has a value". Excluded columns have it, and columns whose comparisons leave
	// out events without a value.
	HasValue func() sqltree.Expr
	// Match overrides the condition of `in`. It is for columns whose values are not compared with Expr, or can be
	// compared faster.
	Match func(a Arguments, values []any) sqltree.Expr
	// Texts is the condition that one of the column's texts passes the test. It is for columns whose texts differ from
	// the value of Expr.
	Texts func(a Arguments, meets func(text sqltree.Expr) sqltree.Expr) sqltree.Expr
	// Rank is the value that order sorts by; nil means the value of Expr.
	Rank *Rank
	// Nothing is the value of a Measure in a group without events of its kind; nil means 0.
	Nothing func() sqltree.Expr
}

// Grouped is a way to group rows by keys that are compared faster than the value.
type Grouped struct {
	// Keys are equal for rows with equal values.
	Keys func() []sqltree.Expr
	// Value reads the value of a group.
	Value func() sqltree.Expr
}

// Rank is an order of values.
type Rank struct {
	// Of reads the rank of the value of a column's Expr.
	Of func(value sqltree.Expr) sqltree.Expr
	// New returns a pointer to scan a rank into.
	New func() any
}

// Has reports whether the column has all the roles.
func (c *Column) Has(r Role) bool { return c.Roles&r == r }

// Condition is the filter that compares value with the given values by op. value is the column's expression or its
// alias. An event without a value in an Excluded column only satisfies negated operators. In any column with HasValue,
// it satisfies no comparison.
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

// Env has the inputs that all expressions of a statement share. Other inputs are the arguments of the columns.
type Env struct {
	// Zone is the time zone in which times are cut to intervals.
	Zone Zone
	// Counting is the way in which Unique measures count.
	Counting Counting
	// Visits means that rows have the Counters' numbers: they are rows of visits or sessions.
	Visits bool
	// Hosts are the site's own hosts.
	Hosts []string
	// States means that rows have the aggregate states of [Column.States].
	States bool
}

// Counting is a way to count different values.
type Counting uint8

// These are the ways to count, the most exact way first.
const (
	CountExact    Counting = iota
	CountTotals            // fast, for a single cell: exact up to TotalsExactly
	CountBounded           // in bounded memory: exact up to UniquesBound
	CountSketched          // fast: exact up to SketchedExactly
)

// Value is the type of a column's values, in JSON and in ClickHouse.
type Value interface {
	// Shape describes the JSON form in documents and error messages.
	Shape() string
	// Type is the ClickHouse type of one filter value.
	Type() sqltree.Type
	// Parse reads one filter value into the Go value that is bound as Type.
	// Its error completes the sentence "<path> ...".
	Parse(raw jsontext.Value) (any, error)
	// New returns a pointer for scanning the value of Expr.
	New() any
	// Append writes a scanned value as JSON.
	Append(dst []byte, scanned any) []byte
}

// These are the columns that statements use even if the request does not name them.
var (
	Datetime      = byName["datetime"]
	EventType     = byName["eventType"]
	EventsCount   = byName["eventsCount"]
	SessionsCount = byName["sessionsCount"]
	VisitorsCount = byName["visitorsCount"]
	ClaimProperty = byName["visitorClaimProperty"]
)

// LastTime is the time of a group's last event. In requests its name is datetime: see the query package's document.
var LastTime = func() *Column {
	c := metric(Datetime.Name, timeValue{}, nil, "Time of the last event.", lastEvent.count, lastEvent)
	return &c
}()

// ByName finds a public column.
func ByName(name string) (*Column, bool) {
	c, ok := byName[name]
	return c, ok
}

// Columns returns the column table in the order of the documents. Callers must
// not change it.
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
	// The log encoding holds an event's fields by ascending id.
	slices.SortFunc(stored, func(a, b Field) int { return int(a.id) - int(b.id) })
	return names, stored, mask
}

// String is the privacy class's word in the documents.
func (p Privacy) String() string {
	return [...]string{Content: "content", Coarse: "coarse", Pseudonym: "pseudonym", Personal: "personal"}[p]
}
