package fair

// partyHeap has the party that uses least first; among equals, the one whose
// last turn is longest ago; among those without a turn, the one that came
// first.
type partyHeap []*Party

func (h partyHeap) Len() int { return len(h) }

func (h partyHeap) Less(i, j int) bool {
	if h[i].share != h[j].share {
		return h[i].share < h[j].share
	}
	if h[i].turn != h[j].turn {
		return h[i].turn < h[j].turn
	}
	return h[i].came < h[j].came
}

func (h partyHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i+1, j+1
}

// Push implements heap.Interface.
func (h *partyHeap) Push(x any) {
	p := x.(*Party)
	*h = append(*h, p)
	p.place = len(*h)
}

// Pop implements heap.Interface.
func (h *partyHeap) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	p.place = 0
	return p
}
