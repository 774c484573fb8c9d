package sites

import (
	"context"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// SiteSpaceRow is a site space with its space, and with the columns of its section that its URL needs. For a site space
// at the root of a site, SectionPath is nil and SectionDefault is true.
type SiteSpaceRow = db.SiteSpaceViewRow

// SiteSpace reads a site space of a site.
func (s *Store) SiteSpace(ctx context.Context, siteID, id string) (SiteSpaceRow, error) {
	row, err := s.db.Queries.SiteSpaceView(ctx, db.SiteSpaceViewParams{SiteID: siteID, ID: id})
	return row, postgres.Interpret(err, "site space")
}

// AccessToSiteSpaces returns the viewer's access to the spaces of a site, by space.
func (s *Store) AccessToSiteSpaces(
	ctx context.Context, viewer postgres.Viewer, siteID string,
) (map[string]postgres.ContentAccess, error) {
	rows, err := s.db.Queries.AccessToSiteSpaces(ctx, db.AccessToSiteSpacesParams{
		UserID: viewer.UserID, SiteID: siteID,
	})
	access := make(map[string]postgres.ContentAccess, len(rows))
	for _, row := range rows {
		access[row.ID] = postgres.AccessOf(viewer.Role.Nullable(), row.Level, row.GrantRank)
	}
	return access, postgres.Interpret(err, "site spaces")
}

// ListSiteSpaces lists a site's site spaces in the order of the site's structure, after the rank `after`. If isDefault
// is set, the list has only default site spaces (true) or only other site spaces (false).
func (s *Store) ListSiteSpaces(
	ctx context.Context, siteID string, isDefault *bool, after string, size int,
) (postgres.Page[SiteSpaceRow], error) {
	total, err := s.db.Planned.CountSiteSpaces(ctx, db.CountSiteSpacesParams{SiteID: siteID, IsDefault: isDefault})
	if err != nil {
		return postgres.Page[SiteSpaceRow]{}, postgres.Interpret(err, "site spaces")
	}
	rows, err := s.db.Planned.ListSiteSpaces(ctx, db.ListSiteSpacesParams{
		SiteID: siteID, IsDefault: isDefault, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[SiteSpaceRow]{}, postgres.Interpret(err, "site spaces")
	}
	spaces := make([]SiteSpaceRow, len(rows))
	for i, row := range rows {
		spaces[i] = SiteSpaceRow(row)
	}
	return postgres.PageOf(spaces, size, total), nil
}

// AddSiteSpace adds a site space for a space of the site's organization to a section. If sectionID is nil, it adds the
// site space to the default section, or to the root of a site without sections.
func (s *Store) AddSiteSpace(ctx context.Context, siteID, spaceID string, sectionID *string) (SiteSpaceRow, error) {
	var added SiteSpaceRow
	err := s.arrange(ctx, siteID, func(w *structure) error {
		var section *Section
		var err error
		if sectionID == nil {
			section, err = w.defaultSection()
		} else {
			var named Section
			named, err = w.section("sectionId", *sectionID)
			section = &named
		}
		if err != nil {
			return err
		}
		space, err := w.space("spaceId", spaceID)
		if err != nil {
			return err
		}
		siblings, err := w.siteSpaces(idOf(section))
		if err != nil {
			return err
		}
		rows, err := w.attach(section, siblings, space)
		if err != nil {
			return err
		}
		added = rows[0]
		return nil
	})
	return added, err
}

func idOf(section *Section) *string {
	if section == nil {
		return nil
	}
	return &section.ID
}

// attach adds site spaces for spaces at the end of a section. A nil section is the root of the site. If there are no
// siblings, the first new site space becomes the default.
func (w *structure) attach(section *Section, siblings []SiteSpace, spaces ...db.Space) ([]SiteSpaceRow, error) {
	there, paths := map[string]bool{}, pathsOf(siblings)
	for _, other := range siblings {
		there[other.SpaceID] = true
	}
	positions, err := siteSpaceSiblings(siblings).MakeRoom(w.ctx, w.q, len(siblings), len(spaces))
	if err != nil {
		return nil, err
	}
	insert := db.InsertSiteSpacesParams{SiteID: w.site.ID, SectionID: idOf(section), Positions: positions}
	added := make(map[string]db.Space, len(spaces))
	for _, space := range spaces {
		if there[space.ID] {
			return nil, schema.Conflict("spaceId names a space that is already there")
		}
		id, path := schema.NewID(), pathFor(space.Title, "space", paths)
		there[space.ID], paths[path], added[space.ID] = true, true, space
		insert.Ids, insert.Spaces, insert.Paths = append(insert.Ids, id), append(insert.Spaces, space.ID), append(insert.Paths, path)
	}
	if len(siblings) == 0 {
		insert.DefaultID = &insert.Ids[0]
	}
	rows, err := w.q.InsertSiteSpaces(w.ctx, insert)
	if err != nil {
		return nil, postgres.Interpret(err, "site space")
	}
	shown := make([]SiteSpaceRow, len(rows))
	for i, row := range rows {
		shown[i] = SiteSpaceRow{SiteSpace: row, Space: added[row.SpaceID], SectionDefault: true}
		if section != nil {
			shown[i].SectionPath, shown[i].SectionDefault = &section.Path, section.IsDefault
		}
	}
	return shown, nil
}

// SiteSpaceChange has the new values of a site space. Nil and unset fields leave the value unchanged.
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
			return postgres.Interpret(err, "site space")
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
				return schema.Conflict("spaceId names a space that is already there")
			}
		}
		err = w.q.UpdateSiteSpace(ctx, db.UpdateSiteSpaceParams{
			ID: id, Path: change.Path, SpaceID: change.SpaceID, Hidden: change.Hidden,
			SetCondition: change.Condition.Set, Condition: change.Condition.Value,
		})
		if err != nil {
			return postgres.Interpret(err, "site space")
		}
		changed, err = w.view(id)
		return err
	})
	return changed, err
}

// DeleteSiteSpace deletes a site space, if it exists. The space itself stays.
func (s *Store) DeleteSiteSpace(ctx context.Context, siteID, id string) error {
	return s.inSite(ctx, siteID, func(w *structure) error {
		return postgres.Interpret(w.q.DeleteSiteSpace(ctx, db.DeleteSiteSpaceParams{
			SiteID: siteID, ID: id,
		}), "site space")
	})
}

// view reads a site space with its rank and the parts of its URL after the change.
func (w *structure) view(id string) (SiteSpaceRow, error) {
	row, err := w.q.SiteSpaceView(w.ctx, db.SiteSpaceViewParams{SiteID: w.site.ID, ID: id})
	return row, postgres.Interpret(err, "site space")
}

// space reads a space of the site's organization, and locks it against deletion. If there is no such space, it returns
// an error about the request's field.
func (w *structure) space(field, id string) (db.Space, error) {
	spaces, err := w.spaces(func(int) string { return field }, id)
	if err != nil {
		return db.Space{}, err
	}
	return spaces[0], nil
}

// spaces reads spaces of the site's organization, and locks them against deletion. If a space does not exist, it
// returns an error about the request's field. The function `field` returns the name of this field.
func (w *structure) spaces(field func(i int) string, ids ...string) ([]db.Space, error) {
	rows, err := w.q.SpacesForSite(w.ctx, ids)
	if err != nil {
		return nil, postgres.Interpret(err, "space")
	}
	spaces := make([]db.Space, len(ids))
	for i, id := range ids {
		at, found := slices.BinarySearchFunc(
			rows, id, func(row db.Space, id string) int { return strings.Compare(row.ID, id) },
		)
		if !found || rows[at].OrganizationID != w.site.OrganizationID {
			return nil, schema.Invalid(field(i), "names no space of this organization")
		}
		spaces[i] = rows[at]
	}
	return spaces, nil
}

// setDefaultSiteSpace makes a site space the default of its section, or of the root.
func (w *structure) setDefaultSiteSpace(row SiteSpace) error {
	err := w.q.ClearDefaultSiteSpace(w.ctx, db.ClearDefaultSiteSpaceParams{SiteID: w.site.ID, SectionID: row.SectionID})
	if err == nil {
		err = w.q.SetDefaultSiteSpace(w.ctx, row.ID)
	}
	return postgres.Interpret(err, "site space")
}
