package insights

import "testing"

// TestOtherWords checks the table otherWords. Two rows with the same known name have no word in common. For each word
// of a row, Meant returns the row's `known` and `more`. Each known name is the name of an operator, an interval, an
// event type or a column.
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
