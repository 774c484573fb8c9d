package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
	"github.com/octavo-docs/octavo/cmd/engine/supervise"
)

// startNode starts `octavo serve` as a separate process. The supervisor restarts the process if it exits.
func (r *rig) startNode(ctx context.Context, name, roles, clickHouse string) (address string, err error) {
	if address, err = enginetest.FreeAddress(); err != nil {
		return "", err
	}
	admin, err := enginetest.FreeAddress()
	if err != nil {
		return "", err
	}
	if r.admins == nil {
		r.admins = map[string]string{}
	}
	r.admins[name] = admin
	settings := product.Node{
		Address: address, Admin: admin, Roles: roles, Dir: filepath.Join(r.dir, name), Token: r.client.Token,
		Postgres: r.engines.PostgresURL, ClickHouse: clickHouse, Brokers: r.brokers, Topic: r.topic,
		KafkaUser: r.engines.KafkaLogin.User, KafkaPassword: r.engines.KafkaLogin.Password,
	}.Environment(append([]string{
		fmt.Sprint("OCTAVO_KAFKA_PARTITIONS=", partitions), "OCTAVO_SINK_SESSION_TIMEOUT=" + r.session.String(),
	}, product.DoorSettings...)...)
	if r.clocks != nil {
		clock, err := r.clocks.add(name)
		if err != nil {
			return "", err
		}
		// Set a rate limit that the load does not reach. With it, the run checks that a step of the clock does not make
		// the rate limit refuse requests.
		settings = append(settings, clock, "OCTAVO_RATE_LIMIT=100000")
	}
	return address, r.nodes.Start(ctx, supervise.Spec{
		Name: name,
		Command: func() (*exec.Cmd, error) {
			cmd := exec.CommandContext(context.Background(), r.binaryOf(name), "serve") // the supervisor stops it
			cmd.Env = settings
			return cmd, nil
		},
		Ping: func(ctx context.Context) error {
			return product.Client{Address: address}.Call(ctx, http.MethodGet, "/healthz", nil, http.StatusOK, nil)
		},
		StartTimeout: startLimit,
		// The supervisor must not restart a sink that does not answer, because pauses are part of the faults.
		PingFailures: neverGiveUp,
	})
}

// binaryOf returns the path of the binary that a node uses.
func (r *rig) binaryOf(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isFormer[name] {
		return r.former
	}
	return r.binary
}

// startApache starts Apache Kafka, which `make kafka` has downloaded.
func (r *rig) startApache(ctx context.Context) error {
	root, err := enginetest.ModuleRoot()
	if err != nil {
		return err
	}
	program := filepath.Join(root, "deploy", "kafka", "broker")
	if _, err := os.Stat(filepath.Join(root, "deploy", "kafka", "target", "lib")); err != nil {
		return fmt.Errorf("cannot run Apache Kafka: %w (run `make kafka`)", err)
	}
	address, err := enginetest.FreeAddress()
	if err != nil {
		return err
	}
	controller, err := enginetest.FreeAddress()
	if err != nil {
		return err
	}
	r.brokers = []string{address}
	return r.nodes.Start(ctx, supervise.Spec{
		Name: embedded.Kafka,
		Command: func() (*exec.Cmd, error) {
			return exec.CommandContext(context.Background(), program, filepath.Join(r.dir, "kafka"), port(address), port(controller)), nil
		},
		Ping:         func(ctx context.Context) error { return kafkaserver.Ping(ctx, address, "", "") },
		StartTimeout: startLimit,
		PingFailures: neverGiveUp,
		StopTimeout:  20 * time.Second,
	})
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address) // address is always valid, so there is no error
	return port
}
