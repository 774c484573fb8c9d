package eventgen

// Totals are the totals of a generator's events. Queries of these events must return the same totals.
type Totals struct {
	Types    map[string]int // events by type
	Classes  map[string]int // events by class of agent
	Visitors map[string]int // number of distinct visitors by class of agent

	// Searches counts the events that report a query. A query is also reported while it is being typed. NoResult counts
	// the reported queries without a result.
	Searches, NoResult int
	Engaged, Depth     Mean // from page_leave events: seconds, and percent if it is known
	NotFound           int  // events with the status 404

	// Opened counts the opened results of searches by their space and page. Records counts the opened results that are
	// records of connected sources.
	Opened  map[[2]string]int
	Records int

	seen map[uint64]bool // visitors
}

// Mean has the sum and the number of some values.
type Mean struct{ Sum, Number int }

func newTotals() Totals {
	return Totals{
		Types: map[string]int{}, Classes: map[string]int{}, Visitors: map[string]int{}, Opened: map[[2]string]int{},
		seen: map[uint64]bool{},
	}
}

// visitor counts a visitor at the first call with the visitor's traits.
func (t *Totals) visitor(class string, traits uint64) {
	if !t.seen[traits] {
		t.seen[traits] = true
		t.Visitors[class]++
	}
}

func (t *Totals) search(results int) {
	t.Searches++
	if results == 0 {
		t.NoResult++
	}
}

// leave counts a page_leave event; depth is negative if it is unknown.
func (t *Totals) leave(seconds, depth int) {
	t.Engaged.add(seconds)
	if depth >= 0 {
		t.Depth.add(depth)
	}
}

func (m *Mean) add(n int) { m.Sum, m.Number = m.Sum+n, m.Number+1 }

// Value returns the mean.
func (m Mean) Value() float64 { return float64(m.Sum) / float64(m.Number) }
