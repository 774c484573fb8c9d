package conversations_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/ingest/conversations"
	"github.com/octavo-docs/octavo/schema"
)

func user(bodies ...string) conversations.Conversation {
	var c conversations.Conversation
	for _, body := range bodies {
		c.Parts = append(c.Parts, conversations.Part{Role: schema.RolePartUser, Body: body})
	}
	return c
}

func TestExtract(t *testing.T) {
	t.Parallel()
	about := func(subject string, c conversations.Conversation) conversations.Conversation {
		c.Subject = subject
		return c
	}
	for name, test := range map[string]struct {
		in      conversations.Conversation
		titles  []string
		impacts []schema.Impact
	}{
		"nothing": {conversations.Conversation{}, nil, nil},
		"only the others speak": {conversations.Conversation{Parts: []conversations.Part{
			{Role: schema.RolePartAssistant, Body: "It is broken."}, {Role: schema.RolePartTeamMember, Body: "I cannot see it."},
		}}, nil, nil},
		"a subject alone": {about("Export fails", conversations.Conversation{}), []string{"Export fails"}, []schema.Impact{schema.ImpactMedium}},
		"a question":      {user("Hi! How do I change the logo?"), []string{"How do I change the logo?"}, []schema.Impact{schema.ImpactLow}},
		"the sentence with the problem is the title": {
			user("Hello team. I was on the billing page. I cannot download my invoice! Thanks."),
			[]string{"I cannot download my invoice!"}, []schema.Impact{schema.ImpactHigh},
		},
		"a workaround softens": {
			user("The search page crashes. For now I use another browser."),
			[]string{"The search page crashes."}, []schema.Impact{schema.ImpactMedium},
		},
		"the subject names a single issue": {
			about("Password reset", user("The mail never arrives.")), []string{"Password reset"}, []schema.Impact{schema.ImpactMedium},
		},
		"two things": {
			user("I cannot log in after the password reset.", "Also the invoice PDF is blank. The login page just reloads, it fails."),
			[]string{"I cannot log in after the password reset.", "Also the invoice PDF is blank."},
			[]schema.Impact{schema.ImpactHigh, schema.ImpactMedium},
		},
		"markup, quotes, code and addresses are no words": {
			user("<div><p>The <b>export</b> is broken</p><script>alert('cannot')</script></div>\n> I cannot quote\n```\ncrash()\n```\nsee https://example.com/cannot"),
			[]string{"The export is broken"}, []schema.Impact{schema.ImpactMedium},
		},
		"entities":        {user("A &lt; B gives an error &amp; more"), []string{"A < B gives an error & more"}, []schema.Impact{schema.ImpactMedium}},
		"no words at all": {user("👍 !!! <br/>"), nil, nil},
	} {
		var titles []string
		var impacts []schema.Impact
		for _, issue := range conversations.Extract(test.in) {
			titles, impacts = append(titles, issue.Title), append(impacts, issue.Impact)
		}
		if diff := cmp.Diff(test.titles, titles); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(test.impacts, impacts); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestExtractIsBounded extracts from text of every kind. Nothing panics, and the result is bounded.
func TestExtractIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{
				"cannot ", "login ", "invoice ", "broken. ", "<p>", "</p>", "<script>", "&amp;", "```", "> ", "\n", "error 500! ", "日本語。", "`",
			})), func(parts []string) string { return strings.Join(parts, "") }),
		).Draw(rt, "body")
		issues := conversations.Extract(conversations.Conversation{
			Subject: rapid.String().Draw(rt, "subject"), Parts: []conversations.Part{{Role: schema.RolePartUser, Body: body}},
		})
		if len(issues) > 5 {
			rt.Fatalf("%d issues", len(issues))
		}
		for _, issue := range issues {
			if issue.Title == "" || len([]rune(issue.Title)) > 120 || len(issue.Details) == 0 || len(issue.Words) > 200 || issue.Impact.Rank() < 0 {
				rt.Fatalf("%+v", issue)
			}
		}
	})
}

// reports are texts by users of a made-up product. The prefix of a key names the topic.
var reports = map[string]string{
	"login/1":   "I cannot log in after resetting my password.",
	"login/2":   "The password reset mail never arrives, so I can't log in.",
	"login/3":   "Login fails with my new password, reset does not help.",
	"invoice/1": "The invoice PDF is blank when I download it.",
	"invoice/2": "Downloading invoices gives an empty PDF.",
	"invoice/3": "Our accounting needs the invoice PDFs but the download is broken.",
	"search/1":  "Search returns no results for pages we published.",
	"search/2":  "Published pages are missing from the search results.",
	"dark/1":    "How can I turn on the dark theme?",
}

func items() []conversations.Item {
	var all []conversations.Item
	for key, body := range reports {
		for i, issue := range conversations.Extract(user(body)) {
			all = append(all, conversations.Item{
				Key: fmt.Sprintf("%s#%d", key, i), Title: issue.Title, Impact: issue.Impact, Words: issue.Words,
			})
		}
	}
	return all
}

// named lists groups by the keys of their members, so that they can be compared.
func named(all []conversations.Item, groups []conversations.Group) []string {
	var text []string
	for _, g := range groups {
		var keys, typical []string
		for _, member := range g.Members {
			keys = append(keys, all[member].Key)
		}
		for _, member := range g.Typical {
			typical = append(typical, all[member].Key)
		}
		text = append(text, fmt.Sprintf("%s [%s] %s: %q, typical %q", g.Label, g.Icon, g.Impact, keys, typical))
	}
	return text
}

func TestCluster(t *testing.T) {
	t.Parallel()
	all := items()
	got := named(all, conversations.Cluster(all))
	want := []string{
		`Turn dark theme [palette] low: ["dark/1#0"], typical ["dark/1#0"]`,
		`Invoice pdf download [credit-card] medium: ["invoice/1#0" "invoice/2#0" "invoice/3#0"], typical ["invoice/1#0" "invoice/3#0" "invoice/2#0"]`,
		`Login reset password [key] high: ["login/1#0" "login/2#0" "login/3#0"], typical ["login/1#0" "login/3#0" "login/2#0"]`,
		`Results pages published [magnifying-glass] medium: ["search/1#0" "search/2#0"], typical ["search/1#0" "search/2#0"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if groups := conversations.Cluster(nil); len(groups) != 0 {
		t.Errorf("groups of nothing: %v", groups)
	}
}

// TestClusterDoesNotDependOnOrder makes issues from few words, so that many are similar and many pairs are equally
// similar, and clusters them in two orders.
func TestClusterDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	vocabulary := []string{"login", "password", "reset", "invoice", "pdf", "download", "search", "results", "slow", "page", "日本", "x9"}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(rt, "n")
		all := make([]conversations.Item, n)
		for i := range all {
			all[i] = conversations.Item{
				Key: fmt.Sprintf("email/%03d", i), Title: "Title", Impact: rapid.SampledFrom(schema.Impacts()).Draw(rt, "impact"),
				Words: rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 6).Draw(rt, "words"),
			}
		}
		shuffled := rapid.Permutation(all).Draw(rt, "order")
		want, got := named(all, conversations.Cluster(all)), named(shuffled, conversations.Cluster(shuffled))
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
		var members []int
		for _, g := range conversations.Cluster(all) {
			members = append(members, g.Members...)
			if g.Label == "" || len(g.Icon) > 50 || len(g.Typical) == 0 {
				rt.Fatalf("%+v", g)
			}
		}
		slices.Sort(members)
		if len(members) != n || len(slices.Compact(members)) != n {
			rt.Fatalf("members %v of %d issues", members, n)
		}
	})
}

func TestMatch(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a": "c1", "b": "c1", "c": "c1", "d": "c2", "e": "c2"}
	for name, test := range map[string]struct {
		groups [][]string
		want   []string
	}{
		"the same":                        {[][]string{{"a", "b", "c"}, {"d", "e"}}, []string{"c1", "c2"}},
		"another order":                   {[][]string{{"e", "d"}, {"c", "new", "a", "b"}}, []string{"c2", "c1"}},
		"merged":                          {[][]string{{"a", "b", "c", "d", "e"}}, []string{"c1"}},
		"split, the most stay":            {[][]string{{"a"}, {"b", "c"}, {"d"}, {"e"}}, []string{"", "c1", "c2", ""}},
		"all new":                         {[][]string{{"x"}, {"y"}}, []string{"", ""}},
		"one takes what the other leaves": {[][]string{{"a", "b", "d"}, {"c", "e"}}, []string{"c1", "c2"}},
	} {
		if diff := cmp.Diff(test.want, conversations.Match(test.groups, before)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func BenchmarkCluster(b *testing.B) {
	all := make([]conversations.Item, 0, conversations.MaxIssues)
	base := items()
	for i := range conversations.MaxIssues {
		item := base[i%len(base)]
		item.Key = fmt.Sprint(i)
		item.Words = append(slices.Clone(item.Words), fmt.Sprintf("word%d", i%97), fmt.Sprintf("other%d", i%389))
		all = append(all, item)
	}
	for b.Loop() {
		conversations.Cluster(all)
	}
}
