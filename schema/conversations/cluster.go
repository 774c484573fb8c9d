package conversations

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

const (
	// Two groups are about the same problem if the similarity of their issues exceeds the usual similarity by at least
	// `threshold`. If no issue has a meaning (see Meaning), wordsThreshold is used instead.
	threshold      = 0.05
	wordsThreshold = -0.1
	// mergeMargin is added to the threshold if both groups have a resting cluster. Users see when clusters are merged,
	// so a merge needs more similarity.
	mergeMargin = 0.1
	// looseSize is the size of a group for which the fit of an issue gets half of its weight. The fit gets less weight
	// for smaller groups, and more weight for larger groups.
	looseSize = 10
	// settlePasses is the largest number of passes in which issues move to better groups.
	settlePasses = 5
)

// Item is an issue that Assign puts into a group. Key must be unique, and must not depend on the time at which the
// issue was ingested.
type Item struct {
	Key      string
	Language string
	Terms    []string
	// Meaning is nil if the issue has no meaning.
	Meaning Meaning
	// Cluster is the id of the issue's present cluster. It is empty if the issue has no cluster.
	Cluster string
}

// Known is a cluster that an earlier analysis has made.
type Known struct {
	ID       string
	Language string
	Profile  Profile
	// Rests is true if the cluster has issues that are not among the items. Such a resting cluster continues to exist,
	// with these issues.
	Rests bool
}

// Group has issues about the same problem. Clusters has the indexes of the group's clusters in the list of known
// clusters. If the group has no cluster, it becomes a new cluster. If it has several clusters, all other clusters are
// merged into the first. Items has the indexes of the group's issues.
type Group struct{ Clusters, Items []int }

// Method groups issues. It counts in how many texts each term occurs, and weighs terms by these counts. For each
// analysis, a new Method is made.
type Method struct {
	// `having` has, for each term, the number of texts that contain the term.
	having map[string]float64
	texts  float64
}

// NewMethod returns a Method that has not counted any texts.
func NewMethod() *Method { return &Method{having: map[string]float64{}} }

// Assign groups issues with each other and with the existing clusters. Every issue is in exactly one group, and issues
// with equal terms are in the same group. If all issues of a cluster are among the items, the cluster continues as the
// group that has most of these issues. The result does not depend on the order of `known` and `items`, because Assign
// sorts them by ids and keys.
func (m *Method) Assign(known []Known, items []Item) []Group {
	a := &assignment{known: known, items: items, having: map[string][]neighbor{}, threshold: wordsThreshold}
	a.addNodes(m)
	if slices.ContainsFunc(a.nodes, func(n *node) bool { return n.cluster < 0 && len(n.meaning) > 0 }) {
		a.threshold = threshold
		a.center()
		a.share()
		a.compare()
		a.smooth()
	}
	a.compare()
	a.join()
	a.settle()
	return a.result()
}

// assignment is the state of one call of Assign. In `nodes`, resting clusters come before issues.
type assignment struct {
	known []Known
	items []Item
	nodes []*node
	// `having` has, for each term, the nodes that contain the term, with the term's weight in each node.
	having    map[string][]neighbor
	threshold float64
}

// node is either a resting cluster, or the issues that have equal terms. Its words and its meaning are sums over its
// issues. If a node has only one issue, each of these two vectors has length 1.
type node struct {
	words    []entry
	meaning  []float32
	language string
	size     float64
	// `cluster` is the index of the resting cluster, or -1 if the node has issues.
	cluster int
	items   []int
	// `usual` is the usual similarity of the node's issues to their nearest neighbors.
	usual float64
	near  []neighbor
	group *group
}

// group has nodes that are about the same problem. Its values are sums over its issues.
type group struct {
	words       map[string]float64
	meaning     []float32
	size, usual float64
	// `rests` reports whether the group has a resting cluster.
	rests bool
	// `language` is the language of the first node with a known language. It is empty if no node has a known language.
	language string
	nodes    []*node
}

// addNodes counts the terms of all texts, and then makes the nodes.
func (a *assignment) addNodes(m *Method) {
	var clusters, issues []int
	for i, k := range a.known {
		if k.Rests {
			clusters = append(clusters, i)
			m.count(slices.Collect(maps.Keys(k.Profile.Terms)))
		}
	}
	for i, item := range a.items {
		issues = append(issues, i)
		m.count(item.Terms)
	}
	slices.SortFunc(clusters, func(i, j int) int { return strings.Compare(a.known[i].ID, a.known[j].ID) })
	for _, i := range clusters {
		p := a.known[i].Profile
		a.nodes = append(a.nodes, &node{
			words: sorted(p.Terms), meaning: p.Meaning.vector(p.Length), language: a.known[i].Language,
			size: float64(p.Issues), cluster: i,
		})
	}
	slices.SortFunc(issues, func(i, j int) int {
		x, y := a.items[i], a.items[j]
		return cmp.Or(slices.Compare(x.Terms, y.Terms), strings.Compare(x.Key, y.Key))
	})
	for at, i := range issues {
		item := a.items[i]
		if at > 0 && slices.Equal(item.Terms, a.items[issues[at-1]].Terms) {
			last := a.nodes[len(a.nodes)-1]
			for k, e := range last.words {
				last.words[k].weight += e.weight / last.size
			}
			add(last.meaning, item.Meaning.vector(1), 1)
			last.size, last.items = last.size+1, append(last.items, i)
			continue
		}
		a.nodes = append(a.nodes, &node{
			words: m.weigh(item.Terms), meaning: item.Meaning.vector(1), language: item.Language,
			size: 1, cluster: -1, items: []int{i},
		})
	}
	for i, n := range a.nodes {
		for _, e := range n.words {
			a.having[e.term] = append(a.having[e.term], neighbor{i, e.weight})
		}
	}
}

// assumedTexts is added to the number of texts. So even the first issues of an organization have plausible weights. The
// other constants are the fractions of these assumed texts that contain a given term.
const (
	assumedTexts = 100
	thingShare   = 0.03
	wordShare    = 0.01
)

// count adds the terms of a text to the counts.
func (m *Method) count(terms []string) {
	m.texts++
	for term := range countTerms(terms) {
		m.having[term]++
	}
}

// weigh returns the weights of an issue's terms. A weight grows with the frequency of the term in the issue, and with
// its rarity in all texts (TF-IDF).
func (m *Method) weigh(terms []string) []entry {
	made, square := sorted(countTerms(terms)), 0.0
	for i, e := range made {
		share := wordShare
		if strings.HasPrefix(e.term, thingMark) {
			share = thingShare
		}
		share = (m.having[e.term] + assumedTexts*share) / (m.texts + assumedTexts)
		made[i].weight = math.Log(1+1/share) * (1 + math.Log(e.weight))
		square += made[i].weight * made[i].weight
	}
	for i := range made {
		made[i].weight /= math.Sqrt(square)
	}
	return made
}

// alike returns the sum of the similarities between a node's issues and a group's issues.
func (n *node) alike(g *group) float64 {
	words := 0.0
	for _, e := range n.words {
		words += e.weight * g.words[e.term]
	}
	if len(n.meaning) == 0 || len(g.meaning) == 0 {
		return words
	}
	return mixed(words, dot(n.meaning, g.meaning))
}

// add adds the values of a node's issues to the sums of a group. It first multiplies the values by `times`.
func (g *group) add(n *node, times float64) {
	for _, e := range n.words {
		g.words[e.term] += times * e.weight
	}
	// A group has a meaning only if all of its nodes have a meaning.
	g.meaning = g.meaning[:min(len(g.meaning), len(n.meaning))]
	add(g.meaning, n.meaning, times)
	g.size, g.usual = g.size+times*n.size, g.usual+times*n.size*n.usual
}

// pair has two nodes. `excess` is the similarity of the issues in the nodes' groups, less the usual similarity.
type pair struct {
	i, j   int
	excess float64
}

// leastAlike compares pairs. It puts the most similar pair at the end, because `join` takes pairs from the end.
func leastAlike(p, q pair) int {
	return cmp.Or(cmp.Compare(p.excess, q.excess), cmp.Compare(q.i, p.i), cmp.Compare(q.j, p.j))
}

// join first makes a group of every node. Then it repeatedly joins the two most similar groups (average linkage). It
// stops when no two groups are similar enough.
func (a *assignment) join() {
	for _, n := range a.nodes {
		n.group = &group{
			words: map[string]float64{}, meaning: make([]float32, len(n.meaning)), language: n.language,
			rests: n.cluster >= 0, nodes: []*node{n},
		}
		n.group.add(n, 1)
	}
	var pairs []pair
	for i, n := range a.nodes {
		for _, other := range n.near {
			if p := (pair{min(i, other.node), max(i, other.node), 0}); n.cluster < 0 && a.update(&p) {
				pairs = append(pairs, p)
			}
		}
	}
	slices.SortFunc(pairs, leastAlike)
	for len(pairs) > 0 {
		p := pairs[len(pairs)-1]
		pairs = pairs[:len(pairs)-1]
		was, g, h := p.excess, a.nodes[p.i].group, a.nodes[p.j].group
		switch enough := a.update(&p); {
		case !enough:
		case p.excess != was: // a group has grown since the comparison, so the pair gets a new place in the order
			at, _ := slices.BinarySearchFunc(pairs, p, leastAlike)
			pairs = slices.Insert(pairs, at, p)
		default:
			for _, n := range h.nodes {
				g.add(n, 1)
				n.group = g
			}
			g.rests, g.nodes = g.rests || h.rests, append(g.nodes, h.nodes...)
			g.language = cmp.Or(g.language, h.language)
		}
	}
}

// update compares the groups of a pair again. It reports whether they are two different groups that are similar enough
// to be joined.
func (a *assignment) update(p *pair) bool {
	g, h, alike, least := a.nodes[p.i].group, a.nodes[p.j].group, 0.0, a.threshold
	if g == h || !canCompare(g.language, h.language, g.meaning, h.meaning) {
		return false
	}
	if len(g.nodes) < len(h.nodes) {
		g, h = h, g
	}
	for _, n := range h.nodes {
		alike += n.alike(g)
	}
	if g.rests && h.rests {
		least += mergeMargin
	}
	p.excess = 2*alike/(g.size*h.size) - g.usual/g.size - h.usual/h.size
	return p.excess >= least
}

// settle moves issues to better groups after all groups are formed. An issue moves to the group of a neighbor if the
// issue fits this group better.
func (a *assignment) settle() {
	for range settlePasses {
		moved := false
		for _, n := range a.nodes {
			moved = n.cluster < 0 && a.move(n) || moved
		}
		if !moved {
			return
		}
	}
}

// move moves an issue to the group that it fits best. It returns true if the issue was in another group before.
func (a *assignment) move(n *node) bool {
	// If a group has only this issue, the fit of the issue to the group is 0.
	own, best, most := n.group, n.group, 0.0
	if own.add(n, -1); own.size > 0 {
		most = a.fit(n, own)
	}
	for _, other := range n.near {
		g := a.nodes[other.node].group
		if g == own || !canCompare(n.language, g.language, n.meaning, g.meaning) {
			continue
		}
		if fit := a.fit(n, g); fit > most && (fit >= 0 || !g.rests) {
			best, most = g, fit
		}
	}
	best.add(n, 1)
	n.group = best
	return best != own
}

// fit returns how well an issue fits the other issues of a group. The fit to a small group is less certain, so it gets
// less weight.
func (a *assignment) fit(n *node, g *group) float64 {
	excess := 2*n.alike(g)/(n.size*g.size) - n.usual - g.usual/g.size
	return (excess - a.threshold) * g.size / (g.size + looseSize)
}

// result returns the groups. Each cluster continues in one group, or is merged into a group.
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

// keep finds, for each cluster that does not rest, the group that continues the cluster. It begins with the cluster and
// the group that share the most issues.
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
	// Clusters are first matched with groups that have no cluster yet. A cluster is merged into another cluster only if
	// all groups with its issues already have a cluster.
	for _, merge := range []bool{false, true} {
		for _, p := range parts {
			if g := &groups[p.group]; !done[p.cluster] && (merge || len(g.Clusters) == 0) {
				done[p.cluster] = true
				g.Clusters = append(g.Clusters, p.cluster)
			}
		}
	}
}
