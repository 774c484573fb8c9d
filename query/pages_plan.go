package query

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// pages is a compiled request for pages. Its plan groups the range's events by page. Its other members are about the
// pages from Config.Pages.
type pages struct {
	plan
	pageFilter
	by    string // the member of pages to sort by; "" means the plan's first term
	desc  bool
	limit int
	// `from` is the last row of the previous page; nil for the first page.
	from *rowPlace
}

func compilePages(of reach, body []byte, now time.Time) (p pages, err error) {
	if of.shared {
		return p, schema.Forbidden("this view of the site shows no list of its pages")
	}
	q, err := decodePages(of, body)
	if err != nil {
		return p, err
	}
	p.pageFilter, p.limit = q.pageFilter, q.limit
	now, keys, err := cursorTime(pagesList+of.site.ID, q.cursor, ceil(now))
	if err != nil {
		return p, err
	}
	if p.scope, err = q.scope(now); err != nil {
		return p, err
	}
	if !slices.Contains(accuracies, q.accuracy) {
		return p, schema.Invalid("accuracy", unknown("auto or exact", q.accuracy, accuracies), accuracies...)
	}
	p.exact, p.now, p.paged, p.keeps = q.accuracy == accuracyExact, now, true, true
	p.groups, p.plan.limit = []ref{{column: insights.PageKey}}, MaxPages
	if p.output, err = resolveMetrics(q.selects); err != nil {
		return p, err
	}
	if err := p.sortBy(q.order); err != nil {
		return p, err
	}
	selected := p.output
	p.output = append(slices.Clip(p.output), ref{column: insights.LastTitle})
	p.plan = decide(p.plan)
	p.mark = p.hash()
	timeless := p
	timeless.scope, timeless.output = p.timeless(), selected
	p.key = keyed(timeless, p.scope, q.timeRange) + fmt.Sprintf("cursor: %q\n", q.cursor)
	return p, p.continues(keys)
}

// resolveMetrics resolves the metrics of pages. If the request names no metric, it returns eventsCount.
func resolveMetrics(list []columnRequest) (refs []ref, err error) {
	named, err := resolveList(list)
	for _, n := range named {
		if !n.isMeasure() {
			return nil, schema.Invalid(n.place.member("column"), "is not a metric: pages have only metrics")
		}
		if !slices.Contains(refs, n.ref) {
			refs = append(refs, n.ref)
		}
	}
	if len(refs) == 0 {
		refs = []ref{{column: insights.EventsCount}}
	}
	return refs, err
}

// sortBy resolves the order: a metric, or a member of pages. Without an order it is the first metric, descending.
func (p *pages) sortBy(o *orderRequest) error {
	p.plan.order = []term{{ref: p.output[0], desc: true}}
	p.desc = true
	if o == nil {
		return nil
	}
	if !slices.Contains(directions, o.direction) {
		return schema.Invalid("order.direction", unknown("a direction", o.direction, directions), directions...)
	}
	p.desc = o.direction != directions[0]
	if slices.Contains(PageOrders(), o.by.name) {
		p.by = o.by.name
		p.plan.order = nil
		return nil
	}
	metrics := slices.DeleteFunc(slices.Clone(columnNames), func(name string) bool {
		c, _ := insights.ByName(name)
		return !c.Has(insights.Measure)
	})
	known := append(PageOrders(), metrics...)
	if !slices.Contains(known, o.by.name) {
		what := "a metric or a member of pages"
		return schema.Invalid(o.by.member("column"), unknown(what, o.by.name, known), known...)
	}
	by, err := resolveColumn(o.by, insights.Measure)
	p.plan.order = []term{{ref: by.ref, desc: p.desc}}
	return err
}

// String describes the request, like a plan's String.
func (p pages) String() string {
	b := &description{}
	b.WriteString(p.plan.String() + p.pageFilter.String())
	direction := ""
	if p.desc {
		direction = " desc"
	}
	if p.by != "" {
		b.line("pages by", p.by+direction)
	}
	b.line("pages", fmt.Sprint(p.limit))
	return b.String()
}

// lasts returns 0, because pages and their titles can change while no event arrives.
func (p pages) lasts(time.Duration) time.Duration { return 0 }

// weigh sets the query's cost. It sets `groups` to 0, so that no error advises the caller to group by fewer columns.
func (p pages) weigh(q *query) {
	p.plan.weigh(q)
	q.groups = 0
}

const pagesList = "insights-pages/"

// hash returns a hash that differs between different requests. It leaves out the limit, because the pages of one list
// may have different limits.
func (p pages) hash() string {
	p.limit = 0
	return hashOf(p.String())
}

// continues sets the row after which the list continues. `keys` are the cursor's sort keys. They are nil if the request
// has no cursor.
func (p *pages) continues(keys []string) error {
	if keys == nil {
		return nil
	}
	if len(keys) != 8 || keys[0] != p.mark {
		return errCursor()
	}
	number, err := strconv.ParseInt(keys[3], 10, 64)
	if err != nil {
		return errCursor()
	}
	if err := p.countedAs(keys[1]); err != nil {
		return err
	}
	p.from = &rowPlace{keys[2] != "", number, keys[4], pageID{keys[5], keys[6], keys[7]}}
	return nil
}
