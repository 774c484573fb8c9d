package gitlayout

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema/content/diff"
)

// rewriter updates a table of contents line by line. Only the lines of new, deleted, renamed or moved entries change.
// All other lines stay in their places, including comments, blank lines and lines that are not items.
type rewriter struct {
	old  *summary
	want []contents
	// `stays` has the old items of the entries that stay at their place. `from` has the old items of all existing
	// entries. The keys of `stays` and `from` are indexes in `want`.
	stays, from map[int]*item
	// `items` has the items by the index of their line.
	items map[int]*item
	out   []string
	// `next` is the index of the first old line that is not yet written.
	next int
	// `fresh` is true if the last written line is new.
	fresh bool
	// `above` describes, for each depth below the current parent, the last line of this depth in the result.
	above []entryForm
	end   string
}

// newParent is the parent of items below an entry that the table does not have yet.
const newParent = "new"

// entryForm is the beginning of an entry's line.
type entryForm struct{ indent, bullet string }

// rewrite returns the new text of the table of contents. If `reuse` is set, existing entries keep their old lines.
func rewrite(old *summary, want []contents, reuse bool) string {
	w := &rewriter{
		old: old, want: want, stays: map[int]*item{}, from: map[int]*item{}, items: map[int]*item{}, end: "\n",
	}
	if len(old.lines) > 0 {
		if _, end := cutEnd(old.lines[0]); end != "" {
			w.end = end
		}
	}
	byKey := map[string]*item{}
	for i := range old.items {
		it := &old.items[i]
		if w.items[it.line] = it; it.key != "" {
			byKey[it.key] = it
		}
	}
	var order, places []int
	wanted := map[string]bool{"": true}
	for i := range want {
		wanted[want[i].known] = true
	}
	for i := range want {
		it, c := byKey[want[i].known], &want[i]
		if !reuse || it == nil || it.kind != c.kind {
			continue
		}
		w.from[i] = it
		if it.kind == itemHeading || it.level == c.depth &&
			(it.parent == c.parent || c.parent == newParent || !wanted[it.parent]) {
			order, places = append(order, it.line), append(places, i)
		}
	}
	for _, at := range diff.Increasing(order) {
		w.stays[places[at]] = w.from[places[at]]
	}
	grouped, ruled := false, false
	for i := range want {
		c := &want[i]
		switch c.kind {
		case itemRule:
			grouped, ruled = false, true
			continue
		case itemHeading:
			grouped = true
		case itemPage:
		}
		if it := w.stays[i]; it != nil {
			w.keep(i, it, grouped, ruled)
		} else {
			w.insert(i, ruled)
		}
		ruled = false
	}
	w.copy(len(old.lines), false)
	for i, line := range w.out[:max(len(w.out)-1, 0)] {
		if _, end := cutEnd(line); end == "" {
			w.out[i] += w.end
		}
	}
	return strings.Join(w.out, "")
}

// copy writes the old lines before an index. It does not write the lines of items. If noRules is set, it does not write
// horizontal rules either. `rule` is true if it has written a horizontal rule.
func (w *rewriter) copy(to int, noRules bool) (rule bool) {
	for ; w.next < to; w.next++ {
		line := w.old.lines[w.next]
		it := w.items[w.next]
		isRule := it != nil && it.kind == itemRule
		if it == nil || isRule && !noRules {
			if isRule {
				w.space()
			}
			rule = rule || isRule
			w.out, w.fresh = append(w.out, line), false
			continue
		}
		switch after := w.next + 1; {
		case !w.blank():
		case after < to && isBlank(w.old.lines[after]):
			w.next++ // after the deletion, only one of the blank lines before and after the line stays
		case after == len(w.old.lines) && len(w.out) > 1:
			w.out = w.out[:len(w.out)-1]
		}
	}
	return rule
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// blank reports whether the last line written is blank.
func (w *rewriter) blank() bool { return len(w.out) == 0 || isBlank(w.out[len(w.out)-1]) }

// space writes a blank line between a new line and a following heading or rule.
func (w *rewriter) space() {
	if w.fresh && !w.blank() {
		w.out = append(w.out, w.end)
	}
}

// add writes a new line.
func (w *rewriter) add(line string) { w.out, w.fresh = append(w.out, line+w.end), true }

// keep writes the line of an item that stays at its place, and all old lines before this line.
func (w *rewriter) keep(i int, it *item, grouped, ruled bool) {
	c := &w.want[i]
	rule := w.copy(it.line, c.kind == itemPage && (grouped && !ruled || c.depth > 0))
	if ruled && !rule {
		w.rule()
	}
	if c.kind == itemHeading || w.fresh && len(w.out) > 0 && headingLine.MatchString(w.out[len(w.out)-1]) {
		w.space()
	}
	line, end := cutEnd(w.old.lines[it.line])
	w.out, w.fresh = append(w.out, editedEntry(line, it, c)+end), false
	w.next = it.line + 1
	w.remember(c.depth, w.out[len(w.out)-1])
}

// rule writes a horizontal rule, which ends a group.
func (w *rewriter) rule() {
	if !w.blank() {
		w.add("")
	}
	w.add("***")
	w.add("")
}

// insert writes the line of a new or moved item after the previous item.
func (w *rewriter) insert(i int, ruled bool) {
	c := &w.want[i]
	switch {
	case i == 0 && len(w.old.items) > 0:
		w.copy(w.old.items[0].line, false)
	case i == 0:
		w.copy(len(w.old.lines), false)
		if !w.blank() {
			w.add("")
		}
	case ruled:
		if at := w.ruleAhead(i); at >= 0 {
			w.copy(at+1, false)
		} else {
			w.rule()
		}
	}
	heading := len(w.out) > 0 && (i > 0 && w.want[i-1].kind != itemPage)
	if heading {
		for w.next < len(w.old.lines) && isBlank(w.old.lines[w.next]) && !w.fresh {
			w.copy(w.next+1, false)
		}
	}
	if (heading || c.kind == itemHeading) && !w.blank() || c.kind == itemPage && w.loose() {
		w.add("")
	}
	end := w.end
	if it := w.from[i]; it != nil {
		_, own := cutEnd(w.old.lines[it.line])
		end = cmp.Or(own, end)
	}
	w.out, w.fresh = append(w.out, w.line(i)+end), true
	w.remember(c.depth, w.out[len(w.out)-1])
	if heading && w.next < len(w.old.lines) && w.looseBehind(w.next) {
		w.add("")
	}
}

// ruleAhead finds the horizontal rule between the present line and the next item that stays at its place.
func (w *rewriter) ruleAhead(i int) int {
	to := len(w.old.lines)
	for at := i + 1; at < len(w.want); at++ {
		if it := w.stays[at]; it != nil {
			to = it.line
			break
		}
	}
	for at := w.next; at < to; at++ {
		if it := w.items[at]; it != nil && it.kind == itemRule {
			return at
		}
	}
	return -1
}

// loose reports whether the old table had a blank line between the entry just written and the next entry.
func (w *rewriter) loose() bool {
	return !w.blank() && w.next > 0 && w.looseBehind(w.next-1)
}

// looseBehind reports whether an old line is an entry that a blank line separates from the next entry.
func (w *rewriter) looseBehind(line int) bool {
	at := line + 1
	for at < len(w.old.lines) && isBlank(w.old.lines[at]) {
		at++
	}
	entry := func(at int) bool { return w.items[at] != nil && w.items[at].kind == itemPage }
	return at > line+1 && entry(line) && entry(at)
}

// remember records the indent and the bullet of the last entry at a depth. After a heading or a horizontal rule, it
// forgets the entries of all depths.
func (w *rewriter) remember(depth int, line string) {
	text, _ := cutEnd(line)
	found := entryLine.FindStringSubmatch(text)
	if found == nil {
		w.above = nil
		return
	}
	for len(w.above) <= depth {
		w.above = append(w.above, entryForm{})
	}
	w.above[depth] = entryForm{found[1], found[2]}
	w.above = w.above[:depth+1]
}

// line writes the line of an item that is new or moved.
func (w *rewriter) line(i int) string {
	c, it := &w.want[i], w.from[i]
	if c.kind == itemHeading {
		if it == nil {
			return headingOf(c.title, c.slug)
		}
		line, _ := cutEnd(w.old.lines[it.line])
		return editedEntry(line, it, c)
	}
	f := w.form(i, it)
	if it == nil {
		return f.indent + f.bullet + " " + entryText(c)
	}
	line, _ := cutEnd(w.old.lines[it.line])
	found := entryLine.FindStringSubmatchIndex(line)
	if it.level == c.depth {
		f.bullet = line[found[4]:found[5]]
	}
	return f.indent + f.bullet + editedEntry(line, it, c)[found[5]:]
}

// form returns the indent and the bullet for an item. They are the same as for its neighbouring entries. If no entry of
// the same depth is before the item, `form` uses an entry of this depth elsewhere.
func (w *rewriter) form(i int, it *item) entryForm {
	depth := w.want[i].depth
	if depth < len(w.above) {
		return w.above[depth].following()
	}
	for at := i + 1; at < len(w.want) && w.want[at].kind == itemPage && w.want[at].depth >= depth; at++ {
		if next := w.stays[at]; next != nil && w.want[at].depth == depth {
			return w.formOf(next)
		}
	}
	own := ""
	if it != nil {
		own = w.formOf(it).bullet
	}
	for at := range w.old.items {
		parent := &w.old.items[at]
		if parent.kind != itemPage {
			continue
		}
		if depth == 0 {
			f := w.formOf(parent)
			if own != "" {
				f.bullet = own
			}
			return f
		}
		if below := at + 1; below < len(w.old.items) && w.old.items[below].kind == itemPage &&
			w.old.items[below].depth > parent.depth {
			f := w.formOf(&w.old.items[below])
			step := strings.TrimPrefix(f.indent, w.formOf(parent).indent)
			above := w.aboveOf(depth)
			return entryForm{above.indent + step, f.bullet}
		}
	}
	above := w.aboveOf(depth)
	if depth == 0 {
		return entryForm{"", above.bullet}
	}
	const narrow = 2
	return entryForm{above.indent + strings.Repeat(" ", max(narrow, len(above.bullet)+1)), above.bullet}
}

// aboveOf returns the indent and the bullet of the parent of an entry at this depth.
func (w *rewriter) aboveOf(depth int) entryForm {
	if depth == 0 || len(w.above) < depth {
		return entryForm{bullet: "*"}
	}
	return w.above[depth-1]
}

func (w *rewriter) formOf(it *item) entryForm {
	line, _ := cutEnd(w.old.lines[it.line])
	found := entryLine.FindStringSubmatch(line)
	return entryForm{found[1], found[2]}
}

var numberBullet = regexp.MustCompile(`^(\d+)([.)])$`)

// following returns the form of the next entry. If the bullet is a number, `following` adds 1 to it.
func (f entryForm) following() entryForm {
	if found := numberBullet.FindStringSubmatch(f.bullet); found != nil {
		n, _ := strconv.Atoi(found[1])
		f.bullet = strconv.Itoa(n+1) + found[2]
	}
	return f
}
