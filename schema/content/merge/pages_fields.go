package merge

import (
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

func placeOf(n tree.Node) Place { return Place{Parent: n.Parent, Position: n.Position} }

// pageFields has a row for each field of a page that is a single value. A row has the name of the field, the kind of
// its value, and functions that read and set the value. The place and the document have their own rules.
var pageFields = []struct {
	name  string
	value valueKind
	get   func(n *tree.Node) any
	set   func(n *tree.Node, value any)
}{
	{"type", noValue, func(n *tree.Node) any { return n.Kind }, func(n *tree.Node, v any) { n.Kind, _ = v.(string) }},
	{"title", titleValue,
		func(n *tree.Node) any { return n.Title },
		func(n *tree.Node, v any) { n.Title, _ = v.(string) }},
	{"linkTitle", descriptionValue, func(n *tree.Node) any { return n.LinkTitle }, func(n *tree.Node,
		v any) {
		n.LinkTitle, _ = v.(string)
	}},
	{FieldSlug, slugValue,
		func(n *tree.Node) any { return n.Slug },
		func(n *tree.Node, v any) { n.Slug, _ = v.(string) }},
	{"emoji", wordValue,
		func(n *tree.Node) any { return n.Emoji },
		func(n *tree.Node, v any) { n.Emoji, _ = v.(string) }},
	{"icon", wordValue, func(n *tree.Node) any { return n.Icon }, func(n *tree.Node, v any) { n.Icon, _ = v.(string) }},
	{"description", descriptionValue,
		func(n *tree.Node) any { return n.Description },
		func(n *tree.Node, v any) { n.Description, _ = v.(string) }},
	{"condition", conditionValue,
		func(n *tree.Node) any { return n.Condition },
		func(n *tree.Node, v any) { n.Condition, _ = v.(string) }},
	{"hidden", boolValue,
		func(n *tree.Node) any { return n.Hidden },
		func(n *tree.Node, v any) { n.Hidden, _ = v.(bool) }},
	{"noIndex", boolValue,
		func(n *tree.Node) any { return n.NoIndex },
		func(n *tree.Node, v any) { n.NoIndex, _ = v.(bool) }},
	{"noRobotsIndex", boolValue,
		func(n *tree.Node) any { return n.NoRobotsIndex },
		func(n *tree.Node, v any) { n.NoRobotsIndex, _ = v.(bool) }},
	{"layout", jsonValue, func(n *tree.Node) any { return n.Layout }, func(n *tree.Node,
		v any) {
		n.Layout = dataOf(v)
	}},
	{"cover", jsonValue, func(n *tree.Node) any { return n.Cover }, func(n *tree.Node, v any) { n.Cover = dataOf(v) }},
	{
		"variables",
		jsonValue,
		func(n *tree.Node) any { return n.Variables },
		func(n *tree.Node, v any) { n.Variables = dataOf(v) },
	},
	{"tags", jsonValue, func(n *tree.Node) any { return n.Tags }, func(n *tree.Node, v any) { n.Tags = tagsOf(v) }},
	{
		"target",
		targetValue,
		func(n *tree.Node) any { return n.Target },
		func(n *tree.Node, v any) { n.Target, _ = v.(schema.Data) },
	},
}

// dataOf returns a value as data. The value may be data, or a map that was decoded from JSON.
func dataOf(value any) schema.Data {
	if data, ok := value.(schema.Data); ok {
		return data
	}
	data, _ := value.(map[string]any)
	return data
}

// tagsOf returns a value as tags. The value may be tags, or a list that was decoded from JSON.
func tagsOf(value any) []tree.Tag {
	if tags, ok := value.([]tree.Tag); ok {
		return tags
	}
	var tags []tree.Tag
	list, _ := value.([]any)
	for _, item := range list {
		about, _ := item.(map[string]any)
		primary, _ := about["primary"].(bool)
		if name, ok := about["tag"].(string); ok {
			tags = append(tags, tree.Tag{Name: name, Primary: primary})
		}
	}
	return tags
}

// These are the fields of a page that have special rules.
const (
	FieldPlace = "place"
	FieldSlug  = "slug"
)

// fields merges a page that both sides have. If the base does not have the page, both sides added it. If only one side
// has a value for a field, the result has this value. Different values are in conflict.
func (p *pages) fields(r *row) error {
	if r.dead || !r.inOurs || !r.inTheirs {
		return nil
	}
	for _, f := range pageFields {
		base, ours, theirs := f.get(&r.base), f.get(&r.ours), f.get(&r.theirs)
		switch {
		case equal(ours, theirs), r.inBase && equal(base, theirs):
			continue
		case r.inBase && equal(base, ours):
			f.set(&r.node, theirs)
			continue
		case !r.inBase && equal(theirs, f.get(&tree.Node{})):
			continue
		case !r.inBase && equal(ours, f.get(&tree.Node{})):
			f.set(&r.node, theirs)
			continue
		}
		c := Conflict{Kind: KindEdit, Page: r.id, Field: f.name, Ours: ours, Theirs: theirs, value: f.value}
		if r.inBase {
			c.Base = base
		}
		switch take, value := p.conflicts.add(c); take {
		case TakeTheirs:
			f.set(&r.node, theirs)
		case TakeValue:
			f.set(&r.node, value)
		}
	}
	p.place(r)
	r.node.CreatedAt, r.node.UpdatedAt = newest(r.ours.CreatedAt, r.theirs.CreatedAt),
		newest(r.ours.UpdatedAt, r.theirs.UpdatedAt)
	return p.document(r)
}

func newest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (p *pages) place(r *row) {
	base, ours, theirs := placeOf(r.base), placeOf(r.ours), placeOf(r.theirs)
	switch {
	case ours == theirs, r.inBase && base == theirs:
		return
	case r.inBase && base == ours:
		r.put(theirs)
		return
	case ours.Parent == theirs.Parent && (!r.inBase || ours.Parent != base.Parent):
		return // both sides moved the page to this parent, so its position on ours stays
	case r.inBase && theirs.Parent == base.Parent:
		return // theirs only reordered the page below its former parent, so ours stays
	case r.inBase && ours.Parent == base.Parent:
		r.put(theirs)
		return
	}
	c := Conflict{Kind: KindPlace, Page: r.id, Field: FieldPlace, Ours: ours, Theirs: theirs, value: placeValue}
	if r.inBase {
		c.Base = base
	}
	switch take, value := p.conflicts.add(c); take {
	case TakeTheirs:
		r.put(theirs)
	case TakeValue:
		r.put(r.chosen(value))
	}
}

// put sets the place of the page in the result.
func (r *row) put(at Place) { r.node.Parent, r.node.Position = at.Parent, at.Position }

// chosen returns the place that a choice sets. A choice has only the parent. The position comes from `theirs` if
// `theirs` has the page, and otherwise from the result.
func (r *row) chosen(value any) Place {
	at := value.(Place)
	if at.Position == "" {
		at.Position = r.node.Position
		if r.inTheirs {
			at.Position = r.theirs.Position
		}
	}
	return at
}

// text has the document of a page. `kept` is the reason why users cannot edit the document, or "" if they can.
type text struct{ document, kept string }

func textOf(n *tree.Node) text { return text{n.Document, n.Kept} }

// document merges the documents by block. If users cannot edit a document, it is not merged, and a user must choose a
// side. Documents that both sides added are not merged either, because their blocks cannot be paired.
func (p *pages) document(r *row) error {
	switch base, ours, theirs := textOf(&r.base), textOf(&r.ours), textOf(&r.theirs); {
	case ours == theirs, r.inBase && base == theirs:
		return nil
	case r.inBase && base == ours, !r.inBase && ours.document == "":
		r.node.Document, r.node.Kept = theirs.document, theirs.kept
		return nil
	case !r.inBase && theirs.document == "":
		return nil
	}
	base, ours, theirs := r.base.Document, r.ours.Document, r.theirs.Document
	var documents [3]schema.Document
	for i, hash := range []string{base, ours, theirs} {
		documents[i] = schema.NewDocument()
		if hash == "" {
			continue
		}
		var err error
		if documents[i], err = p.in.Load(hash); err != nil {
			return err
		}
	}
	if r.ours.Kept != "" || r.theirs.Kept != "" {
		c := Conflict{Kind: KindDocument, Page: r.id, Field: FieldDocument, Ours: documents[1], Theirs: documents[2]}
		if r.inBase {
			c.Base = documents[0]
		}
		if take, _ := p.conflicts.add(c); take == TakeTheirs {
			r.node.Document, r.node.Kept = theirs, r.theirs.Kept
		}
		return nil
	}
	if !r.inBase {
		return p.added(r, documents[1], documents[2])
	}
	p.conflicts.page = r.id
	merged := mergeDocuments(&p.conflicts, documents[0], documents[1], documents[2])
	p.conflicts.page = ""
	switch {
	case equal(merged, documents[1]):
		return nil
	case equal(merged, documents[2]):
		r.node.Document = theirs
		return nil
	}
	hash, err := p.in.Keep(merged)
	r.node.Document = hash
	return err
}

// added chooses between the two documents of a page that both sides added. It treats documents as equal if they differ
// only in keys and anchors.
func (p *pages) added(r *row, ours, theirs schema.Document) error {
	whole := func(d schema.Document) keys.Hash {
		return keys.HashOf(&schema.Node{Object: schema.ObjectFragment, Data: d.Data, Meta: d.Meta, Nodes: d.Nodes})
	}
	switch {
	case whole(ours) == whole(theirs), blank(theirs):
		return nil
	case blank(ours):
		r.node.Document = r.theirs.Document
		return nil
	}
	take, value := p.conflicts.add(Conflict{
		Kind: KindDocument, Page: r.id, Field: FieldDocument, Ours: ours, Theirs: theirs, value: documentValue,
	})
	switch take {
	case TakeTheirs:
		r.node.Document = r.theirs.Document
	case TakeValue:
		chosen, err := p.in.Keep(value.(schema.Document))
		r.node.Document = chosen
		return err
	}
	return nil
}

// blank reports whether a document contains only empty paragraphs.
func blank(d schema.Document) bool {
	return !slices.ContainsFunc(d.Nodes, func(n schema.Node) bool {
		return n.Type != "paragraph" || slices.ContainsFunc(n.Nodes, func(n schema.Node) bool {
			return n.Object != schema.ObjectText || content.LeafText(n.Leaves) != ""
		})
	})
}
