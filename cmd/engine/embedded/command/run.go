package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
)

// stopTimeout bounds a clean end of all engines, so that a service manager need not kill.
const stopTimeout = 60 * time.Second

// Run runs the engines as the product would, without the product.
type Run struct {
	Data      string   `type:"path" help:"Data directory. Empty: a temporary one, removed at the end."`
	Engines   []string `default:"postgres,kafka,clickhouse" enum:"postgres,kafka,clickhouse" help:"Which engines."`
	Packages  string   `type:"path" help:"Folder in which npm installed the engines."`
	NoSync    bool     `help:"Give up durability against power loss, for the speed of tests."`
	OpenKafka bool     `help:"Ask nobody for a password at the broker, for tests whose clients do not log in."`
	Ephemeral bool     `help:"Remove the data directory at the end."`
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
	cfg := embedded.Config{DataDir: dir, EnginesDir: c.Packages, Logger: logger(), NoSync: c.NoSync, KafkaWithoutLogin: c.OpenKafka}
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
	// SIGTERM stays caught: when it comes by PDEATHSIG it comes again for every thread of the dying parent. A Ctrl-C now is impatience.
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
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings and numbers only
	}
	fmt.Println(string(text))
}
