package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/octavo-docs/octavo/cmd/engine/memory"
	"github.com/octavo-docs/octavo/cmd/engine/supervise"
	"github.com/octavo-docs/octavo/cmd/engine/supervise/dirlock"
)

// startTries is the number of ports that are tried for an engine without a fixed port. Another process may take a free
// port before the engine binds it.
const startTries = 3

// Engines are running engines. An engine that was not wanted has an empty URL.
type Engines struct {
	PostgresURL   string
	KafkaBrokers  []string
	KafkaLogin    Login // for SCRAM-SHA-256 without TLS
	ClickHouseURL string

	dataDir    string
	marks      marks
	postgres   bool
	maxLog     int64 // bytes of the Kafka broker's log
	load       *memory.Load
	lock       *dirlock.Lock
	supervisor *supervise.Supervisor
}

// Start checks the data directory's baseline and locks the directory. It starts the wanted engines concurrently and
// returns when all engines answer. On an error, it leaves no engine running. ctx bounds only the start.
func Start(ctx context.Context, cfg Config) (*Engines, error) {
	cfg.fill()
	dir, err := filepath.Abs(cfg.DataDir)
	if err != nil || cfg.DataDir == "" {
		return nil, fmt.Errorf("cannot start engines in data directory %q: set OCTAVO_DATA_DIR to a directory that this user may write", cfg.DataDir)
	}
	cfg.DataDir = dir
	damage, err := cfg.checkData() // before the lock, because locking changes the directory
	if err != nil {
		return nil, err
	}
	found, err := cfg.find()
	if err != nil {
		return nil, err
	}
	lock, err := dirlock.Acquire(ctx, cfg.DataDir, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot start engines: data %w (OCTAVO_DATA_DIR names it)", err)
	}
	e := &Engines{
		dataDir: cfg.DataDir, maxLog: cfg.Log.MaxBytes, load: cfg.Load, lock: lock,
		supervisor: supervise.New(supervise.Config{
			Logger: cfg.Logger, OnRestart: cfg.OnRestart, BackoffMax: cfg.BackoffMax, GiveUpAfter: cfg.GiveUpAfter,
			OnKilled: cfg.killed(),
		}),
	}
	marked := &e.marks
	if err = cfg.checkBaseline(); err == nil { // another process may have marked the directory since the first check
		*marked, err = cfg.checkMarks()
	}
	if _, found := marked.Losses[Postgres]; damage != "" && !found {
		marked.accept(Postgres, damage)
	}
	for _, loss := range marked.Losses {
		cfg.Logger.Warn("An engine starts without a part of its data, as --accept-loss says.", "loss", loss)
	}
	if err == nil && cfg.Baseline != 0 {
		err = markBaseline(cfg.DataDir, cfg.Baseline)
	}
	if err == nil && cfg.Want.Postgres {
		e.postgres = true
		err = forgetInventory(cfg.DataDir)
	}
	if err == nil {
		err = e.startAll(ctx, &cfg, found)
	}
	if err == nil {
		err = marked.write(cfg.DataDir, cfg.Want)
	}
	if err != nil {
		return nil, errors.Join(err, e.Stop(context.WithoutCancel(ctx)))
	}
	return e, nil
}

// killed returns the function that halves the load after the kernel has killed an engine because memory ran out. The
// kernel's count of such kills distinguishes them from other kills. If the count is unknown, the function halves the
// load after every kill.
func (c *Config) killed() func(engine string) {
	var mu sync.Mutex
	before, _ := c.Kills()
	return func(engine string) {
		mu.Lock()
		defer mu.Unlock()
		now, known := c.Kills()
		if known && now == before {
			return
		}
		before = now
		c.Load.Halve()
		c.Logger.Warn("An engine was killed because memory ran out, and comes back with half of its load.",
			"engine", engine, "load", c.Load.Part(), "doubles_after", memory.Quiet)
	}
}

// startAll starts the engines concurrently, because they do not depend on each other.
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
				cancel(err) // stop the other starts; the first error is returned
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
		// Try another port only if another process has taken this port.
		if ctx.Err() != nil || try == startTries || free(ctx, port) == nil {
			return "", err
		}
		if ports.fixed[plan.name] == port {
			return "", ports.takenError(plan.name, port, err)
		}
	}
}

// checkData returns an error if the data directory has another baseline, or differs from the state in which the engines
// left it. If the operator accepts damaged files of Postgres, checkData returns their names. It changes nothing.
func (c *Config) checkData() (accepted string, err error) {
	if err := c.checkBaseline(); err != nil {
		return "", err
	}
	if _, err := c.checkMarks(); err != nil {
		return "", err
	}
	return c.checkInventory()
}

// Losses returns, by engine, the missing or damaged data that the operator has accepted with Config.AcceptLoss. Each
// start returns the losses again until ForgetLosses.
func (e *Engines) Losses() map[string]string { return e.marks.Losses }

// ForgetLosses removes the losses. Call it when the losses are in the audit log.
func (e *Engines) ForgetLosses() error {
	e.marks.Losses = nil
	return e.marks.save(e.dataDir)
}

// Stop stops the engines, and kills the remaining engines when ctx is done. Then it releases the data directory. Call
// Stop once.
func (e *Engines) Stop(ctx context.Context) error {
	err := e.supervisor.Stop(ctx)
	if e.postgres {
		err = errors.Join(err, saveInventory(e.dataDir))
	}
	return errors.Join(err, e.lock.Release())
}

// State returns a snapshot of all engines, for readiness and metrics.
func (e *Engines) State() []supervise.State { return e.supervisor.State() }

// Err returns a channel for the error of an engine that failed and will not be restarted. The owner should Stop and
// exit, so that its service manager restarts everything.
func (e *Engines) Err() <-chan error { return e.supervisor.Err() }
