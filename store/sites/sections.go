package sites

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// SectionRow is a section with its site spaces in order.
type SectionRow struct {
	Section Section
	Spaces  []SiteSpaceRow
}

// Section reads a section of a site.
func (s *Store) Section(ctx context.Context, siteID, id string) (SectionRow, error) {
	row, err := s.db.Queries.Section(ctx, db.SectionParams{SiteID: siteID, ID: id})
	if err != nil {
		return SectionRow{}, postgres.Interpret(err, "site section")
	}
	rows, err := withSpaces(ctx, s.db.Queries, []Section{row})
	if err != nil {
		return SectionRow{}, err
	}
	return rows[0], nil
}

// ListSections lists a site's sections, including sections in groups, in the order of the site's structure, after the
// rank `after`.
func (s *Store) ListSections(
	ctx context.Context, siteID, after string, size int,
) (postgres.Page[SectionRow], error) {
	total, err := s.db.Queries.CountSections(ctx, siteID)
	if err != nil {
		return postgres.Page[SectionRow]{}, postgres.Interpret(err, "site sections")
	}
	rows, err := s.db.Queries.ListSections(ctx, db.ListSectionsParams{
		SiteID: siteID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[SectionRow]{}, postgres.Interpret(err, "site sections")
	}
	page := postgres.PageOf(rows, size, total)
	sections, err := withSpaces(ctx, s.db.Queries, page.Rows)
	if err != nil {
		return postgres.Page[SectionRow]{}, err
	}
	return postgres.Page[SectionRow]{Rows: sections, Total: page.Total, More: page.More}, nil
}

// withSpaces returns sections with their site spaces. It reads the site spaces with one statement.
func withSpaces(ctx context.Context, q *db.Queries, sections []Section) ([]SectionRow, error) {
	rows := make([]SectionRow, len(sections))
	ids, index := make([]string, len(sections)), map[string]int{}
	for i, section := range sections {
		rows[i].Section, ids[i], index[section.ID] = section, section.ID, i
	}
	spaces, err := q.SiteSpacesOfSections(ctx, ids)
	if err != nil {
		return nil, postgres.Interpret(err, "site spaces")
	}
	for _, space := range spaces {
		i := index[*space.SiteSpace.SectionID]
		rows[i].Spaces = append(rows[i].Spaces, SiteSpaceRow(space))
	}
	return rows, nil
}

// NewSection has the values of a new section. If Title is nil, the section gets the title of its space.
type NewSection struct {
	SpaceID string
	Title   *string
	Icon    *string
}

// AddSection adds a section at the end of a site, with a space as its default site space. A site has its site spaces
// either at the root or in sections. So when the first section is added, the site spaces of the root move into another
// new section before it. This other section becomes the site's default, so that the home page does not change. If the
// added space is the home page, its new section gets all site spaces of the root.
func (s *Store) AddSection(ctx context.Context, siteID string, section NewSection) (SectionRow, error) {
	var added SectionRow
	err := s.arrange(ctx, siteID, func(w *structure) error {
		space, err := w.space("spaceId", section.SpaceID)
		if err != nil {
			return err
		}
		root, err := w.siteSpaces(nil)
		if err != nil {
			return err
		}
		home := slices.IndexFunc(root, func(l SiteSpace) bool { return l.IsDefault })
		if home >= 0 && root[home].SpaceID != space.ID {
			if err := w.sectionTheRoot(root[home]); err != nil {
				return err
			}
		}
		row, err := w.insertSection(sectionTitle(section.Title, space), section.Icon)
		if err != nil {
			return err
		}
		added, err = w.fillSection(row, space, root)
		return err
	})
	return added, err
}

// sectionTitle returns the title of a new section. If the space's title is shorter than the API allows for a section,
// the section's title begins with "Section".
func sectionTitle(title *string, space db.Space) string {
	switch {
	case title != nil:
		return *title
	case utf8.RuneCountInString(space.Title) >= 2:
		return space.Title
	}
	return strings.TrimSpace("Section " + space.Title)
}

func (w *structure) insertSection(title string, icon *string) (Section, error) {
	siblings, err := w.sectionSiblings(nil)
	if err != nil {
		return Section{}, err
	}
	position, err := siblings.MakePlace(w.ctx, w.q, len(siblings))
	if err != nil {
		return Section{}, err
	}
	paths, err := w.q.SectionPaths(w.ctx, w.site.ID)
	if err != nil {
		return Section{}, postgres.Interpret(err, "site sections")
	}
	taken := map[string]bool{}
	for _, path := range paths {
		taken[path] = true
	}
	row, err := w.q.InsertSection(w.ctx, db.InsertSectionParams{
		ID: schema.NewID(), SiteID: w.site.ID, Title: title, Path: pathFor(title, "section", taken), Icon: icon,
		IsDefault: len(paths) == 0, Position: position,
	})
	return row, postgres.Interpret(err, "site section")
}

// sectionTheRoot creates the first section and moves the root's site spaces into it. The section gets the title of the
// home page's space.
func (w *structure) sectionTheRoot(home SiteSpace) error {
	space, err := w.space("spaceId", home.SpaceID)
	if err != nil {
		return err
	}
	row, err := w.insertSection(sectionTitle(nil, space), nil)
	if err != nil {
		return err
	}
	return w.takeRoot(row)
}

func (w *structure) takeRoot(section Section) error {
	err := w.q.SectionTheRoot(w.ctx, db.SectionTheRootParams{SiteID: w.site.ID, SectionID: &section.ID})
	return postgres.Interpret(err, "site spaces")
}

// fillSection gives a new section its site space. If the root has a site space of the space, this site space moves into
// the section. Otherwise fillSection creates a new site space. If the moved site space is the home page, all other site
// spaces of the root move with it.
func (w *structure) fillSection(section Section, space db.Space, root []SiteSpace) (SectionRow, error) {
	i := slices.IndexFunc(root, func(l SiteSpace) bool { return l.SpaceID == space.ID })
	if i < 0 {
		rows, err := w.attach(&section, nil, space)
		return SectionRow{Section: section, Spaces: rows}, err
	}
	var err error
	if section.IsDefault {
		err = w.takeRoot(section)
	} else {
		err = w.moveSiteSpace(root[i].ID, &section.ID, schema.SiteItemPosition{})
	}
	if err != nil {
		return SectionRow{}, err
	}
	// The ranks must be current, because withSpaces sorts site spaces by rank.
	if err := w.rank(); err != nil {
		return SectionRow{}, err
	}
	return w.withSpaces(section)
}

// SectionChange has the new values of a section. Nil and unset fields leave the value unchanged.
type SectionChange struct {
	Title            *string
	Path             *string
	DefaultSiteSpace *string
	Condition        schema.Opt[string]
	Icon             schema.Opt[string]
	Description      schema.Opt[string]
}

// UpdateSection changes a section.
func (s *Store) UpdateSection(ctx context.Context, siteID, id string, change SectionChange) (SectionRow, error) {
	var changed SectionRow
	err := s.inSite(ctx, siteID, func(w *structure) error {
		row, err := w.q.Section(ctx, db.SectionParams{SiteID: siteID, ID: id})
		if err != nil {
			return postgres.Interpret(err, "site section")
		}
		if change.DefaultSiteSpace != nil {
			err := w.defaultTo("defaultSiteSpace", *change.DefaultSiteSpace, &row.ID, "names no site space of this section")
			if err != nil {
				return err
			}
		}
		if change.Path != nil && *change.Path != row.Path {
			paths, err := w.q.SectionPaths(ctx, siteID)
			if err != nil {
				return postgres.Interpret(err, "site sections")
			}
			if slices.Contains(paths, *change.Path) {
				return schema.Conflict("path is another section's")
			}
		}
		row, err = w.q.UpdateSection(ctx, db.UpdateSectionParams{
			ID: id, Title: change.Title, Path: change.Path, SetCondition: change.Condition.Set, Condition: change.Condition.Value,
			SetIcon: change.Icon.Set, Icon: change.Icon.Value, SetDescription: change.Description.Set, Description: change.Description.Value,
		})
		if err != nil {
			return postgres.Interpret(err, "site section")
		}
		changed, err = w.withSpaces(row)
		return err
	})
	return changed, err
}

// DeleteSection deletes a section with its site spaces, if it exists. If the section was the default, the next section
// becomes the default.
func (s *Store) DeleteSection(ctx context.Context, siteID, id string) error {
	return s.inSite(ctx, siteID, func(w *structure) error {
		row, err := w.q.Section(ctx, db.SectionParams{SiteID: siteID, ID: id})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			err = w.q.DeleteSection(ctx, id)
		}
		if err == nil && row.IsDefault {
			err = w.q.PromoteSection(ctx, db.PromoteSectionParams{SiteID: siteID, After: row.Rank})
		}
		return postgres.Interpret(err, "site section")
	})
}

// defaultTo makes the site space `id` the default of a section. A nil section is the root. If the section does not have
// the site space, defaultTo returns an error about the request's field.
func (w *structure) defaultTo(field, id string, section *string, problem string) error {
	row, err := w.q.SiteSpace(w.ctx, db.SiteSpaceParams{SiteID: w.site.ID, ID: id})
	if err == nil && !postgres.Same(row.SectionID, section) {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return notInSite(err, field, problem)
	}
	return w.setDefaultSiteSpace(row)
}

// defaultSection returns the default section. It returns nil for a site without sections.
func (w *structure) defaultSection() (*Section, error) {
	row, err := w.q.DefaultSection(w.ctx, w.site.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil // the site has no sections
	}
	return &row, postgres.Interpret(err, "site section")
}

// section reads a section of the site. If there is no such section, it returns an error about the request's field.
func (w *structure) section(field, id string) (Section, error) {
	row, err := w.q.Section(w.ctx, db.SectionParams{SiteID: w.site.ID, ID: id})
	if err != nil {
		return Section{}, notInSite(err, field, "names no section of this site")
	}
	return row, nil
}

func (w *structure) withSpaces(section Section) (SectionRow, error) {
	rows, err := withSpaces(w.ctx, w.q, []Section{section})
	if err != nil {
		return SectionRow{}, err
	}
	return rows[0], nil
}
