package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// ListSectionGroups lists a site's section groups, those in groups too, in the order of its structure, after the rank
// `after`.
func (s *Store) ListSectionGroups(ctx context.Context, siteID, after string, size int) (Page[SiteSectionGroup], error) {
	total, err := s.queries.CountSectionGroups(ctx, siteID)
	if err != nil {
		return Page[SiteSectionGroup]{}, interpret(err, "site section groups")
	}
	rows, err := s.queries.ListSectionGroups(ctx, db.ListSectionGroupsParams{SiteID: siteID, After: after, PageSize: pageSize(size)})
	if err != nil {
		return Page[SiteSectionGroup]{}, interpret(err, "site section groups")
	}
	return pageOf(rows, size, total), nil
}

// NewSectionGroup is what a section group is made of. Sections are those to put into it, in order.
type NewSectionGroup struct {
	Title    string
	Icon     *string
	Parent   *string
	Sections []string
}

// AddSectionGroup adds a group at the end of a site or of another group, and moves sections into it.
func (s *Store) AddSectionGroup(ctx context.Context, siteID string, group NewSectionGroup) (SiteSectionGroup, error) {
	var added SiteSectionGroup
	err := s.inSite(ctx, siteID, func(w *structure) (err error) {
		if group.Parent != nil {
			if _, err := w.q.SectionGroup(ctx, db.SectionGroupParams{SiteID: siteID, ID: *group.Parent}); err != nil {
				return notInSite(err, "parent", "names no section group of this site")
			}
			if err := w.checkNesting("parent", "", group.Parent); err != nil {
				return err
			}
		}
		siblings, err := w.sectionSiblings(group.Parent)
		if err != nil {
			return err
		}
		position, err := siblings.makePlace(w.ctx, w.q, len(siblings))
		if err != nil {
			return err
		}
		added, err = w.q.InsertSectionGroup(ctx, db.InsertSectionGroupParams{
			ID: schema.NewID(), SiteID: siteID, ParentID: group.Parent, Title: group.Title, Icon: group.Icon, Position: position,
		})
		if err != nil {
			return interpret(err, "site section group")
		}
		for i, section := range group.Sections {
			if err := w.putIntoGroup(fmt.Sprintf("sections[%d]", i), section, added.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return added, err
}

// AddSectionToGroup moves a section to the end of a group.
func (s *Store) AddSectionToGroup(ctx context.Context, siteID, groupID, sectionID string) error {
	return s.inSite(ctx, siteID, func(w *structure) error {
		if _, err := w.q.SectionGroup(ctx, db.SectionGroupParams{SiteID: siteID, ID: groupID}); err != nil {
			return interpret(err, "site section group")
		}
		return w.putIntoGroup("sectionId", sectionID, groupID)
	})
}

func (w *structure) putIntoGroup(field, sectionID, groupID string) error {
	section, err := w.section(field, sectionID)
	if err != nil {
		return err
	}
	siblings, err := w.sectionSiblings(&groupID)
	if err != nil {
		return err
	}
	item := schema.ItemPointer{Type: schema.SiteItemSection, ID: section.ID}
	position, err := w.makePlace(siblings, item, schema.SiteItemPosition{})
	if err != nil {
		return err
	}
	err = w.q.PlaceSection(w.ctx, db.PlaceSectionParams{ID: section.ID, GroupID: &groupID, Position: position})
	return interpret(err, "site section")
}

// SectionGroupChange is what a request changes of a section group; nil members stay as they are.
type SectionGroupChange struct {
	Title *string
	Icon  schema.Opt[string]
}

// UpdateSectionGroup changes a section group.
func (s *Store) UpdateSectionGroup(ctx context.Context, siteID, id string, change SectionGroupChange) error {
	return s.inSite(ctx, siteID, func(w *structure) error {
		if _, err := w.q.SectionGroup(ctx, db.SectionGroupParams{SiteID: siteID, ID: id}); err != nil {
			return interpret(err, "site section group")
		}
		return interpret(w.q.UpdateSectionGroup(ctx, db.UpdateSectionGroupParams{
			ID: id, Title: change.Title, SetIcon: change.Icon.Set, Icon: change.Icon.Value,
		}), "site section group")
	})
}

// DeleteSectionGroup removes a group; what is in it takes its place in what the group stood in. Where there is no group,
// nothing is done.
func (s *Store) DeleteSectionGroup(ctx context.Context, siteID, id string) error {
	return s.inSite(ctx, siteID, func(w *structure) error {
		row, err := w.q.SectionGroup(ctx, db.SectionGroupParams{SiteID: siteID, ID: id})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return interpret(err, "site section group")
		}
		inside, err := w.sectionSiblings(&id)
		if err != nil {
			return err
		}
		siblings, err := w.sectionSiblings(row.ParentID)
		if err != nil {
			return err
		}
		group := schema.ItemPointer{Type: schema.SiteItemGroup, ID: id}
		positions, err := siblings.makeRoom(ctx, w.q, siblings.index(group), len(inside))
		if err != nil {
			return err
		}
		for i, item := range inside {
			if err := w.place(item.ItemPointer, row.ParentID, positions[i]); err != nil {
				return err
			}
		}
		return interpret(w.q.DeleteSectionGroup(ctx, id), "site section group")
	})
}

// RemoveSectionFromGroup moves a section out of a group, to right behind it. Where the section is not in the group, nothing
// is done.
func (s *Store) RemoveSectionFromGroup(ctx context.Context, siteID, groupID, sectionID string) error {
	return s.inSite(ctx, siteID, func(w *structure) error {
		inside, err := w.sectionSiblings(&groupID)
		if err != nil {
			return err
		}
		item := schema.ItemPointer{Type: schema.SiteItemSection, ID: sectionID}
		if inside.index(item) < 0 {
			return nil
		}
		return w.move(item, schema.SiteItemPosition{After: &schema.ItemPointer{Type: schema.SiteItemGroup, ID: groupID}})
	})
}

// notInSite blames a member of the request for naming what is not in the site.
func notInSite(err error, field, problem string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return schema.Invalid(field, problem)
	}
	return interpret(err, "site structure")
}
