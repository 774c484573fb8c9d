package kafkaserver

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// space decides whether the disk has space for another produce request. The log must stay within its limit, and enough
// of the disk must stay free.
type space struct {
	broker *broker
	used   atomic.Int64 // bytes of all logs; approximate between two measurements
	free   atomic.Int64 // bytes free on the disk, less the bytes written since the last measurement
	least  atomic.Int64 // bytes of the disk that must stay free

	mu      sync.Mutex
	refused bool // whether the last log line was about a full log
	cleaned time.Time
}

// cleanPause is the minimum time between two cleanings that refused requests
// cause.
const cleanPause = 200 * time.Millisecond

func newSpace(b *broker) *space {
	s := &space{broker: b}
	s.measure()
	return s
}

// measure measures the logs and the free space.
func (s *space) measure() {
	used := int64(0)
	for _, t := range s.broker.list() {
		for _, l := range t.partitions() {
			used += l.Size()
		}
	}
	s.used.Store(used)
	free, size, err := s.broker.cfg.fs.Free(s.broker.dir)
	if err != nil {
		s.broker.cfg.Logger.Warn("Cannot determine the free disk space.", "error", err)
		return
	}
	least := s.broker.cfg.MinFreeBytes
	if least == 0 {
		least = disk.LeastFree(size)
	}
	s.free.Store(free)
	s.least.Store(least)
}

func (s *space) fits(n int64) bool {
	return s.used.Load()+n <= s.broker.cfg.MaxBytes && s.free.Load()-n >= s.least.Load()
}

// tight reports whether space is so short that committed records should be removed even below RetainBytes.
func (s *space) tight() bool {
	tenth := s.broker.cfg.MaxBytes / 10
	return !s.fits(max(tenth, s.broker.cfg.SegmentBytes))
}

// reserved reports whether a topic is small enough to use a reserve above the limits. Without this reserve, a full log
// would be a deadlock. Only commits free space, and before a commit a sink must write dead letters for events that it
// cannot store.
func (s *space) reserved(t *topic, n int64) bool {
	share := s.broker.cfg.MaxBytes / 16
	size := n
	for _, l := range t.partitions() {
		size += l.Size()
	}
	return size <= share && s.used.Load()+n <= s.broker.cfg.MaxBytes+2*share && s.free.Load()-n >= s.least.Load()/2
}

// admit reports whether n bytes may be appended to a topic. If there is no space, it first removes segments that may be
// removed.
func (s *space) admit(t *topic, n int64) bool {
	if s.fits(n) {
		return true
	}
	s.mu.Lock()
	due := time.Since(s.cleaned) >= cleanPause
	if due {
		s.cleaned = time.Now()
	}
	s.mu.Unlock()
	if due {
		s.broker.clean(time.Now())
	}
	fits := s.fits(n)
	if !fits {
		s.report(true)
	}
	return fits || s.reserved(t, n)
}

// wrote adds appended bytes to the used space.
func (s *space) wrote(n int64) {
	s.used.Add(n)
	s.free.Add(-n)
}

// exhausted records that the disk refused a write. The record is valid until the free space is measured again.
func (s *space) exhausted() {
	s.free.Store(0)
	s.report(true)
}

// report logs once when the log becomes full and once when there is space
// again.
func (s *space) report(refused bool) {
	s.mu.Lock()
	changed := s.refused != refused
	s.refused = refused
	s.mu.Unlock()
	if !changed {
		return
	}
	logger, numbers := s.broker.cfg.Logger, []any{
		"log_bytes", s.used.Load(), "most_log_bytes", s.broker.cfg.MaxBytes, "disk_free", s.free.Load(), "least_disk_free", s.least.Load(),
	}
	if refused {
		logger.Error("The log is full: produce requests are refused until its groups commit or disk space is freed.", numbers...)
		return
	}
	logger.Info("The log has space again.", numbers...)
}

// look measures the free space, and reports when space is available again.
func (s *space) look() {
	s.measure()
	if s.fits(s.broker.cfg.SegmentBytes / 8) {
		s.report(false)
	}
}
