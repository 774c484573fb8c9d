package intake

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema"
)

const browserAgent = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) " +
	"Chrome/126.0.0.0 Safari/537.36"

var testDoor = Door{
	IP: netip.MustParseAddr("203.0.113.7"), UserAgent: browserAgent, Now: testNow, Key: "pk_1", Generation: 2,
	Hosts: []string{"d.example", "*.docs.example"},
}

// memorySalts is a SaltStore in memory with the same rules as package store. A salt's time is the number of the salt,
// and not the time of a clock.
type memorySalts struct {
	mu    sync.Mutex
	rows  map[int32]schema.DoorSalt
	made  int
	asked int
	err   error
}

func newMemorySalts() *memorySalts { return &memorySalts{rows: map[int32]schema.DoorSalt{}} }

func (m *memorySalts) DoorSalts(_ context.Context, offered []schema.DoorSalt) ([]schema.DoorSalt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	if m.err != nil {
		return nil, m.err
	}
	for _, salt := range offered {
		if salt.MadeAt.IsZero() {
			m.made++
			salt.MadeAt = time.Unix(int64(m.made), 0)
		}
		if old, ok := m.rows[salt.Day]; !ok || salt.MadeAt.Before(old.MadeAt) {
			m.rows[salt.Day] = salt
		}
	}
	var list []schema.DoorSalt
	for _, salt := range m.rows {
		list = append(list, salt)
	}
	return list, nil
}

// newDoor builds an intake that takes batches of browsers.
func newDoor(t testing.TB, log Appender, change func(*Config)) *Intake {
	t.Helper()
	return newTestIntake(t, log, func(c *Config) {
		c.Salts = NewSalts(newMemorySalts(), slog.New(slog.DiscardHandler))
		c.DoorSessions = 4096
		if change != nil {
			change(c)
		}
	})
}

// browserBatch returns a browser's batch with these events.
func browserBatch(events string) []byte { return []byte(`{"id":"b-1","events":[` + events + `]}`) }

const browserView = `{"type":"page_view","url":"https://d.example/p"}`

// browserRows accepts a batch and returns the rows that are stored for it.
func browserRows(t testing.TB, body []byte, door Door) []row {
	t.Helper()
	log := &ingesttest.MemoryLog{}
	if err := newDoor(t, log, nil).AcceptDoor(t.Context(), testSite, body, door); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if len(log.Messages) == 0 {
		return nil
	}
	return ingesttest.RowsOf(t, log.Messages[0])
}

// recordedKeys records each key that is claimed. It answers every claim with the same state.
type recordedKeys struct {
	Keys
	claimed *[]string
	state   schema.KeyState
}

func (k recordedKeys) ClaimEventKey(
	_ context.Context,
	_, key string,
	want schema.KeyClaim,
	_ time.Duration,
) (schema.KeyClaim, error) {
	*k.claimed = append(*k.claimed, strings.Clone(key))
	want.State = k.state
	return want, nil
}

func (recordedKeys) FinishEventKey(context.Context, string, string, schema.KeyClaim) error {
	return nil
}
