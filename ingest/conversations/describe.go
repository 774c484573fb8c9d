package conversations

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
)

const (
	maxLabelTerms = 3
	maxIconTerms  = 5
	maxLabel      = 100
)

// describe labels a group. sum is the sum of its members' vectors.
func describe(issues []Item, vecs []vector, vocabulary []string, sum vector, members []int) Group {
	g := Group{Members: members, Impact: groupImpact(issues, members), Typical: slices.Clone(members)}
	slices.SortStableFunc(g.Typical, func(a, b int) int { return cmp.Compare(vecs[b].dot(sum), vecs[a].dot(sum)) })
	g.Typical = g.Typical[:min(len(g.Typical), maxTypical)]

	weights := slices.Clone(sum)
	slices.SortStableFunc(weights, func(a, b entry) int { return cmp.Compare(b.weight, a.weight) })
	var top []string
	for _, e := range weights[:min(len(weights), maxLabelTerms)] {
		top = append(top, vocabulary[e.term])
	}
	g.Icon = iconOf(weights, vocabulary)
	g.Label = label(issues, members, g.Typical[0], top)
	return g
}

// label writes the strongest terms as the members write them most often, in the order in which the most typical member has
// them.
func label(issues []Item, members []int, typical int, top []string) string {
	if len(top) == 0 {
		return shorten(issues[typical].Title, maxLabel)
	}
	forms := make([]map[string]int, len(top))
	for i := range forms {
		forms[i] = map[string]int{}
	}
	for _, member := range members {
		for _, word := range issues[member].Words {
			if i := slices.Index(top, stem(word)); i >= 0 {
				forms[i][word]++
			}
		}
	}
	place := func(term string) int {
		at := slices.IndexFunc(issues[typical].Words, func(word string) bool { return stem(word) == term })
		if at < 0 {
			return len(issues[typical].Words)
		}
		return at
	}
	places := make([]int, len(top))
	for i := range top {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(place(top[a]), place(top[b])) })
	var text []string
	for _, i := range places {
		text = append(text, commonest(forms[i]))
	}
	joined := strings.Join(text, " ")
	first, size := utf8.DecodeRuneInString(joined)
	return shorten(string(unicode.ToUpper(first))+joined[size:], maxLabel)
}

// commonest is the most frequent form; of equally frequent ones, the alphabetically first.
func commonest(forms map[string]int) string {
	best := ""
	for form, count := range forms {
		if best == "" || count > forms[best] || count == forms[best] && form < best {
			best = form
		}
	}
	return best
}

// groupImpact is the highest impact that at least half of the members reach.
func groupImpact(issues []Item, members []int) schema.Impact {
	ranks := make([]int, len(members))
	for i, member := range members {
		ranks[i] = issues[member].Impact.Rank()
	}
	slices.SortFunc(ranks, func(a, b int) int { return cmp.Compare(b, a) })
	return schema.Impacts()[max(0, ranks[(len(ranks)-1)/2])]
}

// defaultIcon is for subjects without a row in icons.
const defaultIcon = "comments"

// icons are the icons of common support subjects.
var icons = []struct {
	icon  string
	words map[string]bool
}{
	{"key", stemmed("login log signin sign password passwords sso saml authentication authenticate oauth token 2fa mfa otp")},
	{"credit-card", stemmed("invoice billing payment pay charge card refund subscription plan price pricing")},
	{"envelope", stemmed("email mail notification inbox newsletter spam")},
	{"gauge", stemmed("slow performance latency speed loading timeout lag")},
	{"bug", stemmed("crash freeze exception stacktrace")},
	{"code", stemmed("api sdk webhook endpoint request json rest graphql curl script")},
	{"magnifying-glass", stemmed("search find result index")},
	{"file-arrow-down", stemmed("export download pdf csv file")},
	{"file-arrow-up", stemmed("import upload attachment migrate migration")},
	{"plug", stemmed("integration connect connection slack github gitlab zapier sync plugin")},
	{"users", stemmed("team member user invite invitation permission role account access")},
	{"globe", stemmed("domain dns hostname ssl certificate url redirect website site")},
	{"mobile", stemmed("mobile phone ios android app tablet")},
	{"palette", stemmed("theme color colour dark font style logo layout css")},
	{"gear", stemmed("setting configuration configure option install installation setup")},
	{"book", stemmed("docs documentation guide tutorial page article")},
}

func stemmed(list string) map[string]bool {
	members := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		members[stem(word)] = true
	}
	return members
}

// iconOf takes the first row that contains one of the strongest terms. Rows go from the specific to the general.
func iconOf(weights vector, vocabulary []string) string {
	for _, row := range icons {
		for _, e := range weights[:min(len(weights), maxIconTerms)] {
			if row.words[vocabulary[e.term]] {
				return row.icon
			}
		}
	}
	return defaultIcon
}
