package query

import (
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

const (
	// fewValues is a number of different values. A claim with at most this many values makes segments, even if few
	// visitors share a value.
	fewValues = 10
	// maxShared is the largest number of claims that segments are made of: the claims that most visitors have.
	maxShared = 1000
)

// lowerSharedClaims returns the statement that finds the claims whose values several visitors share. It counts with
// sketches. A sketch does not depend on the order of the rows, so repeated queries find the same claims.
func lowerSharedClaims(sc scope) sqltree.Statement {
	path, values, visitors := sqltree.Col("path"), sqltree.Col("values_count"), sqltree.Col("visitors_count")
	sketch := func(e sqltree.Expr) sqltree.Expr {
		return sqltree.Parametric("uniqCombined64", []sqltree.Expr{sqltree.Int(14)}, e)
	}
	tree := sc.read([]sqltree.Aliased{
		{Expr: insights.ClaimNames(), As: "path"},
		{Expr: sketch(insights.ClaimOf(path)), As: "values_count"},
		{Expr: sketch(insights.VisitorHash()), As: "visitors_count"},
	}, insights.HasClaims())
	tree.GroupBy, tree.Limit = []sqltree.Expr{path}, maxShared
	tree.Having = sqltree.AnyOf(sqltree.Bin(sqltree.Le, values, sqltree.Int(fewValues)),
		sqltree.Bin(sqltree.Le, sqltree.Bin(sqltree.Mul, values, sqltree.Int(2)), visitors))
	tree.OrderBy = []sqltree.Order{{Expr: visitors, Desc: true}, {Expr: path}}
	return tree.Print()
}

// segmentID returns an expression that identifies a set of claims.
func segmentID(claims, known sqltree.Expr) sqltree.Expr {
	return sqltree.Call("sipHash128", known, sqltree.Call("toString", claims))
}

func lowerSegments(sc scope, shared []string, part segmentPage) sqltree.Statement {
	measure := func(c *insights.Column) sqltree.Expr { return sc.expr(ref{column: c}) }
	claims, known := sqltree.Col("claim_set"), sqltree.Col("known")
	visitors, events, id := sqltree.Col("visitors_count"), sqltree.Col("events_count"), sqltree.Col("id")
	tree := sc.read([]sqltree.Aliased{
		{Expr: insights.ClaimSet(shared), As: "claim_set"},
		{Expr: insights.HasClaims(), As: "known"},
		// The visitors of a segment may have sent the same text as different JSON types. The notes of any visitor are
		// sufficient. `max` chooses the same notes in each query.
		{Expr: sqltree.Call("max", insights.ClaimNotes()), As: "notes"},
		{Expr: measure(insights.EventsCount), As: "events_count"},
		{Expr: measure(insights.VisitorsCount), As: "visitors_count"},
		{Expr: measure(insights.SessionsCount), As: "sessions_count"},
		{Expr: sqltree.Call("hex", segmentID(claims, known)), As: "id"},
	})
	tree.GroupBy, tree.Limit = []sqltree.Expr{claims, known}, part.limit+1
	tree.OrderBy = []sqltree.Order{{Expr: visitors, Desc: true}, {Expr: events, Desc: true}, {Expr: id}}
	if k := part.after; k != nil {
		number := func(n uint64) sqltree.Expr { return sqltree.Param(sqltree.T("UInt64"), n) }
		tree.Having = sqltree.AnyOf(
			sqltree.Bin(sqltree.Lt, visitors, number(k.visitors)),
			sqltree.AllOf(sqltree.Bin(sqltree.Eq, visitors, number(k.visitors)), sqltree.Bin(sqltree.Lt, events, number(k.events))),
			sqltree.AllOf(sqltree.Bin(sqltree.Eq, visitors, number(k.visitors)), sqltree.Bin(sqltree.Eq, events, number(k.events)),
				sqltree.Bin(sqltree.Gt, id, sqltree.Param(sqltree.T("String"), k.id))))
	}
	return tree.Print()
}

// lowerSegmentCount counts the segments of all pages.
func lowerSegmentCount(sc scope, shared []string) sqltree.Statement {
	id := segmentID(insights.ClaimSet(shared), insights.HasClaims())
	tree := sc.read([]sqltree.Aliased{{Expr: sqltree.Call("uniqExact", id), As: "segments"}})
	tree.Limit = 1
	return tree.Print()
}
