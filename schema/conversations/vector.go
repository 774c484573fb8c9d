package conversations

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/gonum"
)

// meaningSize is the number of values in a meaning.
const meaningSize = 512

// Meaning is the vector of an issue's meaning in its stored form: one signed byte for each value, scaled so that the
// largest value uses the full range. It is empty if there is no model.
type Meaning []byte

// NewMeaning converts a vector to its stored form. It returns nil if the vector does not have meaningSize values.
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

// vector returns a vector with the direction of the meaning and with the given length. It returns nil if the meaning is
// empty.
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

// dot returns the dot product of two vectors. It ignores the values after the end of the shorter vector.
func dot(v, w []float32) float64 {
	return float64(gonum.Implementation{}.Sdot(min(len(v), len(w)), v, 1, w, 1))
}

func lengthOf(v []float32) float64 { return math.Sqrt(dot(v, v)) }

func scale(v []float32, times float64) {
	for i := range v {
		v[i] *= float32(times)
	}
}

// add multiplies a vector by `times` and adds it to a sum. If the vector or the sum is nil, `add` does nothing.
func add(sum, v []float32, times float64) {
	gonum.Implementation{}.Saxpy(min(len(sum), len(v)), float32(times), v, 1, sum, 1)
}

// entry is a term with its weight.
type entry struct {
	term   string
	weight float64
}

// sorted returns weights in the order of their terms, so that sums of the weights are exactly equal every time.
func sorted(weights map[string]float64) []entry {
	made := make([]entry, 0, len(weights))
	for _, term := range slices.Sorted(maps.Keys(weights)) {
		made = append(made, entry{term, weights[term]})
	}
	return made
}

// mixed returns the similarity of two issues. Its arguments are the similarities of their words and of their meanings.
// The similarity of the meanings has twice the weight.
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

// Profile has the sums of the vectors of a cluster's issues. It is stored between two analyses.
type Profile struct {
	// Issues is the number of issues in the sums.
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
		// Issues that are older than the model have no meaning. The mean of the other issues' meanings replaces their
		// meanings.
		p.Meaning, p.Length = NewMeaning(meant), rounded(lengthOf(meant)*float64(len(issues))/known)
	}
	return p
}

// rounded rounds a number to three decimals. More decimals would only need more space in the database.
func rounded(x float64) float64 { return math.Round(1000*x) / 1000 }
