package ingest

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// IntakeConfig is how events are taken in. Zero values are replaced by the
// defaults that the members name.
type IntakeConfig struct {
	// Log takes the encoded messages; a *Log in production. Required.
	Log Appender
	// HashKey is the key of visitor and session hashes: 16 secret bytes that
	// must never change, or every visitor becomes a new one. Required.
	HashKey [16]byte
	// Places finds countries by IP address; nil leaves them unknown.
	Places Locator

	// Keys are those of requests that must not be stored twice; nil ignores
	// them. With keys, Log must be a SearchableLog.
	Keys Keys
	// KeyLease is how long an attempt may take; the node appends in its first
	// third or not at all, so it is more than one and a half of what an append
	// may take. 30 s. KeyWait is how long a request waits for another one with
	// its key; 3 s.
	KeyLease time.Duration
	KeyWait  time.Duration

	MaxFuture time.Duration // how far ahead a timestamp may be; 1 h
	MaxPast   time.Duration // how old one may be, unless Client.AnyPast; 30 days
	MaxEvents int           // events of one request; 10,000

	// MaxInFlight and MaxBytesInFlight bound the requests that Accept works on
	// and their bodies; as much again may wait. 20,000 and 64 MiB.
	MaxInFlight      int
	MaxBytesInFlight int64
	AdmitWait        time.Duration // how long a request waits for room; 500 ms

	MetricSites int // sites with metrics of their own; 100

	Agents int // user agents kept in the cache; 4,096
}

// LogConfig is how messages are appended to the log.
type LogConfig struct {
	Brokers []string // host:port; required
	Access  KafkaAccess
	Topic   string // "octavo-events"
	Logger  *slog.Logger

	// Partitions, Replicas, MinInSync and Retention are for the topic's
	// creation; of one that exists they are compared with what it has. 4, 1, all
	// replicas but one, 7 days.
	Partitions int
	Replicas   int
	MinInSync  int
	Retention  time.Duration

	// MaxBatchBytes and MaxBatchMessages bound one produce. Their defaults,
	// 900 KB and 2,048, are below what a broker takes unless told otherwise.
	MaxBatchBytes    int
	MaxBatchMessages int
	// MaxMessageBytes bounds one request's message, 8 MiB; a topic that we
	// create takes it, one that exists must be told to.
	MaxMessageBytes int

	StartWait      time.Duration // how long Start tries to prepare the topic before it goes on without; 2 s
	ProduceTimeout time.Duration // one attempt; 5 s
	AppendTimeout  time.Duration // from a batch's first message to its last attempt; 10 s
	RetryWait      time.Duration // between attempts, doubled up to 1 s; 20 ms
	WatchWait      time.Duration // how often it looks whether the topic has changed; 1 s
}

// SinkConfig is how the log is brought to the store.
type SinkConfig struct {
	Brokers []string // host:port; required
	Access  KafkaAccess
	Topic   string // "octavo-events"
	Group   string // consumer group; "octavo-sink"
	Store   Store  // a *ClickHouse in production; required
	Logger  *slog.Logger

	BatchRows  int           // rows of a partition after which they are inserted; 32,768
	BatchBytes int           // message bytes after which they are, also of all partitions; 16 MiB
	BatchAge   time.Duration // age of their first message after which they are; 500 ms

	FetchBytes int           // bytes asked of the broker at once, for each partition; 1 MiB
	FetchWait  time.Duration // how long the broker may wait for new messages; 250 ms

	// Window is how many messages of a partition lie at most between a message
	// and its repeat, if one of them has no producer id: see repeats. On taking
	// over a partition with such messages as many are read again. 16,384. All
	// sinks of a group must agree.
	Window int

	MinInSync int // of the dead-letter topic's replicas, when it is created; all but one

	InsertTimeout time.Duration // one attempt; 60 s
	RetryWait     time.Duration // between attempts, doubled up to 5 s; 100 ms

	SessionTimeout    time.Duration // after which a silent sink loses its partitions; 10 s
	RebalanceTimeout  time.Duration // in which a sink must let go of its partitions; 60 s
	HeartbeatInterval time.Duration // 1 s
}

// defaultMetricSites is how many sites have metrics of their own.
const defaultMetricSites = 100

const defaultTopic = "octavo-events"

// DefaultBatchRows is the size of the sink's inserts: within what ClickHouse
// takes best (10,000 to 100,000 rows), and small enough for two batches to fit
// a small machine. At 100,000 a node under full load had 620 MB, at this size
// 250 MB (bench/results/).
const DefaultBatchRows = 32_768

// setDefault replaces a zero value.
func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

func (c *IntakeConfig) complete() error {
	setDefault(&c.MaxFuture, time.Hour)
	setDefault(&c.MaxPast, 30*24*time.Hour)
	setDefault(&c.MaxEvents, 10_000)
	setDefault(&c.MaxInFlight, 20_000)
	setDefault(&c.MaxBytesInFlight, 64<<20)
	setDefault(&c.AdmitWait, 500*time.Millisecond)
	setDefault(&c.MetricSites, defaultMetricSites)
	setDefault(&c.KeyLease, 30*time.Second)
	setDefault(&c.KeyWait, 3*time.Second)
	setDefault(&c.Agents, 4096)
	switch {
	case c.Log == nil:
		return errors.New("cannot build the intake without a log")
	case c.HashKey == [16]byte{}:
		return errors.New("cannot build the intake without a hash key")
	case c.Keys != nil && !isSearchable(c.Log):
		return errors.New("cannot remember idempotency keys with a log that cannot be searched")
	case c.KeyLease < 0 || c.KeyWait < 0:
		return errors.New("cannot remember idempotency keys with a time below zero")
	case c.MaxEvents < 1 || c.MaxEvents > maxEvents:
		return fmt.Errorf("cannot take %d events in one request: choose 1 to %d", c.MaxEvents, maxEvents)
	case c.MaxInFlight < 1 || c.MaxBytesInFlight < 1 || c.AdmitWait < 0 || c.MaxFuture < 0 || c.MaxPast < 0 || c.Agents < 1 || c.MetricSites < 0:
		return errors.New("cannot build the intake with a limit below zero")
	}
	return nil
}

func isSearchable(log Appender) bool {
	_, ok := log.(SearchableLog)
	return ok
}

func (c *LogConfig) complete() error {
	setDefault(&c.Topic, defaultTopic)
	setDefault(&c.Partitions, 4)
	setDefault(&c.Replicas, 1)
	setDefault(&c.MinInSync, max(1, c.Replicas-1))
	setDefault(&c.Retention, 7*24*time.Hour)
	setDefault(&c.MaxBatchBytes, 900_000)
	setDefault(&c.MaxBatchMessages, 2048)
	setDefault(&c.MaxMessageBytes, 8<<20)
	setDefault(&c.StartWait, 2*time.Second)
	setDefault(&c.ProduceTimeout, 5*time.Second)
	setDefault(&c.AppendTimeout, 10*time.Second)
	setDefault(&c.RetryWait, 20*time.Millisecond)
	setDefault(&c.WatchWait, time.Second)
	setDefault(&c.Logger, slog.New(slog.DiscardHandler))
	if err := CheckBrokers(c.Brokers); err != nil {
		return fmt.Errorf("cannot build the event log: %w", err)
	}
	switch {
	case c.Partitions < 1 || c.Partitions > maxPartitions:
		return fmt.Errorf("cannot use %d partitions: choose 1 to %d", c.Partitions, maxPartitions)
	case c.Replicas < 1 || c.MinInSync < 1 || c.MinInSync > c.Replicas:
		return fmt.Errorf("cannot keep %d replicas of which %d must be in sync", c.Replicas, c.MinInSync)
	case c.MaxBatchBytes < 1 || c.MaxBatchMessages < 1 || c.MaxMessageBytes < 1:
		return errors.New("cannot build the event log with a limit below one")
	case c.Retention < time.Minute || c.ProduceTimeout < time.Millisecond || c.AppendTimeout < time.Millisecond || c.StartWait < 0 || c.RetryWait < 0 || c.WatchWait < 0:
		return errors.New("cannot build the event log with so short a time")
	}
	return nil
}

func (c *SinkConfig) complete() error {
	setDefault(&c.Topic, defaultTopic)
	setDefault(&c.Group, "octavo-sink")
	setDefault(&c.BatchRows, DefaultBatchRows)
	setDefault(&c.BatchBytes, 16<<20)
	setDefault(&c.BatchAge, turn)
	setDefault(&c.FetchBytes, 1<<20)
	setDefault(&c.FetchWait, 250*time.Millisecond)
	setDefault(&c.Window, 16_384)
	setDefault(&c.InsertTimeout, time.Minute)
	setDefault(&c.RetryWait, 100*time.Millisecond)
	setDefault(&c.SessionTimeout, 10*time.Second)
	setDefault(&c.RebalanceTimeout, time.Minute)
	setDefault(&c.HeartbeatInterval, time.Second)
	setDefault(&c.Logger, slog.New(slog.DiscardHandler))
	if err := CheckBrokers(c.Brokers); err != nil {
		return fmt.Errorf("cannot build the sink: %w", err)
	}
	switch {
	case c.Store == nil:
		return errors.New("cannot build the sink without a store")
	case c.BatchRows < 1 || c.BatchBytes < 1 || c.FetchBytes < 1 || c.Window < 1:
		return errors.New("cannot build the sink with a limit below one")
	case c.BatchAge <= 0 || c.FetchWait <= 0 || c.InsertTimeout <= 0 || c.RetryWait < 0:
		return errors.New("cannot build the sink with a time below zero")
	case c.HeartbeatInterval >= c.SessionTimeout:
		return errors.New("cannot build the sink with heartbeats as rare as its session is long")
	}
	return nil
}
