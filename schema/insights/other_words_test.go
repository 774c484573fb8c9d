package insights

import "testing"

// TestOtherWords checks that a word has at most one row for each known name, and that every known name exists.
func TestOtherWords(t *testing.T) {
	t.Parallel()
	known := append(OperatorWords(Operators), intervalWords()...)
	known = append(known, EventTypes.words...)
	for _, c := range Columns() {
		known = append(known, c.Name)
	}
	seen := map[string]bool{}
	for _, row := range otherWords {
		for _, word := range row.words {
			name, more := Meant(word, []string{row.known})
			if name != row.known || more != row.more || seen[word+row.known] {
				t.Errorf("%s: %q %q", word, name, more)
			}
			seen[word+row.known] = true
		}
		if name, _ := Meant(row.words[0], known); name == "" {
			t.Errorf("%s means %s, which does not exist", row.words[0], row.known)
		}
	}
	if name, _ := Meant("Page-Views", known); name != "eventsCount" {
		t.Errorf("Page-Views means %q", name)
	}
	if name, _ := Meant("cheese", known); name != "" {
		t.Errorf("cheese means %q", name)
	}
}
