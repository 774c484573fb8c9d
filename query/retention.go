package query

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// These constants limit a retention. MaxCohorts limits the buckets of its range. MaxRetentionPeriods limits the buckets
// that follow a cohort's own bucket.
const (
	MaxCohorts              = 400
	DefaultRetentionPeriods = 12
	MaxRetentionPeriods     = 100
)

// retention is a compiled retention request. Like a plan it is an immutable value.
//
// A visitor's cohort is the time bucket of the visitor's first event in the range that meets `first`. The visitor
// returns in a bucket if an event in the bucket meets `return`, even before the first event.
type retention struct {
	scope
	time         ref // time, cut to the interval
	starts       []time.Time
	first, again []condition
	periods      int
}

var retentionMembers = append([]string{"interval", "first", "return", "periods"}, scopeMembers...)

func compileRetention(of reach, body []byte, now time.Time) (p retention, err error) {
	p = retention{time: ref{column: insights.Datetime}, periods: DefaultRetentionPeriods}
	interval := jsontext.Value(`"day"`)
	var q scopeRequest
	var first, again []conditionRequest
	err = q.decode(of, body, retentionMembers, func(r *reader, name string) (err error) {
		switch name {
		case "interval":
			interval = r.value()
		case "first":
			first, err = r.conditionsOf(name, &q.left)
		case "return":
			again, err = r.conditionsOf(name, &q.left)
		case "periods":
			p.periods, err = r.integer(0, MaxRetentionPeriods)
		}
		return err
	})
	if err != nil {
		return p, err
	}
	if err := p.time.column.Extra.Parse(interval, &p.time.args); err != nil {
		return p, refuse("interval", err)
	}
	if p.scope, err = q.scope(now); err != nil {
		return p, err
	}
	if p.first, err = resolveEvents(first); err != nil {
		return p, err
	}
	if p.again, err = resolveEvents(again); err != nil {
		return p, err
	}
	var ok bool
	if p.starts, ok = p.env.Zone.Buckets(p.time.args.Interval, p.from, p.to, MaxCohorts); !ok {
		return p, schema.Invalid("interval", fmt.Sprintf("cuts the range into more than %d buckets: choose a longer interval or a shorter range", MaxCohorts))
	}
	p.scope = p.joining(reads(p.first, p.again))
	timeless := p
	timeless.scope, timeless.starts = p.timeless(), nil
	p.key = keyed(timeless, p.scope, q.timeRange)
	return p, nil
}

// String describes the retention, like a plan's String.
func (p retention) String() string {
	b := p.describe()
	b.conditions("first", p.first, true)
	b.conditions("return", p.again, true)
	b.line("cohorts", fmt.Sprintf("%v, %d buckets", p.time, len(p.starts)))
	b.line("periods", strconv.Itoa(p.periods))
	return b.String()
}

// lower turns the retention into SQL. The statement returns a row for each cohort. Cohorts are numbered from 1. The row
// has the cohort's number, the number of its visitors, and the numbers of visitors who return in the cohort's bucket
// and in each later bucket.
func (p retention) lower() sqltree.Statement {
	number := func(bucket sqltree.Expr) sqltree.Expr { return sqltree.Call("indexOf", sqltree.Col("starts"), bucket) }
	first, again := sqltree.AllOf(exprs(p.first, p.expr)...), sqltree.AllOf(exprs(p.again, p.expr)...)
	visitors := p.read([]sqltree.Aliased{
		{Expr: sqltree.Call("argMinIf", p.expr(p.time), insights.TimeExpr(), first), As: "beginning"},
		{Expr: sqltree.Call("groupUniqArrayIf", p.expr(p.time), again), As: "buckets"},
	})
	visitors.GroupBy = []sqltree.Expr{insights.VisitorHash()}
	visitors.Having = sqltree.Bin(sqltree.Gt, sqltree.Call("countIf", first), sqltree.Int(0))
	cohort, back := sqltree.Col("cohort"), sqltree.Col("back")
	numbered := &sqltree.Select{
		Columns: []sqltree.Aliased{
			{Expr: timesParam(p.starts), As: "starts"},
			{Expr: number(sqltree.Col("beginning")), As: "cohort"},
			{Expr: sqltree.Call("arrayMap", sqltree.Lambda([]string{"b"}, number(sqltree.Col("b"))), sqltree.Col("buckets")), As: "back"},
		},
		Sub: visitors,
	}
	end := sqltree.Call("least", sqltree.Call("plus", cohort, sqltree.Param(sqltree.T("UInt64"), p.periods)), sqltree.Call("length", sqltree.Col("starts")))
	marks := sqltree.Call("arrayMap", sqltree.Lambda([]string{"n"}, sqltree.Call("has", back, sqltree.Col("n"))), sqltree.Call("range", cohort, sqltree.Call("plus", end, sqltree.Int(1))))
	tree := &sqltree.Select{
		Columns: []sqltree.Aliased{{Expr: cohort}, {Expr: sqltree.Call("count")}, {Expr: sqltree.Call("sumForEach", marks)}},
		Sub:     numbered, GroupBy: []sqltree.Expr{cohort},
	}
	return tree.Print()
}

// refs returns the columns that the statement reads.
func (p retention) refs() []ref {
	return append(reads(p.first, p.again), p.time, ref{column: insights.VisitorsCount})
}

// answer reads the best source, and writes all cohorts of the range.
func (p retention) answer(ctx context.Context, q *query) ([]byte, error) {
	q.visitors(p.scope)
	type row struct {
		visitors uint64
		returned []uint64
	}
	var rows map[uint64]row
	err := q.from(ctx, p.scope, p.refs(), insights.CountExact, func(sc scope) error {
		p.scope, rows = sc, map[uint64]row{}
		var cohort uint64
		var r row
		return q.rows(ctx, p.lower(), []any{&cohort, &r.visitors, &r.returned}, func() int {
			rows[cohort] = row{r.visitors, slices.Clone(r.returned)}
			return 8 * len(r.returned)
		})
	})
	if err != nil {
		return nil, err
	}
	interval := p.time.args.Interval
	b := []byte(`{"cohorts":[`)
	for i, start := range p.starts {
		if i > 0 {
			b = append(b, ',')
		}
		r := rows[uint64(i)+1]
		b = insights.AppendTime(append(b, `{"start":`...), p.env.Zone.Moment(interval, start))
		b = strconv.AppendUint(append(b, `,"visitors":`...), r.visitors, 10)
		b = append(b, `,"returned":[`...)
		for k := range min(p.periods+1, len(p.starts)-i) {
			if k > 0 {
				b = append(b, ',')
			}
			n := uint64(0)
			if k < len(r.returned) {
				n = r.returned[k]
			}
			b = strconv.AppendUint(b, n, 10)
		}
		b = append(b, `]}`...)
	}
	return append(b, `]}`...), nil
}

func (p retention) weigh(q *query) { q.weigh(p.refs(), insights.CountExact, p.scope) }
