package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrPages is the error if Octavo's login may not read Postgres's pages, or if the pages have no checksums.
var ErrPages = errors.New("the pages cannot be checked")

// readPages is a statement that makes Postgres read all of its files, compare the pages with their checksums, and
// discard the bytes. MAX_RATE makes it slow, so that it does not disturb other statements.
const readPages = `BASE_BACKUP (LABEL 'octavo verify', TARGET 'blackhole', CHECKPOINT 'fast', WAIT false,
	MANIFEST 'no', VERIFY_CHECKSUMS true, MAX_RATE 131072)`

// VerifyPages makes Postgres check the checksums of all pages in all of its databases. `damaged` has a message for
// each damaged page or file. VerifyPages returns ErrPages if the login does not have the attribute REPLICATION, or if
// there are no checksums.
func (d *DB) VerifyPages(ctx context.Context) (bytes int64, damaged []string, err error) {
	var checksums string
	err = d.Pool.QueryRow(ctx, "select current_setting('data_checksums'), pg_database_size(current_database())").
		Scan(&checksums, &bytes)
	if err != nil {
		return 0, nil, Interpret(err, "pages")
	}
	if checksums != "on" {
		return 0, nil, fmt.Errorf("%w: the database has no checksums (pg_checksums --enable adds them)", ErrPages)
	}
	config := d.Config.ConnConfig.Config.Copy()
	config.RuntimeParams = map[string]string{"replication": "true", "application_name": "octavo verify"}
	var mu sync.Mutex
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.HasPrefix(n.Message, "checksum verification failed") ||
			strings.HasPrefix(n.Message, "could not verify") {
			mu.Lock()
			damaged = append(damaged, n.Message)
			mu.Unlock()
		}
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrPages, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, readPages).ReadAll()
	mu.Lock()
	defer mu.Unlock()
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case e.Code == "42501": // insufficient_privilege
			return 0, nil, fmt.Errorf("%w: %w", ErrPages, err)
		case e.Code == "XX001" && len(damaged) > 0:
			return bytes, damaged, nil
		case e.Code == "XX001", e.Code == "58030": // data is corrupted, or a read failed
			return bytes, []string{e.Message}, nil
		}
	}
	return bytes, damaged, err
}

// LostPages returns the numbers of a table's pages that contain only zeros although an index has entries for their
// rows. Postgres itself reads such a page as an empty page. LostPages returns ErrPages if the database does not have
// the function of the embedded engine.
func (d *DB) LostPages(ctx context.Context, table string) ([]int64, error) {
	rows, err := d.Pool.Query(ctx, "select inspection.lost_pages($1::text::regclass)", table)
	if err == nil {
		var pages []int64
		if pages, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err == nil {
			return pages, nil
		}
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "3F000", "42883", "42501": // the schema or the function is missing, or the login lacks the right
			return nil, fmt.Errorf("%w: the database cannot look for lost pages", ErrPages)
		}
	}
	return nil, Interpret(err, "pages")
}

// EachTable calls `fn` with each table's name and size.
func (d *DB) EachTable(ctx context.Context, fn func(table string, bytes int64) error) error {
	rows, err := d.Pool.Query(ctx, "select oid::regclass::text as name, pg_relation_size(oid) as bytes "+
		"from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by 1")
	if err != nil {
		return Interpret(err, "tables")
	}
	type table struct {
		Name  string
		Bytes int64
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[table])
	if err != nil {
		return Interpret(err, "tables")
	}
	for _, t := range list {
		if err := fn(t.Name, t.Bytes); err != nil {
			return err
		}
	}
	return nil
}
