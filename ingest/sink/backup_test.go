package sink

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/deadletter"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// backup copies the table's files into a new folder for a server. It returns this folder, and the folder of the table
// in it.
func (m *mending) backup() (server, table string) {
	m.t.Helper()
	var id, path, comment string
	err := m.conn.QueryRow(m.t.Context(), "SELECT toString(uuid), data_paths[1], comment FROM system.tables "+
		"WHERE database = currentDatabase() AND name = 'events'").Scan(&id, &path, &comment)
	if err != nil {
		m.t.Fatal(err)
	}
	server = m.t.TempDir()
	database := filepath.Join(server, "store", "abc", "database")
	table = filepath.Join(server, "store", id[:3], id)
	if err := os.MkdirAll(database, 0o700); err != nil {
		m.t.Fatal(err)
	}
	statement := "ATTACH TABLE _ UUID '" + id + "' (`site` String) COMMENT '" + comment + "'"
	if err := os.WriteFile(filepath.Join(database, "events.sql"), []byte(statement), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.CopyFS(table, os.DirFS(path)); err != nil {
		m.t.Fatal(err)
	}
	return server, table
}

// read calls ReadBackup. The function `change` changes the Reconciler's configuration.
func (m *mending) read(server string, change func(*Config), cfg BackupConfig) FromBackup {
	m.t.Helper()
	backup, err := eventstore.OpenBackup(server)
	if err != nil {
		m.t.Fatal(err)
	}
	cfg.Backup, cfg.Fits = backup, func(string, int64) error { return nil }
	m.mender.cfg.Reconciler = func(context.Context) (*Reconciler, error) {
		of := Config{
			Brokers: m.brokers, Topic: m.topic, Group: m.topic + "-sink", Store: m.store,
			Logger: ingesttest.Logger(m.t),
		}
		if change != nil {
			change(&of)
		}
		r, err := NewReconciler(of)
		if err == nil {
			r.batch = 7 // so small that the rows are in several ranges
		}
		return r, err
	}
	done, err := m.mender.ReadBackup(m.t.Context(), cfg)
	if err != nil {
		m.t.Fatal(err)
	}
	return done
}

// TestReadBackup deletes all rows of a table. ReadBackup must restore each missing row once.
func TestReadBackup(t *testing.T) {
	t.Parallel()
	const rows = 20
	m := newMending(t, rows)
	server, table := m.backup()
	// Add a copy of the part to the backup, so that the backup has each row twice.
	part := filepath.Join(table, m.parts[0].Name)
	month, again := m.parts[0].Name[:6], filepath.Join(table, m.parts[0].Name[:6]+"_900000_900000_0")
	if err := os.CopyFS(again, os.DirFS(part)); err != nil {
		t.Fatal(err)
	}
	if err := m.conn.Exec(t.Context(), "ALTER TABLE events DROP PARTITION ID '"+month+"'"); err != nil {
		t.Fatal(err)
	}
	victim, site := &tombstones{}, intaketest.Site.ID
	victim.erase(m.visitorOf("v5"), time.Now().Add(time.Hour))
	letters := deadletter.NewWriter(m.brokers, eventlog.Access{}, m.topic, "test", 0)
	defer letters.Close()
	later, earlier := time.Now().Add(time.Hour), time.Now().Add(-61*24*time.Hour)
	for _, c := range []struct {
		name                string
		change              func(*Config)
		cfg                 BackupConfig
		counted             int64 // number of counted rows that the backup does not have
		found, gone, unsure int64
		surplus             int64
	}{
		{name: "all", found: rows},
		{name: "the log has a message", cfg: BackupConfig{Skip: []Difference{{To: 1, Missing: 5}}}, found: rows - 5},
		{name: "no message is committed", change: func(c *Config) { c.Group = "another" }},
		{name: "a visitor is erased", change: func(c *Config) { c.Erased = victim.follow(t, false) },
			found: rows - 1, gone: 1},
		{name: "all are too old", change: func(c *Config) {
			c.Expired = map[string][]schema.Expiry{site: {{SiteID: site, Before: later, CarriedOut: later}}}
		}, gone: rows},
		{name: "an erasure is forgotten", change: func(c *Config) {
			c.Forgotten = map[string]schema.ForgottenErasures{site: {ErasedUntil: later, Done: time.Now()}}
		}, unsure: rows},
		{name: "an erasure before the backup is forgotten", change: func(c *Config) {
			c.Forgotten = map[string]schema.ForgottenErasures{site: {ErasedUntil: later, Done: earlier}}
		}, found: rows},
		{name: "rows were deleted by nobody", counted: -1, surplus: rows},
		{name: "other rows are missing too", counted: 1, found: rows},
	} {
		counted := maps.Clone(m.ledger.counted)
		for month, of := range counted {
			of.Rows += c.counted
			m.ledger.counted = schema.RowsByMonth{month: of}
		}
		done := m.read(server, c.change, c.cfg)
		var surplus int64
		for _, n := range done.Surplus {
			surplus += n
		}
		if done.FoundRows() != c.found || done.Gone != c.gone || done.Unsure != c.unsure || surplus != c.surplus ||
			done.Restored != 0 || len(done.Damaged) != 0 {
			t.Errorf("%s: %+v", c.name, done)
		}
		m.ledger.counted = counted
	}

	// An event has a dead letter, so its row must not be restored.
	if err := letters.Write(t.Context(), []deadletter.Letter{m.letter(1, 2)}); err != nil {
		t.Fatal(err)
	}
	noted := uint64(0)
	store := BackupConfig{Store: true, Note: func(
		_ context.Context, _ schema.EventMonth, rows int64, _ []eventstore.BackupDamage,
	) error {
		if n, _ := m.stored(); n != 0 {
			t.Errorf("%d rows are stored before they are noted", n)
		}
		noted += uint64(rows)
		return nil
	}}
	done := m.read(server, nil, store)
	if done.FoundRows() != rows-1 || done.Restored != rows-1 || done.Gone != 1 || len(done.Missing) != 1 ||
		done.Missing[0].Rows != 1 {
		t.Errorf("a repair: %+v", done)
	}
	if done := m.read(server, nil, store); done.FoundRows() != 0 || done.Restored != 0 {
		t.Errorf("a second repair: %+v", done)
	}
	if n, different := m.stored(); n != rows-1 || different != n || noted != rows-1 {
		t.Errorf("%d rows of %d different events, %d noted", n, different, noted)
	}
	m.visitsAgree()
}

// letter returns the dead letter of an event in the log.
func (m *mending) letter(offset int64, index int) deadletter.Letter {
	m.t.Helper()
	r, err := m.mender.cfg.Reconciler(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	defer r.Close()
	letter := deadletter.Letter{Offset: offset, Index: index, Site: intaketest.Site.ID, Sum: "a"}
	err = r.log.Scan(m.t.Context(), 0, offset, offset+1, func(record eventlog.Record) error {
		message, err := insights.ParseMessage(record.Value)
		letter.Received = message.Received()
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return letter
}
