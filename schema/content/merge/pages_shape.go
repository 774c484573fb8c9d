package merge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/schema/content/tree"
)

// replant finds a place for each page whose parent is missing in the result. If the page's parent on a side is in the
// result, the page gets its place on this side. Otherwise the page goes to the root. This adds no conflict, because the
// deletion of the parent is already decided.
func (p *pages) replant() {
	for _, id := range p.order {
		r := p.rows[id]
		if r.dead || p.holds(r.node.Parent) {
			continue
		}
		at := Place{Position: r.node.Position}
		for _, is := range []struct {
			there bool
			node  tree.Node
		}{{r.inOurs, r.ours}, {r.inTheirs, r.theirs}, {r.inBase, r.base}} {
			if is.there && p.holds(is.node.Parent) {
				at = placeOf(is.node)
				break
			}
		}
		r.node.Parent, r.node.Position = at.Parent, at.Position
	}
}

func (p *pages) holds(parent string) bool {
	if parent == "" {
		return true
	}
	_, ok := p.page(parent)
	return ok
}

// cut breaks cycles. A cycle arises if each side moves a page below a page that the other side moved.
func (p *pages) cut() {
	// rooted has the pages whose ancestors lead to the root. The pages of a cycle are not in rooted. So a change that
	// breaks a cycle does not affect the pages in rooted.
	rooted := map[string]bool{"": true}
	cuts := 0
	for _, start := range p.order {
		for cycle := p.cycle(start, rooted); cycle != nil; cycle = p.cycle(start, rooted) {
			if cuts++; cuts > len(p.order) {
				p.backToOurs()
				return
			}
			p.open(cycle)
		}
	}
}

// open adds the conflict about a cycle, and puts the cycle's pages at their places on the side that the decision takes.
func (p *pages) open(cycle []string) {
	var theirs []string // the pages that theirs moved
	for _, id := range cycle {
		if r := p.rows[id]; r != nil && r.inOurs && r.inTheirs && r.node.Parent != r.ours.Parent {
			theirs = append(theirs, id)
		}
	}
	take := TakeOurs
	if len(theirs) > 0 {
		r := p.rows[theirs[0]]
		take, _ = p.conflicts.add(Conflict{
			Kind: KindCycle, Page: r.id, Field: FieldPlace, Pages: cycle, Base: placeOf(r.base), Ours: placeOf(r.ours), Theirs: placeOf(r.theirs),
		})
	}
	for _, id := range cycle {
		if r := p.rows[id]; r != nil && r.inOurs && r.inTheirs {
			if take == TakeTheirs {
				p.putBack(r, r.theirs, p.in.Theirs)
			} else {
				p.putBack(r, r.ours, p.in.Ours)
			}
		}
	}
}

// backToOurs puts all pages at their places on `ours`, where no cycle exists. `cut` calls it if choices contradict each
// other.
func (p *pages) backToOurs() {
	for _, id := range p.order {
		if r := p.rows[id]; r.inOurs && r.inTheirs {
			p.putBack(r, r.ours, p.in.Ours)
		}
	}
}

// putBack puts a page at its place on a side. If the parent on this side is deleted, the page goes below the closest
// ancestor on this side that is not deleted. The places of one side form no cycle. So after putBack, only `replant` can
// make a cycle.
func (p *pages) putBack(r *row, is tree.Node, side Side) {
	at := placeOf(is)
	for !p.holds(at.Parent) {
		above, _ := side.Page(at.Parent)
		at.Parent = above.Parent
	}
	r.put(at)
}

// cycle follows the ancestors of a page. If they lead to a cycle, it returns the pages of this cycle in sorted order.
// If they lead to the root, it returns nil, and adds the page and all of its ancestors to `rooted`.
func (p *pages) cycle(start string, rooted map[string]bool) []string {
	way := map[string]bool{}
	for id := start; !rooted[id]; {
		if way[id] {
			return p.around(id)
		}
		way[id] = true
		n, ok := p.page(id)
		if !ok {
			break
		}
		id = n.Parent
	}
	maps.Copy(rooted, way)
	return nil
}

func (p *pages) around(start string) []string {
	list := []string{start}
	for n, _ := p.page(start); n.Parent != start; n, _ = p.page(n.Parent) {
		list = append(list, n.Parent)
	}
	slices.Sort(list)
	return list
}

// fit moves each page that the tree does not allow at its place. The page goes below its closest ancestor that allows
// it as a child, or to a chosen place.
func (p *pages) fit() {
	p.below = map[string][]string{}
	for _, id := range p.order {
		if r := p.rows[id]; !r.dead {
			p.below[r.node.Parent] = append(p.below[r.node.Parent], id)
		}
	}
	list := slices.DeleteFunc(slices.Clone(p.order), func(id string) bool { return p.rows[id].dead })
	depths := map[string]int{}
	for _, id := range list {
		depths[id] = p.depth(id, p.page)
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(depths[a], depths[b]) })
	for _, id := range list {
		r := p.rows[id]
		if p.fits(r, r.node.Parent) {
			continue
		}
		c := Conflict{
			Kind: KindParent, Page: id, Field: FieldPlace, Pages: []string{r.node.Parent}, Ours: versionIf(r.inOurs, r.ours),
			Theirs: versionIf(r.inTheirs, r.theirs), value: placeValue,
		}
		if r.inBase {
			c.Base = placeOf(r.base)
		}
		parent := r.node.Parent
		if take, value := p.conflicts.add(c); take == TakeValue && p.allows(r, value.(Place).Parent) {
			r.put(r.chosen(value))
		} else {
			for !p.fits(r, parent) && parent != "" {
				above, _ := p.page(parent)
				parent = above.Parent
			}
			r.node.Parent = parent
		}
		p.below[r.node.Parent] = append(p.below[r.node.Parent], id)
	}
}

func versionIf(there bool, n tree.Node) any {
	if !there {
		return nil
	}
	return placeOf(n)
}

// allows reports whether a page fits below the parent that a choice sets. It also returns false if the parent does not
// exist or is below the page.
func (p *pages) allows(r *row, parent string) bool {
	for id := parent; id != ""; {
		n, ok := p.page(id)
		if !ok || id == r.id {
			return false
		}
		id = n.Parent
	}
	return p.fits(r, parent)
}

func (p *pages) fits(r *row, parent string) bool {
	if parent == "" {
		return true
	}
	above, _ := p.page(parent)
	if above.Kind == tree.KindLink || r.node.Kind == tree.KindGroup {
		return false
	}
	depth := p.depth(parent, p.page) + 1
	if p.in.MaxDepth == 0 || depth > p.in.MaxDepth {
		return p.in.MaxDepth == 0
	}
	// If the page is not deeper than it is on a side, its descendants are not too deep either.
	if r.inOurs && depth <= p.depth(r.id, p.in.Ours.Page) || r.inTheirs && depth <= p.depth(r.id, p.in.Theirs.Page) {
		return true
	}
	return depth+p.height(r.id, p.in.MaxDepth) <= p.in.MaxDepth
}

// depth returns the depth of a page. A page at the root has the depth 1.
func (p *pages) depth(id string, page func(id string) (tree.Node, bool)) int {
	depth := 0
	for id != "" {
		n, ok := page(id)
		if !ok {
			break
		}
		depth, id = depth+1, n.Parent
	}
	return depth
}

// height returns the number of levels below a page of the result. It returns at most `most`.
func (p *pages) height(id string, most int) int {
	if most == 0 {
		return 0
	}
	high := 0
	for _, child := range p.children(id) {
		high = max(high, 1+p.height(child.ID, most-1))
	}
	return high
}

// children lists the child pages of a page in the result.
func (p *pages) children(parent string) []tree.Node {
	list := slices.DeleteFunc(slices.Clone(p.in.Ours.Children(parent)), func(n tree.Node) bool { return p.rows[n.ID] != nil })
	seen := map[string]bool{}
	for _, id := range p.below[parent] {
		if r := p.rows[id]; r.node.Parent == parent && !seen[id] {
			seen[id], list = true, append(list, r.node)
		}
	}
	return list
}

// slugs makes the paths of pages unique. If `theirs` added, moved or renamed a page, and `ours` already has a page at
// the same path, the page of `theirs` gets a new slug.
func (p *pages) slugs() {
	taken, numbers := map[string]map[string]string{}, map[string]tree.Numbers{}
	for _, id := range p.order {
		r := p.rows[id]
		if !r.incoming() {
			continue
		}
		if taken[r.node.Parent] == nil {
			taken[r.node.Parent], numbers[r.node.Parent] = p.slugsBelow(r.node.Parent), tree.Numbers{}
		}
		siblings := taken[r.node.Parent]
		if holder, clash := siblings[r.node.Slug]; clash {
			p.clash(r, holder, siblings, numbers[r.node.Parent])
		}
		siblings[r.node.Slug] = id
	}
}

// incoming reports whether the path of the page in the result differs from its path on `ours`.
func (r *row) incoming() bool {
	return !r.dead && r.node.Kind != tree.KindLink && r.node.Slug != "" &&
		(!r.inOurs || r.node.Parent != r.ours.Parent || r.node.Slug != r.ours.Slug)
}

// slugsBelow maps the slugs of a page's children to their ids. It leaves out incoming children.
func (p *pages) slugsBelow(parent string) map[string]string {
	slugs := map[string]string{}
	for _, n := range p.children(parent) {
		if r := p.rows[n.ID]; n.Kind != tree.KindLink && (r == nil || !r.incoming()) {
			slugs[n.Slug] = n.ID
		}
	}
	return slugs
}

func (p *pages) clash(r *row, holder string, siblings map[string]string, numbers tree.Numbers) {
	taken := func(slug string) bool {
		_, there := siblings[slug]
		return there
	}
	c := Conflict{
		Kind: KindSlug, Page: r.id, Field: FieldSlug, Pages: []string{holder, r.id}, Theirs: r.node.Slug, value: slugValue,
	}
	if r.inBase {
		c.Base = r.base.Slug
	}
	if r.inOurs {
		c.Ours = r.ours.Slug
	}
	switch take, value := p.conflicts.add(c); take {
	case TakeTheirs:
		h := p.rows[holder]
		if h == nil {
			h = p.add(holder)
		}
		h.node.Slug = numbers.Free(h.node.Slug, taken)
		siblings[h.node.Slug] = holder
		return
	case TakeValue:
		r.node.Slug = value.(string)
	}
	r.node.Slug = numbers.Free(r.node.Slug, taken)
}

// reopen removes the choice from a conflict if the result does not have the chosen value. Either the tree does not
// allow the value, or another choice contradicts it.
func (p *pages) reopen() {
	for i := range p.conflicts.list {
		c := &p.conflicts.list[i]
		if c.Choice == nil || c.Choice.Take != TakeValue || c.Block != "" {
			continue
		}
		value, _ := c.decode(*c.Choice)
		is, _ := p.page(c.Page)
		switch {
		case c.value == placeValue && is.Parent != value.(Place).Parent, c.Kind == KindSlug && is.Slug != value.(string):
			c.Choice = nil
		}
	}
}
