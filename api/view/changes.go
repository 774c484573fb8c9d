package view

import (
	"reflect"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
)

// PageChange returns the API form of a change to a page.
func (Presenter) PageChange(c store.Change) schema.RevisionChange {
	change := schema.RevisionChange{Type: c.Type, Page: changedPage(&c.Page)}
	switch c.Type {
	case schema.PageEdited:
		change.Attributes = changedAttributes(c.Before, *c.Page.Page)
	case schema.PageMoved:
		change.Parent = &schema.ChangedParent{Before: changedPage(c.From), After: changedPage(c.To)}
	}
	return change
}

func changedPage(p *tree.Placed) *schema.ChangedPage {
	if p == nil {
		return nil
	}
	return &schema.ChangedPage{ID: p.ID, Type: p.Kind, Title: p.Title, Path: p.Path}
}

func changedAttributes(was, is tree.Page) *schema.ChangedAttributes {
	text := func(before, after string) *schema.ChangedText {
		if before == after {
			return nil
		}
		return &schema.ChangedText{Before: before, After: after}
	}
	changed := &schema.ChangedAttributes{
		Title: text(was.Title, is.Title), Description: text(was.Description, is.Description), Slug: text(was.Slug, is.Slug),
		Emoji: text(was.Emoji, is.Emoji), Document: text(was.Document, is.Document),
	}
	if !reflect.DeepEqual(was.Target, is.Target) {
		changed.Target = &schema.ChangedTarget{Before: was.Target, After: is.Target}
	}
	return changed
}
