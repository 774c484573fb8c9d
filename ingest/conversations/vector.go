package conversations

import (
	"cmp"
	"math"
	"slices"
)

// entry is one weighted term of a vector.
type entry struct {
	term   int
	weight float64
}

// vector is sparse and sorted by term. Every sum over it runs in this order, so that equal inputs give equal bits.
type vector []entry

func (v vector) dot(w vector) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(v) && j < len(w); {
		switch {
		case v[i].term < w[j].term:
			i++
		case v[i].term > w[j].term:
			j++
		default:
			sum += v[i].weight * w[j].weight
			i++
			j++
		}
	}
	return sum
}

func (v vector) plus(w vector) vector {
	sum := make(vector, 0, len(v)+len(w))
	i, j := 0, 0
	for i < len(v) && j < len(w) {
		switch {
		case v[i].term < w[j].term:
			sum = append(sum, v[i])
			i++
		case v[i].term > w[j].term:
			sum = append(sum, w[j])
			j++
		default:
			sum = append(sum, entry{v[i].term, v[i].weight + w[j].weight})
			i++
			j++
		}
	}
	return append(append(sum, v[i:]...), w[j:]...)
}

// vectors weighs the stems of every issue by how often they stand in it and how few others have them, at length 1. Terms
// are numbered in alphabetical order.
func vectors(issues []Item) (vecs []vector, vocabulary []string) {
	counts := make([]map[string]int, len(issues))
	having := map[string]int{}
	for i, issue := range issues {
		counts[i] = map[string]int{}
		for _, word := range issue.Words {
			counts[i][stem(word)]++
		}
		for term := range counts[i] {
			having[term]++
		}
	}
	for term := range having {
		vocabulary = append(vocabulary, term)
	}
	slices.Sort(vocabulary)
	numbers := make(map[string]int, len(vocabulary))
	for i, term := range vocabulary {
		numbers[term] = i
	}
	vecs = make([]vector, len(issues))
	for i := range issues {
		v := make(vector, 0, len(counts[i]))
		for term, count := range counts[i] {
			rarity := math.Log(1 + float64(len(issues))/float64(having[term]))
			v = append(v, entry{numbers[term], (1 + math.Log(float64(count))) * rarity})
		}
		slices.SortFunc(v, func(a, b entry) int { return cmp.Compare(a.term, b.term) })
		length := math.Sqrt(v.dot(v))
		for k := range v {
			v[k].weight /= length
		}
		vecs[i] = v
	}
	return vecs, vocabulary
}
