package conversations

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/gonum"
)

// meaningSize is the number of values of a meaning.
const meaningSize = 512

// Meaning is the stored vector of an issue: one signed byte for each value, scaled so that the largest value uses the
// full range. It is empty if there is no model.
type Meaning []byte

// NewMeaning converts a vector to its stored form. It returns nil for a vector of another size.
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

// vector returns a vector of the given length in the stored direction. It returns nil if the meaning is empty.
func (m Meaning) vector(length float64) []float32 {
	if len(m) != meaningSize {
		return nil
	}
	made := make([]float32, meaningSize)
	for i, b := range m {
		made[i] = float32(int8(b))
	}
	scale(made, length/max(lengthOf(made), 1))
	return made
}

// dot is the dot product of two vectors, up to the end of the shorter one.
func dot(v, w []float32) float64 {
	return float64(gonum.Implementation{}.Sdot(min(len(v), len(w)), v, 1, w, 1))
}

func lengthOf(v []float32) float64 { return math.Sqrt(dot(v, v)) }

func scale(v []float32, times float64) {
	for i := range v {
		v[i] *= float32(times)
	}
}

// add adds a vector to a sum, multiplied by times. If the vector or the sum is nil, it does nothing.
func add(sum, v []float32, times float64) {
	gonum.Implementation{}.Saxpy(min(len(sum), len(v)), float32(times), v, 1, sum, 1)
}

// entry is the weight of a term.
type entry struct {
	term   string
	weight float64
}

// sorted returns weights in the order of their terms, so that sums of weights have the same bits every time.
func sorted(weights map[string]float64) []entry {
	made := make([]entry, 0, len(weights))
	for _, term := range slices.Sorted(maps.Keys(weights)) {
		made = append(made, entry{term, weights[term]})
	}
	return made
}

// mixed returns the similarity of two issues from the similarities of their words and their meanings. The similarity of
// the meanings has twice the weight.
func mixed(words, meanings float64) float64 { return (words + 2*meanings) / 3 }

// countTerms returns how often each term occurs.
func countTerms(terms []string) map[string]float64 {
	counts := map[string]float64{}
	for _, term := range terms {
		counts[term]++
	}
	return counts
}

// maxProfileTerms is the largest number of terms that a cluster's profile stores.
const maxProfileTerms = 64

// Profile is the sum of the vectors of a cluster's issues, in the form that is stored between analyses.
type Profile struct {
	// Issues is the number of issues in the sum.
	Issues int                `json:"issues"`
	Terms  map[string]float64 `json:"terms"`
	// Meaning is the direction of the sum of the issues' meanings, and Length is the length of this sum.
	Meaning Meaning `json:"meaning,omitempty"`
	Length  float64 `json:"length,omitempty"`
}

// profileOf makes the profile of a cluster from its issues.
func (m *Method) profileOf(issues []Sampled) Profile {
	p := Profile{Issues: len(issues), Terms: map[string]float64{}}
	sum, meant, known := map[string]float64{}, make([]float32, meaningSize), 0.0
	for _, issue := range issues {
		for _, e := range m.weigh(issue.Terms) {
			sum[e.term] += e.weight
		}
		if meaning := issue.Meaning.vector(1); meaning != nil {
			add(meant, meaning, 1)
			known++
		}
	}
	terms := sorted(sum)
	slices.SortStableFunc(terms, func(a, b entry) int { return cmp.Compare(b.weight, a.weight) })
	for _, e := range terms[:min(len(terms), maxProfileTerms)] {
		p.Terms[e.term] = rounded(e.weight)
	}
	if known > 0 {
		// Issues that are older than the model have no meaning. For these issues, use the mean of the other issues'
		// meanings.
		p.Meaning, p.Length = NewMeaning(meant), rounded(lengthOf(meant)*float64(len(issues))/known)
	}
	return p
}

// rounded rounds to three decimals. More decimals would only need more space in the database.
func rounded(x float64) float64 { return math.Round(1000*x) / 1000 }
