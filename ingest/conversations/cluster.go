package conversations

import (
	"cmp"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// The similarity of issues. A pair is compared by the cosine of its vectors. Two groups are merged when their closest pair
// reaches pairThreshold and the mean over all pairs between them reaches meanThreshold, so that a chain of similar
// pairs does not join issues that have nothing in common.
const (
	pairThreshold = 0.25
	meanThreshold = 0.18
	// maxNeighbors bounds the pairs per issue: many equal issues would otherwise have quadratically many.
	maxNeighbors = 24
	// maxTypical is the number of issues named as examples of a group.
	maxTypical = 3
)

// MaxIssues is how many issues Cluster handles in an instant; callers pass the newest ones.
const MaxIssues = 5000

// Item is one issue. Key must be unique, and must not depend on when the issue came in.
type Item struct {
	Key    string
	Title  string
	Impact schema.Impact
	Words  []string
}

// Group is issues about the same thing. All indexes refer to the slice passed to Cluster.
type Group struct {
	Label  string
	Icon   string
	Impact schema.Impact
	// Members are in the order of their keys.
	Members []int
	// Typical are the members that are most like all the others, the most typical first.
	Typical []int
}

// Cluster groups issues. Every issue is in exactly one group; one that is like no other is a group of its own. The result
// depends on the set of issues only: it is computed in the order of the keys, and the groups are in the order of their
// first keys.
func Cluster(issues []Item) []Group {
	order := make([]int, len(issues))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(issues[a].Key, issues[b].Key) })
	sorted := make([]Item, len(issues))
	for i, original := range order {
		sorted[i] = issues[original]
	}
	vecs, vocabulary := vectors(sorted)
	forest := newForest(vecs)
	for _, p := range alike(vecs, len(vocabulary)) {
		forest.join(p)
	}
	var groups []Group
	for _, members := range forest.groups() {
		g := describe(sorted, vecs, vocabulary, forest.sums[forest.root(members[0])], members)
		for _, indexes := range [][]int{g.Members, g.Typical} {
			for i, member := range indexes {
				indexes[i] = order[member]
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// pair is two issues, a before b, and how alike they are.
type pair struct {
	a, b  int
	alike float64
}

// alike finds the pairs that reach the threshold, the closest first. It walks the terms of each issue and who else has
// them, so issues without a common term are never compared.
func alike(vecs []vector, terms int) []pair {
	type posting struct {
		issue  int
		weight float64
	}
	having := make([][]posting, terms)
	for i, v := range vecs {
		for _, e := range v {
			having[e.term] = append(having[e.term], posting{i, e.weight})
		}
	}
	closest := func(p, q pair) int {
		return cmp.Or(cmp.Compare(q.alike, p.alike), cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
	}
	var pairs, near []pair
	scores := make([]float64, len(vecs))
	var touched []int
	for i, v := range vecs {
		for _, e := range v {
			for _, other := range having[e.term] {
				if other.issue == i {
					continue
				}
				if scores[other.issue] == 0 {
					touched = append(touched, other.issue)
				}
				scores[other.issue] += e.weight * other.weight
			}
		}
		near = near[:0]
		for _, other := range touched {
			if scores[other] >= pairThreshold {
				near = append(near, pair{min(i, other), max(i, other), scores[other]})
			}
			scores[other] = 0
		}
		touched = touched[:0]
		slices.SortFunc(near, closest)
		pairs = append(pairs, near[:min(len(near), maxNeighbors)]...)
	}
	slices.SortFunc(pairs, closest)
	// Each pair is found twice, from both ends.
	return slices.Compact(pairs)
}

// forest is the groups so far: every issue leads to the root of its group, which holds the sum of the group's vectors.
type forest struct {
	parents []int
	sizes   []int
	sums    []vector
}

func newForest(vecs []vector) *forest {
	f := &forest{parents: make([]int, len(vecs)), sizes: make([]int, len(vecs)), sums: slices.Clone(vecs)}
	for i := range vecs {
		f.parents[i], f.sizes[i] = i, 1
	}
	return f
}

func (f *forest) root(i int) int {
	for f.parents[i] != i {
		f.parents[i] = f.parents[f.parents[i]]
		i = f.parents[i]
	}
	return i
}

// join merges the two groups of a pair, if they are similar as a whole. The lower root stays.
func (f *forest) join(p pair) {
	a, b := f.root(p.a), f.root(p.b)
	if a == b {
		return
	}
	a, b = min(a, b), max(a, b)
	if f.sums[a].dot(f.sums[b])/float64(f.sizes[a]*f.sizes[b]) < meanThreshold {
		return
	}
	f.parents[b] = a
	f.sums[a], f.sums[b] = f.sums[a].plus(f.sums[b]), nil
	f.sizes[a] += f.sizes[b]
}

// groups returns the members of every group in order; the first member is the root.
func (f *forest) groups() [][]int {
	var groups [][]int
	at := map[int]int{}
	for i := range f.parents {
		root := f.root(i)
		n, known := at[root]
		if !known {
			n = len(groups)
			at[root] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	return groups
}
