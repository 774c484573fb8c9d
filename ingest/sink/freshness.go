package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/eventlog"
)

// Freshness finds a time such that every event that was acknowledged before this time is in the table or a dead letter.
// It works on every node, even if the sinks run on other nodes. Freshness regularly records the log's end as a mark.
// After the sinks have committed past a mark, all events that were acknowledged before the mark are stored or
// dead-lettered.
type Freshness struct {
	log    *eventlog.Log
	group  string
	logger *slog.Logger
	marks  marks
	until  atomic.Int64 // until is in milliseconds since 1970; 0 means that it is unknown

	cancel context.CancelFunc
	done   sync.WaitGroup
}

// markEvery is the interval at which Freshness marks the log's end.
const markEvery = time.Second

// NewFreshness watches the sinks of a group. It starts nothing.
func NewFreshness(log *eventlog.Log, group string, logger *slog.Logger) *Freshness {
	return &Freshness{log: log, group: group, logger: logger}
}

// Start marks the log's end every second, until Stop.
func (f *Freshness) Start(ctx context.Context) {
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	f.done.Go(func() {
		tick := time.NewTicker(markEvery)
		defer tick.Stop()
		for {
			// If the log does not answer, the last result is still correct.
			if err := f.look(ctx); err != nil && ctx.Err() == nil {
				f.logger.Debug("Cannot see how fresh the insights are.", "error", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
}

// Stop stops marking the log's end.
func (f *Freshness) Stop(context.Context) error {
	f.cancel()
	f.done.Wait()
	return nil
}

// Until returns a time before which every acknowledged event is in the events table or a dead letter. It returns false
// while this time is unknown.
func (f *Freshness) Until() (time.Time, bool) {
	at := f.until.Load()
	return time.UnixMilli(at).UTC(), at != 0
}

func (f *Freshness) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	topic, err := f.log.Topic()
	if err != nil {
		return err
	}
	count, err := topic.Partitions(ctx)
	if err != nil {
		return err
	}
	// Read the clock before the ends. Events that are acknowledged after this time may have offsets after the ends.
	at := time.Now()
	ends, err := topic.Ends(ctx, count)
	if err != nil {
		return err
	}
	progress, err := groupProgress(ctx, topic, f.group, partitionRange(count))
	if err != nil && !errors.Is(err, kafka.GroupIdNotFound) { // GroupIdNotFound: no sink has ever committed
		return fmt.Errorf("cannot ask how far the sinks are: %w", err)
	}
	committed := make([]int64, count)
	for id, p := range progress {
		committed[id] = max(p.offset, 0)
	}
	f.marks.add(mark{at, ends})
	if at, ok := f.marks.pass(committed); ok {
		f.until.Store(at.UnixMilli())
	}
	return nil
}

// mark has the ends of all partitions of the log at a time.
type mark struct {
	at   time.Time
	ends []int64
}

// marks has the marks that the sinks' commits have not passed yet, oldest first.
type marks struct {
	list  []mark
	apart time.Duration // shortest time between two marks; 0 unless there were too many marks
}

// maxMarks is the largest number of marks. If the sinks lag behind for a long time, the time between two marks becomes
// longer.
const maxMarks = 512

func (m *marks) add(next mark) {
	if n := len(m.list); n > 0 && next.at.Sub(m.list[n-1].at) < m.apart {
		return
	}
	if len(m.list) == maxMarks {
		for i := range maxMarks / 2 {
			m.list[i] = m.list[2*i]
		}
		clear(m.list[maxMarks/2:])
		m.list = m.list[:maxMarks/2]
		m.apart = 2 * max(m.apart, markEvery)
	}
	m.list = append(m.list, next)
}

// pass finds the last mark that the commits of all partitions have passed. It removes this mark and all earlier marks,
// and returns the mark's time.
func (m *marks) pass(committed []int64) (at time.Time, ok bool) {
	for i := len(m.list) - 1; i >= 0; i-- {
		if m.list[i].passed(committed) {
			at = m.list[i].at
			if m.list = append(m.list[:0], m.list[i+1:]...); len(m.list) == 0 {
				m.apart = 0
			}
			return at, true
		}
	}
	return at, false
}

func (m mark) passed(committed []int64) bool {
	for id, end := range m.ends {
		if id >= len(committed) || committed[id] < end {
			return false
		}
	}
	return true
}
