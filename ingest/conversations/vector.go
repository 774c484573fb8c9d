package conversations

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/gonum"
)

// entry is one weighted term of a vector.
type entry struct {
	term   int32
	weight float32
}

// vector says what an issue, or the sum of several, is about: by its words, and by what it means as a whole. Those of an issue have
// length 1.
type vector struct {
	words words
	// meaning is nil if it is not known of all issues.
	meaning []float32
}

// alike is the sum of the similarities between the issues of two sums: the dot product is linear.
func (v vector) alike(w vector) float64 {
	sum := v.words.alike(w.words)
	if v.meaning == nil || w.meaning == nil {
		return sum
	}
	return mixed(sum, dot(v.meaning, w.meaning))
}

// mixed is how alike two are whose words and meanings are so much alike. The meaning counts twice.
func mixed(words, meaning float64) float64 { return (words + 2*meaning) / 3 }

func dot(v, w []float32) float64 {
	return float64(gonum.Implementation{}.Sdot(len(v), v, 1, w, 1))
}

func (v vector) plus(w vector) vector {
	return vector{v.words.plus(w.words), added(v.meaning, w.meaning, 1)}
}

// minus takes away what plus added. What is left of a term that only w had is nothing, up to rounding.
func (v vector) minus(w vector) vector {
	return vector{v.words.minus(w.words), added(v.meaning, w.meaning, -1)}
}

func added(v, w []float32, times float32) []float32 {
	if v == nil || w == nil {
		return nil
	}
	sum := slices.Clone(v)
	gonum.Implementation{}.Saxpy(len(w), times, w, 1, sum, 1)
	return sum
}

// words are weighted terms, sorted by their numbers.
type words []entry

func (v words) alike(w words) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(v) && j < len(w); {
		switch a, b := v[i], w[j]; {
		case a.term < b.term:
			i++
		case a.term > b.term:
			j++
		default:
			sum += float64(a.weight) * float64(b.weight)
			i++
			j++
		}
	}
	return sum
}

func (v words) plus(w words) words {
	sum := make(words, 0, len(v)+len(w))
	i, j := 0, 0
	for i < len(v) || j < len(w) {
		switch {
		case j == len(w) || i < len(v) && v[i].term < w[j].term:
			sum = append(sum, v[i])
			i++
		case i == len(v) || v[i].term > w[j].term:
			sum = append(sum, w[j])
			j++
		default:
			sum = append(sum, entry{v[i].term, v[i].weight + w[j].weight})
			i++
			j++
		}
	}
	return sum
}

// vocabulary numbers terms, and counts in how many vectors each is.
type vocabulary struct {
	numbers map[string]int32
	terms   []string
	having  []float64
	all     float64
}

func newVocabulary() *vocabulary { return &vocabulary{numbers: map[string]int32{}} }

func (v *vocabulary) number(term string) int32 {
	n, known := v.numbers[term]
	if !known {
		n = int32(len(v.terms)) // Memory ends first.
		v.numbers[term] = n
		v.terms, v.having = append(v.terms, term), append(v.having, 0)
	}
	return n
}

// count notes that there is one more text with these terms. They are numbered in one order: sums are made in that of their numbers.
func (v *vocabulary) count(terms map[string]float64) {
	v.all++
	for _, term := range sortedKeys(terms) {
		v.having[v.number(term)]++
	}
}

// Before an organization has many issues, how often terms are in them is guessed: assumedTexts are added, in which a thing and
// any other term are as frequent as they are in general.
const (
	assumedTexts = 100
	usualThing   = 0.03
	usualStem    = 0.01
)

// weight tells how much a term says: the fewer have it, the more.
func (v *vocabulary) weight(term string) float64 {
	usual := usualStem
	if strings.HasPrefix(term, thingMark) {
		usual = usualThing
	}
	share := (v.having[v.number(term)] + assumedTexts*usual) / (v.all + assumedTexts)
	return math.Log(1 + 1/share)
}

// vectorOf weighs the terms of an issue by how often they are in it and how much they say.
func (v *vocabulary) vectorOf(counts map[string]float64) words {
	var made words
	sum := 0.0
	// In one order, so that equal issues have vectors with equal bits.
	for _, term := range sortedKeys(counts) {
		weight := v.weight(term) * (1 + math.Log(counts[term]))
		sum += weight * weight
		made = append(made, entry{v.number(term), float32(weight)})
	}
	length := float32(math.Sqrt(sum))
	for i := range made {
		made[i].weight /= length
	}
	slices.SortFunc(made, func(a, b entry) int { return cmp.Compare(a.term, b.term) })
	return made
}

func countTerms(terms []string) map[string]float64 {
	counts := map[string]float64{}
	for _, term := range terms {
		counts[term]++
	}
	return counts
}

func (v words) minus(w words) words {
	negative := slices.Clone(w)
	for i := range negative {
		negative[i].weight = -negative[i].weight
	}
	return slices.DeleteFunc(v.plus(negative), func(e entry) bool { return e.weight < 1e-6 })
}
