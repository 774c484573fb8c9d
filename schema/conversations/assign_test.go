package conversations_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema/conversations"
)

// TestAssign groups random issues and clusters, with meanings of every length. Each issue must be in exactly one group,
// and each resting cluster in at most one. Issues with equal terms must be in the same group. The groups must not
// depend on the order of the issues.
func TestAssign(t *testing.T) {
	t.Parallel()
	languages := rapid.SampledFrom([]string{"", "de", "en"})
	words := rapid.SampledFrom([]string{"#login", "#invoice", "mail", "page", "~日本"})
	ids := rapid.SampledFrom([]string{"", "a", "b", "c"})
	rapid.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		meaning := func() conversations.Meaning {
			// Most meanings have the right length. Other lengths simulate that the model has changed.
			length := rapid.SampledFrom([]int{0, 1, 511, 512, 512, 512, 513}).Draw(rt, "length")
			made := make(conversations.Meaning, length)
			for i := range made {
				made[i] = byte(random.UintN(256))
			}
			return made
		}
		var known []conversations.Known
		for _, id := range []string{"a", "b", "c"} {
			p := conversations.Profile{Issues: rapid.IntRange(1, 9).Draw(rt, "issues"), Terms: map[string]float64{}}
			for _, word := range rapid.SliceOfN(words, 0, 4).Draw(rt, "profile") {
				p.Terms[word] += 0.5
			}
			p.Meaning, p.Length = meaning(), float64(p.Issues)/2
			known = append(known, conversations.Known{
				ID: id, Language: languages.Draw(rt, "language"), Profile: p, Rests: rapid.Bool().Draw(rt, "rests"),
			})
		}
		var items []conversations.Item
		for i := range rapid.IntRange(0, 30).Draw(rt, "items") {
			items = append(items, conversations.Item{
				Key: fmt.Sprint(i), Language: languages.Draw(rt, "language"),
				Terms:   rapid.SliceOfN(words, 0, 4).Draw(rt, "terms"),
				Meaning: meaning(), Cluster: ids.Draw(rt, "cluster"),
			})
		}
		found := named(known, items, conversations.NewMethod().Assign(known, items))
		times, groups := map[string]int{}, map[string]int{}
		for i, group := range found {
			for _, name := range strings.Fields(group) {
				times[name]++
				groups[name] = i
			}
		}
		for i, item := range items {
			if times[item.Key] != 1 {
				rt.Errorf("issue %s is in %d groups", item.Key, times[item.Key])
			}
			for _, other := range items[:i] {
				if slices.Equal(item.Terms, other.Terms) && groups[item.Key] != groups[other.Key] {
					rt.Errorf("issues %s and %s of equal terms are in different groups", item.Key, other.Key)
				}
			}
		}
		for _, k := range known {
			// A resting cluster without new issues may have no group.
			if times[k.ID] > 1 {
				rt.Errorf("cluster %s is in %d groups", k.ID, times[k.ID])
			}
		}
		random.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
		random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		if diff := cmp.Diff(found, named(known, items, conversations.NewMethod().Assign(known, items))); diff != "" {
			rt.Errorf("in another order: %s", diff)
		}
	})
}

// named returns a text for each group. It has the group's clusters in order, and the group's issues sorted by their
// keys.
func named(known []conversations.Known, items []conversations.Item, groups []conversations.Group) (found []string) {
	for _, g := range groups {
		var names, keys []string
		for _, i := range g.Clusters {
			names = append(names, known[i].ID)
		}
		for _, i := range g.Items {
			keys = append(keys, items[i].Key)
		}
		slices.Sort(keys)
		found = append(found, strings.Join(append(names, keys...), " "))
	}
	slices.Sort(found)
	return found
}
