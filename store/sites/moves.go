package sites

import (
	"context"
	"fmt"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// MoveItem moves a site space, a section or a section group next to the items that `position` names. The item moves
// into the parent of these items. If `position` names no item, a site space moves to the end of its section, and a
// section or a group moves to the end of the site.
func (s *Store) MoveItem(
	ctx context.Context, siteID string, item schema.ItemPointer, position schema.SiteItemPosition,
) error {
	return s.arrange(ctx, siteID, func(w *structure) error { return w.move(item, position) })
}

func (w *structure) move(item schema.ItemPointer, position schema.SiteItemPosition) error {
	own, err := w.parentOf(item)
	if err != nil {
		return err
	}
	parent, err := w.parentAt(item, own, position)
	if err != nil {
		return err
	}
	switch item.Type {
	case schema.SiteItemSpace:
		return w.moveSiteSpace(item.ID, parent, position)
	case schema.SiteItemGroup:
		if err := w.checkNesting("position", item.ID, parent); err != nil {
			return err
		}
	}
	inParent, err := w.sectionSiblings(parent)
	if err != nil {
		return err
	}
	place, err := w.makePlace(inParent, item, position)
	if err != nil {
		return err
	}
	return w.place(item.Type, parent, []string{item.ID}, []int64{place})
}

// place stores sections or groups in a group, each at its position. If `parent` is nil, it stores them in the root.
func (w *structure) place(kind string, parent *string, ids []string, positions []int64) error {
	var err error
	switch {
	case len(ids) == 0:
	case kind == schema.SiteItemGroup:
		err = w.q.PlaceSectionGroups(w.ctx, db.PlaceSectionGroupsParams{ParentID: parent, Ids: ids, Positions: positions})
	default:
		err = w.q.PlaceSections(w.ctx, db.PlaceSectionsParams{GroupID: parent, Ids: ids, Positions: positions})
	}
	return postgres.Interpret(err, "site structure")
}

// makePlace returns a free position for an item among the siblings. The item itself may already be one of the siblings.
func (w *structure) makePlace(
	among postgres.Siblings, item schema.ItemPointer, position schema.SiteItemPosition,
) (int64, error) {
	others := among.Without(item)
	at := others.Between(position.After, position.Before)
	if at < 0 {
		return 0, schema.Invalid("position.after", "is not directly before the item that position.before names")
	}
	return others.MakePlace(w.ctx, w.q, at)
}

// parentOf returns the id of an item's parent: the section of a site space, or the group of a section or group. nil
// is the root.
func (w *structure) parentOf(item schema.ItemPointer) (*string, error) {
	switch item.Type {
	case schema.SiteItemSpace:
		row, err := w.q.SiteSpace(w.ctx, db.SiteSpaceParams{SiteID: w.site.ID, ID: item.ID})
		return row.SectionID, postgres.Interpret(err, "site space")
	case schema.SiteItemSection:
		row, err := w.q.Section(w.ctx, db.SectionParams{SiteID: w.site.ID, ID: item.ID})
		return row.GroupID, postgres.Interpret(err, "site section")
	case schema.SiteItemGroup:
		row, err := w.q.SectionGroup(w.ctx, db.SectionGroupParams{SiteID: w.site.ID, ID: item.ID})
		return row.ParentID, postgres.Interpret(err, "site section group")
	}
	return nil, schema.Internal(fmt.Errorf("no item of a site is a %q", item.Type))
}

// parentAt returns the parent that an item has after its move to the position. `own` is its present parent.
func (w *structure) parentAt(item schema.ItemPointer, own *string, position schema.SiteItemPosition) (*string, error) {
	parent := own
	if item.Type != schema.SiteItemSpace {
		parent = nil
	}
	for i, beside := range []*schema.ItemPointer{position.Before, position.After} {
		field := []string{"position.before", "position.after"}[i]
		switch {
		case beside == nil:
			continue
		case *beside == item:
			return nil, schema.Invalid(field, "names the item to be moved")
		case (beside.Type == schema.SiteItemSpace) != (item.Type == schema.SiteItemSpace):
			return nil, schema.Invalid(field, "names nothing that a "+item.Type+" can be next to")
		}
		found, err := w.parentOf(*beside)
		switch {
		case schema.IsCode(err, schema.CodeNotFound):
			return nil, schema.Invalid(field, "names nothing in this site")
		case err != nil:
			return nil, err
		}
		parent = found
	}
	return parent, nil
}

// checkNesting returns an error if the group `id` cannot move to the new parent: it would be inside itself, or would be
// nested too deep.
func (w *structure) checkNesting(field, id string, parent *string) error {
	groups, err := w.q.AllSectionGroups(w.ctx, w.site.ID)
	if err != nil {
		return postgres.Interpret(err, "site section groups")
	}
	parents := map[string]*string{}
	for _, g := range groups {
		parents[g.ID] = g.ParentID
	}
	above := 0
	for up := parent; up != nil; up = parents[*up] {
		if *up == id {
			return schema.Invalid(field, "is inside the group to be moved")
		}
		above++
	}
	below := 1
	for _, g := range groups {
		depth := 1
		for up := g.ID; up != id; depth++ {
			if parents[up] == nil {
				depth = 0
				break
			}
			up = *parents[up]
		}
		below = max(below, depth)
	}
	if above+below > maxGroupDepth {
		return schema.Invalid(field, fmt.Sprintf("nests more than %d groups", maxGroupDepth))
	}
	return nil
}

// moveSiteSpace moves a site space. Paths in each section stay unique, and each section has exactly one default. The
// site space becomes the default of its new section only if the section has no other site space. The section that it
// leaves gets another default.
func (w *structure) moveSiteSpace(id string, section *string, position schema.SiteItemPosition) error {
	row, err := w.q.SiteSpace(w.ctx, db.SiteSpaceParams{SiteID: w.site.ID, ID: id})
	if err != nil {
		return postgres.Interpret(err, "site space")
	}
	siblings, err := w.siteSpaces(section)
	if err != nil {
		return err
	}
	path, moves := row.Path, !postgres.Same(section, row.SectionID)
	if moves {
		if slices.ContainsFunc(siblings, func(s SiteSpace) bool { return s.SpaceID == row.SpaceID }) {
			return schema.Invalid("position", "is in a section that already has the space")
		}
		path = freePath(row.Path, pathsOf(siblings))
	}
	place, err := w.makePlace(siteSpaceSiblings(siblings), schema.ItemPointer{Type: schema.SiteItemSpace, ID: id}, position)
	if err != nil {
		return err
	}
	if moves && row.IsDefault {
		err := w.q.ClearDefaultSiteSpace(w.ctx, db.ClearDefaultSiteSpaceParams{SiteID: w.site.ID, SectionID: row.SectionID})
		if err != nil {
			return postgres.Interpret(err, "site space")
		}
	}
	err = w.q.PlaceSiteSpace(w.ctx, db.PlaceSiteSpaceParams{ID: id, SectionID: section, Position: place, Path: path})
	if err != nil || !moves {
		return postgres.Interpret(err, "site space")
	}
	for _, s := range []*string{row.SectionID, section} {
		err := w.q.PromoteSiteSpace(w.ctx, db.PromoteSiteSpaceParams{SiteID: w.site.ID, SectionID: s, After: row.Rank})
		if err != nil {
			return postgres.Interpret(err, "site space")
		}
	}
	return nil
}
