package query

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// These are the limits of a funnel's steps, and of its window in seconds.
const (
	MinFunnelSteps      = 2
	MaxFunnelSteps      = 10
	DefaultFunnelWindow = 14 * 24 * 60 * 60
	MaxFunnelWindow     = 366 * 24 * 60 * 60
)

// FunnelActors returns the allowed words of the request's member `by`.
func FunnelActors() []string {
	words := make([]string, len(insights.Actors))
	for i, a := range insights.Actors {
		words[i] = a.Word
	}
	return words
}

// funnel is a compiled funnel request. It is an immutable value, as a plan is.
//
// An actor reaches a step by doing all steps up to it in order, each with a different event. The event of the last step
// is at most the time `window` later than the event of the first step. If `increases` is true, the event of each
// step must be at least a millisecond later than the event of the step before. If it is false, two steps may have
// events of the same millisecond. The order of these events is then the order in which they were sent.
type funnel struct {
	scope
	steps     [][]condition
	window    time.Duration
	by        insights.Actor
	increases bool // whether each step must be later than the previous step
}

var funnelMembers = append([]string{"steps", "window", "by", "strictIncrease"}, scopeMembers...)

func compileFunnel(of reach, body []byte, now time.Time) (f funnel, err error) {
	var q scopeRequest
	var steps [][]conditionRequest
	window, by := DefaultFunnelWindow, FunnelActors()[0]
	f.increases = true
	err = q.decode(of, body, funnelMembers, func(r *reader, name string) (err error) {
		switch name {
		case "steps":
			steps = nil
			err = r.array(MaxFunnelSteps, func(i int) error {
				step, err := r.conditionsOf(nth(name, i), &q.left)
				steps = append(steps, step)
				return err
			})
		case "window":
			window, err = r.integer(1, MaxFunnelWindow)
		case "strictIncrease":
			f.increases, err = r.flag()
		case "by":
			if by, err = r.text(); err == nil && !slices.Contains(FunnelActors(), by) {
				err = r.invalid(unknown("visitor or session", by, FunnelActors()), FunnelActors()...)
			}
		}
		return err
	})
	if err != nil {
		return f, err
	}
	if len(steps) < MinFunnelSteps {
		return f, schema.Invalid("steps", "must have at least "+strconv.Itoa(MinFunnelSteps)+" entries, not "+strconv.Itoa(len(steps)))
	}
	if f.scope, err = q.scope(now); err != nil {
		return f, err
	}
	f.window, f.by = time.Duration(window)*time.Second, insights.Actors[slices.Index(FunnelActors(), by)]
	for _, step := range steps {
		conditions, err := resolveEvents(step)
		if err != nil {
			return f, err
		}
		f.steps = append(f.steps, conditions)
	}
	f.scope = f.joining(reads(f.steps...))
	timeless := f
	timeless.scope = f.timeless()
	f.key = keyed(timeless, f.scope, q.timeRange)
	return f, nil
}

// String describes the funnel, like a plan's String.
func (f funnel) String() string {
	b := f.describe()
	for i, step := range f.steps {
		b.conditions("step "+strconv.Itoa(i+1), step, true)
	}
	b.line("window", f.window.String())
	b.line("by", f.by.Word)
	if !f.increases {
		b.line("events of one moment", "in the order in which they were sent")
	}
	return b.String()
}

// lower turns the funnel into SQL that counts the actors by the number of steps that they reached.
//
// Each event gives a row for each step that it matches. The engine's windowFunnel reads an actor's rows in the order of
// a number. The engine may read rows with equal numbers in any order. So each row of the same time gets a different
// number. If an event matches two steps, the row of the later step comes first. So the event cannot reach both steps.
func (f funnel) lower() sqltree.Statement {
	marks := make([]sqltree.Expr, len(f.steps))
	for i, step := range f.steps {
		marks[i] = sqltree.Call("if", sqltree.AllOf(exprs(step, f.expr)...), sqltree.Int(int64(i)+1), sqltree.Int(0))
	}
	matched := sqltree.Call("arrayFilter", sqltree.Lambda([]string{"x"}, sqltree.Bin(sqltree.Gt, sqltree.Col("x"), sqltree.Int(0))), sqltree.Call("array", marks...))
	var key []sqltree.Aliased
	for _, k := range f.by.Key {
		key = append(key, sqltree.Aliased{Expr: k})
	}
	rows, window := f.moments, f.window.Milliseconds()*int64(len(f.steps))
	if !f.increases {
		rows, window = f.sent, f.window.Milliseconds()*momentRows+momentRows/2
	}
	chain := []sqltree.Expr{sqltree.Col("at")}
	for i := range f.steps {
		chain = append(chain, sqltree.Bin(sqltree.Eq, sqltree.Col("step"), sqltree.Int(int64(i)+1)))
	}
	return (&sqltree.Select{
		Columns: []sqltree.Aliased{{Expr: sqltree.Col("reached")}, {Expr: sqltree.Call("count")}},
		Sub: &sqltree.Select{
			Columns: []sqltree.Aliased{{
				Expr: sqltree.Parametric("windowFunnel", []sqltree.Expr{sqltree.Param(sqltree.T("UInt64"), window)},
					chain...),
				As: "reached",
			}},
			Sub: rows(key, sqltree.Call("arrayJoin", matched)), GroupBy: f.by.Key,
		},
		GroupBy: []sqltree.Expr{sqltree.Col("reached")},
	}).Print()
}

// moments returns the statement that reads a row for each step that an event matches. Within a millisecond, rows of
// later steps get lower numbers. So a step cannot follow another step of the same millisecond.
func (f funnel) moments(key []sqltree.Aliased, step sqltree.Expr) *sqltree.Select {
	moment := sqltree.Bin(sqltree.Mul, sqltree.Call("plus", insights.UnixMillis(), sqltree.Int(1)),
		sqltree.Int(int64(len(f.steps))))
	return f.read(append(
		slices.Clone(key),
		sqltree.Aliased{Expr: step, As: "step"},
		sqltree.Aliased{
			Expr: sqltree.Call("toUInt64", sqltree.Bin(sqltree.Sub, moment, sqltree.Col("step"))),
			As:   "at",
		},
	))
}

// momentRows is the distance between the numbers of two consecutive milliseconds. An actor's rows use at most half of
// the numbers of a millisecond. So the numbers do not change the length of a window. The product of momentRows and the
// last storable time fits into 64 bits.
const momentRows = 1 << 21

// sent returns the statement that reads a row for each step that an event matches. The rows are numbered in the order
// in which an actor's events were sent. If an actor has more than momentRows/2 rows, the last rows of a millisecond
// share one number.
func (f funnel) sent(key []sqltree.Aliased, step sqltree.Expr) *sqltree.Select {
	order := insights.SentOrder()
	of := func(i int) sqltree.Expr {
		return sqltree.Call("tupleElement", sqltree.Col("row"), sqltree.Int(int64(i)))
	}
	later := sqltree.Bin(sqltree.Sub, sqltree.Int(int64(len(f.steps))), step) // later is smaller for later steps
	list := f.read(append(slices.Clone(key), sqltree.Aliased{
		Expr: sqltree.Call("arraySort", sqltree.Call("groupArray", sqltree.Call("tuple", append(order, later)...))),
		As:   "list",
	}))
	list.GroupBy = f.by.Key
	number := sqltree.Call("plus", sqltree.Bin(sqltree.Mul, of(1), sqltree.Int(momentRows)),
		sqltree.Call("least", sqltree.Col("place"), sqltree.Int(momentRows/2-1)))
	numbered := sqltree.Lambda([]string{"row", "place"}, sqltree.Call("tuple",
		sqltree.Bin(sqltree.Sub, sqltree.Int(int64(len(f.steps))), of(len(order)+1)), sqltree.Call("toUInt64", number)))
	each := sqltree.Call("arrayJoin", sqltree.Call("arrayMap", numbered, sqltree.Col("list"),
		sqltree.Call("arrayEnumerate", sqltree.Col("list"))))
	rows := &sqltree.Select{Columns: append(slices.Clone(key), sqltree.Aliased{Expr: each, As: "row"}), Sub: list}
	return &sqltree.Select{
		Columns: append(slices.Clone(key),
			sqltree.Aliased{Expr: of(1), As: "step"}, sqltree.Aliased{Expr: of(2), As: "at"}),
		Sub: rows,
	}
}

// answer counts the actors that reached each step.
func (f funnel) answer(ctx context.Context, q *query) ([]byte, error) {
	q.visitors(f.scope)
	counts := make([]uint64, len(f.steps))
	var reached uint8
	var actors uint64
	err := q.rows(ctx, f.lower(), []any{&reached, &actors}, func() int {
		for i := range reached {
			counts[i] += actors
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	b := []byte(`{"steps":[`)
	for i, n := range counts {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(append(b, `{"count":`...), n, 10)
		b = appendShare(append(b, `,"conversion":`...), n, counts[0])
		b = appendShare(append(b, `,"conversionFromPrevious":`...), n, counts[max(i-1, 0)])
		b = append(b, '}')
	}
	return append(b, `]}`...), nil
}

// appendShare writes `part` divided by `whole`, or null if `whole` is 0.
func appendShare(b []byte, part, whole uint64) []byte {
	if whole == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, float64(part)/float64(whole), 'f', -1, 64)
}

func (f funnel) weigh(q *query) {
	q.weigh(append(reads(f.steps...), ref{column: insights.Datetime}), insights.CountExact, f.scope)
}
