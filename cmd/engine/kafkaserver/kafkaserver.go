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

// lockWait is the longest time that a new broker waits until an earlier broker releases the data directory. The broker
// of a killed parent dies shortly after the parent.
const lockWait = 10 * time.Second

// Run serves until ctx is done and then returns nil.
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
	// Listen first, so that a port in use is reported immediately. Opening the data takes longer.
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
	cfg.Logger.Info("The Kafka broker is ready.", "address", listener.Addr().String(), "data", cfg.DataDir)
	b.start()
	s.start()
	if cfg.OnReady != nil {
		cfg.OnReady(listener.Addr())
	}
	<-ctx.Done()
	b.groups.Close() // answers the requests that wait for a group
	s.stop()
	return nil
}

func startError(address, dir string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("cannot start the Kafka broker: %s is in use by another process: stop it or choose another port: %w", address, err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("cannot start the Kafka broker: %w (this user must be able to use its data directory %s and the port)", err, dir)
	default:
		return fmt.Errorf("cannot start the Kafka broker with data directory %s: %w", dir, err)
	}
}
