package conversations

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// What is usual for an issue is its mean similarity to those that are most like it: a share of all, so that it does not depend on how
// many there are, and not less than a few. With meanings it is a greater share of few issues, up to someUsual: they are of few problems, of
// which each has a great share, and what is usual within a problem is not meant.
const (
	usualShare = 0.1
	leastUsual = 10
	someUsual  = 20
	someShare  = 1.0 / 3
	// maxHaving bounds the issues that are compared because of one common term: what more have says little.
	maxHaving = 2000
)

// Before an organization has many issues, what is usual is guessed: as if there were assumedNear more issues of this similarity.
const (
	assumedNear    = 2
	assumedMeaning = 0.3
	assumedWords   = 0.15
)

// candidates compares all nodes, finds what is usual for each, and gives the pairs that may be joined.
func (a *assignment) candidates() []pair {
	near := a.compare()
	if a.haveMeaning {
		a.smooth(near)
		near = a.compare()
	}
	for node, usual := range a.own {
		a.usual[node] = usual * float64(a.sizes[node])
	}
	a.joinEqual()
	var pairs []pair
	for node, others := range near {
		for _, other := range others {
			excess := 2*other.alike - a.own[node] - a.own[other.node]
			if excess >= a.threshold-candidateMargin {
				pairs = append(pairs, pair{a: min(node, other.node), b: max(node, other.node), alike: excess})
			}
		}
	}
	slices.SortFunc(pairs, closest)
	// Pairs of issues are found twice, from both ends.
	return slices.CompactFunc(pairs, func(p, q pair) bool { return p.a == q.a && p.b == q.b })
}

// compare compares all nodes, finds what is usual for each, and gives those that are most like each issue.
func (a *assignment) compare() [][]similar {
	n := len(a.single)
	a.sums = slices.Clone(a.single)
	near := make([][]similar, n)
	row, byWords := make([]similar, 0, n), make([]float64, n)
	meanings := a.meanings()
	for node, v := range a.single {
		clear(byWords)
		for _, e := range v.words {
			if len(a.having[e.term]) > maxHaving {
				continue
			}
			for _, other := range a.having[e.term] {
				byWords[other.node] += float64(e.weight) * other.alike
			}
		}
		byMeaning := meanings.like(node)
		row = row[:0]
		for other := range a.single {
			if other == node && !a.fixed[node] || !a.speakAlike(node, other) {
				continue
			}
			s := byWords[other]
			if v.meaning != nil && a.single[other].meaning != nil {
				s = mixed(s, float64(byMeaning[other]))
			}
			row = append(row, similar{other, s / float64(a.sizes[node]*a.sizes[other])})
		}
		slices.SortFunc(row, mostAlike)
		a.own[node] = a.usualOf(row, v.meaning != nil)
		if !a.fixed[node] {
			near[node] = slices.Clone(row[:min(len(row), maxNeighbors)])
		}
	}
	return near
}

// usualOf is the mean of the greatest similarities of a sorted row. A cluster counts as its issues do.
func (a *assignment) usualOf(row []similar, meaning bool) float64 {
	all := 0
	for _, s := range row {
		all += a.sizes[s.node]
	}
	share, assumed := int(usualShare*float64(all)), assumedWords
	if meaning {
		share, assumed = max(share, min(someUsual, int(someShare*float64(all)))), assumedMeaning
	}
	most := float64(max(leastUsual, share))
	sum, count := assumedNear*assumed, float64(assumedNear)
	for _, s := range row {
		take := min(float64(a.sizes[s.node]), most)
		sum, count, most = sum+take*s.alike, count+take, most-take
		if most <= 0 {
			break
		}
	}
	return sum / count
}

// meaningRows is how many rows of the products of all meanings are computed at once.
const meaningRows = 64

// meanings has the meanings of all nodes in one matrix, to multiply them with each other.
type meanings struct {
	all     []float32
	n       int
	block   []float32
	started int
}

func (a *assignment) meanings() *meanings {
	m := &meanings{n: len(a.single), started: -1}
	m.all, m.block = make([]float32, m.n*meaningSize), make([]float32, meaningRows*m.n)
	for i, v := range a.single {
		copy(m.all[i*meaningSize:], v.meaning)
	}
	return m
}

// like gives the products of one node's meaning with all others'. It is valid until the next call, which must be for the next node.
func (m *meanings) like(node int) []float32 {
	if start := node / meaningRows * meaningRows; start != m.started {
		m.started = start
		rows := min(meaningRows, m.n-start)
		gonum.Implementation{}.Sgemm(blas.NoTrans, blas.Trans, rows, m.n, meaningSize, 1, m.all[start*meaningSize:], meaningSize,
			m.all, meaningSize, 0, m.block, m.n)
	}
	return m.block[(node-m.started)*m.n:][:m.n]
}
