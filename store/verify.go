package store

import (
	"context"
	"fmt"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// VerifyPages makes Postgres check the checksums of all of its pages.
func (s *Store) VerifyPages(ctx context.Context) (bytes int64, damaged []string, err error) {
	return s.db.VerifyPages(ctx)
}

// SmallTable is the size in bytes up to which a table is small. Small tables are verified once an hour.
const SmallTable = 64 << 20

// VerifyTables looks for lost pages: in all small tables if `small` is true, and otherwise in all other tables. It
// returns postgres.ErrPages if the database cannot look for lost pages.
func (s *Store) VerifyTables(ctx context.Context, small bool, each Verified) error {
	return s.db.EachTable(ctx, func(table string, bytes int64) error {
		if (bytes <= SmallTable) != small {
			return nil
		}
		lost, err := s.db.LostPages(ctx, table)
		damage := ""
		if d := schema.DamageOf(err); d != nil {
			damage, err = "table "+table+": "+d.Error(), nil
		}
		if len(lost) > 0 {
			damage = fmt.Sprintf("table %s has lost %d pages, the first at block %d", table, len(lost), lost[0])
		}
		if err == nil {
			each(bytes, damage)
		}
		return err
	})
}

// Verified is a function that a verification calls for each table, document or file that it has read. `bytes` is the
// size of this data. `damage` describes the damage. It is "" if the data is undamaged.
type Verified func(bytes int64, damage string)

// VerifyDocuments compares the contents of all documents with their hashes.
func (s *Store) VerifyDocuments(ctx context.Context, each Verified) error {
	return verifyContents(ctx, each, func(
		ctx context.Context, space, hash string,
	) ([]db.VerifyFilesRow, error) {
		list, err := s.db.Queries.VerifyDocuments(ctx, db.VerifyDocumentsParams{AfterSpace: space, AfterHash: hash})
		rows := make([]db.VerifyFilesRow, len(list))
		for i, row := range list {
			rows[i] = db.VerifyFilesRow(row)
		}
		return rows, err
	})
}

// VerifyFiles compares the contents of all files with their hashes.
func (s *Store) VerifyFiles(ctx context.Context, each Verified) error {
	return verifyContents(ctx, each, func(ctx context.Context, space, hash string) ([]db.VerifyFilesRow, error) {
		return s.db.Queries.VerifyFiles(ctx, db.VerifyFilesParams{AfterSpace: space, AfterHash: hash})
	})
}

// verifyContents reads the rows with the stored contents in batches. If Postgres cannot read the rows of a batch,
// verifyContents reports the damage and ends.
func verifyContents(
	ctx context.Context, each Verified,
	page func(ctx context.Context, space, hash string) ([]db.VerifyFilesRow, error),
) error {
	space, hash := "", ""
	for {
		rows, err := page(ctx, space, hash)
		err = postgres.Interpret(err, "contents")
		if damage := schema.DamageOf(err); damage != nil {
			each(0, damage.Error())
			rows, err = nil, nil
		}
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			damage := ""
			if !row.Same {
				damage = "space " + row.SpaceID + ", hash " + row.Hash
			}
			each(row.Bytes, damage)
			space, hash = row.SpaceID, row.Hash
		}
	}
}

// Verifications returns the results of the last verification of each kind of data.
func (s *Store) Verifications(ctx context.Context) ([]schema.Verification, error) {
	rows, err := s.db.Queries.Verifications(ctx)
	list := make([]schema.Verification, len(rows))
	for i, row := range rows {
		list[i] = schema.Verification{
			Kind: row.Kind, Read: row.Read, Bytes: row.Bytes, Damaged: row.Damaged, Hint: row.Hint,
			VerifiedAt: row.VerifiedAt.UTC(),
		}
	}
	return list, postgres.Interpret(err, "verifications")
}

// NoteVerification replaces the stored results of the verification of a kind of data.
func (s *Store) NoteVerification(ctx context.Context, v schema.Verification) error {
	err := s.db.Queries.NoteVerification(ctx, db.NoteVerificationParams{
		Kind: v.Kind, Read: v.Read, Bytes: v.Bytes, Damaged: v.Damaged, Hint: v.Hint,
	})
	return postgres.Interpret(err, "verifications")
}
