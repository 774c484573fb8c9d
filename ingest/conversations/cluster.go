package conversations

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

// How much more alike than usual issues must be to be one problem: the mean over all pairs of two groups, so that a chain of similar
// pairs does not join issues that have nothing in common. What is usual is measured for each issue: see usual.go. Two clusters that
// both have issues which do not move become one only if they are more alike, by mergeMargin.
const (
	joinThreshold = 0.05
	// wordsThreshold is that without a model.
	wordsThreshold = -0.10
	mergeMargin    = 0.10
	// candidateMargin is how much less alike two issues may be than their groups.
	candidateMargin = 0.10
)

const (
	// looseSize is how large a group must be for its mean to count half when issues change their groups: that of few says little.
	looseSize = 10
	// settlePasses bounds how often issues may change their groups within an analysis.
	settlePasses = 5
	// maxNeighbors bounds the pairs per issue: many equal issues would otherwise have quadratically many.
	maxNeighbors = 40
)

// Item is an issue that may go to any cluster. Key must be unique, and must not depend on when the issue came in.
type Item struct {
	Key      string
	Language string
	Terms    []string
	// Meaning is the issue's vector; nil if it has none.
	Meaning Meaning
	// Cluster is the id of the cluster that it is in; empty for none.
	Cluster string
}

// Known is a cluster of an earlier analysis.
type Known struct {
	ID       string
	Language string
	Profile  Profile
	// Rests is whether it has issues that are not among the items: they stay, and so does the cluster.
	Rests bool
}

// Group is issues about the same thing. Clusters are indexes of the clusters that they are in from now on: none makes the
// group a new one, and of several the first goes on and takes in the others. Items are indexes of its issues.
type Group struct {
	Clusters []int
	Items    []int
}

// Method finds clusters. It counts the terms that it sees, and weighs them by their counts: one is made for each analysis.
type Method struct{ words *vocabulary }

// NewMethod makes a method that has seen nothing.
func NewMethod() *Method { return &Method{newVocabulary()} }

// Assign groups issues with each other and with the clusters that there are. Every issue is in exactly one group, and issues of
// equal terms are in the same one. A cluster whose issues are all among the items goes on as the group that has the most of them.
// The result depends on the sets only: it is computed in the order of ids and keys.
func (m *Method) Assign(known []Known, items []Item) []Group {
	a := newAssignment(m.words, known, items)
	pairs := a.candidates()
	for _, p := range pairs {
		a.push(p.a, p.b)
	}
	a.run()
	a.settle(pairs)
	return a.groups()
}

// assignment is nodes, clusters that rest before issues, that are joined into groups.
type assignment struct {
	known []Known
	items []Item
	// order has the nodes: an index into the clusters, or, minus their number, into the issues.
	order  []int
	words  *vocabulary
	single []vector
	// having has the nodes that have a term, with its weights.
	having [][]similar
	// haveMeaning is whether an issue has a meaning, and threshold what is alike enough then.
	haveMeaning bool
	threshold   float64
	tongue      []string
	parent      []int
	// sums, sizes and usual are of groups, under their roots; usual is a sum too.
	sums  []vector
	sizes []int
	usual []float64
	// own is what is usual for a node itself.
	own     []float64
	fixed   []bool
	version []int
	queue   pairQueue
}

func newAssignment(vocabulary *vocabulary, known []Known, items []Item) *assignment {
	a := &assignment{known: known, items: items, words: vocabulary}
	for i := range known {
		if known[i].Rests {
			a.order = append(a.order, i)
		}
	}
	slices.SortFunc(a.order, func(i, j int) int { return strings.Compare(known[i].ID, known[j].ID) })
	var own []int
	for i := range items {
		own = append(own, len(known)+i)
	}
	slices.SortFunc(own, func(i, j int) int {
		x, y := items[i-len(known)], items[j-len(known)]
		return cmp.Or(slices.Compare(x.Terms, y.Terms), strings.Compare(x.Language, y.Language), strings.Compare(x.Key, y.Key))
	})
	a.order = append(a.order, own...)
	n := len(a.order)
	a.single, a.tongue, a.sizes = make([]vector, n), make([]string, n), make([]int, n)
	a.parent, a.fixed, a.version = make([]int, n), make([]bool, n), make([]int, n)
	counts := make([]map[string]float64, n)
	for node, i := range a.order {
		if i < len(known) {
			counts[node] = known[i].Profile.Terms
		} else {
			counts[node] = countTerms(items[i-len(known)].Terms)
		}
		a.words.count(counts[node])
	}
	for node, i := range a.order {
		a.parent[node] = node
		if i < len(known) {
			a.single[node], a.tongue[node] = known[i].Profile.vector(a.words), known[i].Language
			a.sizes[node], a.fixed[node] = known[i].Profile.Issues, true
			continue
		}
		item := items[i-len(known)]
		a.single[node] = vector{a.words.vectorOf(counts[node]), item.Meaning.vector()}
		a.tongue[node], a.sizes[node] = item.Language, 1
		a.haveMeaning = a.haveMeaning || a.single[node].meaning != nil
	}
	a.own, a.usual = make([]float64, n), make([]float64, n)
	a.having = make([][]similar, len(a.words.terms))
	for node, v := range a.single {
		for _, e := range v.words {
			a.having[e.term] = append(a.having[e.term], similar{node, float64(e.weight)})
		}
	}
	a.threshold = wordsThreshold
	if a.haveMeaning {
		a.threshold = joinThreshold
		a.center()
		a.addShared()
	}
	return a
}

// joinEqual puts equal issues together, whatever their similarity to others.
func (a *assignment) joinEqual() {
	for node := 1; node < len(a.order); node++ {
		if a.fixedNode(node) || a.fixedNode(node-1) {
			continue
		}
		if here, before := a.item(node), a.item(node-1); here.Language == before.Language && slices.Equal(here.Terms, before.Terms) {
			a.join(a.root(node-1), node)
		}
	}
}

func (a *assignment) item(node int) Item { return a.items[a.order[node]-len(a.known)] }

// pair is two nodes, a before b, and how much more alike than usual they are.
type pair struct {
	a, b               int
	alike              float64
	versionA, versionB int
}

func closest(p, q pair) int {
	return cmp.Or(cmp.Compare(q.alike, p.alike), cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
}

func (a *assignment) root(i int) int {
	for a.parent[i] != i {
		a.parent[i] = a.parent[a.parent[i]]
		i = a.parent[i]
	}
	return i
}

// speakAlike reports whether two groups may be one: what they mean is compared across languages, their words are not.
func (a *assignment) speakAlike(i, j int) bool {
	return a.tongue[i] == a.tongue[j] || a.tongue[i] == languageUnknown || a.tongue[j] == languageUnknown ||
		a.single[i].meaning != nil && a.single[j].meaning != nil
}

// excess tells how much more alike than usual the issues of two groups are.
func (a *assignment) excess(i, j int) float64 {
	x, y := float64(a.sizes[i]), float64(a.sizes[j])
	return 2*a.sums[i].alike(a.sums[j])/(x*y) - a.usual[i]/x - a.usual[j]/y
}

// push puts two groups into the queue if they are alike enough.
func (a *assignment) push(i, j int) {
	i, j = a.root(i), a.root(j)
	if i == j || !a.speakAlike(i, j) {
		return
	}
	i, j = min(i, j), max(i, j)
	s := a.excess(i, j)
	if s < a.threshold || a.fixed[i] && a.fixed[j] && s < a.threshold+mergeMargin {
		return
	}
	heap.Push(&a.queue, pair{i, j, s, a.version[i], a.version[j]})
}

// run joins the two groups that are most alike until no two are alike enough. A pair that was queued before one of its groups
// grew is looked at anew.
func (a *assignment) run() {
	for a.queue.Len() > 0 {
		p := heap.Pop(&a.queue).(pair) // It holds nothing else.
		i, j := a.root(p.a), a.root(p.b)
		if i == j {
			continue
		}
		if i != p.a || j != p.b || a.version[i] != p.versionA || a.version[j] != p.versionB {
			a.push(i, j)
			continue
		}
		a.join(i, j)
	}
}

// join makes two roots one group. The lower one stays, so that clusters go before issues.
func (a *assignment) join(i, j int) {
	i, j = min(i, j), max(i, j)
	a.parent[j] = i
	a.sums[i], a.sums[j] = a.sums[i].plus(a.sums[j]), vector{}
	a.sizes[i] += a.sizes[j]
	a.usual[i] += a.usual[j]
	a.fixed[i] = a.fixed[i] || a.fixed[j]
	if a.tongue[i] == languageUnknown {
		a.tongue[i] = a.tongue[j]
	}
	a.version[i]++
}

// settle lets each issue go where it fits best, now that the groups are known: an issue that came to a group early may be more
// like one that grew later.
func (a *assignment) settle(pairs []pair) {
	near := make([][]int, len(a.single))
	for _, p := range pairs {
		near[p.a], near[p.b] = append(near[p.a], p.b), append(near[p.b], p.a)
	}
	for node := range a.parent {
		a.parent[node] = a.root(node)
	}
	for range settlePasses {
		moved := false
		for node := range a.parent {
			if a.fixedNode(node) || a.hasTwin(node) {
				continue
			}
			moved = a.move(node, near[node]) || moved
		}
		if !moved {
			return
		}
	}
}

// fixedNode reports whether a node is a cluster.
func (a *assignment) fixedNode(node int) bool { return a.order[node] < len(a.known) }

// hasTwin reports whether there is an equal issue, which a move would leave behind.
func (a *assignment) hasTwin(node int) bool {
	for _, other := range []int{node - 1, node + 1} {
		if other >= 0 && other < len(a.order) && !a.fixedNode(other) && slices.Equal(a.item(node).Terms, a.item(other).Terms) {
			return true
		}
	}
	return false
}

// move puts an issue into the group of a neighbor, if it is more like that one than like its own.
func (a *assignment) move(node int, near []int) bool {
	own, v := a.parent[node], a.single[node]
	best, most := own, 0.0
	if count := float64(a.sizes[own] - 1); count > 0 {
		s := 2*(v.alike(a.sums[own])-v.alike(v))/count - a.own[node] - (a.usual[own]-a.own[node])/count
		most = a.fit(s, count)
	}
	seen := map[int]bool{own: true}
	for _, other := range near {
		group := a.parent[other]
		if seen[group] || !a.speakAlike(group, node) {
			continue
		}
		seen[group] = true
		size := float64(a.sizes[group])
		s := 2*v.alike(a.sums[group])/size - a.own[node] - a.usual[group]/size
		if fit := a.fit(s, size); fit > most && (fit >= 0 || !a.fixed[group]) {
			best, most = group, fit
		}
	}
	if best == own {
		return false
	}
	a.sums[own], a.sizes[own], a.usual[own] = a.sums[own].minus(v), a.sizes[own]-1, a.usual[own]-a.own[node]
	a.sums[best], a.sizes[best], a.usual[best] = a.sums[best].plus(v), a.sizes[best]+1, a.usual[best]+a.own[node]
	a.parent[node] = best
	return true
}

// fit tells how well an issue fits in a group that it is so much more alike than usual to.
func (a *assignment) fit(excess, size float64) float64 {
	return (excess - a.threshold) * size / (size + looseSize)
}

type pairQueue []pair

func (q pairQueue) Len() int           { return len(q) }
func (q pairQueue) Less(i, j int) bool { return closest(q[i], q[j]) < 0 }
func (q pairQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *pairQueue) Push(x any)        { *q = append(*q, x.(pair)) } // Only push does.
func (q *pairQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
