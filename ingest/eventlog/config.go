package eventlog

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// DefaultTopic is the default of Config.Topic.
const DefaultTopic = "octavo-events"

// Config configures a Log. A zero field means the default named in its comment.
type Config struct {
	Brokers []string // host:port of brokers; required
	Access  Access
	Topic   string // name of the Kafka topic, default DefaultTopic
	Logger  *slog.Logger

	// Partitions, Replicas, MinInSync and Retention are the settings of a new topic. For an existing topic, the log
	// compares them with the topic's settings. The defaults are 4, 1, all replicas except one, and 7 days.
	Partitions int
	Replicas   int
	MinInSync  int
	Retention  time.Duration

	// Turn is a time span. All messages without a fixed partition go to the same partition for this time, and then to
	// the next partition. A sink collects the rows of an insert for the same time, so each insert has the messages of
	// one turn. A turn lasts at least LeastTurn; the default is DefaultTurn.
	Turn time.Duration

	// MaxBatchBytes and MaxBatchMessages limit one produce request. The defaults are 900 KB and 2,048, which are below
	// a broker's default limits.
	MaxBatchBytes    int
	MaxBatchMessages int
	// MaxMessageBytes is the largest size of one request's message. The default is 8 MiB. A topic that the log creates
	// accepts messages of this size. An existing topic must be configured to accept them.
	MaxMessageBytes int

	StartWait      time.Duration // the time for which Start tries to prepare the topic, default 2 s
	ProduceTimeout time.Duration // longest time of one attempt, default 5 s
	AppendTimeout  time.Duration // longest time from a batch's first message to its last attempt, default 10 s
	RetryWait      time.Duration // first pause between attempts, which doubles up to 1 s; default 20 ms
	WatchWait      time.Duration // interval at which the log checks whether the topic has changed, default 1 s
}

// LeastTurn is the shortest turn. With shorter turns, ClickHouse would get too many small inserts.
const LeastTurn = 50 * time.Millisecond

// maxWait is the longest pause between attempts. It is short because HTTP requests wait until the log has their events.
const maxWait = time.Second

func (c *Config) complete() error {
	c.Topic = cmp.Or(c.Topic, DefaultTopic)
	c.Partitions = cmp.Or(c.Partitions, 4)
	c.Replicas = cmp.Or(c.Replicas, 1)
	c.MinInSync = cmp.Or(c.MinInSync, max(1, c.Replicas-1))
	c.Retention = cmp.Or(c.Retention, 7*24*time.Hour)
	c.Turn = cmp.Or(c.Turn, DefaultTurn)
	c.MaxBatchBytes = cmp.Or(c.MaxBatchBytes, 900_000)
	c.MaxBatchMessages = cmp.Or(c.MaxBatchMessages, 2048)
	c.MaxMessageBytes = cmp.Or(c.MaxMessageBytes, 8<<20)
	c.StartWait = cmp.Or(c.StartWait, 2*time.Second)
	c.ProduceTimeout = cmp.Or(c.ProduceTimeout, 5*time.Second)
	c.AppendTimeout = cmp.Or(c.AppendTimeout, 10*time.Second)
	c.RetryWait = cmp.Or(c.RetryWait, 20*time.Millisecond)
	c.WatchWait = cmp.Or(c.WatchWait, time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if err := CheckBrokers(c.Brokers); err != nil {
		return fmt.Errorf("cannot build the event log: %w", err)
	}
	switch {
	case c.Partitions < 1 || c.Partitions > maxPartitions:
		return fmt.Errorf("cannot use %d partitions: choose 1 to %d", c.Partitions, maxPartitions)
	case c.Replicas < 1 || c.MinInSync < 1 || c.MinInSync > c.Replicas:
		return fmt.Errorf("cannot keep %d replicas of which %d must be in sync", c.Replicas, c.MinInSync)
	case c.Turn < LeastTurn:
		return fmt.Errorf("cannot build the event log: a turn must last at least %s", LeastTurn)
	case c.MaxBatchBytes < 1 || c.MaxBatchMessages < 1 || c.MaxMessageBytes < 1:
		return errors.New("cannot build the event log with a limit below one")
	case c.Retention < time.Minute || c.ProduceTimeout < time.Millisecond || c.AppendTimeout < time.Millisecond || c.StartWait < 0 || c.RetryWait < 0 || c.WatchWait < 0:
		return errors.New("cannot build the event log: a timeout is too short, or a wait is negative")
	}
	return nil
}
