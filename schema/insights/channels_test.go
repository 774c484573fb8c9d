package insights

import (
	"slices"
	"strings"
	"testing"
)

// TestTablesOfSources checks the tables sources.txt and mediums.txt. Each source and each medium has a channel that
// exists. Two sources have no host, brand or word in common, and no medium occurs twice. Hosts, brands and words are in
// lower case, and hosts and brands do not begin with `www.`. The texts that statements look up in the tables have this
// form. So a host with a capital letter would never be found.
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
