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
	Group                    // in groupBy, select and order
	Measure                  // an aggregate: in select and order; in where it filters groups
	Time                     // takes an interval
)

// NullRule is the meaning of an absent value of an event in a column.
type NullRule uint8

// The null rules.
const (
	// NeverNull: every event has a value.
	NeverNull NullRule = iota
	// AsNull: no value reads as null, and null in a filter matches it.
	AsNull
	// AsEmpty: no value reads as "", and "" in a filter matches it.
	AsEmpty
	// Excluded: if the column is selected or grouped by, events without a value are left out, because the contract has
	// no word for "none" there.
	Excluded
	// AsZero: an absent value reads as 0, and 0 in a filter matches it. Comparisons leave out absent values.
	AsZero
)

// Privacy says how close a column comes to a person.
type Privacy uint8

// The privacy classes.
const (
	Content   Privacy = iota // about the site, not the visitor
	Coarse                   // shared by many visitors
	Pseudonym                // a keyed hash
	Personal                 // may identify a person: stored only if sent, or if the site's setting demands it
)

// Column is one row of the column table.
type Column struct {
	// Name is the public name, "" for what is stored but not queried.
	Name      string
	Roles     Role
	Value     Value
	Operators []*Operator
	Null      NullRule
	Extra     *Extra // nil if the column takes none
	// Unique marks a Measure that counts different values: exactly, or with
	// Env.Counting exactly up to UniquesBound, or with a sketch.
	Unique  bool
	Fields  []Field // the stored form of the column; nil for a derived column
	Privacy Privacy
	Doc     string
	// Visit names the stored columns from which the value is read in a row of visits. All events of a row of visits
	// have equal values there. Counters are the numbers that a Measure adds up. A column without Visit and Counters is
	// read only from events.
	Visit    []string
	Counters []*Counter
	// Several means that an event counts once for each of its values of the column.
	Several bool
	// Session are the parts of the event's whole session that the column reads. A Measure reads rows with one row per
	// session, so it counts each session once.
	Session []*SessionPart
	// InSessions aggregates a Measure that counts sessions from the rows of [SessionsInGroups]; nil for other measures.
	InSessions func() sqltree.Expr

	// Expr reads the value, or aggregates it for a Measure.
	Expr func(Arguments, Env) sqltree.Expr
	// Grouped is another way to group by the column; nil groups by the value of Expr.
	Grouped *Grouped
	// HasValue is the condition "the event has a value". Excluded columns have it, and columns whose comparisons leave
	// out events without a value.
	HasValue func() sqltree.Expr
	// Match overrides the condition of `in`, for columns whose values are not compared with Expr, or whose values have
	// a faster comparison.
	Match func(a Arguments, values []any) sqltree.Expr
	// Texts is the condition "one of the column's texts meets the test", for columns whose texts differ from the value
	// of Expr.
	Texts func(a Arguments, meets func(text sqltree.Expr) sqltree.Expr) sqltree.Expr
	// Rank is the value that order sorts by; nil means the value of Expr.
	Rank *Rank
	// Nothing is the value of a Measure in a group without events of its kind; nil is 0.
	Nothing func() sqltree.Expr
}

// Grouped is how rows are grouped by keys that are compared faster than the value.
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

// Condition is a filter: op with the given values on value, which is the
// column's expression or its alias. An event without a value in an Excluded
// column satisfies only negated operators, and no comparison in any column with HasValue.
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
	// Zone is the time zone in which time is cut to intervals.
	Zone Zone
	// Counting is how Unique measures count.
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

// The ways to count, the more exact first.
const (
	CountExact    Counting = iota
	CountTotals            // fast, of a single cell: exactly up to TotalsExactly
	CountBounded           // in bounded memory: exactly up to UniquesBound
	CountSketched          // fast: exactly up to SketchedExactly
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
	// New returns a pointer to scan what Expr reads into.
	New() any
	// Append writes a scanned value as JSON.
	Append(dst []byte, scanned any) []byte
}

// The columns that statements use without a request naming them.
var (
	Datetime      = byName["datetime"]
	EventType     = byName["eventType"]
	EventsCount   = byName["eventsCount"]
	SessionsCount = byName["sessionsCount"]
	VisitorsCount = byName["visitorsCount"]
	ClaimProperty = byName["visitorClaimProperty"]
)

// LastTime is the time of a group's last event. Requests name it as datetime: see the query package's document.
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
