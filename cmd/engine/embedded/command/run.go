package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
)

// stopTimeout is the longest time that the engines may take to stop cleanly.
const stopTimeout = 60 * time.Second

// Run runs the embedded engines as `octavo serve` does, without the server.
type Run struct {
	Data      string   `type:"path" help:"Data directory. Default: a temporary one, removed at the end."`
	Engines   []string `default:"postgres,kafka,clickhouse" enum:"postgres,kafka,clickhouse" help:"Engines to run."`
	Packages  string   `type:"path" help:"Directory in which npm installed the engines."`
	NoSync    bool     `help:"Do not sync writes to disk, to make tests faster."`
	OpenKafka bool     `help:"Let the broker accept connections without a login, for tests whose clients do not log in."`
	Ephemeral bool     `help:"Remove the data directory at the end."`
	Baseline  int      `default:"${baseline}" help:"Baseline that the data directory must have. 0: any baseline."`
}

// Run starts the engines, prints one line of JSON, and serves until SIGTERM or SIGINT.
func (c *Run) Run() (err error) {
	ctx, stop := untilSignalled()
	defer stop()
	dir := c.Data
	if dir == "" {
		if dir, err = os.MkdirTemp("", "octavo-engines-"); err != nil {
			return fmt.Errorf("cannot create a temporary data directory: %w", err)
		}
		c.Ephemeral = true
	}
	if c.Ephemeral {
		defer func() { _ = os.RemoveAll(dir) }()
	}
	cfg := embedded.Config{
		DataDir: dir, Baseline: c.Baseline, EnginesDir: c.Packages,
		Logger: logger(), NoSync: c.NoSync, KafkaWithoutLogin: c.OpenKafka,
	}
	for _, name := range c.Engines {
		switch name {
		case embedded.Postgres:
			cfg.Want.Postgres = true
		case embedded.Kafka:
			cfg.Want.Kafka = true
		case embedded.ClickHouse:
			cfg.Want.ClickHouse = true
		}
	}
	engines, err := embedded.Start(ctx, cfg)
	if err != nil {
		return err
	}
	pids := map[string]int{}
	for _, state := range engines.State() {
		pids[state.Name] = state.PID
	}
	printLine(map[string]any{
		"postgres_url": engines.PostgresURL, "kafka_brokers": engines.KafkaBrokers, "clickhouse_url": engines.ClickHouseURL,
		"kafka_login": engines.KafkaLogin, "pids": pids, "data_dir": dir,
	})
	select {
	case <-ctx.Done():
	case err = <-engines.Err():
	}
	// While the engines stop, SIGTERM has no effect: as a PDEATHSIG it arrives once for every thread of the dying
	// parent. If SIGINT (Ctrl-C) arrives during the stop, Stop immediately kills the engines that still run.
	stopping, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	stopping, cancelHurry := signal.NotifyContext(stopping, syscall.SIGINT)
	defer cancelHurry()
	if stopErr := engines.Stop(stopping); err == nil {
		err = stopErr
	}
	return err
}

func printLine(value any) {
	// A path may contain invalid UTF-8.
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		panic(err) // cannot fail: the value has only strings and numbers
	}
	fmt.Println(string(text))
}
