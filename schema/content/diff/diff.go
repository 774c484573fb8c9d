// Package diff aligns two lists: it finds the elements that both lists have. It imports no other package of this
// module.
package diff

import "slices"

// maxCells and maxRounds keep the time of Match almost linear in the size of its input. maxRounds bounds the nesting of
// the ranges in which Match looks for unique common elements. If a pair of ranges has no such elements, Match compares
// every element of one range with every element of the other range. If this would need more than maxCells comparisons,
// the elements stay without partners.
const (
	maxCells  = 1 << 16
	maxRounds = 16
)

// None is the index of an element without a partner.
const None = -1

// Match pairs equal elements of a and b. The pairs are in order, so they form a common subsequence. It returns, for
// each element of a, the index of its partner in b or None. Elements that occur once on both sides are paired first
// (patience diff). So frequent elements, such as the commas of a rewritten part, do not determine the pairs. The result
// depends only on the input.
func Match[T comparable](a, b []T) []int {
	m := matcher[T]{a: a, b: b, pairs: make([]int, len(a))}
	for i := range m.pairs {
		m.pairs[i] = None
	}
	m.match(0, len(a), 0, len(b), 0)
	return m.pairs
}

type matcher[T comparable] struct {
	a, b  []T
	pairs []int
}

func (m *matcher[T]) match(a0, a1, b0, b1, round int) {
	for a0 < a1 && b0 < b1 && m.a[a0] == m.b[b0] {
		m.pairs[a0] = b0
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && m.a[a1-1] == m.b[b1-1] {
		a1, b1 = a1-1, b1-1
		m.pairs[a1] = b1
	}
	if a0 == a1 || b0 == b1 {
		return
	}
	var anchors [][2]int
	if round < maxRounds {
		anchors = m.anchors(a0, a1, b0, b1)
	}
	if len(anchors) == 0 {
		if (a1-a0)*(b1-b0) <= maxCells {
			m.longest(a0, a1, b0, b1)
		}
		return
	}
	for _, at := range anchors {
		m.pairs[at[0]] = at[1]
		m.match(a0, at[0], b0, at[1], round+1)
		a0, b0 = at[0]+1, at[1]+1
	}
	m.match(a0, a1, b0, b1, round+1)
}

// anchors returns the longest chain of elements that occur exactly once in each of the two ranges.
func (m *matcher[T]) anchors(a0, a1, b0, b1 int) [][2]int {
	type seen struct{ inA, inB, a, b int }
	count := make(map[T]seen, a1-a0)
	for i := a0; i < a1; i++ {
		s := count[m.a[i]]
		s.inA, s.a = s.inA+1, i
		count[m.a[i]] = s
	}
	for j := b0; j < b1; j++ {
		if s, ok := count[m.b[j]]; ok {
			s.inB, s.b = s.inB+1, j
			count[m.b[j]] = s
		}
	}
	var unique [][2]int
	var order []int
	for i := a0; i < a1; i++ {
		if s := count[m.a[i]]; s.inA == 1 && s.inB == 1 {
			unique, order = append(unique, [2]int{s.a, s.b}), append(order, s.b)
		}
	}
	var chain [][2]int
	for _, i := range Increasing(order) {
		chain = append(chain, unique[i])
	}
	return chain
}

// longest pairs a longest common subsequence by the quadratic method. The caller passes ranges with at most maxCells
// comparisons.
func (m *matcher[T]) longest(a0, a1, b0, b1 int) {
	n, w := a1-a0, b1-b0
	lengths := make([]int32, (n+1)*(w+1))
	at := func(i, j int) *int32 { return &lengths[i*(w+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := w - 1; j >= 0; j-- {
			if m.a[a0+i] == m.b[b0+j] {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	for i, j := 0, 0; i < n && j < w; {
		switch {
		case m.a[a0+i] == m.b[b0+j]:
			m.pairs[a0+i] = b0 + j
			i, j = i+1, j+1
		case *at(i+1, j) >= *at(i, j+1):
			i++
		default:
			j++
		}
	}
}

// Align pairs the elements of two lists of n and m elements, in order, so that the sum of the scores is highest. Like
// Match, it returns the index of each element's partner, or None. A score of 0 forbids a pair.
func Align(n, m int, score func(i, j int) float64) []int {
	scores, best := make([]float64, n*m), make([]float64, (n+1)*(m+1))
	at := func(i, j int) *float64 { return &best[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			s := score(i, j)
			scores[i*m+j] = s
			*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			if s > 0 {
				*at(i, j) = max(*at(i, j), *at(i+1, j+1)+s)
			}
		}
	}
	pairs := make([]int, n)
	for i := range pairs {
		pairs[i] = None
	}
	for i, j := 0, 0; i < n && j < m; {
		switch s := scores[i*m+j]; {
		case s > 0 && *at(i, j) == *at(i+1, j+1)+s:
			pairs[i] = j
			i, j = i+1, j+1
		case *at(i, j) == *at(i+1, j):
			i++
		default:
			j++
		}
	}
	return pairs
}

// Increasing returns the indices of a longest strictly increasing subsequence.
func Increasing(values []int) []int {
	var tails []int // tails[k] is the end of the chain of k+1 values whose last value is lowest
	before := make([]int, len(values))
	for i, value := range values {
		k, _ := slices.BinarySearchFunc(tails, value, func(tail, value int) int { return values[tail] - value })
		before[i] = None
		if k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	chain := make([]int, len(tails))
	for k, i := len(tails)-1, tails[len(tails)-1]; k >= 0; k, i = k-1, before[i] {
		chain[k] = i
	}
	return chain
}
