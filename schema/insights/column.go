package insights

import (
	"encoding/json"
	"slices"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Role is what a column can do in a query.
type Role uint8

// The roles.
const (
	Filter  Role = 1 << iota // in where
	Group                    // in groupBy, select and order
	Measure                  // an aggregate: in select and order, and in where after grouping
	Time                     // takes an interval
)

// Absent is what it means for an event to have no value in a column.
type Absent uint8

// The null rules.
const (
	// Never: every event has a value.
	Never Absent = iota
	// AsNull: no value reads as null, and null in a filter matches it.
	AsNull
	// AsEmpty: no value reads as "", and "" in a filter matches it.
	AsEmpty
	// Excluded: events without a value are left out when the column is
	// selected or grouped by, since the contract has no word for "none" there.
	Excluded
)

// Privacy says how close a column comes to a person.
type Privacy uint8

// The privacy classes.
const (
	Content   Privacy = iota // about the site, not the visitor
	Coarse                   // shared by many visitors
	Pseudonym                // a keyed hash
	Personal                 // may tell who it was: stored only if sent, or asked for by the site
)

// Interval is the size of a time bucket: one of the words of Intervals.
type Interval struct{ word string }

// String is the word in requests, "" for exact time.
func (i Interval) String() string { return i.word }

// Rank orders intervals by length: exact time is 0, hours are 1.
func (i Interval) Rank() int { return slices.Index(Intervals, i) + 1 }

var (
	hour, day, week, month = Interval{"hour"}, Interval{"day"}, Interval{"week"}, Interval{"month"}
	// Intervals are the intervals that a request may name, from the shortest.
	Intervals = []Interval{hour, day, week, month}
)

// Arguments are the extra parameters of a column in a request, resolved: each
// is of a closed type or goes to the server as a bound parameter.
type Arguments struct {
	Interval  Interval // of a Time column; zero is exact time
	Precision int      // of visitorGeoPoint: H3 resolution 0..15
	Claim     string   // of visitorClaim
	Estimate  bool     // of a Unique measure: count in bounded memory
}

// Extra names the extra parameter that a column takes.
type Extra string

// The extra parameters.
const (
	NoExtra        Extra = ""
	ExtraInterval  Extra = "interval"
	ExtraPrecision Extra = "precision"
	ExtraClaim     Extra = "claim"
)

// DefaultPrecision is the H3 resolution of visitorGeoPoint when a request
// names none: cells of about 250 km², a town with its surroundings.
const DefaultPrecision = 5

// Column is one row of the column table.
type Column struct {
	// Name is the public name, "" for what is stored but not queried.
	Name      string
	Roles     Role
	Value     Value
	Operators []Operator
	Absent    Absent
	Extra     Extra
	// Unique marks a Measure that counts different values: exact, unless it is
	// asked for with Arguments.Estimate and the count is above UniquesBound.
	Unique  bool
	Fields  []Field // what the column stores; nothing if it is derived
	Privacy Privacy
	Doc     string

	// Expr reads the value, or aggregates it for a Measure.
	Expr func(Arguments) sqltree.Expr
	// Present is the condition "the event has a value", for Excluded columns.
	Present func() sqltree.Expr
	// Match is the condition for `in` on one column where comparing Expr with
	// the values is not the meaning or not the fastest; nil for the rest.
	Match func(a Arguments, values []any) sqltree.Expr
	// Rank is what order sorts by where it is not Expr itself.
	Rank func() sqltree.Expr
}

// Has reports whether the column has all the roles.
func (c *Column) Has(r Role) bool { return c.Roles&r == r }

// Allows reports whether the column can be filtered with the operator.
func (c *Column) Allows(op Operator) bool {
	for _, o := range c.Operators {
		if o == op {
			return true
		}
	}
	return false
}

// Operator is a filter operator: one of the variables below.
type Operator struct{ word string }

// String is the operator's word in requests.
func (o Operator) String() string { return o.word }

// The operators of facts §3.1.
var (
	OpIn                 = Operator{"in"}
	OpNotIn              = Operator{"notIn"}
	OpGreaterThan        = Operator{"greaterThan"}
	OpGreaterThanOrEqual = Operator{"greaterThanOrEqual"}
	OpLessThan           = Operator{"lessThan"}
	OpLessThanOrEqual    = Operator{"lessThanOrEqual"}

	Operators = []Operator{OpIn, OpNotIn, OpGreaterThan, OpGreaterThanOrEqual, OpLessThan, OpLessThanOrEqual}
	equality  = []Operator{OpIn, OpNotIn}
)

// Comparison is the SQL operator of an ordering operator, and whether o is one.
func (o Operator) Comparison() (op sqltree.Op, ok bool) {
	switch o {
	case OpGreaterThan:
		return sqltree.Gt, true
	case OpGreaterThanOrEqual:
		return sqltree.Ge, true
	case OpLessThan:
		return sqltree.Lt, true
	case OpLessThanOrEqual:
		return sqltree.Le, true
	}
	return sqltree.Op{}, false
}

// Value is how a column's values look on both sides.
type Value interface {
	// Shape describes the JSON form for the documents.
	Shape() string
	// Type is the ClickHouse type of one filter value.
	Type() sqltree.Type
	// Parse reads one filter value into the Go value that is bound for Type.
	// Its error says what is allowed and does not name the field.
	Parse(raw json.RawMessage) (any, error)
	// New is a pointer for scanning what Expr reads.
	New() any
	// Append writes a scanned value as JSON.
	Append(dst []byte, scanned any) []byte
}

// ByName finds a public column.
func ByName(name string) (*Column, bool) {
	c, ok := byName[name]
	return c, ok
}

// Columns is the column table in the order of the documents. The caller must
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
	// The log holds an event's fields by ascending id.
	slices.SortFunc(stored, func(a, b Field) int { return int(a.id) - int(b.id) })
	return names, stored, mask
}

// String is the privacy class's word in the documents.
func (p Privacy) String() string {
	return [...]string{Content: "content", Coarse: "coarse", Pseudonym: "pseudonym", Personal: "personal"}[p]
}
