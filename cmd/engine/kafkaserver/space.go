package kafkaserver

import (
	"sync"
	"sync/atomic"
	"time"
)

// space says whether there is room for another produce: below the log's bound and above what must stay free on the disk.
type space struct {
	broker *broker
	used   atomic.Int64 // bytes of all logs, about: exact whenever it is measured
	free   atomic.Int64 // on the disk, less what was written since it was measured
	least  atomic.Int64 // that must stay free

	mu      sync.Mutex
	refused bool // the last that was said to the operator
	cleaned time.Time
}

// cleanPause is the least time between two searches for room that a refusal causes.
const cleanPause = 200 * time.Millisecond

func newSpace(b *broker) *space {
	s := &space{broker: b}
	s.measure()
	return s
}

// measure finds out how much there is.
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
		s.broker.cfg.Logger.Warn("Cannot tell how much of the disk is free.", "error", err)
		return
	}
	least := s.broker.cfg.MinFreeBytes
	if least == 0 {
		least = min(defaultMinFree, size/20)
	}
	s.free.Store(free)
	s.least.Store(least)
}

func (s *space) fits(n int64) bool {
	return s.used.Load()+n <= s.broker.cfg.MaxBytes && s.free.Load()-n >= s.least.Load()
}

// tight tells that what is committed should go although less than RetainBytes of it is kept.
func (s *space) tight() bool {
	tenth := s.broker.cfg.MaxBytes / 10
	return !s.fits(max(tenth, s.broker.cfg.SegmentBytes))
}

// reserved tells whether a topic is so small that it is not what fills the log. Such a one may take from a reserve of its own: a consumer
// that has to put aside what it cannot store would else never come to commit what makes room.
func (s *space) reserved(t *topic, n int64) bool {
	share := s.broker.cfg.MaxBytes / 16
	size := n
	for _, l := range t.partitions() {
		size += l.Size()
	}
	return size <= share && s.used.Load()+n <= s.broker.cfg.MaxBytes+2*share && s.free.Load()-n >= s.least.Load()/2
}

// admit tells whether n bytes may be appended to a topic. When there is no room it looks for what may go.
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
		s.say(true)
	}
	return fits || s.reserved(t, n)
}

// wrote counts what was appended.
func (s *space) wrote(n int64) {
	s.used.Add(n)
	s.free.Add(-n)
}

// exhausted notes that the disk refused a write; it counts until the free space is measured anew.
func (s *space) exhausted() {
	s.free.Store(0)
	s.say(true)
}

// say tells the operator once when the log is full, and once when there is room again.
func (s *space) say(refused bool) {
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
		logger.Error("The log is full: nothing is taken until its groups have committed what it holds, or there is room on the disk.", numbers...)
		return
	}
	logger.Info("There is room in the log again.", numbers...)
}

// look measures, and says so when there is room again.
func (s *space) look() {
	s.measure()
	if s.fits(s.broker.cfg.SegmentBytes / 8) {
		s.say(false)
	}
}
