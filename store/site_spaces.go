package store

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// SiteSpaceRow is a site space with its space, and what its address takes from its section. At the root of a site
// SectionPath is nil and SectionDefault true.
type SiteSpaceRow = db.SiteSpaceViewRow

// SiteSpace reads a site space of a site.
func (s *Store) SiteSpace(ctx context.Context, siteID, id string) (SiteSpaceRow, error) {
	row, err := s.queries.SiteSpaceView(ctx, db.SiteSpaceViewParams{SiteID: siteID, ID: id})
	return row, interpret(err, "site space")
}

// AccessToSiteSpaces tells by space what decides about the viewer's access to the spaces of a site.
func (s *Store) AccessToSiteSpaces(ctx context.Context, viewer Viewer, siteID string) (map[string]ContentAccess, error) {
	rows, err := s.queries.AccessToSiteSpaces(ctx, db.AccessToSiteSpacesParams{UserID: viewer.UserID, SiteID: siteID})
	access := make(map[string]ContentAccess, len(rows))
	for _, row := range rows {
		access[row.ID] = contentAccess(viewer.Role.Nullable(), row.Level, row.GrantRank)
	}
	return access, interpret(err, "site spaces")
}

// ListSiteSpaces lists a site's site spaces in the order of its structure, after the rank `after`. isDefault nil lists all.
func (s *Store) ListSiteSpaces(
	ctx context.Context, siteID string, isDefault *bool, after string, size int,
) (Page[SiteSpaceRow], error) {
	total, err := s.planned.CountSiteSpaces(ctx, db.CountSiteSpacesParams{SiteID: siteID, IsDefault: isDefault})
	if err != nil {
		return Page[SiteSpaceRow]{}, interpret(err, "site spaces")
	}
	rows, err := s.planned.ListSiteSpaces(ctx, db.ListSiteSpacesParams{
		SiteID: siteID, IsDefault: isDefault, After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[SiteSpaceRow]{}, interpret(err, "site spaces")
	}
	spaces := make([]SiteSpaceRow, len(rows))
	for i, row := range rows {
		spaces[i] = SiteSpaceRow(row)
	}
	return pageOf(spaces, size, total), nil
}

// AddSiteSpace attaches a space of the site's organization: to a section, to the default section where sectionID is nil, to
// the root of a site without sections.
func (s *Store) AddSiteSpace(ctx context.Context, siteID, spaceID string, sectionID *string) (SiteSpaceRow, error) {
	var added SiteSpaceRow
	err := s.inSite(ctx, siteID, func(w *structure) error {
		if sectionID == nil {
			section, err := w.defaultSection()
			if err != nil {
				return err
			}
			if section != nil {
				sectionID = &section.ID
			}
		} else if _, err := w.section("sectionId", *sectionID); err != nil {
			return err
		}
		space, err := w.space("spaceId", spaceID)
		if err != nil {
			return err
		}
		row, err := w.attach(space, sectionID)
		if err != nil {
			return err
		}
		added, err = w.view(row.ID)
		return err
	})
	return added, err
}

// attach adds a space at the end of a section, or of the root. The first one there is the default.
func (w *structure) attach(space Space, sectionID *string) (SiteSpace, error) {
	siblings, err := w.siteSpaces(sectionID)
	if err != nil {
		return SiteSpace{}, err
	}
	for _, other := range siblings {
		if other.SpaceID == space.ID {
			return SiteSpace{}, schema.Conflict("spaceId names a space that is there already")
		}
	}
	position, err := siteSpaceSiblings(siblings).makePlace(w.ctx, w.q, len(siblings))
	if err != nil {
		return SiteSpace{}, err
	}
	row, err := w.q.InsertSiteSpace(w.ctx, db.InsertSiteSpaceParams{
		ID: schema.NewID(), SiteID: w.site.ID, SectionID: sectionID, SpaceID: space.ID,
		Path: pathFor(space.Title, "space", pathsOf(siblings)), IsDefault: len(siblings) == 0, Position: position,
	})
	return row, interpret(err, "site space")
}

// SiteSpaceChange is what a request changes of a site space; nil members stay as they are.
type SiteSpaceChange struct {
	Path      *string
	Condition schema.Opt[string]
	SpaceID   *string
	Hidden    *bool
}

// UpdateSiteSpace changes a site space.
func (s *Store) UpdateSiteSpace(ctx context.Context, siteID, id string, change SiteSpaceChange) (SiteSpaceRow, error) {
	var changed SiteSpaceRow
	err := s.inSite(ctx, siteID, func(w *structure) error {
		row, err := w.q.SiteSpace(ctx, db.SiteSpaceParams{SiteID: siteID, ID: id})
		if err != nil {
			return interpret(err, "site space")
		}
		if change.SpaceID != nil {
			if _, err := w.space("spaceId", *change.SpaceID); err != nil {
				return err
			}
		}
		siblings, err := w.siteSpaces(row.SectionID)
		if err != nil {
			return err
		}
		for _, other := range siblings {
			switch {
			case other.ID == id:
			case change.Path != nil && other.Path == *change.Path:
				return schema.Conflict("path is another site space's")
			case change.SpaceID != nil && other.SpaceID == *change.SpaceID:
				return schema.Conflict("spaceId names a space that is there already")
			}
		}
		err = w.q.UpdateSiteSpace(ctx, db.UpdateSiteSpaceParams{
			ID: id, Path: change.Path, SpaceID: change.SpaceID, Hidden: change.Hidden,
			SetCondition: change.Condition.Set, Condition: change.Condition.Value,
		})
		if err != nil {
			return interpret(err, "site space")
		}
		changed, err = w.view(id)
		return err
	})
	return changed, err
}

// DeleteSiteSpace detaches a space; where there is none, nothing is done.
func (s *Store) DeleteSiteSpace(ctx context.Context, siteID, id string) error {
	return s.inSite(ctx, siteID, func(w *structure) error {
		return interpret(w.q.DeleteSiteSpace(ctx, db.DeleteSiteSpaceParams{SiteID: siteID, ID: id}), "site space")
	})
}

// view reads a site space with its rank and address as they are once the change is done.
func (w *structure) view(id string) (SiteSpaceRow, error) {
	row, err := w.q.SiteSpaceView(w.ctx, db.SiteSpaceViewParams{SiteID: w.site.ID, ID: id})
	return row, interpret(err, "site space")
}

// space reads a space of the site's organization that a member of a request names, and keeps it there.
func (w *structure) space(field, id string) (Space, error) {
	row, err := w.q.SpaceForSite(w.ctx, id)
	switch err = interpret(err, "space"); {
	case schema.IsCode(err, schema.CodeNotFound), err == nil && row.OrganizationID != w.site.OrganizationID:
		return Space{}, schema.Invalid(field, "names no space of this organization")
	}
	return row, err
}

// setDefaultSiteSpace makes a site space the default of its section, or of the root.
func (w *structure) setDefaultSiteSpace(row SiteSpace) error {
	err := w.q.ClearDefaultSiteSpace(w.ctx, db.ClearDefaultSiteSpaceParams{SiteID: w.site.ID, SectionID: row.SectionID})
	if err == nil {
		err = w.q.SetDefaultSiteSpace(w.ctx, row.ID)
	}
	return interpret(err, "site space")
}
