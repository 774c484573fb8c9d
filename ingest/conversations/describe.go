package conversations

import (
	"cmp"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
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

// Describe describes a cluster by a sample of its issues. label is the one that it has, and stays with if it is not empty.
func (m *Method) Describe(sample []Sampled, label string) Description {
	items := make([]Item, len(sample))
	for i, s := range sample {
		items[i] = s.Item
	}
	d := Description{Label: label, Icon: DefaultIcon, Profile: m.words.profileOf(items), Language: commonLanguage(items)}
	if subject, share := subjectOf(d.Profile); share >= themeShare {
		d.Theme = subject.ID
		if share >= iconShare {
			d.Icon = subject.Icon
		}
	}
	center := d.Profile.vector(m.words)
	type titled struct {
		title         string
		central, fits float64
	}
	titles := make([]titled, 0, len(sample))
	for _, s := range sample {
		if s.Language != d.Language && s.Language != languageUnknown {
			continue // Who reads the title of a cluster reads the language that most write in.
		}
		central := m.words.vectorOf(countTerms(s.Terms)).alike(center.words)
		fits := m.words.vectorOf(countTerms(terms(s.Title, s.Language))).alike(center.words) * lengthFits(s.Title)
		titles = append(titles, titled{s.Title, central, fits})
	}
	if d.Label == "" {
		best := slices.MaxFunc(titles, func(a, b titled) int { return cmp.Or(cmp.Compare(a.fits, b.fits), strings.Compare(b.title, a.title)) })
		d.Label = shorten(best.title, maxLabel)
	}
	slices.SortStableFunc(titles, func(a, b titled) int {
		return cmp.Or(cmp.Compare(b.central, a.central), strings.Compare(a.title, b.title))
	})
	for _, t := range titles {
		if len(d.Typical) < maxTypical && !slices.Contains(d.Typical, t.title) {
			d.Typical = append(d.Typical, t.title)
		}
	}
	return d
}

// lengthFits prefers titles that say something and can be read at a glance.
func lengthFits(title string) float64 {
	switch n := len(strings.Fields(title)); {
	case n == 1 && !strings.ContainsFunc(title, withoutBlanks):
		return 0.6
	case n == 2 && !strings.ContainsFunc(title, withoutBlanks):
		return 0.8
	case n > 12:
		return 0.85
	}
	return 1
}

// commonLanguage is the language of the most issues; of equally frequent ones, the first by its code.
func commonLanguage(items []Item) string {
	counts := map[string]float64{}
	for _, item := range items {
		if item.Language != languageUnknown {
			counts[item.Language]++
		}
	}
	best := languageUnknown
	for _, language := range sortedKeys(counts) {
		if best == languageUnknown || counts[language] > counts[best] {
			best = language
		}
	}
	return best
}

// ImpactOf is the highest impact that at least half of the issues of a cluster reach. high and medium count the issues with at
// least that impact.
func ImpactOf(issues, high, medium int) schema.Impact {
	switch {
	case 2*high >= issues && issues > 0:
		return schema.ImpactHigh
	case 2*medium >= issues && issues > 0:
		return schema.ImpactMedium
	}
	return schema.ImpactLow
}
