package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/store/db"
)

// TestStatementLimit reads the time limit of a statement, for each method that sends statements.
func TestStatementLimit(t *testing.T) {
	t.Parallel()
	d, err := New(Config{URL: enginetest.Postgres(t), MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer d.Stop()
	const read = "select current_setting('statement_timeout')"
	const write = "with w as (select 1) " + read + " from w"
	by := By(t.Context(), Actor{Type: "job", ID: "1"})
	for _, c := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"of the pool", t.Context(), "15s"},
		{"of an actor", by, "15s"},
		{"of a context", Limited(t.Context(), 5*time.Minute), "5min"},
		{"of an actor's context", Limited(by, 5*time.Minute), "5min"},
		{"of the pool again", t.Context(), "15s"},
	} {
		row := func(query string) (limit string, err error) {
			err = acting{d.Pool}.QueryRow(c.ctx, query).Scan(&limit)
			return limit, err
		}
		for way, ask := range map[string]func() (string, error){
			"reading": func() (string, error) { return row(read) },
			"writing": func() (string, error) { return row(write) },
			"rows": func() (limit string, err error) {
				rows, err := acting{d.Pool}.Query(c.ctx, read)
				if err != nil {
					return "", err
				}
				return pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
			},
			"executing": func() (string, error) {
				const keep = "with s as (" + read + " as said) select set_config('octavo.said', said, false) from s"
				if _, err := (acting{d.Pool}).Exec(c.ctx, keep); err != nil {
					return "", err
				}
				var limit string
				err := d.Pool.QueryRow(t.Context(), "select current_setting('octavo.said')").Scan(&limit)
				return limit, err
			},
			"a batch": func() (limit string, err error) {
				var b pgx.Batch
				b.Queue(read).QueryRow(func(row pgx.Row) error { return row.Scan(&limit) })
				results := acting{d.Pool}.SendBatch(c.ctx, &b)
				err = results.QueryRow().Scan(&limit)
				if closed := results.Close(); err == nil {
					err = closed
				}
				return limit, err
			},
			"a transaction": func() (limit string, err error) {
				err = d.InTx(c.ctx, func(tx pgx.Tx, _ *db.Queries) error {
					return tx.QueryRow(c.ctx, read).Scan(&limit)
				})
				return limit, err
			},
		} {
			if limit, err := ask(); err != nil || limit != c.want {
				t.Errorf("%s, %s: the limit is %q, want %q; %v", c.name, way, limit, c.want, err)
			}
		}
	}
}
