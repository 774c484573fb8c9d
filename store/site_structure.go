package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// The rows of a site's structure.
type (
	SiteSection      = db.SiteSection
	SiteSectionGroup = db.SiteSectionGroup
	SiteSpace        = db.SiteSpace
)

// positionGap lies between neighbours, so that many things can be put between them before any other row must move.
const positionGap = 1 << 32

// maxGroupDepth bounds how deep section groups stand in each other: ranks grow with the depth, and they are indexed.
const maxGroupDepth = 10

// inSite runs a change of a site's structure. The lock of the site's row lets one writer at a time in, so that what the
// writer read of the structure stays true; afterwards every rank is right.
func (s *Store) inSite(ctx context.Context, siteID string, fn func(w *structure) error) error {
	return s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		site, err := q.LockSite(ctx, siteID)
		if err != nil {
			return interpret(err, "site")
		}
		w := &structure{ctx: ctx, q: q, site: site}
		if err := fn(w); err != nil {
			return err
		}
		return w.rank()
	})
}

// structure is the structure of one site under its lock.
type structure struct {
	ctx  context.Context
	q    *db.Queries
	site Site
}

// rank follows the positions: groups first, because the ranks of what is in them begin with theirs.
func (w *structure) rank() error {
	for _, rank := range []func(context.Context, string) error{w.q.RankSectionGroups, w.q.RankSections, w.q.RankSiteSpaces} {
		if err := rank(w.ctx, w.site.ID); err != nil {
			return interpret(err, "site structure")
		}
	}
	return nil
}

// sibling is one of the things that stand in one parent in order.
type sibling struct {
	schema.SiteItemPointer
	position int64
}

// placeAmong finds the position of something new that is to stand before siblings[at]. Where there is no room, all siblings get
// new positions, and moved says so.
func placeAmong(siblings []sibling, at int) (position int64, moved bool) {
	var low, high int64
	if at > 0 {
		low = siblings[at-1].position
	}
	if at < len(siblings) {
		high = siblings[at].position
	} else if high = low + 2*positionGap; high < low {
		high = low // No number is left above: everything moves down.
	}
	if position = low + (high-low)/2; position > low {
		return position, false
	}
	for i := range siblings {
		siblings[i].position = int64(i+1) * positionGap
		if i >= at {
			siblings[i].position += positionGap
		}
	}
	return int64(at+1) * positionGap, true
}

// makeRoom gives the position before siblings[at], and stores the positions of the siblings if they had to move for it.
func (w *structure) makeRoom(siblings []sibling, at int) (int64, error) {
	position, moved := placeAmong(siblings, at)
	if !moved {
		return position, nil
	}
	ids, positions := map[string][]string{}, map[string][]int64{}
	for _, s := range siblings {
		ids[s.Type] = append(ids[s.Type], s.ID)
		positions[s.Type] = append(positions[s.Type], s.position)
	}
	for kind, store := range map[string]func(ids []string, positions []int64) error{
		schema.SiteItemSpace: func(ids []string, positions []int64) error {
			return w.q.SetSiteSpacePositions(w.ctx, db.SetSiteSpacePositionsParams{Ids: ids, Positions: positions})
		},
		schema.SiteItemSection: func(ids []string, positions []int64) error {
			return w.q.SetSectionPositions(w.ctx, db.SetSectionPositionsParams{Ids: ids, Positions: positions})
		},
		schema.SiteItemGroup: func(ids []string, positions []int64) error {
			return w.q.SetSectionGroupPositions(w.ctx, db.SetSectionGroupPositionsParams{Ids: ids, Positions: positions})
		},
	} {
		if len(ids[kind]) == 0 {
			continue
		}
		if err := store(ids[kind], positions[kind]); err != nil {
			return 0, interpret(err, "site structure")
		}
	}
	return position, nil
}

// sectionSiblings are the sections and groups in a group, or at the root for nil.
func (w *structure) sectionSiblings(group *string) ([]sibling, error) {
	rows, err := w.q.SectionSiblings(w.ctx, db.SectionSiblingsParams{SiteID: w.site.ID, GroupID: group})
	siblings := make([]sibling, len(rows))
	for i, row := range rows {
		siblings[i] = sibling{schema.SiteItemPointer{Type: row.Type, ID: row.ID}, row.Position}
	}
	return siblings, interpret(err, "site structure")
}

// siteSpaces are the site spaces in a section, or at the root for nil.
func (w *structure) siteSpaces(section *string) ([]SiteSpace, error) {
	rows, err := w.q.SiteSpaceSiblings(w.ctx, db.SiteSpaceSiblingsParams{SiteID: w.site.ID, SectionID: section})
	return rows, interpret(err, "site spaces")
}

func siteSpaceSiblings(rows []SiteSpace) []sibling {
	siblings := make([]sibling, len(rows))
	for i, row := range rows {
		siblings[i] = sibling{schema.SiteItemPointer{Type: schema.SiteItemSpace, ID: row.ID}, row.Position}
	}
	return siblings
}

func pathsOf(rows []SiteSpace) map[string]bool {
	taken := map[string]bool{}
	for _, row := range rows {
		taken[row.Path] = true
	}
	return taken
}

// at finds where between the siblings a position is. What is between both neighbours must stand right there.
func at(siblings []sibling, position schema.SiteItemPosition) (int, error) {
	index := func(p *schema.SiteItemPointer) int {
		return slices.IndexFunc(siblings, func(s sibling) bool { return s.SiteItemPointer == *p })
	}
	switch before, after := position.Before, position.After; {
	case before != nil && after != nil:
		if index(after)+1 != index(before) || index(after) < 0 {
			return 0, schema.Invalid("position.after", "is not right before what position.before names")
		}
		return index(before), nil
	case before != nil:
		return index(before), nil
	case after != nil:
		return index(after) + 1, nil
	}
	return len(siblings), nil
}

// SiteStructure is everything that a site is made of, in order.
type SiteStructure struct {
	Groups   []SiteSectionGroup
	Sections []SiteSection
	Spaces   []SiteSpaceRow
}

// SiteStructure reads the whole structure of a site as it was at one moment.
func (s *Store) SiteStructure(ctx context.Context, siteID string) (SiteStructure, error) {
	var all SiteStructure
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
		q := s.queries.WithTx(tx)
		if all.Groups, err = q.AllSectionGroups(ctx, siteID); err != nil {
			return err
		}
		if all.Sections, err = q.AllSections(ctx, siteID); err != nil {
			return err
		}
		spaces, err := q.AllSiteSpaces(ctx, siteID)
		all.Spaces = make([]SiteSpaceRow, len(spaces))
		for i, row := range spaces {
			all.Spaces[i] = SiteSpaceRow(row)
		}
		return err
	})
	return all, interpret(err, "site structure")
}
