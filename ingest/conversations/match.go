package conversations

import (
	"cmp"
	"slices"
	"strings"
)

// Match says for each group of issues which cluster it goes on to be: the one that it shares most issues with. before gives
// the cluster that an issue was in. Each cluster goes on as at most one group; a group that goes on as none is new, which
// the empty id says. So a cluster keeps its id, and what people decided about it, while issues come and go.
func Match(groups [][]string, before map[string]string) []string {
	type overlap struct {
		group   int
		cluster string
		shared  int
	}
	var overlaps []overlap
	for i, issues := range groups {
		shared := map[string]int{}
		for _, issue := range issues {
			if cluster := before[issue]; cluster != "" {
				shared[cluster]++
			}
		}
		for cluster, n := range shared {
			overlaps = append(overlaps, overlap{i, cluster, n})
		}
	}
	slices.SortFunc(overlaps, func(a, b overlap) int {
		return cmp.Or(cmp.Compare(b.shared, a.shared), strings.Compare(a.cluster, b.cluster), cmp.Compare(a.group, b.group))
	})
	ids := make([]string, len(groups))
	taken := map[string]bool{}
	for _, o := range overlaps {
		if ids[o.group] == "" && !taken[o.cluster] {
			ids[o.group], taken[o.cluster] = o.cluster, true
		}
	}
	return ids
}
