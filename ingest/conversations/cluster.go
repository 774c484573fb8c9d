package conversations

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

// The similarity that makes issues one problem: the mean over all pairs of two groups, so that a chain of similar pairs does
// not join issues that have nothing in common. Two clusters that people have seen become one only if they are more alike.
const (
	joinThreshold  = 0.14
	mergeThreshold = 0.28
	// An issue that is alone joins the most similar of the new groups at this share of the threshold. Clusters of earlier analyses
	// would take in everything that way, one by one.
	aloneShare = 0.5
	// settlePasses bounds how often issues may change their groups within an analysis.
	settlePasses = 5
	// maxNeighbors bounds the pairs per issue: many equal issues would otherwise have quadratically many.
	maxNeighbors = 40
	// maxHaving bounds the issues that are compared because of one common term.
	maxHaving = 2000
)

// Item is an issue that belongs to no cluster yet. Key must be unique, and must not depend on when the issue came in.
type Item struct {
	Key      string
	Language string
	Terms    []string
}

// Known is a cluster of an earlier analysis.
type Known struct {
	ID       string
	Language string
	Profile  Profile
}

// Group is issues about the same thing. Clusters are indexes of the clusters that they are in from now on: none makes the
// group a new one, and of several the first goes on and takes in the others. Items are indexes of the issues that come to it.
type Group struct {
	Clusters []int
	Items    []int
}

// Method finds clusters. It counts the terms that it sees, and weighs them by their counts: one is made for each analysis.
type Method struct{ words *vocabulary }

// NewMethod makes a method that has seen nothing.
func NewMethod() *Method { return &Method{newVocabulary()} }

// Assign groups issues with each other and with the clusters that there are. The clusters keep what they have. Every issue is in
// exactly one group, and issues of equal terms are in the same one. The result depends on the sets only: it is computed in
// the order of ids and keys.
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

// assignment is nodes, clusters before issues, that are joined into groups.
type assignment struct {
	known []Known
	// order and names are of the nodes: an index into the clusters, or, minus their number, into the issues.
	order  []int
	words  *vocabulary
	single []vector
	tongue []string
	parent []int
	sums   []vector
	sizes  []int
	// fixed is whether a group holds a cluster.
	fixed   []bool
	version []int
	queue   pairQueue
}

func newAssignment(words *vocabulary, known []Known, items []Item) *assignment {
	n := len(known) + len(items)
	a := &assignment{known: known, words: words}
	for i := range known {
		a.order = append(a.order, i)
	}
	slices.SortFunc(a.order, func(i, j int) int { return strings.Compare(known[i].ID, known[j].ID) })
	var own []int
	for i := range items {
		own = append(own, len(known)+i)
	}
	slices.SortFunc(own, func(i, j int) int {
		return cmp.Or(slices.Compare(items[i-len(known)].Terms, items[j-len(known)].Terms), strings.Compare(items[i-len(known)].Key, items[j-len(known)].Key))
	})
	a.order = append(a.order, own...)
	a.single, a.tongue, a.sizes = make([]vector, n), make([]string, n), make([]int, n)
	a.parent, a.fixed, a.version = make([]int, n), make([]bool, n), make([]int, n)
	counts := make([]map[string]float64, len(items))
	for i, item := range items {
		counts[i] = countTerms(item.Terms)
		a.words.count(counts[i])
	}
	for _, k := range known {
		a.words.count(k.Profile.Terms)
	}
	for node, i := range a.order {
		a.parent[node] = node
		if i < len(known) {
			a.single[node], a.tongue[node] = known[i].Profile.vector(a.words), known[i].Language
			a.sizes[node], a.fixed[node] = known[i].Profile.Issues, true
			continue
		}
		item := items[i-len(known)]
		a.single[node], a.tongue[node], a.sizes[node] = a.words.vectorOf(counts[i-len(known)]), item.Language, 1
	}
	a.sums = slices.Clone(a.single)
	// Equal issues are together whatever their similarity to others.
	for node := len(known) + 1; node < n; node++ {
		here, before := items[a.order[node]-len(known)], items[a.order[node-1]-len(known)]
		if here.Language == before.Language && slices.Equal(here.Terms, before.Terms) {
			a.join(a.root(node-1), node)
		}
	}
	return a
}

// pair is two nodes, a before b, and how alike they are.
type pair struct {
	a, b               int
	alike              float64
	versionA, versionB int
}

// candidates finds the pairs of nodes that may be joined, by walking the terms of each issue and who else has them, so that
// nodes without a common term are never compared.
func (a *assignment) candidates() []pair {
	having := make([][]int, len(a.words.terms))
	for node, v := range a.single {
		for _, e := range v {
			having[e.term] = append(having[e.term], node)
		}
	}
	var pairs, near []pair
	seen := make([]int, len(a.single))
	for node, v := range a.single {
		if a.fixedNode(node) {
			continue // Clusters are compared with issues from their side.
		}
		near = near[:0]
		strongest := slices.Clone(v)
		slices.SortStableFunc(strongest, func(x, y entry) int { return cmp.Compare(y.weight, x.weight) })
		for _, e := range strongest {
			if len(having[e.term]) > maxHaving {
				continue
			}
			for _, other := range having[e.term] {
				if other == node || seen[other] == node+1 {
					continue
				}
				seen[other] = node + 1
				if s := a.mean(node, other, v, a.single[other]); s >= joinThreshold/2 {
					near = append(near, pair{a: min(node, other), b: max(node, other), alike: s})
				}
			}
		}
		slices.SortFunc(near, closest)
		pairs = append(pairs, near[:min(len(near), maxNeighbors)]...)
	}
	slices.SortFunc(pairs, closest)
	// Pairs of issues are found twice, from both ends.
	return slices.Compact(pairs)
}

func closest(p, q pair) int {
	return cmp.Or(cmp.Compare(q.alike, p.alike), cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
}

func (a *assignment) mean(i, j int, v, w vector) float64 {
	return v.alike(w) / float64(a.sizes[i]*a.sizes[j])
}

func (a *assignment) root(i int) int {
	for a.parent[i] != i {
		a.parent[i] = a.parent[a.parent[i]]
		i = a.parent[i]
	}
	return i
}

// push puts two groups into the queue if they are alike enough.
func (a *assignment) push(i, j int) {
	i, j = a.root(i), a.root(j)
	if i == j || a.tongue[i] != a.tongue[j] && a.tongue[i] != languageUnknown && a.tongue[j] != languageUnknown {
		return
	}
	i, j = min(i, j), max(i, j)
	s := a.mean(i, j, a.sums[i], a.sums[j])
	if s < joinThreshold || a.fixed[i] && a.fixed[j] && s < mergeThreshold {
		return
	}
	heap.Push(&a.queue, pair{i, j, s, a.version[i], a.version[j]})
}

// run joins the two groups that are most alike until no two are alike enough. A pair that was queued before one of its groups
// grew is looked at anew.
func (a *assignment) run() {
	for a.queue.Len() > 0 {
		p := heap.Pop(&a.queue).(pair) //nolint:forcetypeassert // It holds nothing else.
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
	a.sums[i], a.sums[j] = a.sums[i].plus(a.sums[j]), nil
	a.sizes[i] += a.sizes[j]
	a.fixed[i] = a.fixed[i] || a.fixed[j]
	if a.tongue[i] == languageUnknown {
		a.tongue[i] = a.tongue[j]
	}
	a.version[i]++
}

// settle lets each issue go where it fits best, now that the groups are known: an issue that came to a group early may be more
// like one that grew later, and one that is alone needs less to join others.
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
			if a.fixedNode(node) {
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

// move puts an issue into the group of a neighbor, if it is more like that one than like its own.
func (a *assignment) move(node int, near []int) bool {
	own, v := a.parent[node], a.single[node]
	best, most := own, aloneShare*joinThreshold
	count := a.sizes[own]
	if count > 1 {
		most = (v.alike(a.sums[own]) - v.alike(v)) / float64(count-1)
	}
	seen := map[int]bool{own: true}
	for _, other := range near {
		group := a.parent[other]
		if seen[group] || a.tongue[group] != a.tongue[node] && a.tongue[group] != languageUnknown && a.tongue[node] != languageUnknown {
			continue
		}
		seen[group] = true
		if s := v.alike(a.sums[group]) / float64(a.sizes[group]); s > most && (s >= joinThreshold || !a.fixed[group]) {
			best, most = group, s
		}
	}
	if best == own {
		return false
	}
	a.sums[own], a.sizes[own] = a.sums[own].minus(v), a.sizes[own]-1
	a.sums[best], a.sizes[best] = a.sums[best].plus(v), a.sizes[best]+1
	a.parent[node] = best
	return true
}

// groups lists the groups that something comes to.
func (a *assignment) groups() []Group {
	var groups []Group
	at := map[int]int{}
	for node, i := range a.order {
		root := a.parent[node]
		n, there := at[root]
		if !there {
			n = len(groups)
			at[root] = n
			groups = append(groups, Group{})
		}
		if i < len(a.known) {
			groups[n].Clusters = append(groups[n].Clusters, i)
		} else {
			groups[n].Items = append(groups[n].Items, i-len(a.known))
		}
	}
	return slices.DeleteFunc(groups, func(g Group) bool { return len(g.Items) == 0 && len(g.Clusters) < 2 })
}

type pairQueue []pair

func (q pairQueue) Len() int           { return len(q) }
func (q pairQueue) Less(i, j int) bool { return closest(q[i], q[j]) < 0 }
func (q pairQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *pairQueue) Push(x any)        { *q = append(*q, x.(pair)) } //nolint:forcetypeassert // Only push does.
func (q *pairQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
