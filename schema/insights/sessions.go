package insights

import (
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// A session has all events of a visitor with the same session id. Columns of sessions read all events of the session,
// even events that the query's conditions exclude. They also read events outside of the query's range, up to
// SessionReach.

// Events of quietTypes accompany other events, and do not make a session: a session with only such events is not
// counted. They do not change bounces, entry and exit pages, or the number of sessions. However, a session lasts until
// its last event of any type, because page_leave shows best how long a visitor read the last page.

// SessionReach is the time before and after a range in which events still belong to the range's sessions. A session
// that is at most 12 hours long has the same values in a query about its day and in a query about its month. For
// example, a tab that is open for a working day makes a session of less than 12 hours. In addition to its range, a
// statement reads the 12 hours before and the 12 hours after the range.
const SessionReach = 12 * time.Hour

// sessionReachDoc is the end of the documentation of each column about sessions.
const sessionReachDoc = " A session counts where it has an event. It is all of its events, also those up to 12 " +
	"hours before and after the range."

// SessionPart is a property of a session that statements read as a column.
type SessionPart struct {
	Name string
	// Of returns the expression that aggregates the part from the session's events.
	Of func() sqltree.Expr
	// Numbers are the part's columns in rows that combine several events. OfNumbers aggregates the part from these rows
	// of the session. A part without Numbers can be read only from events.
	Numbers   []SessionNumber
	OfNumbers func() sqltree.Expr
	// First is set for a part about the visitor, and not about a single session. It returns the expression that reads
	// the visitor's first event. Such a part does not have Of.
	First func() sqltree.Expr
}

// SessionNumber is a number in a row that combines some of a session's events.
type SessionNumber struct {
	Name    string
	OfEvent func() sqltree.Expr // the number in a row of the events table
	OfVisit func() sqltree.Expr // the number in a row of visits
}

var rowViews = SessionNumber{
	Name:    sessionPageViews.Name,
	OfEvent: func() sqltree.Expr { return sqltree.Call("toUInt64", isPageView()) },
	OfVisit: func() sqltree.Expr { return sessionPageViews.read() },
}

var (
	sessionViews = &SessionPart{
		Name:      "session_views",
		Of:        func() sqltree.Expr { return sqltree.Call("countIf", isPageView()) },
		Numbers:   []SessionNumber{rowViews},
		OfNumbers: func() sqltree.Expr { return sqltree.Call("sum", sqltree.Col(rowViews.Name)) },
	}
	sessionMillis = &SessionPart{Name: "session_millis", Of: func() sqltree.Expr {
		return sqltree.Bin(sqltree.Sub, sqltree.Call("max", UnixMillis()), sqltree.Call("min", UnixMillis()))
	}}
	sessionEntry = &SessionPart{Name: "session_entry", Of: func() sqltree.Expr {
		return viewedPage(func(page, number, is sqltree.Expr) sqltree.Expr {
			return sqltree.Call("argMinIf", page, number, is)
		})
	}}
	sessionExit = &SessionPart{Name: "session_exit", Of: func() sqltree.Expr {
		return viewedPage(func(page, number, is sqltree.Expr) sqltree.Expr {
			return sqltree.Call("argMaxIf", page, number, is)
		})
	}}
)

// UnixMillis returns the expression for an event's time, in milliseconds since 1970.
func UnixMillis() sqltree.Expr { return sqltree.Call("toUnixTimestamp64Milli", TimeExpr()) }

func isPageView() sqltree.Expr {
	return sqltree.Bin(sqltree.Eq, sqltree.Call("toInt8", sqltree.Col("type")), sqltree.Int(int64(EventTypes.codeOf("page_view"))))
}

// SentOrder returns the expressions by which events are sorted: the time, and then the place in the log. So events of a
// request with equal times are in the order in which they were sent.
func SentOrder() []sqltree.Expr {
	return []sqltree.Expr{
		UnixMillis(), sqltree.Col(ColumnPartition), sqltree.Col(ColumnOffset), sqltree.Col(ColumnIndex),
	}
}

// viewedPage returns the expression for the page of the first or the last page view. Its value is a packed text of the
// page's space and id. For a page outside of all spaces, and for a session without page views, it is "". aggregate is
// the function that finds the page view with the smallest or the largest SentNumber. This number combines all parts of
// SentOrder, so that states are small: 42 bits of the time, 16 of the partition, 54 of the offset and 16 of the index.
func viewedPage(aggregate func(page, number, is sqltree.Expr) sqltree.Expr) sqltree.Expr {
	none := sqltree.Str("")
	page := sqltree.Call("if", sqltree.Bin(sqltree.Eq, sqltree.Col("space"), none), none,
		packed(sqltree.Col("space"), sqltree.Col("page")))
	return aggregate(page, SentNumber(), isPageView())
}

// timeShift is the number of bits that follow the time in a SentNumber.
const timeShift = 86

// SentNumber returns the expression for a single number that sorts events as SentOrder does.
func SentNumber() (number sqltree.Expr) {
	order := SentOrder()
	for i, left := range []int64{timeShift, 70, 16, 0} {
		part := sqltree.Call("bitShiftLeft", sqltree.Call("toUInt128", order[i]), sqltree.Int(left))
		if number == nil {
			number = part
		} else {
			number = sqltree.Call("bitOr", number, part)
		}
	}
	return number
}

// SentMillis returns the expression for the value of UnixMillis, computed from the event's SentNumber.
func SentMillis(number sqltree.Expr) sqltree.Expr {
	return sqltree.Call("toInt64", sqltree.Call("bitShiftRight", number, sqltree.Int(timeShift)))
}

// VisitorKey returns the column that identifies a visitor of a site.
func VisitorKey() []sqltree.Expr { return SessionKey()[:1] }

// SessionRows returns a statement that reads the parts of sessions from rows of events. Its result has a row for each
// session. If all parts are about visitors, it has a row for each visitor. keys are the columns that identify a row.
func SessionRows(events *sqltree.Select, parts []*SessionPart) (rows *sqltree.Select, keys []sqltree.Expr) {
	ofVisitor := func(p *SessionPart) bool { return p.First != nil }
	all := !slices.ContainsFunc(parts, func(p *SessionPart) bool { return !ofVisitor(p) })
	if keys = SessionKey(); all {
		keys = VisitorKey()
	}
	events.GroupBy = keys
	outer := &sqltree.Select{Sub: events}
	column := func(e sqltree.Expr, name string) {
		events.Columns = append(events.Columns, sqltree.Aliased{Expr: e, As: name})
	}
	for _, key := range keys {
		events.Columns = append(events.Columns, sqltree.Aliased{Expr: key})
		outer.Columns = append(outer.Columns, sqltree.Aliased{Expr: key})
	}
	const number = "first_number"
	for _, p := range parts {
		switch {
		case !ofVisitor(p):
			column(p.Of(), p.Name)
			outer.Columns = append(outer.Columns, sqltree.Aliased{Expr: sqltree.Col(p.Name)})
		case all:
			column(sqltree.Call("argMin", p.First(), SentNumber()), p.Name)
		default:
			ofSession := "session_" + p.Name
			column(sqltree.Call("argMin", p.First(), SentNumber()), ofSession)
			first := sqltree.Call("argMin", sqltree.Col(ofSession), sqltree.Col(number))
			outer.Columns = append(outer.Columns,
				sqltree.Aliased{Expr: sqltree.OverEach(first, VisitorKey()...), As: p.Name})
		}
	}
	if all || !slices.ContainsFunc(parts, ofVisitor) {
		return events, keys
	}
	column(sqltree.Call("min", SentNumber()), number)
	return outer, keys
}

// SessionKey returns the columns that identify a session of a site.
func SessionKey() []sqltree.Expr { return []sqltree.Expr{VisitorHash(), sqltree.Col(columnSession)} }

// These are the names of the columns of SessionKey.
const (
	columnVisitor = "visitor"
	columnSession = "session"
)

// Actor is the unit to which events belong: a visitor or a session.
type Actor struct {
	Word string // name in requests
	Key  []sqltree.Expr
}

// Actors has the actors that a request may name. The first actor is the default.
var Actors = []Actor{{"visitor", VisitorKey()}, {"session", SessionKey()}}

// RowOf returns the expression for the part of a session, read from rows of events to which the part was joined.
func (p *SessionPart) RowOf() sqltree.Expr { return sqltree.Call("any", sqltree.Col(p.Name)) }

// CountOf returns the expression for the number of counted events in a row that combines several events.
func (c *Counter) CountOf() sqltree.Expr { return c.count(Env{}) }

// CountIn is like CountOf, for the events that meet a condition.
func (c *Counter) CountIn(condition sqltree.Expr) sqltree.Expr {
	switch {
	case c.is != nil:
		condition = sqltree.AllOf(condition, c.is())
	case c.last:
		return sqltree.Call("maxIf", TimeExpr(), condition)
	}
	if c.value != nil {
		return sqltree.Call("sumIf", c.value(), condition)
	}
	return sqltree.Call("countIf", condition)
}

// These are the names of columns about the groups in which a session has events.
const (
	// GroupKey is the number of a group.
	GroupKey  = "group_key"
	groupCell = "group_cell"
)

// groupBits is the number of bits of a group's number. A cell has these bits, and one more bit that says whether the
// event makes sessions.
const groupBits = 63

// KeyOfGroup returns the expression for the number of a group of events. keys are the numbers that identify the group,
// as GroupNumbers returns them. The number is a hash of the keys. An attacker would need 2^63 attempts to make a group
// with the number of another group.
func KeyOfGroup(keys []sqltree.Expr) sqltree.Expr {
	if len(keys) == 0 {
		return sqltree.Call("toUInt64", sqltree.Int(0))
	}
	// The texts of senders are already hashed by sipHash64. For numbers, cityHash64 takes an eighth of its time.
	return sqltree.Call("bitAnd", sqltree.Call("cityHash64", keys...), sqltree.Int(1<<groupBits-1))
}

// GroupNumbers returns the expressions for the numbers that identify a group by the column. value is the expression for
// the group's value, if the column has no Grouped.
func (c *Column) GroupNumbers(value sqltree.Expr) []sqltree.Expr {
	if c.Grouped != nil {
		return c.Grouped.Keys()
	}
	switch c.Value.(type) {
	case enumValue, intValue, flagValue, timeValue:
		return []sqltree.Expr{value}
	}
	// The engine computes the hash of a text only once for each distinct text of repeatedType in a block of rows.
	return []sqltree.Expr{sqltree.Call("sipHash64", value)}
}

// madeOf is the name of a column in a row that combines some of a session's events. The column is true if one of these
// events makes a session.
const madeOf = "row_is_of_session"

// SessionRow returns the columns that [SessionsInGroups] reads from a row of events or of visits.
func SessionRow(parts []*SessionPart, visits bool, types []Code) (columns []sqltree.Aliased) {
	for _, name := range []string{columnVisitor, columnSession} {
		columns = append(columns, sqltree.Aliased{Expr: sqltree.Col(name), As: name})
	}
	is := SessionEvents.is()
	if visits {
		number, _ := SessionEvents.OfVisit(types)
		is = sqltree.Bin(sqltree.Gt, number, sqltree.Int(0))
	}
	columns = append(columns, sqltree.Aliased{Expr: is, As: madeOf})
	for _, p := range parts {
		for _, n := range p.Numbers {
			of := n.OfEvent
			if visits {
				of = n.OfVisit
			}
			columns = append(columns, sqltree.Aliased{Expr: of(), As: n.Name})
		}
	}
	return columns
}

// SessionsInGroups makes a statement that reads sessions in one pass. rows reads events or, if env.Visits is set, rows
// with the columns of [SessionRow]. The result has one row for each session and each group in which the session has an
// event that meets the condition. A row has GroupKey and the parts of its session. The column of SessionEvents says
// whether one of these events makes a session. A session may have two rows in a group: one for events that make a
// session, and one for other events. keys are the numbers that identify the groups, see [KeyOfGroup].
func SessionsInGroups(
	rows *sqltree.Select, env Env, parts []*SessionPart, keys []sqltree.Expr, condition sqltree.Expr,
) {
	rows.GroupBy = SessionKey()
	column := func(e sqltree.Expr, name string) {
		rows.Columns = append(rows.Columns, sqltree.Aliased{Expr: e, As: name})
	}
	is := SessionEvents.is()
	if env.Visits {
		is = sqltree.Col(madeOf)
	}
	for _, p := range parts {
		if env.Visits {
			column(p.OfNumbers(), p.Name)
		} else {
			column(p.Of(), p.Name)
		}
	}
	if len(keys) == 0 {
		column(KeyOfGroup(nil), GroupKey)
		column(sqltree.Call("countIf", sqltree.AllOf(condition, is)), SessionEvents.Name)
		return
	}
	one := sqltree.Int(1)
	cell := sqltree.Call("bitOr", sqltree.Call("bitShiftLeft", KeyOfGroup(keys), one), is)
	cells := sqltree.Call("arrayDistinct", sqltree.Call("groupArrayIf", cell, condition))
	column(sqltree.Call("arrayJoin", cells), groupCell)
	column(sqltree.Call("bitShiftRight", sqltree.Col(groupCell), one), GroupKey)
	column(sqltree.Call("bitAnd", sqltree.Col(groupCell), one), SessionEvents.Name)
}

// sessionMetric builds a metric for a mean over sessions. Each row that the statement aggregates is a session in a
// group. The mean includes a row only if one of the row's events makes a session.
func sessionMetric(name, doc string, mean func() sqltree.Expr, parts ...*SessionPart) Column {
	c := meanMetric(name, doc+sessionReachDoc, func(Env) sqltree.Expr { return mean() }, SessionEvents)
	c.Session = parts
	return c
}

func ofSession() sqltree.Expr { return SessionEvents.has(Env{Visits: true}) }

func bounceRate() sqltree.Expr {
	return sqltree.Call("divide", sessionsWhere(sqltree.Eq, 1), viewingSessions())
}

func pagesPerSession() sqltree.Expr {
	return sqltree.Call("divide", sqltree.Call("sumIf", sqltree.Col(sessionViews.Name), ofSession()), viewingSessions())
}

func viewingSessions() sqltree.Expr { return sessionsWhere(sqltree.Gt, 0) }

// sessionsWhere returns the expression for the number of sessions for which "page views op n" is true.
func sessionsWhere(op sqltree.Op, n int64) sqltree.Expr {
	views := sqltree.Bin(op, sqltree.Col(sessionViews.Name), sqltree.Int(n))
	return sqltree.Call("countIf", sqltree.AllOf(views, ofSession()))
}

func sessionDuration() sqltree.Expr {
	millis := sqltree.Call("sumIf", sqltree.Col(sessionMillis.Name), ofSession())
	return sqltree.Call("divide", millis, sqltree.Bin(sqltree.Mul, sessionsInGroup(), sqltree.Int(1000)))
}

// sessionsInGroup returns the expression for the number of sessions in a group.
func sessionsInGroup() sqltree.Expr { return sqltree.Call("countIf", ofSession()) }

// inSessions returns the column with InSessions set.
func (c Column) inSessions(aggregate func() sqltree.Expr) Column {
	c.InSessions = aggregate
	return c
}

// sessionPage builds a dimension for a page of the session, such as the first page.
func sessionPage(name, doc string, part *SessionPart) Column {
	return Column{
		Name: name, Roles: Filter | Group, Value: pageValue{}, Operators: equality, Null: AsNull, Privacy: Content,
		Session: []*SessionPart{part}, Doc: doc + sessionReachDoc,
		Expr: func(Arguments, Env) sqltree.Expr {
			page := sqltree.Col(part.Name)
			return sqltree.Call("tuple", unpacked(page, 1), unpacked(page, 2))
		},
	}
}

// OfVisitor reports whether the column reads a visitor's first event. Such a column cannot be computed from the events
// of a single session.
func (c *Column) OfVisitor() bool {
	return slices.ContainsFunc(c.Session, func(p *SessionPart) bool { return p.First != nil })
}

// OfSessions reports whether the column is about sessions.
func (c *Column) OfSessions() bool {
	own := func(p *SessionPart) bool { return p.First == nil }
	return slices.ContainsFunc(c.Session, own) || slices.Contains(c.Visit, "session")
}

// Assigned returns the condition that a node of Octavo assigned the event's session. Nodes assign sessions to events
// from browsers, because browsers send no sessions.
func Assigned() sqltree.Expr {
	return sqltree.Bin(sqltree.Ne, sqltree.Call("toInt8", sqltree.Col("door")), sqltree.Int(int64(doorAPI)))
}
