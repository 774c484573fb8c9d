package conversations

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Sampled is an issue of a cluster that is to be described.
type Sampled struct {
	Item
	Title string
}

// Description describes the common problem of a cluster's issues.
type Description struct {
	Label string
	Icon  string
	// Theme is the id of a Subject; empty if the cluster has no subject.
	Theme    string
	Language string
	Profile  Profile
	// Typical are the titles that fit the cluster best, the best one first.
	Typical []string
}

const (
	// maxTypical is the number of titles that are examples of a cluster.
	maxTypical = 3
	// themeShare is the share of the evidence that the theme of a cluster needs. iconShare is the share for its icon.
	themeShare = 0.3
	iconShare  = 0.5
	// defaultIcon is for clusters without a clear theme.
	defaultIcon = "comments"
)

// Describe describes a cluster by a sample of its issues. A label that is not empty stays.
func (m *Method) Describe(sample []Sampled, label string) Description {
	d := Description{Label: label, Icon: defaultIcon, Language: commonLanguage(sample), Profile: m.profileOf(sample)}
	if subject, share := subjectOf(d.Profile); share >= themeShare {
		d.Theme = subject.ID
		if share >= iconShare {
			d.Icon = subject.Icon
		}
	}
	fits := map[string]float64{}
	for _, s := range sample {
		// Readers may not understand titles in other languages.
		if s.Language == d.Language || s.Language == "" {
			fits[s.Title] = 0
			for _, e := range m.weigh(terms(s.Title, s.Language)) {
				fits[s.Title] += e.weight * d.Profile.Terms[e.term] * lengthFits(s.Title)
			}
		}
	}
	titles := slices.SortedFunc(maps.Keys(fits), func(a, b string) int {
		return cmp.Or(cmp.Compare(fits[b], fits[a]), strings.Compare(a, b))
	})
	d.Typical = titles[:min(len(titles), maxTypical)]
	if d.Label == "" {
		d.Label = titles[0]
	}
	return d
}

// lengthFits prefers titles of more than two words.
func lengthFits(title string) float64 {
	if strings.ContainsFunc(title, withoutBlanks) {
		return 1
	}
	return min(1, 0.4+0.2*float64(len(strings.Fields(title))))
}

// commonLanguage is the language of most issues. Among equally frequent languages it is the first by its code.
func commonLanguage(sample []Sampled) string {
	counts, best := map[string]int{}, ""
	for _, item := range sample {
		if item.Language != "" {
			counts[item.Language]++
		}
	}
	for _, language := range slices.Sorted(maps.Keys(counts)) {
		if counts[language] > counts[best] {
			best = language
		}
	}
	return best
}

// Subject is the common theme of clusters of different problems.
type Subject struct{ ID, Title, Icon string }

// SubjectByID finds a subject of the lexicon. ok is false for an unknown id.
func SubjectByID(id string) (subject Subject, ok bool) {
	for _, s := range theLexicon().subjects {
		if s.ID == id {
			return s, true
		}
	}
	return Subject{}, false
}

// subjectOf finds the subject with the most evidence in a profile, and its share of all evidence.
func subjectOf(p Profile) (best Subject, share float64) {
	l, evidence, sum := theLexicon(), map[string]float64{}, 0.0
	for _, e := range sorted(p.Terms) {
		if id := l.subjectOf[e.term]; id != "" {
			evidence[id] += e.weight
			sum += e.weight
		}
	}
	for _, s := range l.subjects {
		if evidence[s.ID] > evidence[best.ID] {
			best = s
		}
	}
	return best, evidence[best.ID] / max(sum, 1e-9)
}
