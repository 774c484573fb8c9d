package conversations

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Sampled is an issue in the sample from which a cluster is described.
type Sampled struct {
	Item
	Title string
}

// Description describes the problem that a cluster's issues share.
type Description struct {
	Label string
	Icon  string
	// Theme is the id of a Subject. It is empty if the cluster has no subject.
	Theme    string
	Language string
	Profile  Profile
	// Typical has the titles that fit the cluster best. The best title comes first.
	Typical []string
}

const (
	// maxTypical is the largest number of titles in Typical.
	maxTypical = 3
	// A cluster gets a theme if at least the fraction themeShare of the evidence is for this theme. The cluster gets
	// the theme's icon if this fraction is at least iconShare.
	themeShare = 0.3
	iconShare  = 0.5
	// defaultIcon is the icon of a cluster without a clear theme.
	defaultIcon = "comments"
)

// Describe describes a cluster by a sample of its issues. If `label` is not empty, it stays the cluster's label.
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
		// Titles in other languages are left out, because readers may not understand them.
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

// lengthFits returns a factor for the length of a title. It is smaller for titles of one or two words.
func lengthFits(title string) float64 {
	if strings.ContainsFunc(title, withoutBlanks) {
		return 1
	}
	return min(1, 0.4+0.2*float64(len(strings.Fields(title))))
}

// commonLanguage returns the most frequent language of the issues. If several languages are equally frequent, it
// returns the first of their codes in alphabetical order.
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

// Subject is a theme that clusters with different problems may share.
type Subject struct{ ID, Title, Icon string }

// SubjectByID returns the subject with an id. `ok` is false if the lexicon has no such subject.
func SubjectByID(id string) (subject Subject, ok bool) {
	for _, s := range theLexicon().subjects {
		if s.ID == id {
			return s, true
		}
	}
	return Subject{}, false
}

// subjectOf returns the subject with the most evidence in a profile, and the fraction of all evidence that is for this
// subject.
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
