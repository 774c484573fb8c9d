package sink

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/eventlog"
)

// backlog exports three metrics for each partition that this sink owns: the age of the oldest message that is not
// stored, the time until the log deletes this message, and the number of lost messages.
type backlog struct {
	oldest, left, lost *prometheus.Desc

	mu         sync.Mutex
	partitions map[int]*partition
	losses     map[int]losses
	retention  time.Duration // the log's retention; 0 means that it is infinite or unknown
}

func newBacklog() *backlog {
	by := []string{"partition"}
	return &backlog{
		partitions: map[int]*partition{}, losses: map[int]losses{},
		oldest: prometheus.NewDesc("octavo_sink_oldest_unstored_seconds",
			"Age of a partition's oldest message that is not stored yet, on the sink that owns it; 0 if there is none.", by, nil),
		left: prometheus.NewDesc("octavo_sink_retention_left_seconds",
			"How much longer the log keeps a partition's oldest message that is not stored yet; then it is lost. Absent for a log that keeps messages for ever.", by, nil),
		lost: prometheus.NewDesc("octavo_sink_lost_messages_total",
			"Messages of a partition that left the log before they were stored, since the sinks' group began, "+
				"by reason: retention (the sinks were away for longer than the log keeps messages), recreated "+
				"(the topic was deleted and created again; as many as are known), damaged (a disk damaged the log; "+
				"after a power cut, some may never have been acknowledged).",
			[]string{"partition", "reason"}, nil),
	}
}

func (b *backlog) add(p *partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.partitions[p.id] = p
}

// remove removes a partition from the metrics, unless a later generation has added it again.
func (b *backlog) remove(p *partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.partitions[p.id] == p {
		delete(b.partitions, p.id)
		delete(b.losses, p.id)
	}
}

func (b *backlog) setLost(partition int, lost losses) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.losses[partition] = lost
}

func (b *backlog) setRetention(retention time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.retention = retention
}

// Describe implements [prometheus.Collector].
func (b *backlog) Describe(out chan<- *prometheus.Desc) {
	out <- b.oldest
	out <- b.left
	out <- b.lost
}

// Collect implements [prometheus.Collector].
func (b *backlog) Collect(out chan<- prometheus.Metric) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, p := range b.partitions {
		label := strconv.Itoa(id)
		age := p.ages.oldest(p.stored.Load(), p.end.Load(), time.Now())
		out <- prometheus.MustNewConstMetric(b.oldest, prometheus.GaugeValue, age.Seconds(), label)
		if b.retention > 0 {
			out <- prometheus.MustNewConstMetric(b.left, prometheus.GaugeValue, (b.retention - age).Seconds(), label)
		}
		for i, reason := range lossReasons {
			out <- prometheus.MustNewConstMetric(b.lost, prometheus.CounterValue, float64(b.losses[id][i]), label, reason)
		}
	}
}

// pendingAges has the times at which a partition's messages were produced, for messages that were read but are not
// stored yet.
type pendingAges struct {
	mu   sync.Mutex
	list []producedBy // list has the oldest message first
	last time.Time    // the time of the last stored message
}

// producedBy records that the messages of a fetch were produced at the time `since` or later. The offsets of these
// messages are less than `to`.
type producedBy struct {
	to    int64
	since time.Time
}

func (w *pendingAges) add(to int64, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, producedBy{to, since})
}

// oldest returns the age of the oldest unstored message. A message that was not read yet counts as being as old as the
// last message that was read.
func (w *pendingAges) oldest(stored, end int64, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(stored)
	since := w.last
	if len(w.list) > 0 {
		since = w.list[0].since
	}
	if stored >= end || since.IsZero() {
		return 0
	}
	return max(0, now.Sub(since))
}

// stored removes the messages before an offset, which were stored.
func (w *pendingAges) stored(to int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(to)
}

func (w *pendingAges) drop(to int64) {
	n := 0
	for n < len(w.list) && w.list[n].to <= to {
		w.last = w.list[n].since
		n++
	}
	w.list = append(w.list[:0], w.list[n:]...)
}

// askRetention reads the log's retention. If the log does not answer, the last known value stays.
func (s *Sink) askRetention(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	retention, err := s.log.Retention(ctx)
	if err != nil {
		s.cfg.Logger.Warn("Cannot read from Kafka how long it keeps events.", "topic", s.cfg.Topic, "error", err)
		return
	}
	s.metrics.backlog.setRetention(retention)
}

// Lost returns the number of messages that left the log before they were stored. It counts the losses of all partitions
// since the sinks' group was created. A sink commits the number of losses with its offset. So Lost includes a loss only
// after the sink has stored a later message, or has found that the log has no later message.
func Lost(ctx context.Context, log *eventlog.Log, group string) (messages int64, err error) {
	topic, err := log.Topic()
	if err != nil {
		return 0, err
	}
	count, err := topic.Partitions(ctx)
	if err != nil {
		return 0, err
	}
	list, err := groupProgress(ctx, topic, group, partitionRange(count))
	for _, p := range list {
		messages += p.lost.total()
	}
	return messages, err
}
