package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
)

// TestBatches checks that a batch of changes reads each page only once, and gives the same result as single changes.
// The initial tree may have siblings with equal positions, as a merge of two sides can leave them.
func TestBatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var start nodes
		for i := range rapid.IntRange(0, 12).Draw(t, "pages") {
			id := fmt.Sprintf("p%d", i)
			kind := rapid.SampledFrom([]string{KindDocument, KindLink}).Draw(t, "kind")
			positions := []string{"a0", "a1", "a1V", strings.Repeat("a", MaxPosition+1)}
			n := Node{
				Page:     Page{ID: id, Kind: kind, Title: id},
				Position: rapid.SampledFrom(positions).Draw(t, "position"),
			}
			if n.Kind == KindDocument {
				n.Slug = id
			}
			if i > 0 && rapid.Bool().Draw(t, "below") {
				if parent := rapid.SampledFrom(start).Draw(t, "parent"); parent.Kind == KindDocument {
					n.Parent = parent.ID
				}
			}
			start = append(start, n)
		}
		older := start.some(t)
		names := []string{"p0", "p1", "p2", "p3", "p4", "n0", "n1", "mine"}
		var changes []Change
		for i := range rapid.IntRange(1, 6).Draw(t, "changes") {
			page := rapid.SampledFrom(names).Draw(t, "page")
			into := rapid.SampledFrom([]*string{nil, &names[0], &names[1], &names[5], &names[7]}).Draw(t, "into")
			at := rapid.SampledFrom([]*int{nil, new(0), new(1), new(2)}).Draw(t, "at")
			ref := ""
			if i == 0 {
				ref = "mine"
			}
			changes = append(changes, rapid.SampledFrom([]Change{
				Insert{Kind: KindDocument, Into: into, At: at, Ref: ref, Attributes: titled(page)},
				Update{Page: page, At: at, Attributes: titled("Changed")},
				Update{Page: page, Into: schema.Opt[string]{Set: true, Value: into}, At: at},
				Delete{Page: page}, Revert{Page: page, To: older},
			}).Draw(t, "change"))
		}
		ids := func() func() string { next := -1; return func() string { next++; return fmt.Sprintf("n%d", next) } }
		batch, failed := Apply(start, changes, ids(), time.Unix(1, 0))

		single, newID, mine := start, ids(), ""
		for i, change := range changes {
			changed, err := Apply(single, []Change{named(change, mine)}, newID, time.Unix(1, 0))
			if err != nil {
				if failed == nil || strings.TrimPrefix(failed.Error(), fmt.Sprintf("change %d", i)) != strings.TrimPrefix(err.Error(), "change 0") {
					t.Fatalf("change %d: %v, in the batch %v", i, err, failed)
				}
				return
			}
			single = single.after(changed)
			if insert, ok := change.(Insert); ok && insert.Ref != "" {
				mine = changed.Put[slices.IndexFunc(changed.Put, func(n Node) bool { return strings.HasPrefix(n.ID, "n") })].ID
			}
		}
		if failed != nil {
			t.Fatal(failed)
		}
		all := start.after(batch)
		if got, want := Nest(all, ""), Nest(single, ""); !equal(got, want) {
			t.Fatalf("batch\n%s\none by one\n%s", strings.Join(lines(got, ""), "\n"), strings.Join(lines(want, ""), "\n"))
		}
		if len(all) != batch.Size {
			t.Fatalf("%d pages are counted as %d", len(all), batch.Size)
		}
		for id, n := range byID(all) {
			if n.Parent != "" && byID(all)[n.Parent].ID == "" {
				t.Fatalf("%s is below %s, which is gone", id, n.Parent)
			}
		}
	})
}

// named returns a change in which the page's id replaces "mine".
func named(change Change, mine string) Change {
	switch c := change.(type) {
	case Insert:
		c.Into = resolved(c.Into, mine)
		return c
	case Update:
		c.Page, c.Into.Value = *resolved(&c.Page, mine), resolved(c.Into.Value, mine)
		return c
	case Delete:
		return Delete{Page: *resolved(&c.Page, mine)}
	case Revert:
		return Revert{Page: *resolved(&c.Page, mine), To: c.To}
	}
	return change
}

func resolved(name *string, mine string) *string {
	if name != nil && *name == "mine" && mine != "" {
		return &mine
	}
	return name
}

// some returns random pages of the tree with other titles. They stand for an older revision.
func (s nodes) some(t *rapid.T) nodes {
	var older nodes
	for _, n := range s {
		if rapid.Bool().Draw(t, "older") {
			n.Title = "Older"
			older = append(older, n)
		}
	}
	return older
}

func byID(all nodes) map[string]Node {
	found := map[string]Node{}
	for _, n := range all {
		found[n.ID] = n
	}
	return found
}
