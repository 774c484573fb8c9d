package sites

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Section, SectionGroup and SiteSpace are rows of the tables of a site's structure.
type (
	Section      = db.SiteSection
	SectionGroup = db.SiteSectionGroup
	SiteSpace    = db.SiteSpace
)

// maxGroupDepth is the largest depth of nested section groups. Ranks become longer with the depth, and an index on
// ranks limits their length.
const maxGroupDepth = 10

// inSite calls `fn` in a transaction that has locked the site's row. So writers change the structure one after the
// other, and the structure that `fn` reads cannot change until the transaction ends.
func (s *Store) inSite(ctx context.Context, siteID string, fn func(w *structure) error) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		site, err := q.LockSite(ctx, siteID)
		if err != nil {
			return postgres.Interpret(err, "site")
		}
		return fn(&structure{ctx: ctx, q: q, site: site})
	})
}

// arrange is like inSite, for a change that adds, moves or removes items. After `fn`, it computes all ranks again.
func (s *Store) arrange(ctx context.Context, siteID string, fn func(w *structure) error) error {
	return s.inSite(ctx, siteID, func(w *structure) error {
		if err := fn(w); err != nil {
			return err
		}
		return w.rank()
	})
}

// structure reads and changes the structure of a site whose row the transaction has locked.
type structure struct {
	ctx  context.Context
	q    *db.Queries
	site Site
}

// rank computes the ranks of all items from their positions, and stores them.
func (w *structure) rank() error {
	return postgres.Interpret(w.q.RankSite(w.ctx, w.site.ID), "site structure")
}

// sectionSiblings returns the sections and groups in a group. A nil group is the root.
func (w *structure) sectionSiblings(group *string) (postgres.Siblings, error) {
	rows, err := w.q.SectionSiblings(w.ctx, db.SectionSiblingsParams{SiteID: w.site.ID, GroupID: group})
	all := make(postgres.Siblings, len(rows))
	for i, row := range rows {
		all[i] = postgres.Sibling{ItemPointer: schema.ItemPointer{Type: row.Type, ID: row.ID}, Position: row.Position}
	}
	return all, postgres.Interpret(err, "site structure")
}

// siteSpaces returns the site spaces in a section. A nil section is the root.
func (w *structure) siteSpaces(section *string) ([]SiteSpace, error) {
	rows, err := w.q.SiteSpaceSiblings(w.ctx, db.SiteSpaceSiblingsParams{SiteID: w.site.ID, SectionID: section})
	return rows, postgres.Interpret(err, "site spaces")
}

func siteSpaceSiblings(rows []SiteSpace) postgres.Siblings {
	all := make(postgres.Siblings, len(rows))
	for i, row := range rows {
		all[i] = postgres.Sibling{
			ItemPointer: schema.ItemPointer{Type: schema.SiteItemSpace, ID: row.ID}, Position: row.Position,
		}
	}
	return all
}

func pathsOf(rows []SiteSpace) map[string]bool {
	taken := map[string]bool{}
	for _, row := range rows {
		taken[row.Path] = true
	}
	return taken
}

// Structure has all groups, sections and site spaces of a site, in order.
type Structure struct {
	Groups   []SectionGroup
	Sections []Section
	Spaces   []SiteSpaceRow
}

// Structure reads the structure of a site in one snapshot.
func (s *Store) Structure(ctx context.Context, siteID string) (Structure, error) {
	var all Structure
	err := pgx.BeginTxFunc(ctx, s.db.Pool, pgx.TxOptions{
		IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
	}, func(tx pgx.Tx) (err error) {
		q := s.db.Queries.WithTx(tx)
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
	return all, postgres.Interpret(err, "site structure")
}
