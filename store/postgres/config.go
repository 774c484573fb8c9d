package postgres

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config has Postgres's address and the limits of one process.
type Config struct {
	// URL is a postgres:// address or a keyword/value string, in libpq's syntax.
	URL string
	// MaxConns limits the pool; 0 means four per processor and at least eight.
	MaxConns int
	// StatementTimeout limits the run time of a statement on the server; 0 means 15 s. It does not apply to
	// migrations.
	StatementTimeout time.Duration
	// ConnectTimeout limits one attempt to connect; 0 means 5 s.
	ConnectTimeout time.Duration
	// Quotas limit the stored data.
	Quotas Quotas
}

func (c Config) pool() (*pgxpool.Config, error) {
	pool, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		// pgx removes the password from the error's text.
		return nil, fmt.Errorf("cannot read Postgres URL: %w", err)
	}
	pool.MaxConns = int32(max(8, 4*runtime.GOMAXPROCS(0))) // the number of processors fits into an int32
	if c.MaxConns > 0 {
		pool.MaxConns = int32(min(c.MaxConns, 10_000)) // min limits the number, so it fits into an int32
	}
	timeout := c.StatementTimeout
	if timeout <= 0 {
		timeout = 15 * time.Second
	}
	pool.ConnConfig.ConnectTimeout = c.ConnectTimeout
	if pool.ConnConfig.ConnectTimeout <= 0 {
		pool.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	pool.ConnConfig.RuntimeParams["statement_timeout"] = fmt.Sprint(timeout.Milliseconds())
	pool.ConnConfig.RuntimeParams["application_name"] = "octavo"
	// A transaction that a process left open would hold its locks and stop vacuum.
	pool.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "60000"
	pool.AfterConnect = durably
	return pool, nil
}

// durably makes commits wait for the disk, even if the server or the role is configured otherwise. An acknowledged
// write, such as an idempotency key, must survive a power loss. Stronger settings stay.
func durably(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'")
	return err
}
