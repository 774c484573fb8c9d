package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// space is a side of a merge. It has its pages in a map, and counts the calls of its methods.
type space struct {
	rows  map[string]tree.Node
	below map[string][]tree.Node
	asked int
	read  int
}

func newSpace(rows map[string]tree.Node) *space {
	s := &space{rows: rows, below: map[string][]tree.Node{}}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		s.below[rows[id].Parent] = append(s.below[rows[id].Parent], rows[id])
	}
	return s
}

func (s *space) Page(id string) (tree.Node, bool) {
	s.asked++
	n, ok := s.rows[id]
	return n, ok
}

func (s *space) Children(parent string) []tree.Node {
	s.asked++
	s.read += len(s.below[parent])
	return s.below[parent]
}

// library has documents by their hashes.
type library map[string]schema.Document

func (l library) load(hash string) (schema.Document, error) {
	d, ok := l[hash]
	if !ok {
		return d, fmt.Errorf("no document %s", hash)
	}
	return d, nil
}

func (l library) keep(d schema.Document) (string, error) {
	hash := fmt.Sprintf("%x", keys.HashOf(&schema.Node{Object: schema.ObjectFragment, Nodes: d.Nodes}))[:12] + fmt.Sprint(len(jsonOf(d)))
	l[hash] = d
	return hash, nil
}

const (
	testDepth = 4
	testPages = 40
)

func changedPages(base, ours, theirs map[string]tree.Node) []string {
	var list []string
	for _, id := range slices.Sorted(maps.Keys(union(base, ours, theirs))) {
		b, inBase := base[id]
		for _, side := range []map[string]tree.Node{ours, theirs} {
			if n, there := side[id]; there != inBase || there && !sameNode(n, b) {
				list = append(list, id)
				break
			}
		}
	}
	return list
}

func union(sides ...map[string]tree.Node) map[string]bool {
	all := map[string]bool{}
	for _, side := range sides {
		for id := range side {
			all[id] = true
		}
	}
	return all
}

func mergeSpaces(t interface {
	Helper()
	Fatalf(string, ...any)
}, docs library, base, ours, theirs map[string]tree.Node, choices Choices) (map[string]tree.Node, []Conflict,
) {
	t.Helper()
	result, err := Pages(Input{
		Base: newSpace(base), Ours: newSpace(ours), Theirs: newSpace(theirs), Changed: changedPages(base, ours, theirs),
		Load: docs.load, Keep: docs.keep, Choices: choices, Count: len(ours), MaxPages: testPages, MaxDepth: testDepth,
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	merged := maps.Clone(ours)
	for _, id := range result.Delete {
		if _, there := merged[id]; !there {
			t.Fatalf("%s is deleted, but is not on ours", id)
		}
		delete(merged, id)
	}
	for _, n := range result.Write {
		if was, there := merged[n.ID]; there && sameNode(was, n) {
			t.Fatalf("%s is written unchanged", n.ID)
		}
		merged[n.ID] = n
	}
	return merged, result.Conflicts
}

func wellFormed(rows map[string]tree.Node) error {
	slugs := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		n, depth := rows[id], 1
		for at := n.Parent; at != ""; at = rows[at].Parent {
			above, ok := rows[at]
			if depth++; !ok || depth > testDepth || above.Kind == tree.KindLink {
				return fmt.Errorf("%s is below %s (%v, depth %d)", id, at, ok, depth)
			}
		}
		if n.Kind == tree.KindGroup && n.Parent != "" {
			return fmt.Errorf("group %s is below %s", id, n.Parent)
		}
		if n.Kind != tree.KindLink {
			path := n.Parent + "/" + n.Slug
			if slugs[path] != "" || n.Slug == "" {
				return fmt.Errorf("%s and %s are both at %q", id, slugs[path], path)
			}
			slugs[path] = id
		}
	}
	if len(rows) > testPages {
		return fmt.Errorf("%d pages", len(rows))
	}
	return nil
}

// gardener generates random trees, and random edits of these trees.
type gardener struct {
	writer
	docs library
	// root is the page below which the gardener makes edits. If it is "", the gardener edits all pages.
	root string
}

func (g gardener) text() string {
	d := schema.NewDocument(schema.Block("paragraph", writer{g.t, g.next, g.name}.text(3)))
	keys.Assign(&d, nil)
	hash, _ := g.docs.keep(d)
	return hash
}

func (g gardener) within(rows map[string]tree.Node) []string {
	var list []string
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if g.root == "" || below(rows, id, g.root) {
			list = append(list, id)
		}
	}
	return list
}

func below(rows map[string]tree.Node, id, ancestor string) bool {
	for ; id != ""; id = rows[id].Parent {
		if id == ancestor {
			return true
		}
	}
	return false
}

func (g gardener) pick(rows map[string]tree.Node) string {
	list := g.within(rows)
	if len(list) == 0 {
		return ""
	}
	return rapid.SampledFrom(list).Draw(g.t, g.name)
}

// step makes a random edit. If the edit is not allowed, step returns the tree without it.
func (g gardener) step(rows map[string]tree.Node) map[string]tree.Node {
	next := maps.Clone(rows)
	id := g.pick(next)
	n := next[id]
	n.UpdatedAt = n.UpdatedAt.Add(time.Second)
	parent := g.root
	if g.between(0, 2) > 0 {
		parent = g.pick(next)
	}
	position := fmt.Sprintf("%02d", g.between(0, 9))
	switch op := g.between(0, 9); {
	case op <= 1 || id == "":
		n = tree.Node{Page: tree.Page{ID: g.word(), Kind: tree.KindDocument, Title: g.word(), Slug: fmt.Sprint("s", g.between(0, 9)), Document: g.text()}, Parent: parent, Position: position}
		if g.root != "" {
			n.Slug = n.ID
		}
		switch g.between(0, 5) {
		case 0:
			n.Kind, n.Slug, n.Document, n.Target = tree.KindLink, "", "", schema.Data{"kind": "url", "url": "/"}
		case 1:
			if n.Parent == "" {
				n.Kind, n.Document = tree.KindGroup, ""
			}
		}
	case op == 2 && id != g.root:
		maps.DeleteFunc(next, func(other string, _ tree.Node) bool { return below(rows, other, id) })
		return next
	case op == 3 && id != g.root && !below(next, parent, id):
		n.Parent, n.Position = parent, position
	case op == 4:
		n.Position = position
	case op == 5:
		n.Title = g.word()
	case op == 6 && n.Kind != tree.KindLink && g.root == "":
		n.Slug = fmt.Sprint("s", g.between(0, 9))
	case op == 7 && n.Kind == tree.KindDocument:
		n.Document = g.text()
	case op == 8:
		n.Hidden = !n.Hidden
	default:
		n.Description = g.word()
	}
	next[n.ID] = n
	if wellFormed(next) != nil {
		return rows
	}
	return next
}

func (g gardener) steps(rows map[string]tree.Node, least, most int) map[string]tree.Node {
	for range g.between(least, most) {
		rows = g.step(rows)
	}
	return rows
}

func rowsText(rows map[string]tree.Node) string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		n := rows[id]
		fmt.Fprintf(&b, "\n  %s %s in %q at %s slug=%q title=%s doc=%s", id, n.Kind, n.Parent, n.Position, n.Slug, n.Title, n.Document)
	}
	return b.String()
}

func pagesText(base, ours, theirs, merged map[string]tree.Node, found []Conflict) string {
	text := ""
	for i, name := range []string{"base", "ours", "theirs", "merged"} {
		text += "\n" + name + ":" + rowsText([]map[string]tree.Node{base, ours, theirs, merged}[i])
	}
	for _, c := range found {
		text += fmt.Sprintf("\n%s %s %s %v %v", c.Kind, c.Page, c.Field, c.Pages, c.Choice)
	}
	return text
}

func TestPagesLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		next, docs := 0, library{}
		base := gardener{writer: writer{t, &next, "base"}, docs: docs}.steps(map[string]tree.Node{}, 0, 15)
		ours := gardener{writer: writer{t, &next, "ours"}, docs: docs}.steps(base, 0, 6)
		theirs := gardener{writer: writer{t, &next, "theirs"}, docs: docs}.steps(base, 0, 6)
		for _, law := range []struct {
			name                     string
			base, ours, theirs, want map[string]tree.Node
		}{{"only ours", base, ours, base, ours}, {"only theirs", base, base, theirs, theirs}, {"both the same", base, ours, ours, ours}} {
			if got, found := mergeSpaces(t, docs, law.base, law.ours, law.theirs, nil); rowsText(got) != rowsText(law.want) || len(found) > 0 {
				t.Fatalf("%s%s", law.name, pagesText(law.base, law.ours, law.theirs, got, found))
			}
		}
		merged, found := mergeSpaces(t, docs, base, ours, theirs, nil)
		again, foundAgain := mergeSpaces(t, docs, base, ours, theirs, nil)
		if jsonOf(found) != jsonOf(foundAgain) || rowsText(merged) != rowsText(again) {
			t.Fatal("the merge depends on more than its input")
		}
		if err := wellFormed(merged); err != nil {
			t.Fatalf("%v%s", err, pagesText(base, ours, theirs, merged, found))
		}
		accounted(t, base, ours, theirs, merged, found)
		accounted(t, base, theirs, ours, merged, found)
		chooseTheirs(t, docs, base, ours, theirs)
	})
}

// accounted checks each change of a side. The change must be in the result, or there must be a conflict about the
// changed page.
func accounted(t *rapid.T, base, side, other, merged map[string]tree.Node, found []Conflict) {
	t.Helper()
	named := map[string]bool{}
	for _, c := range found {
		named[c.Page+" "+c.Field] = true
		for _, id := range append(c.Pages, c.Page) {
			if c.Kind == KindDelete || c.Kind == KindCycle || c.Kind == KindSize || c.Kind == KindParent {
				named[id] = true
			}
		}
	}
	if slices.ContainsFunc(found, func(c Conflict) bool { return c.Kind == KindSize }) {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(union(base, side))) {
		b, was := base[id]
		n, is := side[id]
		o, there := other[id]
		m, kept := merged[id]
		switch {
		case named[id]:
		case was && !is && kept:
			// A deleted page stays in the result if the other side edited this page or a page below it.
			if !slices.ContainsFunc(found, func(c Conflict) bool { return c.Kind == KindDelete }) {
				t.Fatalf("%s was deleted%s", id, pagesText(base, side, other, merged, found))
			}
		case !was && is && !kept:
			t.Fatalf("%s is lost%s", id, pagesText(base, side, other, merged, found))
		case !is || !kept || !there:
		default:
			for _, f := range append(pageFields[:len(pageFields):len(pageFields)], documentField) {
				if f.name == FieldDocument && o.Document != b.Document {
					continue // documents are merged block by block
				}
				if was && !equal(f.get(&n), f.get(&b)) && !equal(f.get(&m), f.get(&n)) && !named[id+" "+f.name] {
					t.Fatalf("%s of %s is lost%s", f.name, id, pagesText(base, side, other, merged, found))
				}
			}
			if was && n.Parent != b.Parent && m.Parent != n.Parent && !named[id+" "+FieldPlace] && o.Parent == b.Parent {
				if _, held := merged[n.Parent]; held || n.Parent == "" {
					t.Fatalf("the move of %s is lost%s", id, pagesText(base, side, other, merged, found))
				}
			}
		}
	}
}

var documentField = struct {
	name  string
	value valueKind
	get   func(n *tree.Node) any
	set   func(n *tree.Node, value any)
}{FieldDocument, noValue, func(n *tree.Node) any { return n.Document }, nil}

// chooseTheirs chooses the version `theirs` in each conflict, until no conflict is open.
func chooseTheirs(t *rapid.T, docs library, base, ours, theirs map[string]tree.Node) {
	t.Helper()
	choices := Choices{}
	for range 12 {
		merged, found := mergeSpaces(t, docs, base, ours, theirs, choices)
		if err := wellFormed(merged); err != nil {
			t.Fatalf("%v%s", err, pagesText(base, ours, theirs, merged, found))
		}
		for _, c := range Open(found) {
			if c.Kind == KindSize {
				return
			}
			for _, take := range []string{TakeTheirs, TakeOurs} {
				if len(c.Problems(Choice{Take: take})) == 0 {
					choices[c.ID] = Choice{Take: take}
					break
				}
			}
		}
		if len(Open(found)) == 0 {
			return
		}
	}
	merged, found := mergeSpaces(t, docs, base, ours, theirs, choices)
	t.Fatalf("conflicts come back%s", pagesText(base, ours, theirs, merged, found))
}

// TestDisjointRequests edits the pages below different pages in several change requests. The requests must not
// conflict, and every order of merging must give the same result.
func TestDisjointRequests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		next, docs := 0, library{}
		n := rapid.IntRange(2, 4).Draw(t, "requests")
		base := map[string]tree.Node{}
		for i := range n {
			id := fmt.Sprint("root", i)
			base[id] = tree.Node{Page: tree.Page{ID: id, Kind: tree.KindDocument, Title: id, Slug: id}}
			base = gardener{writer: writer{t, &next, "base"}, docs: docs, root: id}.steps(base, 0, 3)
		}
		requests := make([]map[string]tree.Node, n)
		for i := range requests {
			requests[i] = gardener{writer: writer{t, &next, "theirs"}, docs: docs, root: fmt.Sprint("root", i)}.steps(base, 0, 4)
		}
		first := ""
		for _, order := range [][]int{rapid.Permutation(upTo(n)).Draw(t, "order"), upTo(n)} {
			main := base
			for _, i := range order {
				merged, found := mergeSpaces(t, docs, base, main, requests[i], nil)
				if len(found) > 0 {
					t.Fatalf("%s", pagesText(base, main, requests[i], merged, found))
				}
				main = merged
			}
			if first == "" {
				first = rowsText(main)
			} else if first != rowsText(main) {
				t.Fatalf("%s\n%s", first, rowsText(main))
			}
		}
	})
}

// TestPagesReadsWhatChanged merges small changes into a space of 10,000 pages. It checks that only a few pages are
// read.
func TestPagesReadsWhatChanged(t *testing.T) {
	t.Parallel()
	base, docs := map[string]tree.Node{}, library{}
	add := func(rows map[string]tree.Node, id, parent string) {
		rows[id] = tree.Node{Page: tree.Page{ID: id, Kind: tree.KindDocument, Title: id, Slug: id}, Parent: parent, Position: id}
	}
	for i := range 100 {
		section := fmt.Sprintf("section%02d", i)
		add(base, section, "")
		for j := range 99 {
			add(base, fmt.Sprintf("%s-%02d", section, j), section)
		}
	}
	ours, theirs := maps.Clone(base), maps.Clone(base)
	edit := func(rows map[string]tree.Node, id string, change func(n *tree.Node)) {
		n := rows[id]
		change(&n)
		rows[id] = n
	}
	for i := range 20 {
		edit(ours, fmt.Sprintf("section%02d-07", i), func(n *tree.Node) { n.Title = "ours" })
		edit(theirs, fmt.Sprintf("section%02d-08", i), func(n *tree.Node) { n.Title = "theirs" })
	}
	add(theirs, "new", "section50")
	edit(theirs, "section60-01", func(n *tree.Node) { n.Parent = "section61" })
	sides := []*space{newSpace(base), newSpace(ours), newSpace(theirs)}
	result, err := Pages(Input{
		Base: sides[0], Ours: sides[1], Theirs: sides[2], Changed: changedPages(base, ours, theirs),
		Load: docs.load, Keep: docs.keep, Count: len(ours), MaxDepth: 16, MaxPages: 100_000,
	})
	if err != nil || len(result.Write) != 22 || len(result.Delete)+len(result.Conflicts) != 0 {
		t.Fatalf("%v %+v", err, result)
	}
	asked, read := 0, 0
	for _, s := range sides {
		asked, read = asked+s.asked, read+s.read
	}
	if asked > 42*20 || read > 2*100 {
		t.Errorf("%d questions, %d children read", asked, read)
	}
}

func TestChoicesOfPages(t *testing.T) {
	t.Parallel()
	docs := library{}
	rows := func(nodes ...tree.Node) map[string]tree.Node {
		all := map[string]tree.Node{}
		for _, n := range nodes {
			all[n.ID] = n
		}
		return all
	}
	page := func(id, parent, slug string) tree.Node {
		return tree.Node{Page: tree.Page{ID: id, Kind: tree.KindDocument, Title: "T" + id, Slug: slug}, Parent: parent, Position: "1"}
	}
	titled := func(n tree.Node, title string) tree.Node { n.Title = title; return n }
	a, b := page("a", "", "a"), page("b", "", "b")
	for name, c := range map[string]struct {
		base, ours, theirs map[string]tree.Node
		kind, page         string
		choice             string // TakeValue if the conflict offers it
		value              string
		got                func(rows map[string]tree.Node) string
		want               [4]string // the results without a choice, and with the choices ours, theirs and value
	}{
		"title": {
			rows(a), rows(titled(a, "O")), rows(titled(a, "T")), KindEdit, "a", TakeValue, `"V"`,
			func(r map[string]tree.Node) string { return r["a"].Title }, [4]string{"O", "O", "T", "V"},
		},
		"slug of two new pages": {
			rows(), rows(page("o", "", "same")), rows(page("t", "", "same")), KindSlug, "t", TakeValue, `"other"`,
			func(r map[string]tree.Node) string { return r["o"].Slug + " " + r["t"].Slug },
			[4]string{"same same-1", "same same-1", "same-1 same", "same other"},
		},
		"deleted and edited": {
			rows(a, page("c", "a", "c")), rows(), rows(a, titled(page("c", "a", "c"), "T")), KindDelete, "a", "", "",
			func(r map[string]tree.Node) string { return fmt.Sprint(len(r), r["c"].Title) }, [4]string{"0", "0", "2T", ""},
		},
		"edited and deleted": {
			rows(a, page("c", "a", "c")), rows(a, titled(page("c", "a", "c"), "O")), rows(), KindDelete, "a", "", "",
			func(r map[string]tree.Node) string { return fmt.Sprint(len(r), r["c"].Title) }, [4]string{"2O", "2O", "0", ""},
		},
		"put below a deleted page": {
			rows(a), rows(), rows(a, page("n", "a", "n")), KindDelete, "a", "", "",
			func(r map[string]tree.Node) string { return fmt.Sprint(len(r)) }, [4]string{"0", "0", "2", ""},
		},
		"moved below a deleted page": {
			rows(a, b), rows(b), rows(a, page("b", "a", "b")), KindDelete, "a", "", "",
			func(r map[string]tree.Node) string { return fmt.Sprint(len(r), r["b"].Parent) }, [4]string{"1", "1", "2a", ""},
		},
		"moved to two places": {
			rows(a, b, page("c", "", "c")), rows(a, b, page("c", "a", "c")), rows(a, b, page("c", "b", "c")), KindPlace, "c", TakeValue, `{"parent":""}`,
			func(r map[string]tree.Node) string { return r["c"].Parent }, [4]string{"a", "a", "b", ""},
		},
		"moved below each other": {
			rows(a, b), rows(page("a", "b", "a"), b), rows(a, page("b", "a", "b")), KindCycle, "b", "", "",
			func(r map[string]tree.Node) string { return r["a"].Parent + "<" + r["b"].Parent }, [4]string{"b<", "b<", "<a", ""},
		},
		"below a link": {
			rows(a), rows(tree.Node{Page: tree.Page{ID: "a", Kind: tree.KindLink, Title: "Ta"}, Position: "1"}), rows(a, page("n", "a", "n")),
			KindParent, "n", TakeValue, `{"parent":""}`,
			func(r map[string]tree.Node) string { return r["n"].Title + r["n"].Parent }, [4]string{"Tn", "Tn", "", "Tn"},
		},
		"a group below a page": {
			rows(a, b), rows(a, tree.Node{Page: tree.Page{ID: "b", Kind: tree.KindGroup, Title: "Tb", Slug: "b"}, Position: "1"}), rows(a, page("b", "a", "b")),
			KindParent, "b", "", "",
			func(r map[string]tree.Node) string { return r["b"].Kind + r["b"].Parent }, [4]string{"group", "group", "", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs := maps.Clone(docs)
			merged, found := mergeSpaces(t, docs, c.base, c.ours, c.theirs, nil)
			if len(found) != 1 || found[0].Kind != c.kind || found[0].Page != c.page || c.got(merged) != c.want[0] {
				t.Fatalf("%s, want %s%s", c.got(merged), c.want[0], pagesText(c.base, c.ours, c.theirs, merged, found))
			}
			for i, choice := range []Choice{{Take: TakeOurs}, {Take: TakeTheirs}, {Take: TakeValue, Value: jsontext.Value(c.value)}} {
				offered := i == 0 || i == 1 && c.kind != KindParent || i == 2 && c.choice != ""
				if ok := len(found[0].Problems(choice)) == 0; ok != offered {
					t.Errorf("%s is offered: %v", choice.Take, ok)
				}
				if !offered {
					continue
				}
				merged, resolved := mergeSpaces(t, docs, c.base, c.ours, c.theirs, Choices{found[0].ID: choice})
				if got := c.got(merged); got != c.want[i+1] || len(Open(resolved)) > 0 || wellFormed(merged) != nil {
					t.Errorf("%s: %s, want %s%s", choice.Take, got, c.want[i+1], pagesText(c.base, c.ours, c.theirs, merged, resolved))
				}
			}
		})
	}
}

// TestCycleBesideADeletion has a cycle and a deletion. Ours moved page `a` below `p`, and `b` below `a`. Theirs deleted
// `p` and left `a` below `b`. Without `p`, page `a` would be below `b`, and `b` would be below `a`. With each
// resolution of this cycle, no page may remain below the deleted page.
func TestCycleBesideADeletion(t *testing.T) {
	t.Parallel()
	base, ours, theirs := rows(page("p", ""), page("b", ""), page("a", "b")), rows(page("p", ""), page("a", "p"), page("b", "a")), rows(page("b", ""), page("a", "b"))
	_, found := mergeSpaces(t, library{}, base, ours, theirs, nil)
	if len(found) != 1 || found[0].Kind != KindDelete {
		t.Fatalf("%+v", found)
	}
	choices := Choices{found[0].ID: {Take: TakeTheirs}}
	merged, found := mergeSpaces(t, library{}, base, ours, theirs, choices)
	if len(found) != 2 || found[0].Kind != KindCycle || wellFormed(merged) != nil {
		t.Fatalf("%+v", found)
	}
	for take, want := range map[string]string{TakeOurs: "a: b:a", TakeTheirs: "a:b b:"} {
		choices[found[0].ID] = Choice{Take: take}
		merged, found := mergeSpaces(t, library{}, base, ours, theirs, choices)
		if got := "a:" + merged["a"].Parent + " b:" + merged["b"].Parent; len(Open(found)) > 0 || wellFormed(merged) != nil || len(merged) != 2 || got != want {
			t.Errorf("%s: %s, want %s", take, got, want)
		}
	}
}

// TestChoicesAgainstEachOther makes a choice for a cycle. The choice causes a second cycle, and the resolution of the
// second cycle causes the first cycle again. The merge must find the first conflict again and list it only once.
func TestChoicesAgainstEachOther(t *testing.T) {
	t.Parallel()
	base := rows(page("a", ""), page("b", ""), page("c", ""))
	ours := rows(page("a", ""), page("b", "a"), page("c", "b"))
	theirs := rows(page("a", "b"), page("b", "c"), page("c", ""))
	choices, take := Choices{}, TakeTheirs
	for range 10 {
		merged, found := mergeSpaces(t, library{}, base, ours, theirs, choices)
		if err := wellFormed(merged); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, c := range found {
			if seen[c.ID] {
				t.Fatalf("%+v is there twice: %+v", c, choices)
			}
			seen[c.ID] = true
		}
		open := Open(found)
		if len(open) == 0 {
			return
		}
		choices[open[0].ID] = Choice{Take: take}
		take = TakeOurs
	}
	t.Fatalf("conflicts come again and again: %+v", choices)
}

func TestPagesWithoutConflict(t *testing.T) {
	t.Parallel()
	page := func(id, parent, position string) tree.Node {
		return tree.Node{Page: tree.Page{ID: id, Kind: tree.KindDocument, Title: "T", Slug: id, UpdatedAt: time.Unix(1, 0)}, Parent: parent, Position: position}
	}
	all := func(nodes ...tree.Node) map[string]tree.Node {
		rows := map[string]tree.Node{}
		for _, n := range nodes {
			rows[n.ID] = n
		}
		return rows
	}
	later := page("a", "", "1")
	later.UpdatedAt = time.Unix(5, 0)
	hidden := page("a", "", "1")
	hidden.Hidden, hidden.UpdatedAt = true, time.Unix(3, 0)
	for name, c := range map[string]struct{ base, ours, theirs, want map[string]tree.Node }{
		"two new pages at one place": {all(), all(page("a", "", "1")), all(page("b", "", "1")), all(page("a", "", "1"), page("b", "", "1"))},
		"moved to one parent by both": {
			all(page("a", "", "1"), page("p", "", "2")), all(page("a", "p", "3"), page("p", "", "2")), all(page("a", "p", "4"), page("p", "", "2")),
			all(page("a", "p", "3"), page("p", "", "2")),
		},
		"moved and reordered": {
			all(page("a", "", "1"), page("p", "", "2")), all(page("a", "", "5"), page("p", "", "2")), all(page("a", "p", "4"), page("p", "", "2")),
			all(page("a", "p", "4"), page("p", "", "2")),
		},
		"deleted and reordered": {all(page("a", "", "1")), all(), all(page("a", "", "2")), all()},
		"deleted by both":       {all(page("a", "", "1")), all(), all(), all()},
		"times only":            {all(page("a", "", "1")), all(later), all(hidden), all(func() tree.Node { n := hidden; n.UpdatedAt = later.UpdatedAt; return n }())},
		"out of a deleted page": {
			all(page("p", "", "1"), page("a", "p", "1")), all(page("a", "", "2")), all(page("p", "", "1"), page("a", "p", "1")), all(page("a", "", "2")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, found := mergeSpaces(t, library{}, c.base, c.ours, c.theirs, nil)
			same := rowsText(got) == rowsText(c.want)
			for id, n := range c.want {
				same = same && sameNode(got[id], n)
			}
			if !same || len(found) > 0 {
				t.Errorf("want%s%s", rowsText(c.want), pagesText(c.base, c.ours, c.theirs, got, found))
			}
		})
	}
}

func page(id, parent string) tree.Node {
	return tree.Node{Page: tree.Page{ID: id, Kind: tree.KindDocument, Title: id, Slug: id}, Parent: parent, Position: id}
}

func rows(nodes ...tree.Node) map[string]tree.Node {
	all := map[string]tree.Node{}
	for _, n := range nodes {
		all[n.ID] = n
	}
	return all
}

// TestBoundsOfPages merges two sides that are within the bounds. The merge of both sides would exceed the bounds.
func TestBoundsOfPages(t *testing.T) {
	t.Parallel()
	// Ours moves `c` below `b`. Theirs moves `x` below `c`, and `y` is below `x`. After the merge, `y` would be on the
	// fifth level.
	base := rows(page("a", ""), page("b", "a"), page("c", ""), page("x", ""), page("y", "x"))
	ours, theirs := maps.Clone(base), maps.Clone(base)
	ours["c"], theirs["x"] = page("c", "b"), page("x", "c")
	merged, found := mergeSpaces(t, library{}, base, ours, theirs, nil)
	if len(found) != 1 || found[0].Kind != KindParent || found[0].Page != "x" || merged["x"].Parent != "b" || wellFormed(merged) != nil {
		t.Errorf("%s", pagesText(base, ours, theirs, merged, found))
	}
	ours, theirs = maps.Clone(base), maps.Clone(base)
	for i := range testPages - len(base) {
		ours[fmt.Sprint("o", i)] = page(fmt.Sprint("o", i), "")
	}
	theirs["t"] = page("t", "")
	merged, found = mergeSpaces(t, library{}, base, ours, theirs, nil)
	if len(found) != 1 || found[0].Kind != KindSize || fmt.Sprint(found[0].Pages) != "[t]" || rowsText(merged) != rowsText(ours) {
		t.Errorf("%s", pagesText(base, ours, theirs, merged, found))
	}
	if len(found[0].Problems(Choice{Take: TakeTheirs})) == 0 {
		t.Error("a choice makes room")
	}
}

// TestManyCycles merges a space in which each side has moved every page below a page that the other side moved. The
// time must be linear: after a cycle is broken, its pages must not be visited again. With -short, the space has a
// quarter of the pages.
func TestManyCycles(t *testing.T) {
	t.Parallel()
	pairs := 20_000
	if testing.Short() {
		pairs /= 4
	}
	base, ours, theirs := map[string]tree.Node{}, map[string]tree.Node{}, map[string]tree.Node{}
	for i := range pairs {
		a, b := fmt.Sprintf("a%05d", i), fmt.Sprintf("b%05d", i)
		for _, id := range []string{a, b} {
			base[id], ours[id], theirs[id] = page(id, ""), page(id, ""), page(id, "")
		}
		ours[a], theirs[b] = page(a, b), page(b, a)
	}
	result, err := Pages(Input{
		Base: newSpace(base), Ours: newSpace(ours), Theirs: newSpace(theirs), Changed: changedPages(base, ours, theirs), Count: len(ours),
	})
	if err != nil || len(result.Conflicts) != pairs || len(result.Write) != 0 {
		t.Errorf("%d conflicts, %d writes, %v", len(result.Conflicts), len(result.Write), err)
	}
}

// TestCycleBelowADeletedPage breaks a cycle. The pages of the cycle move back below a page that the other side has
// deleted.
func TestCycleBelowADeletedPage(t *testing.T) {
	t.Parallel()
	// On both sides, `a` is below `z` at first. Ours moves `b` below `a`. Theirs moves `a` below `b`, and deletes `z`.
	base := rows(page("z", ""), page("a", "z"), page("b", ""))
	ours := rows(page("z", ""), page("a", "z"), page("b", "a"))
	theirs := rows(page("a", "b"), page("b", ""))
	for name, choices := range map[string]string{"open": "", "ours": TakeOurs, "theirs": TakeTheirs} {
		t.Run(name, func(t *testing.T) {
			merged, found := mergeSpaces(t, library{}, base, ours, theirs, nil)
			for range 3 {
				all := Choices{}
				for _, c := range found {
					if choices != "" {
						all[c.ID] = Choice{Take: choices}
					}
				}
				merged, found = mergeSpaces(t, library{}, base, ours, theirs, all)
			}
			if err := wellFormed(merged); err != nil || len(merged) != 2 {
				t.Errorf("%v%s", err, pagesText(base, ours, theirs, merged, found))
			}
		})
	}
}
