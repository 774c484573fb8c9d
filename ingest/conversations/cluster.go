package conversations

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"strings"
)

const (
	// threshold is how much more alike than usual the issues of two groups must be to be one problem.
	threshold = -0.1
	// mergeMargin is added for two clusters that both have issues which do not move.
	mergeMargin = 0.1
	// looseSize is the group size at which the mean similarity counts half when an issue changes its group. Small
	// groups are noisy.
	looseSize = 10
	// maxNeighbors bounds the pairs of an issue.
	maxNeighbors = 40
)

// The usual similarity of an issue is the mean over its nearest neighbors: a share of all, and of few issues more.
// Before there are many, it is guessed: as if there were assumedNear more neighbors of the similarity assumedAlike.
const (
	nearShare    = 0.05
	nearCount    = 20
	fewShare     = 1.0 / 3
	leastNear    = 10
	assumedNear  = 2
	assumedAlike = 0.15
	// With meanings, issues are more alike.
	assumedMeant = 0.3
)

// Item is an issue that may go to any cluster. Key must be unique, and must not depend on when the issue came in.
type Item struct {
	Key      string
	Language string
	Terms    []string
	// Meaning is nil if it is not known.
	Meaning Meaning
	// Cluster is the id of the cluster that it is in; empty for none.
	Cluster string
}

// Known is a cluster of an earlier analysis.
type Known struct {
	ID      string
	Profile Profile
	// Rests is whether it has issues that are not among the items: they stay, and so does the cluster.
	Rests bool
}

// Group is issues about the same thing. Clusters are indexes of the clusters that they are in from now on: none makes
// the group a new one, and of several the first goes on and takes in the others. Items are indexes of its issues.
type Group struct {
	Clusters []int
	Items    []int
}

// Method finds clusters. It counts the terms that it sees, and weighs them by their counts: one is made for each
// analysis.
type Method struct{ words *vocabulary }

// NewMethod makes a method that has seen nothing.
func NewMethod() *Method { return &Method{&vocabulary{having: map[string]float64{}}} }

// Assign groups issues with each other and with the clusters that there are. Every issue is in exactly one group, and
// issues of equal terms are in the same one. A cluster whose issues are all among the items goes on as the group that
// has the most of them. The result depends on the sets only: it is computed in the order of ids and keys.
func (m *Method) Assign(known []Known, items []Item) []Group {
	a := &assignment{known: known, items: items}
	a.addNodes(m.words)
	a.join(a.compare())
	a.settle()
	return a.result()
}

// assignment joins nodes, resting clusters before issues, into groups.
type assignment struct {
	known []Known
	items []Item
	nodes []*node
}

// node is a resting cluster, or an issue with those that have equal terms.
type node struct {
	vector
	// size is how many issues the vector is the sum of.
	size    float64
	cluster int
	items   []int
	usual   float64
	near    []neighbor
	group   *group
}

// group is nodes that are about the same thing.
type group struct {
	vector
	// usual is the sum of that of the issues.
	size, usual float64
	nodes       []int
	// rests is whether it has a resting cluster.
	rests bool
}

// neighbor is another node, and how alike it is.
type neighbor struct {
	node  int
	alike float64
}

func (a *assignment) addNodes(words *vocabulary) {
	var resting []int
	for i, k := range a.known {
		if k.Rests {
			resting = append(resting, i)
		}
	}
	slices.SortFunc(resting, func(i, j int) int { return strings.Compare(a.known[i].ID, a.known[j].ID) })
	for _, i := range resting {
		p := a.known[i].Profile
		words.count(p.Terms)
		a.nodes = append(a.nodes, &node{vector: p.vector(), size: float64(p.Issues), cluster: i})
	}
	order := make([]int, len(a.items))
	for i := range order {
		order[i] = i
		words.count(countTerms(a.items[i].Terms))
	}
	slices.SortFunc(order, func(i, j int) int {
		x, y := a.items[i], a.items[j]
		return cmp.Or(slices.Compare(x.Terms, y.Terms), strings.Compare(x.Key, y.Key))
	})
	for n, i := range order {
		item := a.items[i]
		if n > 0 && slices.Equal(item.Terms, a.items[order[n-1]].Terms) {
			last := a.nodes[len(a.nodes)-1]
			last.items = append(last.items, i)
			continue
		}
		v := vector{words.weigh(countTerms(item.Terms)), item.Meaning.vector(1)}
		a.nodes = append(a.nodes, &node{vector: v, size: 1, cluster: -1, items: []int{i}})
	}
}

// compare compares all nodes. It finds the nearest neighbors of each and their usual similarity, and makes every node a
// group.
func (a *assignment) compare() (pairs pairQueue) {
	row := make([]neighbor, 0, len(a.nodes))
	for i, n := range a.nodes {
		row = row[:0]
		for j, other := range a.nodes {
			if j != i || n.cluster >= 0 {
				row = append(row, neighbor{j, n.alike(other.vector) / (n.size * other.size)})
			}
		}
		slices.SortFunc(row, func(x, y neighbor) int {
			return cmp.Or(cmp.Compare(y.alike, x.alike), cmp.Compare(x.node, y.node))
		})
		n.usual = a.usual(row, n.meaning != nil)
		n.group = &group{vector: n.vector, size: n.size, usual: n.size * n.usual, nodes: []int{i}, rests: n.cluster >= 0}
		if n.cluster < 0 {
			n.near = slices.Clone(row[:min(len(row), maxNeighbors)])
		}
	}
	for i, n := range a.nodes {
		for _, other := range n.near {
			pairs.add(a, min(i, other.node), max(i, other.node))
		}
	}
	return pairs
}

// usual is the mean of the greatest similarities of a sorted row. A cluster counts as its issues do.
func (a *assignment) usual(row []neighbor, meant bool) float64 {
	all, alike := 0.0, assumedAlike
	for _, other := range row {
		all += a.nodes[other.node].size
	}
	if meant {
		alike = assumedMeant
	}
	left := max(leastNear, min(nearCount, fewShare*all), nearShare*all)
	sum, count := assumedNear*alike, float64(assumedNear)
	for _, other := range row {
		take := min(a.nodes[other.node].size, left)
		sum, count, left = sum+take*other.alike, count+take, left-take
		if left <= 0 {
			break
		}
	}
	return sum / count
}

// excess is how much more alike than usual the issues of two groups are.
func excess(g, h *group) float64 {
	return 2*g.alike(h.vector)/(g.size*h.size) - g.usual/g.size - h.usual/h.size
}

// pair is two nodes, and how much more alike than usual their groups are.
type pair struct {
	i, j   int
	excess float64
}

// pairQueue is a heap of pairs, the most alike first.
type pairQueue []pair

func (q pairQueue) Len() int      { return len(q) }
func (q pairQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q pairQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].excess, q[i].excess), cmp.Compare(q[i].i, q[j].i), cmp.Compare(q[i].j, q[j].j)) < 0
}
func (q *pairQueue) Push(x any) { *q = append(*q, x.(pair)) } // Only add does.
func (q *pairQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// add queues two nodes if their groups are alike enough.
func (q *pairQueue) add(a *assignment, i, j int) {
	g, h := a.nodes[i].group, a.nodes[j].group
	least := threshold
	if g.rests && h.rests {
		least += mergeMargin
	}
	if e := excess(g, h); g != h && e >= least {
		heap.Push(q, pair{i, j, e})
	}
}

// join joins the two groups that are most alike, until no two are alike enough (average linkage).
func (a *assignment) join(pairs pairQueue) {
	for len(pairs) > 0 {
		p := heap.Pop(&pairs).(pair) // It holds nothing else.
		g, h := a.nodes[p.i].group, a.nodes[p.j].group
		if g == h {
			continue
		}
		// Groups that have grown since they were queued are compared again.
		if excess(g, h) != p.excess {
			pairs.add(a, p.i, p.j)
			continue
		}
		if len(g.nodes) < len(h.nodes) {
			g, h = h, g
		}
		g.vector, g.size, g.usual, g.rests = g.plus(h.vector, 1), g.size+h.size, g.usual+h.usual, g.rests || h.rests
		g.nodes = append(g.nodes, h.nodes...)
		for _, n := range h.nodes {
			a.nodes[n].group = g
		}
	}
}

// settle lets each issue go to the group of a neighbor that it fits better, now that all groups are known.
func (a *assignment) settle() {
	for _, n := range a.nodes {
		if n.cluster >= 0 {
			continue
		}
		// An issue alone fits its own group with 0.
		own, best, most := n.group, n.group, 0.0
		own.add(n, -1)
		if own.size > 0 {
			most = n.fit(own)
		}
		seen := map[*group]bool{own: true}
		for _, other := range n.near {
			g := a.nodes[other.node].group
			if seen[g] {
				continue
			}
			seen[g] = true
			if fit := n.fit(g); fit > most && (fit >= 0 || !g.rests) {
				best, most = g, fit
			}
		}
		best.add(n, 1)
		n.group = best
	}
}

func (g *group) add(n *node, times float64) {
	g.vector, g.size, g.usual = g.plus(n.vector, times), g.size+times*n.size, g.usual+times*n.size*n.usual
}

// fit is how well an issue fits a group that it is not counted in.
func (n *node) fit(g *group) float64 {
	e := 2*n.alike(g.vector)/g.size - n.usual - g.usual/g.size
	return (e - threshold) * g.size / (g.size + looseSize)
}

// result lists the groups. Each cluster goes on in one of them, or was merged into it.
func (a *assignment) result() []Group {
	var groups []Group
	at := map[*group]int{}
	for _, n := range a.nodes {
		i, there := at[n.group]
		if !there {
			i = len(groups)
			at[n.group] = i
			groups = append(groups, Group{})
		}
		if n.cluster >= 0 {
			groups[i].Clusters = append(groups[i].Clusters, n.cluster)
		}
		groups[i].Items = append(groups[i].Items, n.items...)
	}
	a.keep(groups)
	return slices.DeleteFunc(groups, func(g Group) bool { return len(g.Items) == 0 && len(g.Clusters) < 2 })
}

// keep finds the groups in which the clusters go on that do not rest. The largest common parts are settled first.
func (a *assignment) keep(groups []Group) {
	index := map[string]int{}
	for i, k := range a.known {
		if !k.Rests {
			index[k.ID] = i
		}
	}
	type part struct{ cluster, group, size int }
	var parts []part
	for g, group := range groups {
		sizes := map[int]int{}
		for _, i := range group.Items {
			if cluster, there := index[a.items[i].Cluster]; there {
				sizes[cluster]++
			}
		}
		for _, cluster := range slices.Sorted(maps.Keys(sizes)) {
			parts = append(parts, part{cluster, g, sizes[cluster]})
		}
	}
	slices.SortStableFunc(parts, func(p, q part) int {
		return cmp.Or(cmp.Compare(q.size, p.size), strings.Compare(a.known[p.cluster].ID, a.known[q.cluster].ID))
	})
	done := map[int]bool{}
	// A group without a cluster goes first: a cluster is merged only if none is left for it.
	for _, merge := range []bool{false, true} {
		for _, p := range parts {
			if g := &groups[p.group]; !done[p.cluster] && (merge || len(g.Clusters) == 0) {
				done[p.cluster] = true
				g.Clusters = append(g.Clusters, p.cluster)
			}
		}
	}
}
