package conversations

import (
	"cmp"
	"slices"
)

// groups lists what the analysis found. Each cluster goes on in one of them, or was merged into it.
func (a *assignment) groups() []Group {
	var groups []Group
	at := map[int]int{}
	for node, i := range a.order {
		root := a.parent[node]
		n, there := at[root]
		if !there {
			n = len(groups)
			at[root] = n
			groups = append(groups, Group{})
		}
		if i < len(a.known) {
			groups[n].Clusters = append(groups[n].Clusters, i)
		} else {
			groups[n].Items = append(groups[n].Items, i-len(a.known))
		}
	}
	a.keep(groups)
	return slices.DeleteFunc(groups, func(g Group) bool { return len(g.Items) == 0 && len(g.Clusters) < 2 })
}

// keep finds the groups in which the clusters go on that have no issues but items. The largest common parts are settled first.
func (a *assignment) keep(groups []Group) {
	index := map[string]int{}
	for i, k := range a.known {
		if !k.Rests {
			index[k.ID] = i
		}
	}
	type part struct{ cluster, group, size int }
	var parts []part
	for g, group := range groups {
		sizes := map[int]int{}
		for _, i := range group.Items {
			if cluster, there := index[a.items[i].Cluster]; there {
				sizes[cluster]++
			}
		}
		for cluster, size := range sizes {
			parts = append(parts, part{cluster, g, size})
		}
	}
	slices.SortFunc(parts, func(p, q part) int {
		return cmp.Or(cmp.Compare(q.size, p.size), cmp.Compare(a.known[p.cluster].ID, a.known[q.cluster].ID), cmp.Compare(p.group, q.group))
	})
	done := map[int]bool{}
	for _, p := range parts {
		if !done[p.cluster] && len(groups[p.group].Clusters) == 0 {
			done[p.cluster] = true
			groups[p.group].Clusters = []int{p.cluster}
		}
	}
	for _, p := range parts {
		if !done[p.cluster] {
			done[p.cluster] = true
			groups[p.group].Clusters = append(groups[p.group].Clusters, p.cluster)
		}
	}
}
