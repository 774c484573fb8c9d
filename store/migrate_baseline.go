package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
)

// checkBaseline returns an error if the database has another baseline. It does not change the database. The caller
// holds the migration lock, so no other node creates the tables concurrently.
func checkBaseline(ctx context.Context, conn *pgx.Conn) error {
	var marked, migrated bool
	err := conn.QueryRow(ctx, `select
		to_regclass('octavo_baseline') is not null, to_regclass('goose_db_version') is not null`).
		Scan(&marked, &migrated)
	if err != nil {
		return err
	}
	var number int
	switch {
	case marked:
		err = conn.QueryRow(ctx, "select number from octavo_baseline").Scan(&number)
	case migrated:
		// A database from a version without baselines has migrations but no baseline number, so its baseline is 0.
		// After an interrupted first start, goose's table has only the row of version 0, and the database has no
		// baseline yet.
		var old bool
		err = conn.QueryRow(ctx, "select exists (select from goose_db_version where version_id > 0)").Scan(&old)
		if err == nil && !old {
			return nil
		}
	default:
		return nil
	}
	if err != nil || number == schema.Baseline {
		return err
	}
	c := conn.Config()
	return fmt.Errorf("database %q on %s has the data format of baseline %d and this version needs baseline %d: "+
		"use an empty database, or run the version of Octavo that created the database",
		c.Database, c.Host, number, schema.Baseline)
}
