package insights

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Visits are a projection of the events table. A visit is a session of a visitor. The projection has a row for each
// visit, quarter of an hour, and combination of the values that the events of a visit share. A row has, for each kind
// of event, the number of the visit's events in this quarter and combination. The projection has a fifth as many rows
// as the table. Queries that need only columns with Visit read the projection. Queries for bounce rates and pages per
// session read it too, if they group only by these columns.
//
// The engine writes the projection of a data part together with the part, and rebuilds it when it deletes rows. So the
// projection is immediately right for late, imported and erased events. It needs no background job, which could fall
// behind. The projection takes about 13 B per event on a site whose visits have two events each.

// VisitQuarter is the length of time that a row of visits covers. Since 1972 at least, all zones have offsets of whole
// quarters of an hour, so an hour or a day of any zone consists of whole rows.
const VisitQuarter = 15 * time.Minute

const visitSlot = "toStartOfFifteenMinutes(time)"

// Counter counts events of one kind. Rows of visits have the counts.
type Counter struct {
	Name  string              // name of the number in a statement
	typ   Code                // only type of the counted events; 0 means any type
	is    func() sqltree.Expr // whether a row is a counted event; nil means that every event is counted
	value func() sqltree.Expr // number that each event adds; nil means 1
	// without has the types that the counter leaves out. It is nil if the counter leaves out no types.
	without []Code
	// The projection has a counter in a column of its own, in a quad, or not at all. state is the name of the column.
	// counted is the condition of the events that a quad counts, as the engine spells it in names of columns.
	state, counted string
	last           bool // whether the counter is the time of the last event, or a value of this event
}

// Events counts all events, or the events of some types. Its name differs from the table's name and from the
// statements' aliases, because the engine would confuse equal names.
var Events = &Counter{Name: "number_of_events", state: "count()"}

// lastEvent is the time of the last event. It cannot be read from rows of visits, which have only the quarter of an
// hour.
var lastEvent = &Counter{Name: "last_event", last: true}

var (
	feedbackCounters = []*Counter{feedbackCounter("ok"), feedbackCounter("good"), feedbackCounter("bad")}
	askCounters      = []*Counter{askCounter("ask_up", sqltree.Gt, "greater"), askCounter("ask_down", sqltree.Lt, "less")}
)

// SessionEvents counts the events that make sessions.
var SessionEvents = &Counter{
	Name: "number_of_session_events", without: quietTypes, counted: noneCounted(quietTypes),
	is: func() sqltree.Expr { return noneOf(quietTypes) },
}

// quietTypes has the types of events that do not make a session.
var quietTypes = []Code{
	EventTypes.codeOf("page_leave"), EventTypes.codeOf("code_copy"), EventTypes.codeOf("file_download"),
}

// noneOf returns the condition that an event has none of the types.
func noneOf(types []Code) sqltree.Expr {
	list := make([]sqltree.Expr, len(types))
	for i, typ := range types {
		list[i] = sqltree.Bin(sqltree.Ne, sqltree.Call("toInt8", sqltree.Col("type")), sqltree.Int(int64(typ)))
	}
	return sqltree.AllOf(list...)
}

// noneCounted is noneOf as the engine spells it.
func noneCounted(types []Code) string {
	list := make([]string, len(types))
	for i, typ := range types {
		list[i] = fmt.Sprintf("notEquals(toInt8(type), %d)", typ)
	}
	return "and(" + strings.Join(list, ", ") + ")"
}

// People counts events that a visitor's browser sent. Servers also send events: for programs that read a page, or
// without any visitor. A server makes up a new visitor id for each of its events. The projection's counter ignores the
// display context, because all events of a row of visits have the same one.
var People = &Counter{
	Name: "number_of_people_events", without: serverTypes, counted: noneCounted(serverTypes),
	is: func() sqltree.Expr {
		return sqltree.AllOf(sqltree.Not(onServers(sqltree.Col("display_context"))), noneOf(serverTypes))
	},
}

// serverTypes has the types of events that only servers send. serverContexts has the display contexts of other events
// that servers send.
var (
	serverTypes = []Code{
		EventTypes.codeOf("page_markdown_request"), EventTypes.codeOf("agent_feedback"), EventTypes.codeOf("llms_request"),
		EventTypes.codeOf("mcp_request"), EventTypes.codeOf("rss_request"),
	}
	serverContexts = []Code{DisplayContexts.codeOf("server"), DisplayContexts.codeOf("mcp")}
)

func onServers(context sqltree.Expr) sqltree.Expr {
	list := make([]sqltree.Expr, len(serverContexts))
	for i, code := range serverContexts {
		list[i] = sqltree.Bin(sqltree.Eq, sqltree.Call("toInt8", context), sqltree.Int(int64(code)))
	}
	return sqltree.AnyOf(list...)
}

// otherEvents is OfVisit for a counter that counts all types except some.
func (c *Counter) otherEvents(types []Code) (number sqltree.Expr) {
	if types == nil {
		number = c.read()
	} else {
		left := slices.DeleteFunc(slices.Clone(types), func(typ Code) bool { return slices.Contains(c.without, typ) })
		number, _ = Events.OfVisit(left)
	}
	if c != People {
		return number
	}
	return sqltree.Call("if", onServers(VisitColumn("display_context")), sqltree.Call("toUInt64", sqltree.Int(0)), number)
}

// feedbackCounter builds the counter of a rating. It compares codes, and not words, because sqltree.Str accepts only
// constants.
func feedbackCounter(rating string) *Counter {
	typ, code := EventTypes.codeOf("page_post_feedback"), FeedbackRatings.codeOf(rating)
	is := func(column string, code Code) sqltree.Expr {
		return sqltree.Bin(sqltree.Eq, sqltree.Call("toInt8", sqltree.Col(column)), sqltree.Int(int64(code)))
	}
	return &Counter{
		Name: "feedback_" + rating, typ: typ,
		is:      func() sqltree.Expr { return sqltree.AllOf(is("type", typ), is("feedback_rating", code)) },
		counted: fmt.Sprintf("and(equals(toInt8(type), %d), equals(toInt8(feedback_rating), %d))", typ, code),
	}
}

func askCounter(name string, sign sqltree.Op, function string) *Counter {
	return &Counter{
		Name:    name,
		is:      func() sqltree.Expr { return sqltree.Bin(sign, sqltree.Col("ask_rating"), sqltree.Int(0)) },
		counted: function + "(ask_rating, 0)",
	}
}

// count returns the aggregate of the counted events.
func (c *Counter) count(env Env) sqltree.Expr {
	switch {
	case c.last && (env.Visits || env.States):
		return sqltree.Call("max", sqltree.Col(c.Name))
	case c.last && c.value != nil:
		return sqltree.Call("maxIf", c.value(), c.is())
	case c.last:
		return sqltree.Call("max", TimeExpr())
	case env.Visits, env.States:
		return sqltree.Call("sum", sqltree.Col(c.Name))
	case c.is == nil:
		return sqltree.Call("count")
	case c.value != nil:
		return sqltree.Call("sumIf", c.value(), c.is())
	}
	return sqltree.Call("countIf", c.is())
}

// has returns the condition that a row contains a counted event.
func (c *Counter) has(env Env) sqltree.Expr {
	if env.Visits {
		return sqltree.Bin(sqltree.Gt, sqltree.Col(c.Name), sqltree.Int(0))
	}
	return c.is()
}

// OfEvent returns the expression for the number that a row of the events table adds to the count: 0 or 1, or the value.
func (c *Counter) OfEvent() sqltree.Expr {
	switch {
	case c.is == nil:
		return sqltree.Call("toUInt64", sqltree.Int(1))
	case c.value != nil:
		return sqltree.Call("if", c.is(), c.value(), sqltree.Call("toUInt64", sqltree.Int(0)))
	}
	return sqltree.Call("toUInt64", c.is())
}

// OfVisit returns the expression for the number of counted events in a row of visits. It includes only events of the
// given types. If `types` is nil, it includes all types. ok is false if rows of visits do not have this number.
func (c *Counter) OfVisit(types []Code) (number sqltree.Expr, ok bool) {
	switch {
	case c.last:
		return nil, false
	case c.without != nil:
		return c.otherEvents(types), true
	case types == nil, c.typ != 0 && slices.Contains(types, c.typ):
		return c.read(), true
	case c == Events:
		number = sqltree.Call("toUInt64", sqltree.Int(0))
		for i, typ := range types {
			if ofType := typeCounters[typ].read(); i == 0 {
				number = ofType
			} else {
				number = sqltree.Call("plus", number, ofType)
			}
		}
		return number, true
	}
	return sqltree.Call("toUInt64", sqltree.Int(0)), c.typ != 0
}

// TypesOf returns the types of events that a filter on EventType selects.
func TypesOf(op *Operator, values []any) []Code {
	types := []Code{}
	for _, word := range EventTypes.Words() {
		if slices.Contains(values, any(word)) != op.Negated {
			types = append(types, EventTypes.codeOf(word))
		}
	}
	return types
}

// projected has the projection's columns, query and name.
var projected = newProjected()

type projection struct {
	columns []string // stored columns that, with the quarter of an hour, identify a row
	query   string
	// name contains a hash of the projection's query and of the columns' types. So a version with another query has
	// another name.
	name string
}

func newProjected() projection {
	p := projection{columns: []string{ColumnSite, "visitor", "session"}}
	for _, c := range columns {
		for _, name := range c.Visit {
			if name != ColumnTime && !slices.Contains(p.columns, name) {
				p.columns = append(p.columns, name)
			}
		}
	}
	var types strings.Builder
	for _, c := range storedColumns() {
		if p.reads(c.Name) {
			types.WriteString(c.Type)
		}
	}
	keys := slices.Insert(slices.Clone(p.columns), 1, visitSlot)
	states := []string{Events.state, typeCounters[pageView].state}
	for _, quad := range quads {
		states = append(states, quadState(quad))
	}
	states = append(states, engagedSum.state, depthSum.state)
	all := strings.Join(keys, ", ")
	p.query = "SELECT " + all + ", " + strings.Join(states, ", ") + " GROUP BY " + all
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.query + types.String())) // a hash never fails to write
	p.name = fmt.Sprintf("visits_%08x", h.Sum32())
	return p
}

// reads reports whether the projection reads a stored column.
func (p projection) reads(column string) bool {
	counted := []string{ColumnTime, "type", "feedback_rating", "ask_rating", "engaged_seconds", "scroll_depth"}
	return slices.Contains(p.columns, column) || slices.Contains(counted, column)
}

func (p projection) definition() string { return "PROJECTION " + p.name + " (" + p.query + ")" }

// VisitColumn returns the expression for a stored column in a row of visits.
func VisitColumn(name string) sqltree.Expr { return sqltree.Col(name) }

// VisitsProjection returns the projection's name.
func VisitsProjection() string { return projected.name }

// VisitsStatements returns statements that add the projection to an older table and drop the projections of other
// versions. They also make the engine build the projection for existing rows. have has the names of the table's
// projections of visits. bare is true if some parts do not have the present projection and the engine is not already
// building it. The engine builds the projection part by part, while inserts and queries continue. A cluster's table has
// no projection, because no function can read a projection through a distributed table.
func VisitsStatements(t Topology, have []string, bare bool) []string {
	if t.Cluster != "" {
		return nil
	}
	name := VisitsProjection()
	statements := DropVisits(slices.DeleteFunc(slices.Clone(have), func(n string) bool { return n == name })...)
	if !slices.Contains(have, name) {
		statements = append(statements, "ALTER TABLE "+Table+" ADD "+strings.Replace(projected.definition(), "PROJECTION ", "PROJECTION IF NOT EXISTS ", 1))
	}
	if bare {
		statements = append(statements, "ALTER TABLE "+Table+" MATERIALIZE PROJECTION "+name+" SETTINGS mutations_sync = 0")
	}
	return statements
}

// VisitsOf is an expression for a row of system.tables. It returns the names of the table's projections of visits.
const VisitsOf = "extractAll(create_table_query, 'PROJECTION (visits_[0-9a-f]+)')"

// DropVisits returns statements that drop projections of visits. This is needed because the engine does not change a
// column that a projection reads. The engine drops projections of other versions in the background. It drops the
// present projection immediately, because this projection is then built again under the same name: a drop in the
// background would later remove the new projection.
func DropVisits(names ...string) (statements []string) {
	for _, name := range names {
		settings := " SETTINGS alter_sync = 0"
		if name == projected.name {
			settings = ""
		}
		statements = append(statements, "ALTER TABLE "+Table+" DROP PROJECTION IF EXISTS "+sqltree.Ident(name)+settings)
	}
	return statements
}

// VisitRows returns the table function that reads the rows of visits.
func VisitRows() sqltree.Expr {
	return sqltree.Call("mergeTreeProjection", sqltree.Call("currentDatabase"), sqltree.Col(Table), sqltree.Col(VisitsProjection()))
}

// VisitSlot returns the expression for the start of the quarter of an hour in a row of visits, as a DateTime.
func VisitSlot() sqltree.Expr { return sqltree.Col(visitSlot) }

// VisitTime returns the value of VisitSlot in the type that the time of events has.
func VisitTime() sqltree.Expr {
	return sqltree.Call("toDateTime64", VisitSlot(), sqltree.Int(3), sqltree.Str("UTC"))
}

// Quarters reports whether, in the zone's range, every local hour begins at the start of a quarter of an hour in UTC.
func (z Zone) Quarters() bool {
	for i, s := range z.spans {
		if s.offset%VisitQuarter != 0 || i > 0 && !s.from.Truncate(VisitQuarter).Equal(s.from) {
			return false
		}
	}
	return true
}

// VisitsCheck returns two statements about the events of {site} in the hour that begins at {hour}, which is a DateTime:
// one reads events, and one reads visits. If the projection of visits is right, both statements return equal numbers.
// The numbers are the count of events, a sum over the columns that identify rows of visits, and sums over the events'
// types and over the numbers that sessions use.
func VisitsCheck() (events, visits string) {
	type row struct {
		number, types, counts, slot sqltree.Expr
		read                        func(string) sqltree.Expr
	}
	sums := func(r row) []sqltree.Aliased {
		args := []sqltree.Expr{r.slot}
		for _, name := range projected.columns {
			args = append(args, r.read(name))
		}
		hash := sqltree.Call("cityHash64", args...)
		return []sqltree.Aliased{
			{Expr: sqltree.Call("sum", r.number)},
			{Expr: sqltree.Call("sum", sqltree.Bin(sqltree.Mul, hash, r.number))},
			{Expr: sqltree.Call("sum", sqltree.Bin(sqltree.Mul, hash, r.types))},
			{Expr: sqltree.Call("sum", sqltree.Bin(sqltree.Mul, hash, r.counts))},
		}
	}
	types := sqltree.Call("toUInt64", sqltree.Int(0))
	for _, word := range EventTypes.Words() {
		code := EventTypes.codeOf(word)
		ofType := sqltree.Bin(sqltree.Mul, typeCounters[code].read(), sqltree.Int(int64(code)))
		types = sqltree.Call("plus", types, ofType)
	}
	const views = 1 << 32 // weight of page views in the numbers that sessions use
	counts := func(ofPage, ofSession sqltree.Expr) sqltree.Expr {
		return sqltree.Call("plus", sqltree.Bin(sqltree.Mul, ofPage, sqltree.Int(views)), ofSession)
	}
	ofVisits := &sqltree.Select{Rows: VisitRows(), Columns: sums(row{
		Events.read(), types, counts(rowViews.OfVisit(), SessionEvents.read()), VisitSlot(), VisitColumn,
	})}
	ofHour := func(s *sqltree.Select, site, at string) string {
		return s.Print().SQL + "\nWHERE " + site + " = {site:String} AND " + at + " >= {hour:DateTime('UTC')} AND " +
			at + " < {hour:DateTime('UTC')} + INTERVAL 1 HOUR"
	}
	ofEvents := &sqltree.Select{Table: Table, Columns: sums(row{
		Events.OfEvent(), sqltree.Call("toUInt64", sqltree.Call("toInt8", sqltree.Col("type"))),
		counts(rowViews.OfEvent(), SessionEvents.OfEvent()),
		sqltree.Call("toStartOfFifteenMinutes", TimeExpr()), sqltree.Col,
	})}
	return ofHour(ofEvents, ColumnSite, ColumnTime),
		ofHour(ofVisits, sqltree.Ident(ColumnSite), sqltree.Ident(visitSlot))
}
