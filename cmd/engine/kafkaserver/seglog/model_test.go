package seglog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk/crashdisk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

// model is a log with the records that it must contain.
type model struct {
	t     *rapid.T
	disk  *crashdisk.Disk
	log   *seglog.Log
	cfg   seglog.Config
	acked map[int64]string // values of records, by offset
	seen  int64            // largest end that readers have seen
	start int64
	count int

	sequence int32 // sequence of the producer's next batch
}

func (m *model) open() {
	l, err := tryOpen(m.disk, m.cfg)
	if err != nil {
		m.t.Fatal(err)
	}
	m.log = l
}

// check compares the whole log with the model.
func (m *model) check() {
	start, end := m.log.Offsets()
	if start != m.start {
		m.t.Fatalf("the log begins at %d, not at %d", start, m.start)
	}
	if end < m.seen {
		m.t.Fatalf("readers have seen the end %d, now it is %d", m.seen, end)
	}
	m.seen = end
	got := map[int64]string{}
	for at := start; at < end; {
		b, err := m.log.Read(nil, at, 300, true)
		if err != nil {
			m.t.Fatalf("cannot read at %d of %d: %v", at, end, err)
		}
		next := at
		for offset, value := range valuesOf(m.t, b) {
			got[offset] = value
			next = max(next, offset+1)
		}
		if next == at {
			m.t.Fatalf("nothing at %d of %d", at, end)
		}
		at = next
	}
	for offset, value := range m.acked {
		if offset >= start && got[offset] != value {
			m.t.Fatalf("at %d is %q, acknowledged was %q", offset, got[offset], value)
		}
	}
	m.acked = got // includes unacknowledged records, because readers have now seen them
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func valuesOf(t fataler, b []byte) map[int64]string {
	tb := &shim{t: t}
	return values(tb, b)
}

// shim adapts a rapid test to testing.TB for the helpers.
type shim struct {
	testing.TB
	t fataler
}

func (s *shim) Helper()                           {}
func (s *shim) Fatalf(format string, args ...any) { s.t.Fatalf(format, args...) }

func (m *model) append(values []string, idempotent bool) {
	s := sent{values: values, millis: int64(m.count)}
	if idempotent {
		s.producer, s.sequence = 9, m.sequence
	}
	done, err := m.log.Append(s.bytes(), false)
	if err != nil {
		if !errors.Is(err, seglog.ErrStorage) {
			m.t.Fatalf("append: %v", err)
		}
		return
	}
	if idempotent {
		m.sequence += int32(len(values))
	}
	for i, value := range values {
		m.acked[done.Base+int64(i)] = value
	}
}

// TestAcknowledgedIsKept runs random operations on a disk that fails and loses power, and compares the log with a
// model.
func TestAcknowledgedIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &model{t: t, disk: crashdisk.New(), acked: map[int64]string{}, cfg: seglog.Config{SegmentBytes: int64(rapid.SampledFrom([]int{150, 400, 5000}).Draw(t, "segment"))}}
		m.open()
		choose := func(n int) int { return rapid.IntRange(0, n).Draw(t, "chance") }
		plain := func(t *rapid.T) {
			m.count++
			list := make([]string, rapid.IntRange(1, 4).Draw(t, "records"))
			for i := range list {
				list[i] = fmt.Sprintf("%d.%d%s", m.count, i, strings.Repeat("x", rapid.IntRange(0, 120).Draw(t, "size")))
			}
			m.append(list, false)
		}
		t.Repeat(map[string]func(*rapid.T){
			"":             func(*rapid.T) { m.check() },
			"append":       plain,
			"append again": plain,
			"produce": func(*rapid.T) {
				// A repeat has the same content, like a client's retry.
				m.append([]string{fmt.Sprint("p", m.sequence)}, true)
			},
			"roll": func(*rapid.T) { _ = m.log.Roll() },
			"fail": func(t *rapid.T) {
				op := rapid.SampledFrom([]crashdisk.Op{crashdisk.OpWrite, crashdisk.OpSync, crashdisk.OpCreate, crashdisk.OpSyncDir, crashdisk.OpTruncate}).Draw(t, "op")
				left := rapid.IntRange(1, 4).Draw(t, "times")
				m.disk.SetFail(func(o crashdisk.Op, _ string) error {
					if o == op && left > 0 {
						left--
						return syscall.EIO
					}
					return nil
				})
			},
			"heal": func(*rapid.T) { m.disk.SetFail(nil) },
			"trim": func(t *rapid.T) {
				start, end := m.log.Offsets()
				to := int64(rapid.IntRange(int(start), int(end)).Draw(t, "to"))
				m.start, m.cfg.Start = to, to // the owner stores the new start before the trim
				if err := m.log.Trim(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			},
			"restart": func(*rapid.T) {
				m.log.Close()
				m.disk.SetFail(nil)
				m.open()
			},
			"power cut": func(*rapid.T) {
				after := m.disk.Crash(choose)
				m.log.Close()
				m.disk = after
				m.open()
			},
		})
		m.log.Close()
	})
}
