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

// Bounds of a funnel's steps, and of its window in seconds.
const (
	MinFunnelSteps      = 2
	MaxFunnelSteps      = 10
	DefaultFunnelWindow = 14 * 24 * 60 * 60
	MaxFunnelWindow     = 366 * 24 * 60 * 60
)

// FunnelActors are the words of by.
func FunnelActors() []string {
	words := make([]string, len(insights.Actors))
	for i, a := range insights.Actors {
		words[i] = a.Word
	}
	return words
}

// funnel is what a funnel request means. Like a plan it is a value that nobody changes.
//
// An actor reaches a step if it did all steps up to it one after the other, each later
// than the one before, and the last at most a window after the first. Events of the same
// millisecond are not one after the other.
type funnel struct {
	scope
	steps  [][]condition
	window time.Duration
	by     insights.Actor
}

var funnelMembers = append([]string{"steps", "window", "by"}, scopeMembers...)

func compileFunnel(site string, body []byte, now time.Time) (f funnel, err error) {
	var q scopeRequest
	var steps [][]conditionRequest
	window, by := DefaultFunnelWindow, FunnelActors()[0]
	err = q.decode(body, funnelMembers, func(r *reader, name string) (err error) {
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
	if f.scope, err = q.scope(site, now); err != nil {
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
	f.key = keyed(timeless, q.timeRange)
	return f, nil
}

// String is what the funnel means, as a plan's is.
func (f funnel) String() string {
	b := f.describe()
	for i, step := range f.steps {
		b.conditions("step "+strconv.Itoa(i+1), step, true)
	}
	b.line("window", f.window.String())
	b.line("by", f.by.Word)
	return b.String()
}

// lower turns the funnel into SQL that gives the number of actors by how far they came.
//
// Each event is a row for each step that it matches. The engine's windowFunnel goes
// through an actor's rows by time, and takes those of equal time as they come, so their
// time is made different: the later step comes first, and cannot follow the earlier one.
func (f funnel) lower() sqltree.Statement {
	places := int64(len(f.steps))
	marks := make([]sqltree.Expr, len(f.steps))
	for i, step := range f.steps {
		marks[i] = sqltree.Call("if", sqltree.AllOf(exprs(step, f.expr)...), sqltree.Int(int64(i)+1), sqltree.Int(0))
	}
	step, at := sqltree.Col("step"), sqltree.Col("at")
	matched := sqltree.Call("arrayFilter", sqltree.Lambda([]string{"x"}, sqltree.Bin(sqltree.Gt, sqltree.Col("x"), sqltree.Int(0))), sqltree.Call("array", marks...))
	moment := sqltree.Bin(sqltree.Sub, sqltree.Bin(sqltree.Mul, sqltree.Call("plus", insights.UnixMillis(), sqltree.Int(1)), sqltree.Int(places)), step)
	var key []sqltree.Aliased
	for _, k := range f.by.Key {
		key = append(key, sqltree.Aliased{Expr: k})
	}
	rows := f.read(append(slices.Clone(key), sqltree.Aliased{Expr: sqltree.Call("arrayJoin", matched), As: "step"},
		sqltree.Aliased{Expr: sqltree.Call("toUInt64", moment), As: "at"}))
	chain := []sqltree.Expr{at}
	for i := range f.steps {
		chain = append(chain, sqltree.Bin(sqltree.Eq, step, sqltree.Int(int64(i)+1)))
	}
	window := sqltree.Param(sqltree.T("UInt64"), f.window.Milliseconds()*places)
	return (&sqltree.Select{
		Columns: []sqltree.Aliased{{Expr: sqltree.Col("reached")}, {Expr: sqltree.Call("count")}},
		Sub: &sqltree.Select{
			Columns: []sqltree.Aliased{{Expr: sqltree.Parametric("windowFunnel", []sqltree.Expr{window}, chain...), As: "reached"}},
			Sub:     rows, GroupBy: f.by.Key,
		},
		GroupBy: []sqltree.Expr{sqltree.Col("reached")},
	}).Print()
}

// answer counts who reached each step.
func (f funnel) answer(ctx context.Context, q *question) ([]byte, error) {
	q.visitors(f.scope)
	counts := make([]uint64, len(f.steps))
	var reached uint8
	var actors uint64
	err := q.rows(ctx, f.lower(), []any{&reached, &actors}, func() {
		for i := range reached {
			counts[i] += actors
		}
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

// appendShare writes a part of a whole, null of nothing.
func appendShare(b []byte, part, whole uint64) []byte {
	if whole == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, float64(part)/float64(whole), 'f', -1, 64)
}
