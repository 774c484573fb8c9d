package merge

import (
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/diff"
	"github.com/octavo-docs/octavo/schema/content/keys"
)

// fewestWords is a number of words. Two equal texts at different places of a list can be twins only if they have at
// least this number of words. Shorter texts, such as a bracket or a rule, can be twins only at the same place.
const fewestWords = 4

// unite makes twins of the equal blocks that both sides added to a list in the same order. Twins get one key: the key
// of the block of `ours`. If a side edited a block, and the new text equals a block of the other side, the edited block
// is treated as added. A block of `base` is also treated as added if it is before twins on one side and after these
// twins on the other side. An example is a rule of dashes in a code block. An edit may replace all words of a block of
// `base`. If the new text is near-equal to an added block of the other side, the edited block becomes a separate block.
func (m *merger) unite(ours, theirs []schema.Node) {
	for _, step := range []func(p *pairing) bool{(*pairing).unite, (*pairing).part} {
		changed := false
		for _, at := range slices.SortedFunc(maps.Keys(m.ours.lists), spot.compare) {
			if others := m.theirs.lists[at]; len(others) > 0 {
				p := pairing{merger: m, at: at, ours: m.ours.lists[at], theirs: others}
				changed = step(&p) || changed
			}
		}
		if changed {
			m.ours, m.theirs = newSide(ours), newSide(theirs)
		}
	}
}

// pairing pairs the twins of one list.
type pairing struct {
	*merger
	at           spot
	ours, theirs []string
	// texts has a name for each block of `ours`, and `others` has a name for each block of `theirs`. If a block may be
	// a twin, its name is its text. Otherwise its name is its key.
	texts, others []string
}

func (p *pairing) unite() bool {
	mine := p.written(p.merger.ours, p.ours)
	if len(mine) == 0 {
		return false
	}
	others := p.written(p.merger.theirs, p.theirs)
	if len(others) == 0 {
		return false
	}
	p.texts, p.others = p.names(p.ours, mine, others), p.names(p.theirs, others, mine)
	pairs := diff.Match(p.texts, p.others)
	if p.release(pairs) {
		pairs = diff.Match(p.texts, p.others)
	}
	p.discard(pairs)
	p.cross(pairs)
	united := false
	for i, j := range pairs {
		if j == diff.None || p.ours[i] == p.theirs[j] {
			continue
		}
		united = true
		mine, other := p.merger.ours.blocks[p.ours[i]].node, p.merger.theirs.blocks[p.theirs[j]].node
		if p.base.blocks[mine.Key] != nil || mine.Type == "code" {
			p.rename(mine, foreign)
		}
		*other = keys.Clone([]schema.Node{*mine})[0]
	}
	return united
}

// part gives new keys to blocks that a side rewrote, if they are similar to blocks that the other side added. It
// reports whether it has changed a key.
func (p *pairing) part() bool {
	mine := p.candidates(p.merger.ours, p.ours)
	if len(mine) == 0 {
		return false
	}
	others := p.candidates(p.merger.theirs, p.theirs)
	if len(mine)*len(others) > maxNear {
		return false
	}
	parted := map[*schema.Node]string{}
	for _, a := range mine {
		for _, b := range others {
			if a.key == b.key || !a.rewritten && !b.rewritten || a.said.short() || a.said.near(b.said) == 0 {
				continue
			}
			if a.rewritten {
				parted[a.node] = foreign
			}
			if b.rewritten {
				parted[b.node] = foreign + foreign
			}
		}
	}
	for n, prefix := range parted {
		p.rename(n, prefix)
	}
	return len(parted) > 0
}

// candidate is a block that a side added or rewrote.
type candidate struct {
	key       string
	node      *schema.Node
	said      saying
	rewritten bool
}

func (p *pairing) candidates(s *side, list []string) (found []candidate) {
	for _, key := range list {
		rewritten := p.rewritten(s, key)
		if n := s.blocks[key].node; rewritten || p.onlyOf(s, key) {
			found = append(found, candidate{key, n, sayingOf(n), rewritten})
		}
	}
	return found
}

// written returns, by key, the texts of the blocks that a side added. It also returns the texts of blocks that the side
// edited, if they are not short.
func (p *pairing) written(s *side, list []string) map[string]string {
	texts := map[string]string{}
	for _, key := range list {
		if p.onlyOf(s, key) || p.newCode(s, key) || p.edit(s, key) && !sayingOf(s.blocks[key].node).short() {
			texts[key] = p.said(s, key)
		}
	}
	return texts
}

// newCode reports whether a block of code is new. It may have lines that a side moved from another block.
func (p *pairing) newCode(s *side, key string) bool {
	other := p.merger.ours
	if s == p.merger.ours {
		other = p.merger.theirs
	}
	return s.blocks[key].node.Type == "code" && p.base.blocks[key] == nil && other.blocks[key] == nil
}

// names returns names for the blocks of a list. If the other side wrote the text of an edited block in another block,
// the name of the edited block is its text.
func (p *pairing) names(list []string, written, other map[string]string) []string {
	elsewhere := map[string]bool{}
	for _, text := range other {
		elsewhere[text] = true
	}
	names := make([]string, len(list))
	for i, key := range list {
		names[i] = key
		text, is := written[key]
		if is && (p.base.blocks[key] == nil || elsewhere[text] && other[key] != text) {
			names[i] = text
		}
	}
	return names
}

// said returns a name for a block's text. It never equals a key.
func (p *pairing) said(s *side, key string) string {
	n := *s.blocks[key].node
	if table := p.merger.ours.blocks[p.at.parent]; n.Type == typeRow && table != nil {
		row := n
		n = *table.node
		row.Meta, n.Nodes, n.Fragments = nil, []schema.Node{row}, nil
	}
	n = collapse(n)
	hash := keys.HashOf(&n)
	return rowSeparator + string(hash[:])
}

// edit reports whether a side changed the text of a block of `base`.
func (p *pairing) edit(s *side, key string) bool {
	was, is := p.base.blocks[key], s.blocks[key]
	if was == nil {
		return false
	}
	if was.node.Type == "code" && is.node.Type == "code" {
		return plain(was.node) != plain(is.node)
	}
	before, after := textOfBlock(was.node), textOfBlock(is.node)
	return after != nil && (before == nil || !equal(before.Nodes, after.Nodes))
}

// rewritten reports whether a side replaced the whole text of a block of `base`.
func (p *pairing) rewritten(s *side, key string) bool {
	return p.edit(s, key) && sayingOf(p.base.blocks[key].node).near(sayingOf(s.blocks[key].node)) == 0
}

// textOfBlock returns the block itself if it contains text. If it contains only one block, as a list item does,
// textOfBlock returns this block if it contains text. Otherwise it returns nil.
func textOfBlock(n *schema.Node) *schema.Node {
	switch {
	case holdsText(n):
		return n
	case len(n.Nodes) == 1 && len(n.Fragments) == 0 && holdsText(&n.Nodes[0]):
		return &n.Nodes[0]
	}
	return nil
}

// rename gives new keys to a block of `base`, and to the block in it that contains its text. If the block is code,
// rename gives new keys to its lines.
func (p *pairing) rename(n *schema.Node, prefix string) {
	if n.Type == "code" {
		for i := range n.Nodes {
			if p.base.blocks[n.Nodes[i].Key] != nil {
				n.Nodes[i].Key = prefix + n.Nodes[i].Key
			}
		}
	}
	for _, block := range []*schema.Node{textOfBlock(n), n} {
		if block != nil && p.base.blocks[block.Key] != nil {
			block.Key = prefix + block.Key
		}
	}
}

// release handles a block of `base` that is before a pair of twins on one side and after this pair on the other side.
// Its text in `theirs` must equal the text of a block that `ours` added. `release` then compares the block by its text,
// and not by its key, so the block can become a twin. The result is true if there is such a block.
func (p *pairing) release(pairs []int) (released bool) {
	added, kept, matched := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, key := range p.ours {
		added[p.texts[i]] = p.texts[i] != key
		kept[key] = true
		if pairs[i] != diff.None {
			matched[p.theirs[pairs[i]]] = true
		}
	}
	for j, key := range p.theirs {
		if p.others[j] != key || !kept[key] || matched[key] || textOfBlock(p.merger.theirs.blocks[key].node) == nil {
			continue
		}
		if text := p.said(p.merger.theirs, key); added[text] {
			p.others[j], released = text, true
		}
	}
	return released
}

// cross pairs the remaining equal texts. The sides have put these texts at different places. It does not pair short
// texts.
func (p *pairing) cross(pairs []int) {
	taken := map[int]bool{}
	for _, j := range pairs {
		taken[j] = true
	}
	left := map[string][]int{}
	for j, text := range p.others {
		if text != p.theirs[j] && !taken[j] {
			left[text] = append(left[text], j)
		}
	}
	for i, text := range p.texts {
		if found := left[text]; pairs[i] == diff.None && len(found) > 0 &&
			!sayingOf(p.merger.ours.blocks[p.ours[i]].node).short() {
			pairs[i], left[text] = found[0], found[1:]
		}
	}
}

// discard removes the pairs of short texts that are at different places of the list.
func (p *pairing) discard(pairs []int) {
	partners := map[int]bool{}
	twins := func(i int) bool {
		j := pairs[i]
		return j != diff.None && p.texts[i] != p.ours[i] && p.ours[i] != p.theirs[j]
	}
	for i := range pairs {
		if twins(i) {
			partners[pairs[i]] = true
		}
	}
	rest := func(list []string, twin func(int) bool) (others []string) {
		for i, key := range list {
			if !twin(i) {
				others = append(others, key)
			}
		}
		return others
	}
	anchor := sequence{
		base: p.base.lists[p.at],
		ours: rest(p.ours, twins), theirs: rest(p.theirs, func(j int) bool { return partners[j] }),
	}.anchor()
	// before returns the number of anchors before each block.
	before := func(list []string) []int {
		counts, n := make([]int, len(list)), 0
		for i, key := range list {
			counts[i] = n
			if anchor(key) {
				n++
			}
		}
		return counts
	}
	mine, others := before(p.ours), before(p.theirs)
	for i, j := range pairs {
		if twins(i) && mine[i] != others[j] && sayingOf(p.merger.ours.blocks[p.ours[i]].node).short() {
			pairs[i] = diff.None
		}
	}
}
