package kafkaserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/supervise/dirlock"
	"github.com/twmb/franz-go/pkg/kfake"
)

// A parent that was killed leaves a broker that dies a moment later; its successor waits this long for the directory.
const lockWait = 10 * time.Second

// Config of one broker.
type Config struct {
	// Listen is a loopback address. The broker has no TLS, so no other is accepted.
	Listen string
	// User and Password are asked of every connection, by SASL SCRAM-SHA-256: other users of the machine reach loopback too. Without
	// both, nobody is asked for anything, which is for tests.
	User, Password string
	// DataDir belongs to one broker at a time.
	DataDir string
	Logger  *slog.Logger
	// OnReady is called with the bound address once requests are answered.
	OnReady func(net.Addr)
}

// Run serves until ctx is done, then writes its snapshots, which make the next start quick, and returns nil.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	address, err := loopback(cfg.Listen)
	if err != nil {
		return err
	}
	if (cfg.User == "") != (cfg.Password == "") {
		return errors.New("cannot start the Kafka broker: a user needs a password, and a password a user")
	}
	lock, err := dirlock.Acquire(ctx, cfg.DataDir, lockWait)
	if err != nil {
		return fmt.Errorf("cannot start the Kafka broker: %w", err)
	}
	defer func() { _ = lock.Release() }()

	// The broker keeps its users on disk, and would go on with an earlier password.
	if err := os.Remove(filepath.Join(cfg.DataDir, "log", "sasl.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return startError(address, cfg.DataDir, err)
	}
	options := []kfake.Opt{
		// One broker: a second would be the same process and disk.
		kfake.NumBrokers(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return (&net.ListenConfig{}).Listen(ctx, "tcp", address) }),
		kfake.ClusterID("octavo-embedded"),
		kfake.DataDir(filepath.Join(cfg.DataDir, "log")),
		// Without it a batch is acknowledged from the page cache, and lost with the machine's power.
		kfake.SyncWrites(),
		// Clients that ask for creation (kafka-go's AllowAutoTopicCreation) get it, as from Apache Kafka's default configuration.
		kfake.AllowAutoTopicCreation(),
		kfake.DefaultNumPartitions(1),
		kfake.BrokerConfigs(map[string]string{
			// A group that is away longer (a stopped sink) would otherwise start over and deliver everything again.
			"offsets.retention.minutes": "525600",
		}),
		kfake.WithLogger(logger{cfg.Logger}),
	}
	if cfg.User != "" {
		options = append(options, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", cfg.User, cfg.Password))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		return startError(address, cfg.DataDir, err)
	}
	// At its start the broker reads its whole log, after kill -9 all of it at once. An idle process would keep that memory for long.
	debug.FreeOSMemory()
	bound, err := net.ResolveTCPAddr("tcp", cluster.ListenAddrs()[0])
	if err != nil {
		cluster.Close()
		return fmt.Errorf("cannot tell the Kafka broker's address: %w", err)
	}
	cfg.Logger.Info("kafka broker listens", "address", bound.String(), "data", cfg.DataDir)
	if cfg.OnReady != nil {
		cfg.OnReady(bound)
	}
	<-ctx.Done()
	cluster.Close()
	return nil
}

func loopback(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("cannot listen on %q: %w (give host:port, such as 127.0.0.1:9092)", listen, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("cannot listen on %q: the embedded broker has no TLS and takes loopback addresses only; "+
			"for other machines run Apache Kafka and set OCTAVO_KAFKA_BROKERS", listen)
	}
	return net.JoinHostPort(host, port), nil
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
