package sink

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/erasure"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema"
)

// Config configures a Sink. A zero field means the default named in its comment.
type Config struct {
	Brokers []string // host:port of brokers; required
	Access  eventlog.Access
	Topic   string           // topic of the log, default eventlog.DefaultTopic
	Group   string           // consumer group, default "octavo-sink"
	Store   eventstore.Store // an *eventstore.ClickHouse in production; required
	// Balances count the outcomes of each site's events. New requires it.
	Balances *balance.Sites
	// Erased lists the visitors whose events are not stored. The caller starts this list.
	Erased *erasure.List
	// Damaged is called with each error about damaged files of the store. If Damaged is nil, the sink only retries
	// after such an error. Damaged must not block.
	Damaged func(error)
	// Rows counts the rows that the store should have. If it is nil, the rows are not counted.
	Rows RowLedger
	// Expired describes, for a Reconciler, which old events of each site the retention has deleted.
	Expired map[string][]schema.Expiry
	// Forgotten describes, for a Reconciler, the erasures of each site that are no longer in Erased.
	Forgotten map[string]schema.ForgottenErasures
	Logger    *slog.Logger

	BatchRows  int           // number of rows of a partition that triggers an insert, default DefaultBatchRows
	BatchBytes int           // number of bytes that triggers an insert (see due), default DefaultBatchBytes
	BatchAge   time.Duration // age of the first row that triggers an insert (see pause), default eventlog.DefaultTurn

	// Halvings returns how many times the size of inserts must be halved because the store's memory ran out. If it is
	// nil, the sizes depend only on the sink's own inserts. Halvings must not block.
	Halvings func() int

	FetchBytes int           // largest number of bytes of one fetch from a partition, default 1 MiB
	FetchWait  time.Duration // how long the broker may wait for new messages, default 250 ms

	// Window is the greatest distance in offsets at which a repeat of a message is recognised, if the message or the
	// repeat has no producer id (repeats.go). A sink that takes over a partition with such messages first reads the
	// messages at the last Window offsets again. All sinks of a group must have the same Window. The default is 16,384.
	Window int

	// MinInSync is the number of replicas that must have a dead letter. It is a setting of a new dead-letter topic. The
	// default is all replicas except one.
	MinInSync int

	RetryWait time.Duration // first pause between attempts, which doubles up to 5 s; default 100 ms

	SessionTimeout    time.Duration // time without a heartbeat after which a sink loses its partitions, default 10 s
	RebalanceTimeout  time.Duration // time within which a sink must release its partitions, default 60 s
	HeartbeatInterval time.Duration // interval of a sink's heartbeats, default 1 s
}

// DefaultBatchRows and DefaultBatchBytes are the default size of the sink's inserts. ClickHouse recommends 10,000 to
// 100,000 rows. The sink has up to two batches in memory, and this size suits a small machine: a node under full load
// took 250 MB. With 100,000 rows, it took 620 MB (bench/results/).
const (
	DefaultBatchRows  = 32_768
	DefaultBatchBytes = 16 << 20
)

const (
	// attemptTimeout limits one attempt to insert, to query the store or to commit.
	attemptTimeout = time.Minute
	// maxWait is the longest pause between attempts.
	maxWait = 5 * time.Second
)

func (c *Config) complete() error {
	c.Topic = cmp.Or(c.Topic, eventlog.DefaultTopic)
	c.Group = cmp.Or(c.Group, "octavo-sink")
	c.BatchRows = cmp.Or(c.BatchRows, DefaultBatchRows)
	c.BatchBytes = cmp.Or(c.BatchBytes, DefaultBatchBytes)
	c.BatchAge = cmp.Or(c.BatchAge, eventlog.DefaultTurn)
	c.FetchBytes = cmp.Or(c.FetchBytes, 1<<20)
	c.FetchWait = cmp.Or(c.FetchWait, 250*time.Millisecond)
	c.Window = cmp.Or(c.Window, 16_384)
	c.RetryWait = cmp.Or(c.RetryWait, 100*time.Millisecond)
	c.SessionTimeout = cmp.Or(c.SessionTimeout, 10*time.Second)
	c.RebalanceTimeout = cmp.Or(c.RebalanceTimeout, time.Minute)
	c.HeartbeatInterval = cmp.Or(c.HeartbeatInterval, time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if err := eventlog.CheckBrokers(c.Brokers); err != nil {
		return fmt.Errorf("cannot build the sink: %w", err)
	}
	switch {
	case c.Store == nil:
		return errors.New("cannot build the sink without a store")
	case c.BatchRows < 1 || c.BatchBytes < 1 || c.FetchBytes < 1 || c.Window < 1:
		return errors.New("cannot build the sink with a limit below one")
	case c.BatchAge <= 0 || c.FetchWait <= 0 || c.RetryWait < 0:
		return errors.New("cannot build the sink with a negative time")
	case c.HeartbeatInterval >= c.SessionTimeout:
		return errors.New("cannot build the sink: its heartbeats must be more frequent than its session timeout")
	}
	return nil
}
