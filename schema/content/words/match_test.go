package words

import (
	"testing"
)

func TestMatcher(t *testing.T) {
	t.Parallel()
	stems := Stems{"installing": "instal", "installed": "instal", "the": "", "happy": "happi", "wombats": "wombat", "cart": "cart"}
	meant := map[string][]string{"wombta": {"wombat"}}
	for _, test := range []struct {
		query, text string
		want        int
	}{
		{"installing now", "How to install", 1},
		{"installing now", "The installation, now", 2},
		{"installed ", "instalments of something", 1}, // this is another word, but it begins with the stem
		{"installing x", "instalmentsandmore", 0},
		{"wombats", "One wombat.", 1},
		{"wombta here", "One wombat here", 2},
		{"wom", "One wombat", 1},
		{"wom x", "One wombat", 0},
		{"cart x", "A carton", 1},
		{"car x", "A carton", 0},
		{"the wombats", "the", 0},
		{"wombats -happy", "happy", 0},
		{`"happy wombats"`, "happiness of wombats", 1},
		{"createPage", "page create", 1},
		{"createPage", "createpage", 1},
		{"createPage", "CREATEPAGE of it", 1},
		{"createPage", "create it", 0},
		{"createPa", "createpage", 1},
		{`"createPage here"`, "page create", 0},
		{"page", "see createPage", 1},
		{`"東京"`, "東京都", 2},
		{"über x", "UBER", 1},
		{"検索", "全文検索です", 2},
		{"", "anything", 0},
	} {
		if got := ParseQuery(test.query).Matcher(stems, meant).Count(test.text, 1000); got != test.want {
			t.Errorf("%q in %q: %d, want %d", test.query, test.text, got, test.want)
		}
	}
	m := ParseQuery("one two").Matcher(nil, nil)
	if m.Terms() != 2 || m.Count("one two", 1) != 1 {
		t.Errorf("%d terms, %d in one word", m.Terms(), m.Count("one two", 1))
	}
}
