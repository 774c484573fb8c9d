package embedded

import (
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
	"github.com/octavo-docs/octavo/cmd/engine/memory"
)

// These are the names of the engines in logs, metrics, State and Config.Ports.
const (
	Postgres   = "postgres"
	Kafka      = "kafka"
	ClickHouse = "clickhouse"
)

// Set selects engines.
type Set struct{ Postgres, Kafka, ClickHouse bool }

// All selects all three engines.
var All = Set{Postgres: true, Kafka: true, ClickHouse: true}

// names lists the selected engines.
func (s Set) names() (list []string) {
	for _, engine := range []struct {
		name   string
		wanted bool
	}{{Postgres, s.Postgres}, {Kafka, s.Kafka}, {ClickHouse, s.ClickHouse}} {
		if engine.wanted {
			list = append(list, engine.name)
		}
	}
	return list
}

// Config configures a set of engines.
type Config struct {
	// DataDir is locked, because only one process at a time may use it.
	DataDir string
	// Baseline is the number of the data format in DataDir. Start refuses a directory of another baseline without
	// changing it. 0 is for tests, and skips the check and the mark.
	Baseline int
	// AcceptLoss lists the engines whose folders may be empty, damaged, or older than the rest of the data directory.
	// For other engines, Start refuses such folders and changes nothing.
	AcceptLoss []string
	// EnginesDir is the folder in which npm has installed the engine packages. If it is empty, package packages
	// searches for it.
	EnginesDir string
	// Executable is the octavo binary whose `engine` commands are run. If Executable is empty, the engines run this
	// process's own program, even if its file has been replaced since the start.
	Executable string
	Want       Set
	// Ports has fixed ports by engine name. Other engines get a free port, which is stored in DataDir.
	Ports  map[string]int
	Logger *slog.Logger
	// OnRestart is called with the engine's name before each restart, for
	// metrics.
	OnRestart func(name string)
	// BackoffMax and GiveUpAfter are passed to supervise.Config. Zero means its defaults. Tests that kill engines set
	// them.
	BackoffMax  time.Duration
	GiveUpAfter int
	// Memory has the bytes that each engine may use, by the engine's name. 0 means the engine's default.
	Memory map[string]int64
	// Load is halved when the kernel kills an engine because memory has run out. It may be nil.
	Load *memory.Load
	// Kills returns the number of processes that the kernel has killed because memory ran out. nil means memory.Kills
	// of this machine. Tests replace it.
	Kills func() (count int64, known bool)
	// Log limits the Kafka broker's log. The zero value means the broker's
	// defaults.
	Log LogLimits
	// ClockFile is the broker's kafkaserver.Config.Clock.
	ClockFile string
	// With NoSync, engines that allow it do not sync writes to the disk, which makes tests faster. Without syncs, data
	// survives kill -9 but not a power loss.
	NoSync bool
	// KafkaWithoutLogin opens the broker to every user of the machine, for tests whose clients do not log in.
	KafkaWithoutLogin bool
}

// LogLimits are the limits of the Kafka broker's log in bytes; 0 means the broker's default. See kafkaserver.Config.
type LogLimits struct{ MaxBytes, RetainBytes, MinFreeBytes int64 }

// LeastLogBytes is the smallest allowed MaxBytes.
const LeastLogBytes = kafkaserver.LeastMaxBytes

// arguments returns the limits as flags of the broker's command.
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
	if c.Load == nil {
		c.Load = &memory.Load{}
	}
	if c.Kills == nil {
		c.Kills = func() (int64, bool) { return memory.Kills(os.DirFS("/")) }
	}
}

// command returns the path and name of the octavo binary. The child resolves /proc/self/exe before it executes the
// program, so this path names this process's own program.
func (c *Config) command() (path, name string) {
	if c.Executable != "" {
		return c.Executable, c.Executable
	}
	return "/proc/self/exe", os.Args[0]
}
