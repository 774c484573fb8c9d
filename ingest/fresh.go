package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
)

// Freshness knows up to when what was acknowledged is in the table, whichever
// nodes run the sinks: it notes now and then where the log ends, and looks
// which of these ends the sinks have committed past. A sink commits past
// nothing that it has not stored or set aside.
type Freshness struct {
	log   *Log
	group string
	marks marks
	until atomic.Int64 // milliseconds since 1970; 0 is not known

	cancel context.CancelFunc
	done   sync.WaitGroup
}

// lookEvery is how often the ends are noted.
const lookEvery = time.Second

// NewFreshness watches the sinks of a group. It starts nothing.
func NewFreshness(log *Log, group string) *Freshness { return &Freshness{log: log, group: group} }

// Start begins to look, until Stop.
func (f *Freshness) Start(ctx context.Context) {
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	f.done.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			// While the log does not answer, what was known stays true.
			if err := f.look(ctx); err != nil && ctx.Err() == nil {
				f.log.cfg.Logger.Debug("How fresh the insights are cannot be seen.", "error", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
}

// Stop ends the looking.
func (f *Freshness) Stop(context.Context) error {
	f.cancel()
	f.done.Wait()
	return nil
}

// Until is a moment before which every acknowledged event is in the table or a
// dead letter; false if none is known yet.
func (f *Freshness) Until() (time.Time, bool) {
	at := f.until.Load()
	return time.UnixMilli(at).UTC(), at != 0
}

func (f *Freshness) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	f.log.mu.RLock()
	client, err := f.log.client, f.log.opened()
	f.log.mu.RUnlock()
	if err != nil {
		return err
	}
	topic := f.log.cfg.Topic
	count, err := countPartitions(ctx, client, topic)
	if err != nil {
		return err
	}
	ids, last := make([]int, count), make([]kafka.OffsetRequest, count)
	for id := range ids {
		ids[id], last[id] = id, kafka.LastOffsetOf(id)
	}
	// The time comes first: what is acknowledged later may be behind the ends.
	at := time.Now()
	listed, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: last}, IsolationLevel: kafka.ReadUncommitted})
	if err != nil {
		return err
	}
	ends := make([]int64, count)
	for _, o := range listed.Topics[topic] {
		if o.Error != nil {
			return o.Error
		}
		ends[o.Partition] = o.LastOffset
	}
	if len(listed.Topics[topic]) != count {
		return errors.New("the broker did not answer for each partition")
	}
	committed := make([]int64, count)
	fetched, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: f.group, Topics: map[string][]int{topic: ids}})
	if err == nil {
		err = fetched.Error
	}
	if err != nil && !errors.Is(err, kafka.GroupIdNotFound) { // no sink has ever committed
		return fmt.Errorf("cannot ask how far the sinks are: %w", err)
	}
	if err == nil {
		for _, p := range fetched.Topics[topic] {
			if p.Error != nil {
				return p.Error
			}
			committed[p.Partition] = max(p.CommittedOffset, 0)
		}
	}
	f.marks.add(mark{at, ends})
	if at, ok := f.marks.pass(committed); ok {
		f.until.Store(at.UnixMilli())
	}
	return nil
}

// mark is where the log ended at a moment, by partition.
type mark struct {
	at   time.Time
	ends []int64
}

// marks are those that the sinks have not passed yet, the oldest first.
type marks struct {
	list  []mark
	apart time.Duration // at least, since there were too many
}

// maxMarks bounds them: over a longer lag they are further apart.
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
		m.apart = 2 * max(m.apart, lookEvery)
	}
	m.list = append(m.list, next)
}

// pass drops the marks up to the last that is committed past in every
// partition, and gives its moment.
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
