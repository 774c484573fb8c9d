package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Lock is a lock that one process of all nodes holds. It ends with Release, or with the end of its connection, for
// example when the process is killed.
type Lock struct {
	conn *pgxpool.Conn
	name string
}

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("another process holds it")

// TryLock takes the lock of a name, or returns ErrLocked.
func (d *DB) TryLock(ctx context.Context, name string) (*Lock, error) {
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot take the lock %q: %w", name, err)
	}
	var held bool
	err = conn.QueryRow(ctx, "select pg_try_advisory_lock(hashtextextended('lock ' || $1, 0))", name).Scan(&held)
	if err == nil && !held {
		err = ErrLocked
	}
	if err != nil {
		conn.Release()
		return nil, fmt.Errorf("cannot take the lock %q: %w", name, err)
	}
	return &Lock{conn, name}, nil
}

// Holds fails if the session of this lock has ended, because another process may then have the lock.
func (l *Lock) Holds(ctx context.Context) error {
	if err := l.conn.Ping(ctx); err != nil {
		return fmt.Errorf("the lock is lost: %w", err)
	}
	return nil
}

// releaseLimit limits the time that Release waits for an answer before it closes the session.
const releaseLimit = 5 * time.Second

// Release releases the lock and returns the session to the pool. If the session does not confirm this, Release closes
// the session, so that the lock cannot stay locked.
func (l *Lock) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	var released bool
	err := l.conn.QueryRow(ctx, "select pg_advisory_unlock(hashtextextended('lock ' || $1, 0))", l.name).Scan(&released)
	if err == nil && released {
		l.conn.Release()
		return nil
	}
	return l.conn.Hijack().Close(ctx)
}
