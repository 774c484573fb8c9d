package gitlayout

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/content/tree"
)

// slugOf returns the slug of a new entry. It is derived from the name of the file, or from the folder's name for a
// folder's own page.
func slugOf(l *Layout, e *Entry) string {
	switch {
	case e.Kind == tree.KindLink:
		return ""
	case e.Slug != "" && tree.ValidSlug(e.Slug):
		return e.Slug
	case !e.HasFile():
		return tree.Slugify(e.Title)
	case !l.isReadme(e.Key):
		return tree.Slugify(strings.TrimSuffix(path.Base(e.Key), path.Ext(e.Key)))
	}
	if folder := path.Dir(e.Key); folder != "." && folder+"/" != l.Root {
		return tree.Slugify(path.Base(folder))
	}
	return "readme"
}

// arrange assigns slugs and positions to siblings. Existing siblings keep their slugs. If the positions no longer match
// the new order, `arrange` changes as few of them as possible. `used` has the slugs of siblings outside of this folder.
func arrange(
	l *Layout, siblings []tree.Node, entries []*Entry, was map[string]tree.Node, used map[string]bool,
) {
	taken := map[string]bool{"": true}
	maps.Copy(taken, used)
	numbers := tree.Numbers{}
	for _, known := range []bool{true, false} {
		for i := range siblings {
			n := &siblings[i]
			before, there := was[n.ID]
			if there != known || n.Kind == tree.KindLink {
				continue
			}
			slug := before.Slug
			if slug == "" {
				slug = slugOf(l, entries[i])
			}
			n.Slug = numbers.Free(slug, func(slug string) bool { return taken[slug] })
			taken[n.Slug] = true
		}
	}
	positions := make([]string, len(siblings))
	for i, n := range siblings {
		if before, there := was[n.ID]; there && before.Parent == n.Parent {
			positions[i] = before.Position
		}
	}
	if !ordered(siblings, positions) {
		fill(positions)
	}
	for i := range siblings {
		siblings[i].Position = positions[i]
	}
}

// ordered reports whether the positions of siblings are already in order. If two pages have the same position, their
// ids determine the order.
func ordered(siblings []tree.Node, positions []string) bool {
	for i := range siblings {
		if positions[i] == "" {
			return false
		}
		if i > 0 && cmp.Or(
			strings.Compare(positions[i-1], positions[i]), strings.Compare(siblings[i-1].ID, siblings[i].ID),
		) >= 0 {
			return false
		}
	}
	return true
}

// fill replaces as few positions as possible, so that all positions are in ascending order. "" is a missing position.
// If a position would be longer than tree.MaxPosition, all siblings get new positions.
func fill(positions []string) {
	keep := increasing(positions)
	next := make([]string, len(positions)+1) // next[i] is the first unchanged position at or after index i
	for i := len(positions) - 1; i >= 0; i-- {
		if next[i] = next[i+1]; keep[i] {
			next[i] = positions[i]
		}
	}
	for i := range positions {
		if keep[i] {
			continue
		}
		before := ""
		if i > 0 {
			before = positions[i-1]
		}
		if positions[i] = tree.Between(before, next[i]); len(positions[i]) > tree.MaxPosition {
			copy(positions, tree.Spread(len(positions)))
			return
		}
	}
}

// increasing returns, for each position, whether it belongs to a longest increasing subsequence.
func increasing(positions []string) []bool {
	var tails []int
	before := make([]int, len(positions))
	for i, p := range positions {
		if p == "" {
			continue
		}
		at, _ := slices.BinarySearchFunc(tails, p, func(t int, p string) int { return strings.Compare(positions[t], p) })
		if before[i] = -1; at > 0 {
			before[i] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, i)
		} else {
			tails[at] = i
		}
	}
	keep := make([]bool, len(positions))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			keep[i] = true
		}
	}
	return keep
}
