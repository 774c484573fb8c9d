package conversations

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// meaningSize is the number of values of a meaning.
const meaningSize = 512

// Meaning is the vector of an issue as it is stored: one signed byte a value, in a scale of its own. It is empty
// without a model.
type Meaning []byte

// NewMeaning stores a vector.
func NewMeaning(vector []float32) Meaning {
	most := float32(0)
	for _, x := range vector {
		most = max(most, x, -x)
	}
	if most == 0 || len(vector) != meaningSize {
		return nil
	}
	stored := make(Meaning, len(vector))
	for i, x := range vector {
		stored[i] = byte(int8(math.Round(float64(x / most * math.MaxInt8))))
	}
	return stored
}

// vector has this length. It is nil if nothing is stored.
func (m Meaning) vector(length float64) []float32 {
	if len(m) != meaningSize {
		return nil
	}
	square := 0
	for _, b := range m {
		square += int(int8(b)) * int(int8(b))
	}
	made := make([]float32, meaningSize)
	for i, b := range m {
		made[i] = float32(float64(int8(b)) * length / math.Sqrt(max(float64(square), 1)))
	}
	return made
}

// entry is the weight of a term.
type entry struct {
	term   string
	weight float64
}

// vector is the words and the meaning of an issue, each of length 1, or the sum of several issues.
type vector struct {
	// words are sorted by their terms, so that sums have the same bits every time.
	words   []entry
	meaning []float32
}

// alike is the sum of the similarities between the issues of two sums.
func (v vector) alike(w vector) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(v.words) && j < len(w.words); {
		switch order := strings.Compare(v.words[i].term, w.words[j].term); {
		case order < 0:
			i++
		case order > 0:
			j++
		default:
			sum += v.words[i].weight * w.words[j].weight
			i++
			j++
		}
	}
	if v.meaning == nil || w.meaning == nil {
		return sum
	}
	return (sum + dot(v.meaning, w.meaning)) / 2
}

// dot is a dot product. Four sums at a time are faster than one.
func dot(v, w []float32) float64 {
	var a, b, c, d float32
	for w = w[:len(v)]; len(v) >= 4 && len(w) >= 4; v, w = v[4:], w[4:] {
		a, b, c, d = a+v[0]*w[0], b+v[1]*w[1], c+v[2]*w[2], d+v[3]*w[3]
	}
	return float64(a + b + c + d)
}

// addTo adds a vector to a sum, so many times.
func addTo(sum, v []float32, times float32) {
	for i, x := range v {
		sum[i] += times * x
	}
}

// plus adds another vector, so many times.
func (v vector) plus(w vector, times float64) vector {
	sum := vector{words: make([]entry, 0, len(v.words)+len(w.words))}
	i := 0
	for _, e := range w.words {
		for i < len(v.words) && v.words[i].term < e.term {
			sum.words = append(sum.words, v.words[i])
			i++
		}
		weight := times * e.weight
		if i < len(v.words) && v.words[i].term == e.term {
			weight += v.words[i].weight
			i++
		}
		// What is taken away leaves nothing but rounding.
		if math.Abs(weight) > 1e-9 {
			sum.words = append(sum.words, entry{e.term, weight})
		}
	}
	sum.words = append(sum.words, v.words[i:]...)
	if v.meaning != nil && w.meaning != nil {
		sum.meaning = slices.Clone(v.meaning)
		addTo(sum.meaning, w.meaning, float32(times))
	}
	return sum
}

// vocabulary counts how many texts have a term.
type vocabulary struct {
	having map[string]float64
	texts  float64
}

func (v *vocabulary) count(terms map[string]float64) {
	v.texts++
	for term := range terms {
		v.having[term]++
	}
}

// Before an organization has many issues, the share of texts that have a term is guessed: as if there were assumedTexts
// more.
const (
	assumedTexts = 100
	thingShare   = 0.05
	wordShare    = 0.01
)

// weigh weighs the terms of an issue by how often they are in it, and how few issues have them (TF-IDF).
func (v *vocabulary) weigh(counts map[string]float64) []entry {
	made := entries(counts)
	square := 0.0
	for i, e := range made {
		usual := wordShare
		if strings.HasPrefix(e.term, thingMark) {
			usual = thingShare
		}
		share := (v.having[e.term] + assumedTexts*usual) / (v.texts + assumedTexts)
		made[i].weight = math.Log(1+1/share) * (1 + math.Log(e.weight))
		square += made[i].weight * made[i].weight
	}
	for i := range made {
		made[i].weight /= math.Sqrt(square)
	}
	return made
}

func entries(weights map[string]float64) []entry {
	made := make([]entry, 0, len(weights))
	for _, term := range slices.Sorted(maps.Keys(weights)) {
		made = append(made, entry{term, weights[term]})
	}
	return made
}

func countTerms(terms []string) map[string]float64 {
	counts := map[string]float64{}
	for _, term := range terms {
		counts[term]++
	}
	return counts
}

// maxProfileTerms bounds what is stored of a cluster.
const maxProfileTerms = 64

// Profile is the sum of the vectors of a cluster's issues, as it is stored between analyses.
type Profile struct {
	// Issues is how many issues it was made of.
	Issues int                `json:"issues"`
	Terms  map[string]float64 `json:"terms"`
	// Meaning is the direction of the sum of the issues' meanings, and Length its length.
	Meaning Meaning `json:"meaning,omitempty"`
	Length  float64 `json:"length,omitempty"`
}

// profileOf makes the profile of a cluster of its issues.
func (v *vocabulary) profileOf(issues []Item) Profile {
	sum, meant, known := vector{}, make([]float32, meaningSize), 0.0
	for _, issue := range issues {
		sum = sum.plus(vector{words: v.weigh(countTerms(issue.Terms))}, 1)
		if meaning := issue.Meaning.vector(1); meaning != nil {
			addTo(meant, meaning, 1)
			known++
		}
	}
	p := Profile{Issues: len(issues), Terms: map[string]float64{}, Meaning: NewMeaning(meant)}
	slices.SortStableFunc(sum.words, func(a, b entry) int { return cmp.Compare(b.weight, a.weight) })
	for _, e := range sum.words[:min(len(sum.words), maxProfileTerms)] {
		p.Terms[e.term] = rounded(e.weight)
	}
	if known > 0 {
		// Issues without a meaning, from before there was a model, count as the others do.
		p.Length = rounded(math.Sqrt(dot(meant, meant)) * float64(len(issues)) / known)
	}
	return p
}

// rounded leaves three digits: more would take room in the database and say nothing.
func rounded(x float64) float64 { return math.Round(1000*x) / 1000 }

func (p Profile) vector() vector { return vector{entries(p.Terms), p.Meaning.vector(p.Length)} }
