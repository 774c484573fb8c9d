package sink

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema"
)

// stuck is a connection on which parts cannot be set aside while refuses is set. If slow is set, checks of parts do not
// end before their context.
type stuck struct {
	driver.Conn
	refuses error
	slow    bool
}

func (c *stuck) Exec(ctx context.Context, query string, args ...any) error {
	if c.refuses != nil && strings.Contains(query, " DETACH PART ") {
		return c.refuses
	}
	return c.Conn.Exec(ctx, query, args...)
}

func (c *stuck) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	if c.slow && strings.HasPrefix(query, "CHECK TABLE ") {
		<-ctx.Done()
	}
	return c.Conn.QueryRow(ctx, query, args...)
}

// stick gives the Mender a stuck connection.
func (m *mending) stick(refuses error, slow bool) *stuck {
	m.t.Helper()
	conn := &stuck{m.conn, refuses, slow}
	table, err := eventstore.New(eventstore.Config{Conn: conn})
	if err != nil {
		m.t.Fatal(err)
	}
	m.mender.cfg.Table = table
	return conn
}

// TestMendLeaving lets a damaged part stay in the table because it cannot be set aside. Its rows must be announced
// once. The notice must stay until the part is set aside, or until another process has set it aside.
func TestMendLeaving(t *testing.T) {
	t.Parallel()
	for name, byOther := range map[string]bool{"set aside": false, "set aside by another process": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMending(t, 60)
			change(t, filepath.Join(m.folder(), "checksums.txt"), func([]byte) []byte { return []byte("damaged") })
			refused := errors.New("the engine does not answer")
			conn := m.stick(refused, false)
			for range 2 {
				missing, err := m.mender.Compare(t.Context(), m.parts)
				u, ok := errors.AsType[*UncheckedError](err)
				if !ok || !errors.Is(err, refused) || len(u.Parts) != 1 || missing == nil || m.ledger.leaving != 60 {
					t.Fatalf("%v: %+v, %d rows are announced", err, missing, m.ledger.leaving)
				}
			}
			if missing, err := m.mender.Compare(t.Context(), nil); !errors.Is(err, errLeaving) || missing == nil {
				t.Errorf("%v: %+v", err, missing)
			}
			if _, err := m.mender.Restore(t.Context(), true, none); err != nil {
				t.Error(err)
			}
			if _, err := m.mender.MergeDoubles(t.Context()); err != nil {
				t.Error(err)
			}
			if m.ledger.leaving != 60 {
				t.Errorf("%d rows are announced before the part has left", m.ledger.leaving)
			}
			conn.refuses = nil
			parts := m.parts
			if byOther {
				parts = nil
				if done, err := m.store.SetAside(t.Context(), m.parts[0]); err != nil || !done {
					t.Fatal(done, err)
				}
			}
			missing, err := m.mender.Compare(t.Context(), parts)
			if err != nil || schema.MissingTotal(missing) != 60 || m.ledger.leaving != 0 || m.detached() == "" {
				t.Errorf("%v: %+v, set aside %q, %d rows are announced", err, missing, m.detached(), m.ledger.leaving)
			}
		})
	}
}

// TestMendForgotten deletes the notice of a part that could not be set aside, as another process does. Before the part
// leaves, its rows must be announced again.
func TestMendForgotten(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	change(t, filepath.Join(m.folder(), "checksums.txt"), func([]byte) []byte { return []byte("damaged") })
	conn := m.stick(errors.New("the engine does not answer"), false)
	if _, err := m.mender.Compare(t.Context(), m.parts); !errors.Is(err, conn.refuses) {
		t.Fatal(err)
	}
	conn.refuses, m.ledger.leaving, m.lost = nil, 0, 0
	if _, err := m.mender.Compare(t.Context(), m.parts); err != nil || m.lost != 60 || m.ledger.leaving != 0 {
		t.Errorf("%v: %d rows were announced, %d still are", err, m.lost, m.ledger.leaving)
	}
}

// TestMendCopyMerged lets a merge replace the copy of a part before it is set aside, and then the look for doubled rows
// fails. The ledger must still have all doubled rows.
func TestMendCopyMerged(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	m.copyPart()
	const codeNoPart = 232
	conn := &stuck{Conn: m.conn, refuses: &clickhouse.Exception{Code: codeNoPart}}
	table, err := eventstore.New(eventstore.Config{Conn: &unsearchable{conn, 1}})
	if err != nil {
		t.Fatal(err)
	}
	m.mender.cfg.Table = table
	missing, err := m.mender.Compare(t.Context(), nil)
	if !errors.Is(err, errUnsearchable) || schema.DoubledTotal(missing) != 60 || m.detached() != "" {
		t.Errorf("%v: %+v, set aside %q", err, missing, m.detached())
	}
}

// TestMendSlow checks parts for longer than the checks may take. The comparison must still find the missing rows, and
// name all parts that were not checked.
func TestMendSlow(t *testing.T) {
	t.Parallel()
	m := newMending(t, 60)
	m.ledger.counted.Add(eventMonth(t, m)-100, schema.MonthRows{Rows: 7})
	m.stick(nil, true)
	m.mender.cfg.checks = time.Millisecond
	missing, err := m.mender.Compare(t.Context(), []eventstore.Part{m.parts[0], {Table: "events", Name: "later"}})
	u, ok := errors.AsType[*UncheckedError](err)
	if !ok || strings.Join(u.Parts, " ") != m.parts[0].Name+" later" || schema.MissingTotal(missing) != 7 {
		t.Errorf("%v: %+v, unchecked %+v", err, missing, u)
	}
}
