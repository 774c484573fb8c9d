package insights

import (
	"fmt"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// A quad is a column of the projection of visits that has four counters. It is the sum of UInt128 numbers. Each event
// adds 1 to the counters that count it, and each counter has 32 bits. The engine merges a quad as fast as a single
// count, and reads it in 1.7 times the time of a count. So counters that are read together share a quad. The counts
// that are read alone most often have their own columns (bench/results/2026-11-30-hot.md).
//
// A counter of 32 bits has room for 4.29 billion events. A row has the events of one session in a quarter of an hour,
// in one part of the table. Statements take the counters out of the quads before they add rows, as UInt64. A row with
// so many events would need 4.8 million events of a session a second.

// quads has the counters of each quad, beginning with the lowest bits. The quads have all counters of events that have
// no own column. Another order changes the name of the projection, so the engine builds the projection of older tables
// again.
var quads = [][4]*Counter{
	{sessionPageViews, SessionEvents, People, typed("page_post_feedback")},
	{feedbackCounters[0], feedbackCounters[1], feedbackCounters[2], engagedNumber},
	{typed("page_markdown_request"), typed("llms_request"), typed("mcp_request"), typed("rss_request")},
	{typed("search_open"), typed("search_type_query"), typed("search_open_result"), typed("link_click")},
	{typed("page_leave"), typed("code_copy"), typed("file_download"), depthNumber},
	{typed("ask_question"), typed("ask_view"), askCounters[0], askCounters[1]},
	{typed("ask_rate_response"), typed("page_post_feedback_comment"), typed("agent_feedback"), typed("ad_click")},
	{typed("api_client_open"), typed("api_client_request"), typed("trademark_click"), typed("ad_display")},
}

// sessionPageViews counts page views for rows of sessions, which read them together with SessionEvents.
var sessionPageViews = &Counter{Name: "row_views", typ: pageView, counted: typeCounted(pageView)}

var pageView = EventTypes.codeOf("page_view")

const counterBits = 32

// typed returns the counter of an event type.
func typed(word string) *Counter { return typeCounters[EventTypes.codeOf(word)] }

// typeCounters has the counter of each event type, by code.
var typeCounters = newTypeCounters()

func newTypeCounters() map[Code]*Counter {
	counters := map[Code]*Counter{}
	for _, word := range EventTypes.Words() {
		typ := EventTypes.codeOf(word)
		counters[typ] = &Counter{Name: "number_of_" + word, typ: typ, counted: typeCounted(typ)}
	}
	counters[pageView].state = "countIf(" + typeCounted(pageView) + ")"
	return counters
}

func typeCounted(typ Code) string { return fmt.Sprintf("equals(toInt8(type), %d)", typ) }

// place is a counter's place in a quad.
type place struct {
	column string // name of the quad's column
	shift  int64  // bits of the quad below the counter
}

// places has the places of all counters in quads.
var places = newPlaces()

func newPlaces() map[*Counter]place {
	all := map[*Counter]place{}
	for _, quad := range quads {
		for i, c := range quad {
			all[c] = place{quadState(quad), int64(i) * counterBits}
		}
	}
	return all
}

// quadState returns the aggregate of a quad's column, as the engine spells it in the column's name. The engine computes
// 64 bits of an event's number at a time, because numbers of 128 bits take longer.
func quadState(quad [4]*Counter) string {
	half := func(c []*Counter) string {
		return fmt.Sprintf("toUInt128(plus(%s, multiply(%s, %d)))", c[0].counted, c[1].counted, 1<<counterBits)
	}
	return fmt.Sprintf("sum(bitOr(%s, bitShiftLeft(%s, %d)))", half(quad[:2]), half(quad[2:]), 2*counterBits)
}

// read returns the expression for the number of events that the counter counts in a row of visits.
func (c *Counter) read() sqltree.Expr {
	if c.state != "" {
		return finalized(c.state)
	}
	p, ok := places[c]
	if !ok {
		panic("BUG: no quad has the counter " + c.Name)
	}
	quad := finalized(p.column)
	if p.shift > 0 {
		quad = sqltree.Call("bitShiftRight", quad, sqltree.Int(p.shift))
	}
	// The cast to UInt32 leaves out the higher counters.
	return sqltree.Call("toUInt64", sqltree.Call("toUInt32", quad))
}

// finalized returns the expression for the value of an aggregate in a row of visits.
func finalized(state string) sqltree.Expr {
	return sqltree.Call("finalizeAggregation", sqltree.Col(state))
}
