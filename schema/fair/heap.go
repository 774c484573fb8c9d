package fair

// partyHeap has the party with the smallest share first. Of parties with equal shares, the party whose last request was
// admitted first comes first. Of parties that were never admitted, the party that began to wait first comes first.
type partyHeap []*Party

func (h partyHeap) Len() int { return len(h) }

func (h partyHeap) Less(i, j int) bool { return h[i].before(h[j]) }

func (p *Party) before(other *Party) bool {
	if p.share != other.share {
		return p.share < other.share
	}
	if p.turn != other.turn {
		return p.turn < other.turn
	}
	return p.came < other.came
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
