package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Lock is a lock that only one process of all nodes can hold. It ends with Release, or when its connection ends, for
// example because the process is killed.
type Lock struct {
	conn *pgxpool.Conn
	name string
}

// ErrLocked is the error of TryLock if another process holds the lock.
var ErrLocked = errors.New("another process holds it")

// TryLock takes the lock with a name, or returns ErrLocked.
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

// Holds returns an error if the session of this lock has ended. Then another process may hold the lock.
func (l *Lock) Holds(ctx context.Context) error {
	if err := l.conn.Ping(ctx); err != nil {
		return fmt.Errorf("the lock is lost: %w", err)
	}
	return nil
}

// releaseLimit is the longest time for which Release waits for an answer of Postgres before it closes the session.
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
