package sites

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// ListSectionGroups lists a site's section groups, including groups in groups, in the order of the site's structure,
// after the rank `after`.
func (s *Store) ListSectionGroups(
	ctx context.Context, siteID, after string, size int,
) (postgres.Page[SectionGroup], error) {
	total, err := s.db.Queries.CountSectionGroups(ctx, siteID)
	if err != nil {
		return postgres.Page[SectionGroup]{}, postgres.Interpret(err, "site section groups")
	}
	rows, err := s.db.Queries.ListSectionGroups(ctx, db.ListSectionGroupsParams{
		SiteID: siteID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[SectionGroup]{}, postgres.Interpret(err, "site section groups")
	}
	return postgres.PageOf(rows, size, total), nil
}

// NewSectionGroup has the values of a new section group. Sections are the sections that move into the group, in order.
type NewSectionGroup struct {
	Title    string
	Icon     *string
	Parent   *string
	Sections []string
}

// AddSectionGroup adds a group at the end of a site or of another group, and moves sections into the new group.
func (s *Store) AddSectionGroup(ctx context.Context, siteID string, group NewSectionGroup) (SectionGroup, error) {
	var added SectionGroup
	err := s.arrange(ctx, siteID, func(w *structure) (err error) {
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
		position, err := siblings.MakePlace(w.ctx, w.q, len(siblings))
		if err != nil {
			return err
		}
		added, err = w.q.InsertSectionGroup(ctx, db.InsertSectionGroupParams{
			ID: schema.NewID(), SiteID: siteID, ParentID: group.Parent, Title: group.Title, Icon: group.Icon, Position: position,
		})
		if err != nil {
			return postgres.Interpret(err, "site section group")
		}
		if len(group.Sections) == 0 {
			return nil
		}
		return w.putIntoGroup(added.ID, func(i int) string { return fmt.Sprintf("sections[%d]", i) }, group.Sections...)
	})
	return added, err
}

// AddSectionToGroup moves a section to the end of a group.
func (s *Store) AddSectionToGroup(ctx context.Context, siteID, groupID, sectionID string) error {
	return s.arrange(ctx, siteID, func(w *structure) error {
		if _, err := w.q.SectionGroup(ctx, db.SectionGroupParams{SiteID: siteID, ID: groupID}); err != nil {
			return postgres.Interpret(err, "site section group")
		}
		return w.putIntoGroup(groupID, func(int) string { return "sectionId" }, sectionID)
	})
}

// putIntoGroup moves sections to the end of a group, in the order of `ids`. For error messages, `field` returns the
// name of the request's field that has the i-th id. If a section is in `ids` twice, its last place is used.
func (w *structure) putIntoGroup(groupID string, field func(i int) string, ids ...string) error {
	known, err := w.q.SectionsAmong(w.ctx, db.SectionsAmongParams{SiteID: w.site.ID, Ids: ids})
	if err != nil {
		return postgres.Interpret(err, "site section")
	}
	others, err := w.sectionSiblings(&groupID)
	if err != nil {
		return err
	}
	var last []string
	for i, id := range ids {
		if !slices.Contains(known, id) {
			return schema.Invalid(field(i), "names no section of this site")
		}
		if !slices.Contains(ids[i+1:], id) {
			last, others = append(last, id), others.Without(schema.ItemPointer{Type: schema.SiteItemSection, ID: id})
		}
	}
	positions, err := others.MakeRoom(w.ctx, w.q, len(others), len(last))
	if err != nil {
		return err
	}
	return w.place(schema.SiteItemSection, &groupID, last, positions)
}

// SectionGroupChange has the new values of a section group. Nil and unset fields leave the value unchanged.
type SectionGroupChange struct {
	Title *string
	Icon  schema.Opt[string]
}

// UpdateSectionGroup changes a section group.
func (s *Store) UpdateSectionGroup(ctx context.Context, siteID, id string, change SectionGroupChange) error {
	return s.inSite(ctx, siteID, func(w *structure) error {
		if _, err := w.q.SectionGroup(ctx, db.SectionGroupParams{SiteID: siteID, ID: id}); err != nil {
			return postgres.Interpret(err, "site section group")
		}
		return postgres.Interpret(w.q.UpdateSectionGroup(ctx, db.UpdateSectionGroupParams{
			ID: id, Title: change.Title, SetIcon: change.Icon.Set, Icon: change.Icon.Value,
		}), "site section group")
	})
}

// DeleteSectionGroup deletes a group, if it exists. The group's content moves to the group's place in the parent.
func (s *Store) DeleteSectionGroup(ctx context.Context, siteID, id string) error {
	return s.arrange(ctx, siteID, func(w *structure) error {
		row, err := w.q.SectionGroup(ctx, db.SectionGroupParams{SiteID: siteID, ID: id})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return postgres.Interpret(err, "site section group")
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
		positions, err := siblings.MakeRoom(ctx, w.q, siblings.Index(group), len(inside))
		if err != nil {
			return err
		}
		ids, places := map[string][]string{}, map[string][]int64{}
		for i, item := range inside {
			ids[item.Type], places[item.Type] = append(ids[item.Type], item.ID), append(places[item.Type], positions[i])
		}
		for kind := range ids {
			if err := w.place(kind, row.ParentID, ids[kind], places[kind]); err != nil {
				return err
			}
		}
		return postgres.Interpret(w.q.DeleteSectionGroup(ctx, id), "site section group")
	})
}

// RemoveSectionFromGroup moves a section out of a group, to the place directly after the group. If the section is not
// in the group, it does nothing.
func (s *Store) RemoveSectionFromGroup(ctx context.Context, siteID, groupID, sectionID string) error {
	return s.arrange(ctx, siteID, func(w *structure) error {
		inside, err := w.sectionSiblings(&groupID)
		if err != nil {
			return err
		}
		item := schema.ItemPointer{Type: schema.SiteItemSection, ID: sectionID}
		if inside.Index(item) < 0 {
			return nil
		}
		return w.move(item, schema.SiteItemPosition{After: &schema.ItemPointer{Type: schema.SiteItemGroup, ID: groupID}})
	})
}

// notInSite converts the error for a missing row to an error about the request's field that names the row.
func notInSite(err error, field, problem string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return schema.Invalid(field, problem)
	}
	return postgres.Interpret(err, "site structure")
}
