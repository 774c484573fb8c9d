package eventgen

// Totals are the totals of a generator's events. Queries of these events must return the same totals.
type Totals struct {
	Types    map[string]int // events by type
	Classes  map[string]int // events by class of agent
	Visitors map[string]int // number of distinct visitors by class of agent

	// Searches counts the events that report a search query. Events also report the query while the reader is typing
	// it. NoResult counts the events whose query has no result.
	Searches, NoResult int
	Engaged, Depth     Mean // of page_leave events: seconds, and scroll depth in percent if it is known
	NotFound           int  // events with the status 404

	// Opened counts the opened results of searches by their space and page. Records counts the opened results that are
	// records of connected sources.
	Opened  map[[2]string]int
	Records int

	seen map[uint64]bool // traits of the visitors that were counted
}

// Mean has the sum and the number of some values.
type Mean struct{ Sum, Number int }

func newTotals() Totals {
	return Totals{
		Types: map[string]int{}, Classes: map[string]int{}, Visitors: map[string]int{}, Opened: map[[2]string]int{},
		seen: map[uint64]bool{},
	}
}

// visitor counts a visitor once: at the first call with these traits.
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

// leave counts a page_leave event. A negative depth means that the scroll depth is unknown.
func (t *Totals) leave(seconds, depth int) {
	t.Engaged.add(seconds)
	if depth >= 0 {
		t.Depth.add(depth)
	}
}

func (m *Mean) add(n int) { m.Sum, m.Number = m.Sum+n, m.Number+1 }

// Value returns the mean.
func (m Mean) Value() float64 { return float64(m.Sum) / float64(m.Number) }
