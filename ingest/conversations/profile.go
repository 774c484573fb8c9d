package conversations

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// maxProfileTerms bounds what is kept of a cluster.
const maxProfileTerms = 64

// Profile is what a cluster is about, as it is kept between analyses: the sum of its issues' vectors. It is made of a bounded
// number of issues and has a bounded number of terms.
type Profile struct {
	// Issues is how many issues it was made of.
	Issues int                `json:"issues"`
	Terms  map[string]float64 `json:"terms"`
	// Meaning is the direction of the sum of the issues' meanings, and Length its length.
	Meaning Meaning `json:"meaning,omitempty"`
	Length  float64 `json:"length,omitempty"`
}

// profileOf makes the profile of a cluster with these issues.
func (v *vocabulary) profileOf(issues []Item) Profile {
	p := Profile{Issues: len(issues), Terms: map[string]float64{}}
	for _, issue := range issues {
		for _, e := range v.vectorOf(countTerms(issue.Terms)) {
			p.Terms[v.terms[e.term]] += float64(e.weight)
		}
	}
	names := sortedKeys(p.Terms)
	if len(names) > maxProfileTerms {
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(p.Terms[b], p.Terms[a]) })
		for _, term := range names[maxProfileTerms:] {
			delete(p.Terms, term)
		}
	}
	// Issues of earlier versions may have no meaning: the others stand for them.
	sum, known := make([]float32, meaningSize), 0
	for _, issue := range issues {
		if meaning := issue.Meaning.vector(); meaning != nil {
			sum, known = added(sum, meaning, 1), known+1
		}
	}
	if known > 0 {
		p.Meaning, p.Length = NewMeaning(sum), math.Round(1000*math.Sqrt(dot(sum, sum))*float64(len(issues))/float64(known))/1000
	}
	for term, weight := range p.Terms {
		// More digits would say nothing and take room.
		p.Terms[term] = math.Round(weight*1000) / 1000
	}
	return p
}

func (p Profile) vector(v *vocabulary) vector {
	made := make(words, 0, len(p.Terms))
	for _, term := range sortedKeys(p.Terms) {
		made = append(made, entry{v.number(term), float32(p.Terms[term])})
	}
	slices.SortFunc(made, func(a, b entry) int { return cmp.Compare(a.term, b.term) })
	meaning := p.Meaning.vector()
	for i := range meaning {
		meaning[i] *= float32(p.Length)
	}
	return vector{made, meaning}
}

func sortedKeys(terms map[string]float64) []string { return slices.Sorted(maps.Keys(terms)) }

func cutMark(term string) (thing string, ok bool) { return strings.CutPrefix(term, thingMark) }
