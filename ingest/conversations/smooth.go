package conversations

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/gonum"
)

// The vector of a single text is also about how it is written. What it means is told better together with what other issues mean:
// those that share its words, and those that are most like it. That is found anew in each analysis, and not kept.
const (
	// assumedIssues is how many issues without any meaning are assumed before the mean of all is taken away.
	assumedIssues = 20
	// smoothNear is how many of the most similar issues count, all together as much as the issue itself.
	smoothNear = 8
	// leastNear is how much more alike than usual they are at least.
	leastNear = -0.1
)

// center takes away what all issues mean, so that only what tells them apart is left.
func (a *assignment) center() {
	mean, all := make([]float32, meaningSize), float64(assumedIssues)
	for node, v := range a.single {
		if v.meaning != nil {
			add(mean, v.meaning, 1)
			all += float64(a.sizes[node])
		}
	}
	centered := make([][]float32, len(a.single))
	for node, v := range a.single {
		if v.meaning != nil {
			centered[node] = added(v.meaning, mean, -float32(float64(a.sizes[node])/all))
		}
	}
	a.mean(centered)
}

// addShared adds to what each issue means what its words mean: the direction of all issues that have them.
func (a *assignment) addShared() {
	shared := make([][]float32, len(a.single))
	for node, v := range a.single {
		if v.meaning != nil {
			shared[node] = make([]float32, meaningSize)
		}
	}
	word := make([]float32, meaningSize)
	for _, having := range a.having {
		clear(word)
		for _, h := range having {
			if v := a.single[h.node]; v.meaning != nil {
				add(word, v.meaning, h.alike/float64(a.sizes[h.node]))
			}
		}
		length := math.Sqrt(dot(word, word))
		for _, h := range having {
			if length > 0 && shared[h.node] != nil {
				add(shared[h.node], word, h.alike/length)
			}
		}
	}
	a.even(shared)
	for node, v := range a.single {
		if v.meaning != nil {
			add(shared[node], v.meaning, 1)
		}
	}
	a.mean(shared)
}

// smooth adds to what each issue means what those mean that are most like it. A cluster has its own among its issues.
func (a *assignment) smooth(near [][]similar) {
	smoothed := make([][]float32, len(a.single))
	for node, v := range a.single {
		if v.meaning == nil {
			continue
		}
		smoothed[node] = slices.Clone(v.meaning)
		for _, other := range a.nearest(node, near[node]) {
			add(smoothed[node], a.single[other].meaning, 1/float64(smoothNear*a.sizes[other]))
		}
	}
	a.mean(smoothed)
}

// nearest gives those that are more alike to an issue than usual, the most first.
func (a *assignment) nearest(node int, near []similar) []int {
	var found []similar
	for _, other := range near {
		if excess := 2*other.alike - a.own[node] - a.own[other.node]; excess >= leastNear && a.single[other.node].meaning != nil {
			found = append(found, similar{other.node, excess})
		}
	}
	slices.SortFunc(found, mostAlike)
	var nodes []int
	for _, other := range found[:min(len(found), smoothNear)] {
		nodes = append(nodes, other.node)
	}
	return nodes
}

// mean makes these the meanings of all nodes.
func (a *assignment) mean(vectors [][]float32) {
	a.even(vectors)
	for node := range a.single {
		a.single[node].meaning = vectors[node]
	}
}

// even gives the vectors of issues length 1, and those of clusters, which are sums, about the length as if that had been done with those
// of their issues.
func (a *assignment) even(vectors [][]float32) {
	sum, count := 0.0, 0.0
	for node, v := range vectors {
		if v == nil || a.fixed[node] {
			continue
		}
		if length := math.Sqrt(dot(v, v)); length > 0 {
			gonum.Implementation{}.Sscal(len(v), float32(1/length), v, 1)
			sum, count = sum+length, count+1
		}
	}
	for node, v := range vectors {
		if v != nil && a.fixed[node] && count > 0 {
			gonum.Implementation{}.Sscal(len(v), float32(count/sum), v, 1)
		}
	}
}

func add(sum, v []float32, times float64) {
	gonum.Implementation{}.Saxpy(len(v), float32(times), v, 1, sum, 1)
}

// similar is how alike a node is to another one, or how much a term counts in it.
type similar struct {
	node  int
	alike float64
}

func mostAlike(x, y similar) int {
	return cmp.Or(cmp.Compare(y.alike, x.alike), cmp.Compare(x.node, y.node))
}
