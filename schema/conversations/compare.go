package conversations

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// The usual similarity of a node is its mean similarity to its nearest neighbors. The number of nearest neighbors is
// the fraction nearShare of all issues, and at least nearLeast. If there are few issues, they have few problems, so
// most neighbors of an issue have the same problem. In this case, issues with meanings have more neighbors: the
// fraction someShare of the issues, up to nearSome issues. The mean includes assumedNear neighbors with an assumed
// similarity. So even the first issues get plausible values.
const (
	nearShare   = 0.1
	nearLeast   = 10
	nearSome    = 20
	someShare   = 1.0 / 3
	assumedNear = 2
	// assumedMeant is the assumed similarity of issues with meanings from a model. assumedWords is the assumed
	// similarity of issues without meanings.
	assumedMeant = 0.3
	assumedWords = 0.15
	// maxNeighbors is the largest number of neighbors with which an issue forms pairs.
	maxNeighbors = 40
)

// neighbor is another node, with its similarity to a node.
type neighbor struct {
	node  int
	alike float64
}

// mostAlike compares neighbors. It puts the most similar neighbor first.
func mostAlike(x, y neighbor) int {
	if x.alike != y.alike { // cmp.Or would always compare the numbers of the nodes too
		return cmp.Compare(y.alike, x.alike)
	}
	return x.node - y.node
}

// compare determines the nearest neighbors of each node, and the usual similarity of the node.
func (a *assignment) compare() {
	words, row := make([]float64, len(a.nodes)), make([]neighbor, 0, len(a.nodes))
	// products has the dot products of each node's meaning with itself and with the meanings of later nodes.
	products := make([][]float32, len(a.nodes))
	for i, n := range a.nodes {
		clear(words)
		for _, e := range n.words {
			for _, having := range a.having[e.term] {
				words[having.node] += e.weight * having.alike
			}
		}
		row, products[i] = row[:0], make([]float32, len(a.nodes)-i)
		for j, other := range a.nodes {
			product := &products[min(i, j)][max(i, j)-min(i, j)]
			if j >= i {
				*product = float32(dot(n.meaning, other.meaning))
			}
			if j == i && n.size == 1 || !canCompare(n.language, other.language, n.meaning, other.meaning) {
				continue
			}
			alike := words[j]
			if len(n.meaning) > 0 && len(other.meaning) > 0 {
				alike = mixed(alike, float64(*product))
			}
			row = append(row, neighbor{j, alike / (n.size * other.size)})
		}
		slices.SortFunc(row, mostAlike)
		n.usual, n.near = a.usual(row, len(n.meaning) > 0), slices.Clone(row[:min(len(row), maxNeighbors)])
	}
}

// canCompare reports whether issues in two languages, with the meanings v and w, can be about one problem. Words of
// different languages cannot be compared, but their meanings can.
func canCompare(language, other string, v, w []float32) bool {
	return language == other || language == "" || other == "" || len(v) > 0 && len(w) > 0
}

// usual returns the mean of the greatest similarities in a sorted row. A node counts once for each of its issues.
func (a *assignment) usual(row []neighbor, meant bool) float64 {
	all := 0.0
	for _, other := range row {
		all += a.nodes[other.node].size
	}
	left, alike := nearShare*all, assumedWords
	if meant {
		left, alike = max(left, min(nearSome, someShare*all)), assumedMeant
	}
	left = max(math.Floor(left), nearLeast)
	sum, count := assumedNear*alike, float64(assumedNear)
	for _, other := range row {
		take := min(a.nodes[other.node].size, left)
		sum, count, left = sum+take*other.alike, count+take, left-take
	}
	return sum / count
}

// The meaning of a single text also depends on its style. If the meanings of similar issues are added, the style has
// less influence.
const (
	// assumedIssues is the number of assumed issues without a meaning. The function `center` subtracts the mean of all
	// issues, and this mean includes the assumed issues.
	assumedIssues = 20
	// smoothNear is the number of neighbors whose meanings are added to an issue's meaning. smoothLeast is the least
	// excess of these neighbors.
	smoothNear  = 8
	smoothLeast = -0.1
)

// center subtracts the mean of all meanings, so that only the differences between meanings remain.
func (a *assignment) center() {
	mean, all := make([]float32, meaningSize), float64(assumedIssues)
	for _, n := range a.nodes {
		if len(n.meaning) > 0 {
			add(mean, n.meaning, 1)
			all += n.size
		}
	}
	for _, n := range a.nodes {
		add(n.meaning, mean, -n.size/all)
	}
	a.even()
}

// share adds the meanings of a node's words to the meaning of the node. The meaning of a word is the sum of the
// meanings of the issues that contain the word.
func (a *assignment) share() {
	shared := make([][]float32, len(a.nodes))
	for i, n := range a.nodes {
		shared[i] = make([]float32, len(n.meaning))
	}
	for _, term := range slices.Sorted(maps.Keys(a.having)) {
		word := make([]float32, meaningSize)
		for _, having := range a.having[term] {
			add(word, a.nodes[having.node].meaning, having.alike/a.nodes[having.node].size)
		}
		length := max(lengthOf(word), 1e-9)
		for _, having := range a.having[term] {
			add(shared[having.node], word, having.alike/length)
		}
	}
	for i, n := range a.nodes {
		add(n.meaning, shared[i], n.size/max(lengthOf(shared[i]), 1e-9))
	}
	a.even()
}

// smooth adds the meanings of a node's nearest neighbors to the meaning of the node. All neighbors together have the
// same weight as the node.
func (a *assignment) smooth() {
	smoothed := make([][]float32, len(a.nodes))
	for i, n := range a.nodes {
		smoothed[i] = slices.Clone(n.meaning)
		var near []neighbor
		for _, other := range n.near {
			if excess := 2*other.alike - n.usual - a.nodes[other.node].usual; excess >= smoothLeast {
				near = append(near, neighbor{other.node, excess})
			}
		}
		slices.SortFunc(near, mostAlike)
		for _, other := range near[:min(len(near), smoothNear)] {
			add(smoothed[i], a.nodes[other.node].meaning, n.size/(smoothNear*a.nodes[other.node].size))
		}
	}
	for i, n := range a.nodes {
		n.meaning = smoothed[i]
	}
	a.even()
}

// even scales the meanings of issues to length 1 again. The meaning of a cluster is a sum over its issues. This sum is
// scaled by the same factor as the meanings of issues.
func (a *assignment) even() {
	sum, count := 0.0, 0.0
	for _, n := range a.nodes {
		if length := lengthOf(n.meaning); length > 0 && n.cluster < 0 {
			scale(n.meaning, n.size/length)
			sum, count = sum+length/n.size, count+1
		}
	}
	for _, n := range a.nodes {
		if n.cluster >= 0 && count > 0 {
			scale(n.meaning, count/sum)
		}
	}
}
