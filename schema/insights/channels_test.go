package insights

import (
	"slices"
	"strings"
	"testing"
)

// TestTablesOfSources checks that each row of the tables has a channel, and that keys are unique. It also checks that
// keys have the form of the texts that statements compare with them.
func TestTablesOfSources(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, s := range TrafficSources() {
		if !slices.Contains(channels, s.Channel) || len(s.Hosts)+len(s.Brands)+len(s.Words) == 0 {
			t.Errorf("%s: channel %q", s.Name, s.Channel)
		}
		for _, key := range slices.Concat(s.Hosts, s.Brands) {
			if before := seen[key]; before != "" || key != strings.ToLower(key) || strings.HasPrefix(key, "www.") {
				t.Errorf("%s of %s: also of %q", key, s.Name, before)
			}
			seen[key] = s.Name
		}
	}
	for _, s := range TrafficSources() {
		for _, word := range s.Words {
			if before := seen[word]; before != "" && before != s.Name || word != strings.ToLower(word) {
				t.Errorf("%s of %s: also of %q", word, s.Name, before)
			}
			seen[word] = s.Name
		}
	}
	for i, medium := range mediums {
		if !slices.Contains(channels, mediumChannels[i]) || slices.Index(mediums, medium) != i {
			t.Errorf("%s: channel %q", medium, mediumChannels[i])
		}
	}
	if len(seen) < 100 || len(mediums) < 30 {
		t.Errorf("%d keys, %d mediums", len(seen), len(mediums))
	}
}
