package merge

import "github.com/octavo-docs/octavo/schema/content/diff"

// sequence is a list in its three versions: base, `ours` and `theirs`. The elements of each version are unique. `ours`
// and `theirs` contain only elements that are in the result. A twin is an element that both sides added.
type sequence struct {
	base, ours, theirs []string
	// join merges the elements that `ours` and `theirs` have at one place. `base` has the elements of the base at this
	// place. A twin at this place is in both lists. If `join` is nil, the elements of `ours` come before the elements
	// of `theirs`.
	join func(base, ours, theirs []string) []string
	// decide is called for an element that the sides have put at different places. It returns true to use the place of
	// `theirs`.
	decide func(element string) bool
}

// merge returns the elements in order. Between two elements that neither side moved, join merges the elements of the
// sides.
func (s sequence) merge() []string {
	inOurs, inTheirs, inBase := positions(s.ours), positions(s.theirs), positions(s.base)
	movedOurs, movedTheirs := moved(s.ours, inBase), moved(s.theirs, inBase)
	anchor := s.anchor()
	oursGaps, anchors := gaps(s.ours, anchor)
	theirsGaps, _ := gaps(s.theirs, anchor)
	baseGaps, _ := gaps(s.base, anchor)
	oursGapOf, gapOf := gapsOf(oursGaps), gapsOf(theirsGaps)
	byTheirs := map[string]bool{}
	for at, gap := range oursGaps {
		for _, e := range gap {
			switch {
			case !has(inTheirs, e):
			case !has(inBase, e), movedOurs[e] && movedTheirs[e]:
				byTheirs[e] = gapOf[e] != at && s.decide != nil && s.decide(e)
			case movedTheirs[e]:
				byTheirs[e] = true
			}
		}
	}
	var merged []string
	for at := range oursGaps {
		var mine, others []string
		for _, e := range oursGaps[at] {
			if !byTheirs[e] {
				mine = append(mine, e)
			}
		}
		for _, e := range theirsGaps[at] {
			together := s.join != nil && !has(inBase, e) && oursGapOf[e] == at
			if !has(inOurs, e) || byTheirs[e] || together {
				others = append(others, e)
			}
		}
		if s.join == nil {
			merged = append(append(merged, mine...), others...)
		} else {
			merged = append(merged, s.join(baseGaps[at], mine, others)...)
		}
		if at < len(anchors) {
			merged = append(merged, anchors[at])
		}
	}
	return merged
}

// anchor returns a function that reports whether an element is an anchor. An anchor is in all three lists, and neither
// side moved it.
func (s sequence) anchor() func(e string) bool {
	inOurs, inTheirs, inBase := positions(s.ours), positions(s.theirs), positions(s.base)
	movedOurs, movedTheirs := moved(s.ours, inBase), moved(s.theirs, inBase)
	return func(e string) bool {
		return has(inOurs, e) && has(inTheirs, e) && has(inBase, e) && !movedOurs[e] && !movedTheirs[e]
	}
}

func positions(list []string) map[string]int {
	at := make(map[string]int, len(list))
	for i, e := range list {
		at[e] = i
	}
	return at
}

func has(at map[string]int, e string) bool {
	_, ok := at[e]
	return ok
}

// moved returns the elements of `base` whose place in the list has changed. Of several possible results, it returns a
// smallest one.
func moved(list []string, inBase map[string]int) map[string]bool {
	var kept []string
	var order []int
	for _, e := range list {
		if at, ok := inBase[e]; ok {
			kept, order = append(kept, e), append(order, at)
		}
	}
	out := map[string]bool{}
	for _, e := range kept {
		out[e] = true
	}
	for _, i := range diff.Increasing(order) {
		delete(out, kept[i])
	}
	return out
}

// gapsOf returns, for each element, the index of the gap that contains it.
func gapsOf(gaps [][]string) map[string]int {
	of := map[string]int{}
	for at, gap := range gaps {
		for _, e := range gap {
			of[e] = at
		}
	}
	return of
}

// gaps splits a list at its anchors. It returns the elements between the anchors, and the anchors.
func gaps(list []string, anchor func(e string) bool) (between [][]string, anchors []string) {
	between = [][]string{nil}
	for _, e := range list {
		if anchor(e) {
			anchors, between = append(anchors, e), append(between, nil)
			continue
		}
		between[len(between)-1] = append(between[len(between)-1], e)
	}
	return between, anchors
}
