package postgres

// Room returns positions for n new items before the item at an index. `order` has the positions of the existing
// items.
func Room(order []int64, at, n int) (positions []int64, fits bool) {
	s := make(Siblings, len(order))
	for i := range order {
		s[i].Position = order[i]
	}
	return s.Room(at, n)
}
