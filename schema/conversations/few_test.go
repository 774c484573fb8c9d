package conversations_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// few returns a random part of a corpus. It has a number of problems, and a number of conversations about each problem.
func (a *analyzed) few(random *rand.Rand, problems, each int) *analyzed {
	of := map[string][]int{}
	var names []string
	for i, c := range a.corpus {
		if len(c.Problems) == 1 {
			name := c.Problems[0]
			if of[name] == nil {
				names = append(names, name)
			}
			of[name] = append(of[name], i)
		}
	}
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	drawn := &analyzed{}
	for _, name := range names[:min(problems, len(names))] {
		list := of[name]
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, i := range list[:min(each, len(list))] {
			for k := range a.of {
				if a.of[k] == i {
					drawn.items, drawn.found = append(drawn.items, a.items[k]), append(drawn.found, a.found[k])
					drawn.of = append(drawn.of, len(drawn.corpus))
				}
			}
			drawn.corpus = append(drawn.corpus, a.corpus[i])
		}
	}
	return drawn
}

// TestFewProblems measures the method with fewer conversations than a set of the corpus has. Each figure is the mean of
// several random parts. The floors are measured figures, rounded down. The key of a floor has the number of problems,
// and the number of conversations about each problem.
func TestFewProblems(t *testing.T) {
	t.Parallel()
	const draws = 20
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	for set, floors := range map[string]map[[2]int]float64{
		"dev":   {{6, 5}: 0.90, {6, 10}: 0.91, {12, 10}: 0.88},
		"final": {{6, 5}: 0.87, {6, 10}: 0.89, {12, 10}: 0.81},
		"held":  {{6, 5}: 0.88, {6, 10}: 0.87, {12, 10}: 0.80},
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			all := extracted(t, set)
			bySize := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
			for _, size := range slices.SortedFunc(maps.Keys(floors), bySize) {
				f1, clusters := 0.0, 0.0
				random := rand.New(rand.NewPCG(3, 4))
				for range draws {
					a := all.few(random, size[0], size[1])
					a.assign(a.order(), len(a.items), 0)
					f1 += a.problems("").f1() / draws
					clusters += float64(len(a.groups)) / draws
				}
				t.Logf("%d problems of up to %d conversations: F1 %.3f, %.1f clusters", size[0], size[1], f1, clusters)
				if f1 < floors[size] {
					t.Errorf("F1 %.3f, at least %.2f", f1, floors[size])
				}
			}
		})
	}
}
