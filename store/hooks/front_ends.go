package hooks

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

const (
	// frontEndBatch is the largest number of changes that one statement reads or deletes.
	frontEndBatch = 1000
	// frontEndChangeKept is the age at which a change is deleted, even if front ends could not be reached or are not
	// configured.
	frontEndChangeKept = 7 * 24 * time.Hour
)

// AskForRevalidation enqueues a job for each organization whose changes for front ends have waited for at least the
// time `settle`. Postgres's clock measures this time.
func (s *Store) AskForRevalidation(ctx context.Context, settle time.Duration) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		organizations, err := q.AskAboutChanges(ctx, db.AskAboutChangesParams{
			Settle: postgres.Interval(settle), Size: frontEndBatch,
		})
		if err != nil {
			return postgres.Interpret(err, "changes")
		}
		for _, id := range organizations {
			if err := postgres.Enqueue(ctx, q, schema.RevalidateFrontEnds{Organization: id}); err != nil {
				return err
			}
		}
		return nil
	})
}

// FrontEndChanges is a batch of changes about which front ends have not been notified yet.
type FrontEndChanges struct {
	// Tags has the tags of the changes, without duplicates.
	Tags []string
	ids  []int64
}

// FrontEndChanges reads a batch of an organization's changes. For a changed space, it adds the tags of the sites that
// show the space, because API responses about these sites contain the space's newest revision.
func (s *Store) FrontEndChanges(ctx context.Context, organizationID string) (FrontEndChanges, error) {
	rows, err := s.db.Queries.FrontEndChanges(ctx, db.FrontEndChangesParams{
		OrganizationID: organizationID, Limit: frontEndBatch,
	})
	if err != nil {
		return FrontEndChanges{}, postgres.Interpret(err, "changes")
	}
	var changes FrontEndChanges
	var spaces []string
	for _, row := range rows {
		changes.ids, changes.Tags = append(changes.ids, row.ID), append(changes.Tags, row.Tag)
		if space, ok := strings.CutPrefix(row.Tag, schema.SpaceTag("")); ok && schema.ValidID(space) {
			spaces = append(spaces, space)
		}
	}
	if len(spaces) > 0 {
		sites, err := s.db.Queries.SitesOfSpaces(ctx, spaces)
		if err != nil {
			return FrontEndChanges{}, postgres.Interpret(err, "sites")
		}
		for _, site := range sites {
			changes.Tags = append(changes.Tags, schema.SiteTag(site))
		}
	}
	slices.Sort(changes.Tags)
	changes.Tags = slices.Compact(changes.Tags)
	return changes, nil
}

// ForgetFrontEndChanges deletes changes about which all front ends were notified.
func (s *Store) ForgetFrontEndChanges(ctx context.Context, changes FrontEndChanges) error {
	return postgres.Interpret(s.db.Queries.ForgetFrontEndChanges(ctx, changes.ids), "changes")
}

// DeleteOldFrontEndChanges deletes changes that have waited for a week, up to a limited number. `more` is true if more
// such changes may be left.
func (s *Store) DeleteOldFrontEndChanges(ctx context.Context) (more bool, err error) {
	n, err := s.db.Queries.DeleteOldFrontEndChanges(ctx, db.DeleteOldFrontEndChangesParams{
		Kept: postgres.Interval(frontEndChangeKept), Size: frontEndBatch,
	})
	return n == frontEndBatch, postgres.Interpret(err, "changes")
}
