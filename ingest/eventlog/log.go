package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Log is the event log, which is a Kafka topic. The intake appends messages to it.
//
// Each partition has at most one produce request in flight. Messages that arrive during this request are collected in
// the next batch. A message that arrives while no request runs is sent at once. Under load, the batches grow, so one
// produce request sends more messages. So the log needs no linger time.
type Log struct {
	cfg      Config
	metrics  *Metrics
	topic    *Topic
	workers  sync.WaitGroup
	cancel   context.CancelFunc // cancel abandons the requests in flight
	stopping chan struct{}      // Stop closes stopping

	noIDs atomic.Bool // the brokers give out no producer ids
	ends  recentEnds
	// fullAt is the schema.Elapsed at which the broker last refused events because the log is full. It is 0 if the
	// broker has accepted events since then.
	fullAt atomic.Int64

	mu      sync.RWMutex
	running bool
	// partitions are the topic's partitions. The slice is empty until the log has found the topic. Until then, `away`
	// is the error of the last attempt to find the topic. A change of the partitions makes a new slice.
	partitions []*partition
	away       error
}

// New builds a log. It starts nothing.
func New(cfg Config, m *Metrics) (*Log, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	topic := NewTopic(cfg.Brokers, cfg.Access, "octavo-intake", cfg.ProduceTimeout, cfg.Topic)
	topic.Check = topic.CheckBaseline
	return &Log{cfg: cfg, metrics: m, topic: topic}, nil
}

// Start makes sure that the topic exists and begins to accept messages. If the topic cannot be used within StartWait,
// Start returns nil nevertheless. The log then refuses messages until the topic can be used. Start returns only errors
// that a retry cannot fix, such as a refused password.
func (l *Log) Start(ctx context.Context) error {
	began := time.Now()
	count, err := l.topic.ensure(ctx, &l.cfg, func(err error) bool {
		return errors.Is(err, ErrBaseline) || time.Since(began) >= l.cfg.StartWait
	})
	if err == nil {
		err = l.check(ctx)
	}
	if err != nil && (ctx.Err() != nil || isPermanent(err)) {
		l.topic.Close()
		return err
	}
	run, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running {
		cancel()
		return errors.New("cannot start the event log twice")
	}
	l.cancel, l.running, l.partitions, l.away = cancel, true, nil, err
	l.stopping = make(chan struct{})
	if err == nil {
		l.open(run, count)
	} else {
		l.workers.Go(func() { l.await(run, err) })
	}
	return nil
}

// await retries until the topic can be used, and then opens the log. It retries even if the broker refuses the client,
// because the operator can fix the broker while the process does other work.
func (l *Log) await(run context.Context, why error) {
	var pace retry.LogPace
	pace.Due()
	l.cfg.Logger.Warn("The event log is away: events are refused until Kafka answers.", "topic", l.cfg.Topic, "error", why)
	count, err := l.topic.ensure(run, &l.cfg, func(err error) bool {
		l.mu.Lock()
		l.away = err
		l.mu.Unlock()
		if pace.Due() {
			l.cfg.Logger.Warn("The event log is still away: events are refused.", "topic", l.cfg.Topic, "error", err)
		}
		return false
	})
	if err == nil {
		if err = l.check(run); err != nil {
			l.cfg.Logger.Error("The event log cannot be used: events are refused until the node is restarted.", "topic", l.cfg.Topic, "error", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || !l.running { // the topic cannot be used, or Stop was called
		l.away = errors.Join(err, l.away)
		return
	}
	l.open(run, count)
	l.cfg.Logger.Info("The event log is there: events are taken.", "topic", l.cfg.Topic, "partitions", count)
}

// open starts the partitions' workers and the watch of the topic. The caller holds l.mu.
func (l *Log) open(run context.Context, count int) {
	l.away = nil
	l.resize(run, count)
	l.workers.Go(func() { l.watch(run) })
}

// Stop makes the log refuse new messages. It returns when each accepted message is durable or abandoned. When ctx ends,
// it abandons the messages that are not yet durable. A log that still waits for its topic has accepted no messages, so
// it stops immediately.
func (l *Log) Stop(ctx context.Context) error {
	l.mu.Lock()
	running, partitions := l.running, l.partitions
	l.running = false
	l.mu.Unlock()
	if !running {
		return nil
	}
	if partitions == nil {
		l.cancel()
	} else {
		close(l.stopping)
	}
	for _, p := range partitions {
		p.close()
	}
	drained := make(chan struct{})
	go func() {
		l.workers.Wait()
		close(drained)
	}()
	var err error
	select {
	case <-drained:
	case <-ctx.Done():
		err = fmt.Errorf("cannot drain the event log: %w", ctx.Err())
	}
	l.cancel()
	<-drained
	l.topic.Close()
	return err
}

// opened returns an error until the log has found its topic. The caller holds l.mu.
func (l *Log) opened() error {
	switch {
	case !l.running:
		return errors.New("the event log is stopped")
	case len(l.partitions) == 0:
		return fmt.Errorf("the event log is away: %w", l.away)
	}
	return nil
}

// DefaultTurn is the default of Config.Turn, and of the time for which a sink gathers the rows of an insert. Each
// insert costs the store as much as several thousand additional rows. So the events of a second cost less in one insert
// than in two (bench/results/2026-11-30-17ead1fa5b-price.md).
const DefaultTurn = time.Second

// partition returns the partition with the number `id`. If id is AnyPartition, it chooses a partition. The caller holds
// l.mu.
func (l *Log) partition(id int, now time.Time) (*partition, error) {
	if err := l.opened(); err != nil {
		return nil, err
	}
	switch {
	case id == AnyPartition:
		return l.choose(now), nil
	case id < 0 || id >= len(l.partitions):
		return nil, fmt.Errorf("the event log has %d partitions, and none has the number %d", len(l.partitions), id)
	}
	return l.partitions[id], nil
}

// choose picks the partition of a message without a fixed partition. All nodes choose the same partition during a turn
// (Config.Turn). An insert has rows of one partition, so messages in all partitions would need an insert for each
// partition. Each insert costs the store as much as several thousand additional rows. `choose` skips a partition in
// which a full batch waits. The caller holds l.mu, and the log is open.
func (l *Log) choose(now time.Time) *partition {
	n := uint64(len(l.partitions))
	first := uint64(now.UnixMilli() / l.cfg.Turn.Milliseconds())
	for i := range n {
		if p := l.partitions[(first+i)%n]; !p.crowded() {
			return p
		}
	}
	return l.partitions[first%n]
}

// AnyPartition lets the log choose the partition of a message.
const AnyPartition = -1

// Append appends a message to the log. It returns nil when the message is durable, and an *insights.Refusal when the
// log has abandoned the message. The log does not retain `site` and `message`.
func (l *Log) Append(ctx context.Context, site string, partition int, message []byte) error {
	return l.append(ctx, site, partition, message, false)
}

// AppendAgain is like Append, for a message that an earlier, abandoned attempt may still append. It sends the message
// without a producer id, so that the sink drops the second copy.
func (l *Log) AppendAgain(ctx context.Context, site string, partition int, message []byte) error {
	return l.append(ctx, site, partition, message, true)
}

func (l *Log) append(ctx context.Context, site string, partition int, message []byte, plain bool) error {
	if len(message) > l.cfg.MaxMessageBytes {
		return insights.Refuse(insights.TooLong, "events", "are more than "+strconv.Itoa(l.cfg.MaxMessageBytes)+" bytes together: send them in several requests")
	}
	l.mu.RLock()
	start := time.Now()
	p, err := l.partition(partition, start)
	if err != nil {
		l.mu.RUnlock()
		return Unavailable(err)
	}
	b := p.add(site, message, plain)
	l.mu.RUnlock()
	select {
	case <-b.done:
	case <-ctx.Done():
		// The batch has a copy of the message, so the message may become durable after this answer.
		return Unavailable(ctx.Err())
	}
	l.metrics.appendSeconds.Observe(time.Since(start).Seconds())
	if b.err != nil {
		return b.err
	}
	return nil
}

// Unavailable returns the refusal of a request whose append the log did not answer. Its message may be in the log, or
// arrive there later.
func Unavailable(cause error) *insights.Refusal {
	return insights.Refuse(insights.LogUnavailable, "", "the event log does not answer, try again").Because(cause)
}

// partition collects messages for one partition and produces them.
type partition struct {
	log  *Log
	id   int
	wake chan struct{} // wake signals the worker that there may be work
	from producer      // only the worker uses from

	mu      sync.Mutex
	pending []*batch // the last batch still accepts messages
	closed  bool
	spare   []byte // a finished batch's buffer, for reuse
}

// add copies a message into the last batch, or into a new batch if the last batch is full. It returns this batch.
func (p *partition) add(key string, message []byte, plain bool) *batch {
	size := len(key) + len(message) + recordOverhead
	p.mu.Lock()
	var b *batch
	if n := len(p.pending); n > 0 {
		b = p.pending[n-1]
		if b.plain != plain || b.count >= p.log.cfg.MaxBatchMessages || len(b.buf)+size > p.log.cfg.MaxBatchBytes {
			b = nil
		}
	}
	if b == nil {
		b = newBatch(p.spare, time.Now())
		b.plain = plain
		p.spare = nil
		p.pending = append(p.pending, b)
	}
	b.add(key, message)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return b
}

// crowded reports whether a full batch waits, in addition to the batch that still accepts messages.
func (p *partition) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending) > 1
}

// next removes and returns the oldest batch. It returns nil if there is no batch.
func (p *partition) next() (b *batch, closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pending) == 0 {
		return nil, p.closed
	}
	b = p.pending[0]
	p.pending = append(p.pending[:0], p.pending[1:]...)
	return b, false
}

func (p *partition) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run produces the partition's batches until the partition is closed and empty.
func (p *partition) run(ctx context.Context) {
	for {
		b, closed := p.next()
		if closed {
			return
		}
		if b == nil {
			<-p.wake
			continue
		}
		answered, err := p.log.produce(ctx, p, b)
		if answered && cap(b.buf) <= 2*p.log.cfg.MaxBatchBytes {
			p.mu.Lock()
			p.spare = b.buf
			p.mu.Unlock()
		}
		b.finish(err)
	}
}
