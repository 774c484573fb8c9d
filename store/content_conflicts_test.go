package store_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// conflictModel draws edits of a space and of change requests.
type conflictModel struct {
	t     *testing.T
	rt    *rapid.T
	st    *store.Store
	space store.Space
	user  string
	words int
}

func (m *conflictModel) between(low, high int) int { return rapid.IntRange(low, high).Draw(m.rt, "n") }

func (m *conflictModel) word() string {
	m.words++
	return fmt.Sprint("w", m.words)
}

func (m *conflictModel) must(err error) {
	m.t.Helper()
	if err != nil {
		m.rt.Fatal(err)
	}
}

func paragraph(text string) schema.Node {
	return schema.Block("paragraph", schema.Node{Object: schema.ObjectText, Leaves: []schema.Leaf{{Text: text}}})
}

// text returns a changed document. If `before` is nil, it returns a new document.
func (m *conflictModel) text(before *schema.Document) schema.Document {
	if before == nil {
		d := schema.NewDocument(paragraph(m.word()+" a b"), paragraph(m.word()+" c d"), paragraph(m.word()+" e f"))
		d.Normalize()
		keys.Assign(&d, nil)
		return d
	}
	d := schema.NewDocument(slices.Clone(before.Nodes)...)
	at := min(m.between(0, 3), len(d.Nodes))
	switch kind := m.between(0, 5); {
	case at == len(d.Nodes) || kind == 5:
		d.Nodes = slices.Insert(d.Nodes, at, paragraph(m.word()))
	case kind == 4:
		d.Nodes = slices.Delete(d.Nodes, at, at+1)
	default:
		key := d.Nodes[at].Key
		d.Nodes[at] = paragraph(m.word() + " a b")
		d.Nodes[at].Key = key
	}
	d.Normalize()
	keys.Assign(&d, before)
	return d
}

func (m *conflictModel) pages(revision string) map[string]tree.Node {
	pages, err := m.st.Pages(m.t.Context(), m.space.ID, revision)
	m.must(err)
	all := map[string]tree.Node{}
	var walk func(pages []tree.Page, parent string)
	walk = func(pages []tree.Page, parent string) {
		for i, p := range pages {
			walk(p.Pages, p.ID)
			p.Pages = nil
			all[p.ID] = tree.Node{Page: p, Parent: parent, Position: fmt.Sprintf("%03d", i)}
		}
	}
	walk(pages, "")
	return all
}

func (m *conflictModel) document(hash string) schema.Document {
	if hash == "" {
		return schema.NewDocument()
	}
	texts, err := m.st.Documents(m.t.Context(), m.space.ID, []string{hash})
	m.must(err)
	return texts[hash].Document
}

// edit changes a request in several places, often in the same few pages. It skips changes that the tree refuses.
func (m *conflictModel) edit(request store.ChangeRequest, most int) store.ChangeRequest {
	for range m.between(most/2, most) {
		pages := m.pages(request.Revision)
		ids := slices.Sorted(maps.Keys(pages))
		change := store.ContentChange{UserID: m.user, Names: []string{"x"}}
		var a tree.Attributes
		written := func(before *schema.Document) {
			d, err := store.NewDocument(store.Text{Document: m.text(before)})
			m.must(err)
			change.Documents, a.Document = []store.Document{d}, &d.Hash
		}
		slug, title := fmt.Sprint("s", m.between(0, 5)), m.word()
		if len(ids) < 3 || m.between(0, 9) == 9 { // rapid draws small numbers more often
			written(nil)
			a.Title, a.Slug = &title, &slug
			insert := tree.Insert{Kind: tree.KindDocument, Attributes: a}
			if len(ids) > 0 && m.between(0, 1) == 0 {
				insert.Into = &ids[m.between(0, len(ids)-1)]
			}
			change.Pages = []tree.Change{insert}
		} else {
			id := ids[m.between(0, len(ids)-1)]
			update := tree.Update{Page: id}
			switch m.between(0, 11) {
			case 11:
				change.Pages = []tree.Change{tree.Delete{Page: id}}
			case 1, 5, 6:
				into := ids[m.between(0, len(ids)-1)]
				update.Into = schema.Opt[string]{Set: true}
				if m.between(0, 2) > 0 {
					update.Into.Value = &into
				}
			case 2:
				a.Slug = &slug
			case 3:
				a.Title = &title
			case 4:
				hidden := m.between(0, 1) == 0
				a.Hidden, a.Description = &hidden, &title
			default:
				before := m.document(pages[id].Document)
				written(&before)
			}
			if change.Pages == nil {
				update.Attributes = a
				change.Pages = []tree.Change{update}
			}
		}
		row, err := m.st.ChangeContent(m.t.Context(), request, change)
		if schema.IsCode(err, schema.CodeBadRequest) {
			continue // the place is below the page itself, or its path is taken
		}
		m.must(err)
		request = row.ChangeRequest
	}
	return request
}

func (m *conflictModel) head() string {
	space, err := m.st.Space(m.t.Context(), m.user, m.space.ID)
	m.must(err)
	return space.Space.Revision
}

func (m *conflictModel) request() store.ChangeRequest {
	request, err := m.st.CreateChangeRequest(m.t.Context(), store.NewChangeRequest{SpaceID: m.space.ID, UserID: m.user})
	m.must(err)
	return request
}

func (m *conflictModel) merge(request store.ChangeRequest) store.MergeResult {
	result, err := m.st.MergeChangeRequest(m.t.Context(), request, m.user, storetest.Allow)
	m.must(err)
	return result
}

func (m *conflictModel) conflicts(request store.ChangeRequest) []store.ConflictRow {
	found, err := m.st.Conflicts(m.t.Context(), request, m.head())
	m.must(err)
	var all []store.ConflictRow
	var after []string
	seen := map[string]bool{}
	for {
		page, err := found.Page("all", after, m.between(1, 3))
		m.must(err)
		for _, row := range page.Rows {
			if seen[row.ID] {
				m.rt.Fatalf("%+v is there twice", row)
			}
			seen[row.ID] = true
			all, after = append(all, row), row.Keys()
		}
		if !page.More {
			if int(page.Total) != len(all) {
				m.rt.Fatalf("%d conflicts, %d listed", page.Total, len(all))
			}
			return all
		}
	}
}

// choice draws one of the choices that a conflict offers. The tree may refuse the choice's value.
func (m *conflictModel) choice(c store.ConflictRow, pages []string) merge.Choice {
	takes := c.Takes()
	choice := merge.Choice{Take: takes[m.between(0, len(takes)-1)]}
	if choice.Take != merge.TakeValue {
		return choice
	}
	var value any = m.word()
	switch {
	case c.Block != "":
		value = paragraph(m.word())
	case c.Field == merge.FieldPlace:
		value = map[string]any{"parent": append(slices.Clone(pages), "")[m.between(0, len(pages))]}
	case c.Field == "hidden":
		value = m.between(0, 1) == 0
	case c.Field == merge.FieldSlug:
		value = fmt.Sprint("s", m.between(0, 9))
	case c.Kind == merge.KindDocument:
		value = m.text(nil)
	}
	text, err := json.Marshal(value, json.Deterministic(true))
	m.must(err)
	choice.Value = text
	return choice
}

// resolveAll resolves conflicts with drawn choices until no conflict is open.
func (m *conflictModel) resolveAll(request store.ChangeRequest) []store.ConflictRow {
	for range 200 {
		all := m.conflicts(request)
		at := slices.IndexFunc(all, func(c store.ConflictRow) bool { return c.Choice == nil })
		if at < 0 {
			return all
		}
		c := all[at]
		if m.between(0, 9) == 0 { // sometimes change the choice for a resolved conflict
			c = all[m.between(0, len(all)-1)]
		}
		choice := m.choice(c, []string{c.Page})
		for _, choice := range []merge.Choice{choice, {Take: merge.TakeOurs}, {Take: merge.TakeTheirs}} {
			row, err := m.st.ResolveConflict(m.t.Context(), request, c.ID, choice, m.user)
			if schema.IsCode(err, schema.CodeBadRequest) {
				continue
			}
			m.must(err)
			if row.ID != c.ID || row.Choice == nil || row.Choice.Take != choice.Take || row.ResolvedBy != m.user {
				m.rt.Fatalf("chose %+v, got %+v", choice, row)
			}
			break
		}
	}
	m.rt.Fatal("conflicts come again and again")
	return nil
}

// wanted returns the value that a conflict's choice has chosen.
func wanted(c store.ConflictRow) (value any, is bool) {
	switch c.Choice.Take {
	case merge.TakeOurs:
		return c.Ours, c.Ours != nil
	case merge.TakeTheirs:
		return c.Theirs, c.Theirs != nil
	}
	return c.Choice.Value, true
}

// textOf returns the text of a version, and whether the version is a document of several blocks.
func textOf(m *conflictModel, v any) (text string, several bool) {
	if raw, ok := v.(jsontext.Value); ok {
		var d schema.Document
		m.must(json.Unmarshal(raw, &d))
		if v = d; d.Object != schema.ObjectDocument {
			var n schema.Node
			m.must(json.Unmarshal(raw, &n))
			v = &n
		}
	}
	if d, ok := v.(schema.Document); ok {
		return content.Plain(d), true
	}
	return content.Plain(schema.Document{Nodes: []schema.Node{*v.(*schema.Node)}}), false
}

// holds checks that the merged pages have the chosen values. It skips choices that affect each other in the tree, such
// as a place below a page that another choice deletes. Tests of package merge check them.
func (m *conflictModel) holds(c store.ConflictRow, all []store.ConflictRow, pages map[string]tree.Node) {
	page, there := pages[c.Page]
	value, is := wanted(c)
	about := func(kinds ...string) bool {
		return slices.ContainsFunc(all, func(other store.ConflictRow) bool {
			return slices.Contains(kinds, other.Kind) && (other.Page == c.Page || slices.Contains(other.Pages, c.Page))
		})
	}
	encoded := func(v any) string {
		text, err := json.Marshal(v, json.Deterministic(true))
		m.must(err)
		return string(text)
	}
	fail := func(got any) { m.rt.Fatalf("%+v: the result has %v", c, got) }
	switch {
	case c.Kind == merge.KindDelete && c.Block == "" && c.Field == "":
		gone := slices.IndexFunc(versions(value), func(v merge.PageVersion) bool { return v.ID == c.Page }) < 0
		if gone == there {
			fail(there)
		}
	case !there:
		fail("no page")
	case c.Kind == merge.KindEdit && c.Block == "":
		field := map[string]any{
			"title": page.Title, "slug": page.Slug, "description": page.Description, "hidden": page.Hidden, "emoji": page.Emoji,
		}[c.Field]
		if encoded(field) != encoded(value) && !(c.Field == "slug" && about(merge.KindSlug)) {
			fail(field)
		}
	case c.Kind == merge.KindSlug && c.Choice.Take == merge.TakeValue:
		if encoded(page.Slug) != encoded(value) {
			fail(page.Slug)
		}
	case c.Kind == merge.KindPlace && c.Block == "":
		var at merge.Place
		m.must(json.Unmarshal([]byte(encoded(value)), &at))
		if _, kept := pages[at.Parent]; page.Parent != at.Parent && (kept || at.Parent == "") && !about(merge.KindCycle, merge.KindParent) {
			fail(page.Parent)
		}
	case c.Block != "" && (c.Path == "" || c.Path == "text") && c.Kind != merge.KindPlace:
		d := m.document(page.Document)
		at := slices.IndexFunc(d.Nodes, func(n schema.Node) bool { return n.Key == c.Block })
		if !is {
			if at >= 0 {
				fail(content.Plain(d))
			}
			return
		}
		// If both sides have added blocks at one place, the conflict has the key of our block. The other version then
		// has blocks with other keys.
		text, several := textOf(m, value)
		alone := at >= 0 && !several
		if alone && content.Plain(schema.Document{Nodes: d.Nodes[at : at+1]}) != text ||
			!alone && !strings.Contains("\n"+content.Plain(d)+"\n", "\n"+text+"\n") {
			fail(content.Plain(d))
		}
	}
}

func versions(v any) []merge.PageVersion {
	list, _ := v.([]merge.PageVersion)
	return list
}

// TestResolvedConflictsMerge edits the main content and a request at random and resolves their conflicts at random.
// Then the request is updated and merged, and the result must have the chosen values. A merge with open conflicts must
// store nothing. After the merge, no choice may be left.
func TestResolvedConflictsMerge(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, st, "acme")
	seen := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		space, err := st.CreateSpace(t.Context(), store.NewSpace{OrganizationID: tenant.Organization.ID, Title: "S", Emoji: "1f4d6", EditMode: "live"})
		if err != nil {
			rt.Fatal(err)
		}
		m := &conflictModel{t: t, rt: rt, st: st, space: space, user: tenant.Users[schema.RoleAdmin].ID}
		m.merge(m.edit(m.request(), 4))
		request, other := m.request(), m.request()
		request, other = m.edit(request, 12), m.edit(other, 12)
		if result := m.merge(other); result.Conflicts {
			rt.Fatal("the first merge has conflicts")
		}
		open := len(m.conflicts(request))
		if open > 0 {
			if result := m.merge(request); !result.Conflicts {
				rt.Fatalf("merged with %d conflicts", open)
			}
		}
		all := m.resolveAll(request)
		head := m.head()
		if is, err := st.ChangeRequest(t.Context(), space.ID, request.ID); err != nil || is.Revision != request.Revision || is.RevisionMergedAncestor != nil {
			rt.Fatalf("choices changed the request: %+v, %v", is, err)
		}
		if m.between(0, 1) == 0 {
			result, err := st.UpdateChangeRequest(t.Context(), request, m.user)
			if err != nil || result.Conflicts {
				rt.Fatalf("update: %+v, %v", result, err)
			}
			for _, c := range all {
				m.holds(c, all, m.pages(result.Revision))
			}
			if request, err = st.ChangeRequest(t.Context(), space.ID, request.ID); err != nil {
				rt.Fatal(err)
			}
			if left := m.conflicts(request); len(left) > 0 || m.head() != head {
				rt.Fatalf("after the update: %+v", left)
			}
		}
		result := m.merge(request)
		if result.Conflicts {
			rt.Fatal("the merge has conflicts")
		}
		for _, c := range all {
			seen[strings.TrimSpace(c.Kind+" "+c.Field)+" "+c.Choice.Take]++
			m.holds(c, all, m.pages(result.Revision))
		}
		// An edit in a new request must merge without conflicts.
		if m.merge(m.edit(m.request(), 2)).Conflicts {
			rt.Fatal("after the merge, another request has conflicts")
		}
	})
	var left int
	if err := storetest.Connect(t, url).QueryRow(
		t.Context(), "select count(*) from conflict_choices",
	).Scan(&left); err != nil || left > 0 {
		t.Errorf("%d choices are left, %v", left, err)
	}
	for _, kind := range []string{"edit", "delete", "slug"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(name string) bool { return strings.HasPrefix(name, kind+" ") }) {
			t.Errorf("there was no conflict of the kind %s: %v", kind, seen)
		}
	}
	t.Log(seen)
}
