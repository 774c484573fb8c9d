package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/octavo-docs/octavo/cmd/engine/supervise"
	"github.com/octavo-docs/octavo/cmd/engine/supervise/dirlock"
)

// startTries is how many ports an engine without a fixed one may try: another process can take a free port before the engine binds it.
const startTries = 3

// Engines are running engines. The URL of one that was not wanted is empty.
type Engines struct {
	PostgresURL   string
	KafkaBrokers  []string
	KafkaLogin    Login // by SCRAM-SHA-256, without TLS
	ClickHouseURL string

	dataDir    string
	maxLog     int64 // bytes of the Kafka broker's log
	lock       *dirlock.Lock
	supervisor *supervise.Supervisor
}

// Start locks the data directory and starts the wanted engines, all at once; it returns when all answer. On error none is left.
// ctx bounds the start only.
func Start(ctx context.Context, cfg Config) (*Engines, error) {
	cfg.fill()
	dir, err := filepath.Abs(cfg.DataDir)
	if err != nil || cfg.DataDir == "" {
		return nil, fmt.Errorf("cannot start engines in data directory %q: set OCTAVO_DATA_DIR to a directory that this user may write", cfg.DataDir)
	}
	cfg.DataDir = dir
	found, err := cfg.find()
	if err != nil {
		return nil, err
	}
	lock, err := dirlock.Acquire(ctx, cfg.DataDir, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot start engines: data %w (OCTAVO_DATA_DIR names it)", err)
	}
	e := &Engines{
		dataDir: cfg.DataDir, maxLog: cfg.Log.MaxBytes, lock: lock,
		supervisor: supervise.New(supervise.Config{
			Logger: cfg.Logger, OnRestart: cfg.OnRestart, BackoffMax: cfg.BackoffMax, GiveUpAfter: cfg.GiveUpAfter,
		}),
	}
	if err := e.startAll(ctx, &cfg, found); err != nil {
		return nil, errors.Join(err, e.Stop(context.WithoutCancel(ctx)))
	}
	return e, nil
}

// startAll starts the engines side by side: none needs another, and the slowest then sets the time.
func (e *Engines) startAll(ctx context.Context, cfg *Config, found *programs) error {
	ports, err := loadPorts(cfg.DataDir, cfg.Ports)
	if err != nil {
		return err
	}
	logins, err := loadLogins(cfg.DataDir)
	if err != nil {
		return err
	}
	if cfg.KafkaWithoutLogin {
		logins[Kafka] = Login{}
	}
	plans := cfg.plans(found, logins)
	var mu sync.Mutex // guards ports
	urls := make([]string, len(plans))
	var wait sync.WaitGroup
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for i, plan := range plans {
		wait.Go(func() {
			url, err := e.startOne(ctx, plan, ports, &mu)
			if err != nil {
				cancel(err) // the others' starts are of no use; the first to fail is the cause
			}
			urls[i] = url
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i, plan := range plans {
		switch plan.name {
		case Postgres:
			e.PostgresURL = urls[i]
		case Kafka:
			e.KafkaBrokers, e.KafkaLogin = []string{urls[i]}, logins[Kafka]
		case ClickHouse:
			e.ClickHouseURL = urls[i]
		}
	}
	return ports.save()
}

func (e *Engines) startOne(ctx context.Context, plan plan, ports *ports, mu *sync.Mutex) (string, error) {
	for try := 1; ; try++ {
		mu.Lock()
		port, err := ports.choose(ctx, plan.name)
		mu.Unlock()
		if err != nil {
			return "", err
		}
		spec, url, err := plan.build(ctx, port)
		if err != nil {
			return "", err
		}
		err = e.supervisor.Start(ctx, spec)
		if err == nil {
			return url, nil
		}
		// Only a port that someone else has taken meanwhile is worth another try.
		if ctx.Err() != nil || try == startTries || free(ctx, port) == nil {
			return "", err
		}
		if ports.fixed[plan.name] == port {
			return "", ports.takenError(plan.name, port, err)
		}
	}
}

// Stop ends the engines cleanly, kills what is left when ctx is done, and frees the data directory. Call it once.
func (e *Engines) Stop(ctx context.Context) error {
	return errors.Join(e.supervisor.Stop(ctx), e.lock.Release())
}

// State is a snapshot of all engines, for readiness and metrics.
func (e *Engines) State() []supervise.State { return e.supervisor.State() }

// Ready is nil when every engine answers, else it names one that does not.
func (e *Engines) Ready() error {
	for _, state := range e.State() {
		if state.Status != supervise.StatusRunning {
			return fmt.Errorf("engine %s is %s", state.Name, state.Status)
		}
	}
	return nil
}

// PID is the engine's process, 0 while it has none.
func (e *Engines) PID(name string) int {
	for _, state := range e.State() {
		if state.Name == name {
			return state.PID
		}
	}
	return 0
}

// Err reports an engine that cannot be kept alive. The owner should Stop and exit, so that whatever runs it starts it afresh.
func (e *Engines) Err() <-chan error { return e.supervisor.Err() }
