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

// Config configures a Sink. A zero field takes the default named in its comment.
type Config struct {
	Brokers []string // host:port; required
	Access  eventlog.Access
	Topic   string           // eventlog.DefaultTopic
	Group   string           // consumer group; "octavo-sink"
	Store   eventstore.Store // an *eventstore.ClickHouse in production; required
	// Balances count the outcomes of each site's events. Required by New.
	Balances *balance.Sites
	// Erased lists the visitors whose events are not stored. The caller starts it.
	Erased *erasure.List
	// Damaged is called with each error about damaged files of the store; nil ignores them. It must not block.
	Damaged func(error)
	// Rows counts the rows that the store should have. nil counts nothing.
	Rows RowLedger
	// Expired tells a Reconciler which old events of each site the retention has deleted.
	Expired map[string][]schema.Expiry
	// Forgotten tells a Reconciler the erasures of each site that Erased no longer has.
	Forgotten map[string]schema.ForgottenErasures
	Logger    *slog.Logger

	BatchRows  int           // number of rows of a partition that triggers an insert; DefaultBatchRows
	BatchBytes int           // bytes of messages, of one or all partitions, that trigger an insert; DefaultBatchBytes
	BatchAge   time.Duration // age of the first row that triggers an insert (pause); eventlog.DefaultTurn

	// Halvings returns how many times the store's load is halved, if its memory ran out; nil means never. It must not
	// block.
	Halvings func() int

	FetchBytes int           // bytes of one fetch from each partition; 1 MiB
	FetchWait  time.Duration // how long the broker may wait for new messages; 250 ms

	// Window is the greatest distance in offsets between a message and its repeat, if the message or the repeat has no
	// producer id (repeats.go). A sink that takes over a partition with such messages reads Window offsets again. All
	// sinks of a group must have the same Window. The default is 16,384.
	Window int

	MinInSync int // replicas of a new dead-letter topic that must have a letter; by default all except one

	RetryWait time.Duration // pause between attempts, doubled up to 5 s; 100 ms

	SessionTimeout    time.Duration // time after which a silent sink loses its partitions; 10 s
	RebalanceTimeout  time.Duration // time in which a sink must release its partitions; 60 s
	HeartbeatInterval time.Duration // 1 s
}

// DefaultBatchRows and DefaultBatchBytes are the size of the sink's inserts. ClickHouse recommends 10,000 to 100,000
// rows. Two batches of this size fit a small machine: a node under full load took 250 MB, and 620 MB with 100,000 rows
// (bench/results/).
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
