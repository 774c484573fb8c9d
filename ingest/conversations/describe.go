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

// Description is what the issues of a cluster have in common.
type Description struct {
	Label string
	Icon  string
	// Theme is the id of a Subject; empty if the cluster shows none.
	Theme    string
	Language string
	Profile  Profile
	// Typical are the titles of issues that are most like all the others, the most typical first.
	Typical []string
}

// maxTypical is the number of issues that are named as examples of a cluster.
const maxTypical = 3

// Describe describes a cluster by a sample of its issues. label is the one that it has, and stays with if it is not
// empty.
func (m *Method) Describe(sample []Sampled, label string) Description {
	items := make([]Item, len(sample))
	for i, s := range sample {
		items[i] = s.Item
	}
	d := Description{Label: label, Icon: defaultIcon, Language: commonLanguage(items), Profile: m.words.profileOf(items)}
	if subject, share := subjectOf(d.Profile); share >= themeShare {
		d.Theme = subject.ID
		if share >= iconShare {
			d.Icon = subject.Icon
		}
	}
	center := d.Profile.vector()
	fits := map[string]float64{}
	for _, s := range sample {
		// Who reads the title of a cluster reads the language that most write in.
		if s.Language == d.Language || s.Language == "" {
			fits[s.Title] = center.alike(vector{words: m.words.weigh(countTerms(terms(s.Title, s.Language)))})
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

// commonLanguage is the language of the most issues; of equally frequent ones, the first by its code.
func commonLanguage(items []Item) string {
	counts, best := map[string]int{}, ""
	for _, item := range items {
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

// Subject is what clusters of different problems have in common.
type Subject struct{ ID, Title, Icon string }

// defaultIcon is for clusters that show no subject.
const defaultIcon = "comments"

// SubjectByID finds a subject of the lexicon; ok is false for an id that none has.
func SubjectByID(id string) (subject Subject, ok bool) {
	list := theLexicon().list
	i := slices.IndexFunc(list, func(s Subject) bool { return s.ID == id })
	if i < 0 {
		return Subject{}, false
	}
	return list[i], true
}

// A subject must have this share of the evidence to be that of a cluster, and more to give it an icon.
const (
	themeShare = 0.3
	iconShare  = 0.5
)

// subjectOf finds the subject with the most evidence in a profile, and its share of all evidence.
func subjectOf(p Profile) (best Subject, share float64) {
	l, evidence, sum := theLexicon(), map[string]float64{}, 0.0
	for _, e := range entries(p.Terms) {
		thing, _ := strings.CutPrefix(e.term, thingMark)
		if subject := l.subjects[thing]; thing != e.term && subject != "" {
			evidence[subject] += e.weight
			sum += e.weight
		}
	}
	for _, s := range l.list {
		if evidence[s.ID] > evidence[best.ID] {
			best = s
		}
	}
	return best, evidence[best.ID] / max(sum, 1e-9)
}
