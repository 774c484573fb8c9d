package postgres_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestLock checks that each name has one holder at a time, and that a holder detects the loss of its lock.
func TestLock(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	first, err := st.TryLock(t.Context(), "repair")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.TryLock(t.Context(), "repair"); !errors.Is(err, postgres.ErrLocked) {
		t.Errorf("%v, want ErrLocked", err)
	}
	other, err := st.TryLock(t.Context(), "layout")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Holds(t.Context()); err != nil {
		t.Error(err)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	var held int
	err = conn.QueryRow(t.Context(), `select count(*) from pg_locks where locktype = 'advisory'
		and database = (select oid from pg_database where datname = current_database())`).Scan(&held)
	if err != nil || held != 0 {
		t.Errorf("%d locks are held after their release: %v", held, err)
	}
	second, err := st.TryLock(t.Context(), "repair")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	if err := second.Holds(t.Context()); err == nil {
		t.Error("a lock whose session was ended is still held")
	}
	_ = second.Release(t.Context()) // its connection has ended
}
