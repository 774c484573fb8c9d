package sink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/deadletter"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Sink moves events from the log to the store. Several sinks divide a topic's partitions among themselves as one
// consumer group.
//
// Each event is stored once, even if a process crashes, or a sink is paused and resumes. DELIVERY.md explains how the
// sink does this, and lists the exceptions.
//
// Events that the store refuses and unreadable messages become dead letters, and the sink continues.
type Sink struct {
	cfg     Config
	metrics *Metrics
	log     *eventlog.Topic
	dead    *deadletter.Writer
	parse   parser
	rows    *rowCounts
	block   block

	// refused is the reason why the sink refuses to use its topics. It is nil if the sink uses them.
	refused atomic.Pointer[error]

	mu    sync.Mutex
	last  map[int]*partition // last state of each partition of earlier generations
	stop  context.CancelFunc // stop makes the sink read no more messages
	abort context.CancelFunc // abort ends all work, without storing the messages that were read
	done  chan struct{}
}

// clientID is the name that sinks and reconcilers send to the brokers.
const clientID = "octavo-sink"

// topic returns the topic of the log.
func (c *Config) topic() *eventlog.Topic {
	return eventlog.NewTopic(c.Brokers, c.Access, clientID, 10*time.Second, c.Topic)
}

// New builds a sink. It starts nothing.
func New(cfg Config, m *Metrics) (*Sink, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	if cfg.Balances == nil {
		return nil, errors.New("cannot build the sink without the sites' balances")
	}
	s := &Sink{
		cfg: cfg, metrics: m, log: cfg.topic(), dead: deadletter.NewWriter(cfg.Brokers, cfg.Access, cfg.Topic, clientID, cfg.MinInSync),
		parse: insights.ParseMessage, last: map[int]*partition{},
	}
	s.rows = newRowCounts(&s.cfg)
	s.rows.isOtherLog = func(ctx context.Context, id int, offset int64, tail uint64, hasTail bool) (bool, error) {
		return s.isOtherLog(ctx, &partition{id: id}, offset, tail, hasTail)
	}
	group := s.groupConfig()
	if err := group.Validate(); err != nil {
		return nil, fmt.Errorf("cannot build the sink: %w", err)
	}
	return s, nil
}

// Start starts the sink and returns immediately. While the log or the store is unavailable, the sink waits.
func (s *Sink) Start(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != nil {
		return errors.New("cannot start the sink twice")
	}
	stopCtx, stop := context.WithCancel(context.Background())
	abortCtx, abort := context.WithCancel(context.Background())
	s.stop, s.abort, s.done = stop, abort, make(chan struct{})
	go func() {
		defer close(s.done)
		countCtx, counted := context.WithCancel(abortCtx)
		var counting sync.WaitGroup
		counting.Go(func() { s.rows.run(countCtx) })
		s.run(stopCtx, abortCtx)
		counted()
		counting.Wait()
	}()
	return nil
}

// Stop stores and commits the messages that were read, and leaves the group. If ctx ends first, Stop drops the messages
// that are not stored yet. The next owner of the partitions reads and stores them.
func (s *Sink) Stop(ctx context.Context) error {
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	if done == nil {
		return nil
	}
	s.stop()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = fmt.Errorf("cannot store all that the sink has read: %w", ctx.Err())
		s.abort()
		<-done
	}
	s.abort()
	s.log.Close()
	s.dead.Close()
	return err
}

// Ready returns an error if the sink has not started, has ended, or refuses its topics because of their baseline. A
// sink that waits for the log or the store is ready.
func (s *Sink) Ready(context.Context) error {
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	select {
	case <-done:
		return errors.New("the sink has ended: nothing more is stored")
	default:
	}
	if done == nil {
		return errors.New("the sink has not been started")
	}
	if refused := s.refused.Load(); refused != nil {
		return *refused
	}
	return nil
}

// run joins the group and works through its generations until stopCtx ends.
func (s *Sink) run(stopCtx, abortCtx context.Context) {
	if !s.awaitTopic(stopCtx) {
		return
	}
	group, err := kafka.NewConsumerGroup(s.groupConfig())
	if err != nil {
		// NewConsumerGroup fails only if the configuration is invalid, which New has checked.
		s.cfg.Logger.Error("The sink cannot join its group.", "error", err)
		return
	}
	for {
		generation, err := group.Next(stopCtx)
		if stopCtx.Err() != nil {
			break
		}
		if err != nil {
			s.cfg.Logger.Warn("The sink cannot join its consumer group and retries.", "group", s.cfg.Group, "error", err)
			continue
		}
		assigned := generation.Assignments[s.cfg.Topic]
		s.cfg.Logger.Info("The sink was assigned partitions.", "topic", s.cfg.Topic, "generation", generation.ID, "partitions", partitionIDs(assigned))
		// The consumer group begins the next generation only after this function has returned.
		generation.Start(func(ctx context.Context) {
			g := newGeneration(s, member{generation.ID, generation.MemberID}, assigned)
			g.run(ctx, abortCtx)
		})
	}
	// Close ends the generation, waits until it has stored its messages, and leaves the group.
	if err := group.Close(); err != nil {
		s.cfg.Logger.Warn("The sink could not leave its consumer group.", "error", err)
	}
}

// awaitTopic waits until an API node has created the topic, because a consumer group of kafka-go cannot wait for a
// topic that does not exist. It also waits while the topic or the dead-letter topic has another baseline. The sink
// joins its group only after this wait.
func (s *Sink) awaitTopic(ctx context.Context) bool {
	var pace retry.LogPace
	wait := retry.Backoff{First: s.cfg.RetryWait, Max: time.Second}
	for {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := s.checkTopics(attempt)
		cancel()
		if err == nil {
			s.refused.Store(nil)
			return true
		}
		if errors.Is(err, eventlog.ErrBaseline) {
			s.refused.Store(&err)
		}
		if ctx.Err() != nil {
			return false
		}
		if pace.Due() {
			s.cfg.Logger.Warn("The sink is waiting for its topic.", "topic", s.cfg.Topic, "error", err)
		}
		wait.Sleep(ctx)
	}
}

// checkTopics returns an error if the sink cannot use its topics.
func (s *Sink) checkTopics(ctx context.Context) error {
	partitions, err := s.log.Partitions(ctx)
	if err == nil {
		err = s.log.CheckBaseline(ctx, partitions)
	}
	if err != nil {
		return err
	}
	// Ignore other errors of the dead-letter topic, because the sink can work until it has dead letters to write.
	if err := s.dead.CheckBaseline(ctx); errors.Is(err, eventlog.ErrBaseline) {
		return err
	}
	return nil
}

// groupConfig sets every field explicitly, so no default of kafka-go applies unnoticed.
func (s *Sink) groupConfig() kafka.ConsumerGroupConfig {
	return kafka.ConsumerGroupConfig{
		ID:                     s.cfg.Group,
		Brokers:                s.cfg.Brokers,
		Dialer:                 eventlog.NewDialer(clientID, s.cfg.Access),
		Topics:                 []string{s.cfg.Topic},
		GroupBalancers:         []kafka.GroupBalancer{announcingBalancer{}},
		HeartbeatInterval:      s.cfg.HeartbeatInterval,
		PartitionWatchInterval: 5 * time.Second,
		WatchPartitionChanges:  true,
		SessionTimeout:         s.cfg.SessionTimeout,
		RebalanceTimeout:       s.cfg.RebalanceTimeout,
		JoinGroupBackoff:       500 * time.Millisecond,
		RetentionTime:          -time.Millisecond, // -1 ms means the broker's own retention time
		StartOffset:            kafka.FirstOffset,
		Logger:                 nil,
		ErrorLogger: kafka.LoggerFunc(func(format string, args ...any) {
			s.cfg.Logger.Warn("consumer group: " + fmt.Sprintf(format, args...))
		}),
		Timeout: 5 * time.Second,
	}
}

func partitionIDs(list []kafka.PartitionAssignment) []int {
	ids := make([]int, len(list))
	for i, a := range list {
		ids[i] = a.ID
	}
	return ids
}
