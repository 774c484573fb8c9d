package kafkaserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/supervise/dirlock"
)

// A parent that was killed leaves a broker that dies a moment later; its successor waits this long for the directory.
const lockWait = 10 * time.Second

// Run serves until ctx is done, and returns nil.
func Run(ctx context.Context, cfg Config) error {
	address, err := loopback(cfg.Listen)
	if err != nil {
		return err
	}
	if err := cfg.complete(); err != nil {
		return err
	}
	lock, err := dirlock.Acquire(ctx, cfg.DataDir, lockWait)
	if err != nil {
		return fmt.Errorf("cannot start the Kafka broker: %w", err)
	}
	defer func() { _ = lock.Release() }()
	// Before the data is read, which takes longer: a taken port is known at once.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return startError(address, cfg.DataDir, err)
	}
	b, err := open(&cfg)
	if err != nil {
		return startError(address, cfg.DataDir, errors.Join(err, listener.Close()))
	}
	defer b.close()
	s, err := newServer(b, listener)
	if err != nil {
		return startError(address, cfg.DataDir, errors.Join(err, listener.Close()))
	}
	cfg.Logger.Info("kafka broker listens", "address", listener.Addr().String(), "data", cfg.DataDir)
	b.start()
	s.start()
	if cfg.OnReady != nil {
		cfg.OnReady(listener.Addr())
	}
	<-ctx.Done()
	b.groups.Close() // answers who waits for a group
	s.stop()
	return nil
}

func startError(address, dir string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("cannot start the Kafka broker: %s is taken by another process: stop that or choose another port: %w", address, err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("cannot start the Kafka broker: %w (its data directory %s and the port must be this user's to use)", err, dir)
	default:
		return fmt.Errorf("cannot start the Kafka broker with data directory %s: %w", dir, err)
	}
}
