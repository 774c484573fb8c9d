package command

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/chserver"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
	"github.com/octavo-docs/octavo/cmd/engine/packages"
	"github.com/octavo-docs/octavo/cmd/engine/supervise/dirlock"
)

const lockWait = 10 * time.Second

// Engine groups the commands of the embedded engines. The program that parses Engine sets kong's variable "baseline" to
// the number of its data format.
type Engine struct {
	ClickHouse ClickHouse `cmd:"" name:"clickhouse" help:"Run the ClickHouse engine on loopback, behind its native protocol."`
	Kafka      Kafka      `cmd:"" help:"Run the Kafka-protocol broker on loopback."`
	Run        Run        `cmd:"" hidden:"" help:"Run all engines until signalled, for tests and development."`
}

// login reads the engine's login from the environment, because any user of the machine could read the arguments.
func login(engine string) (embedded.Login, error) {
	l := embedded.Login{User: os.Getenv(embedded.EnvUser), Password: os.Getenv(embedded.EnvPassword)}
	if l.User == "" || l.Password == "" {
		return l, fmt.Errorf("cannot start %s: set %s and %s to the login that clients will use", engine, embedded.EnvUser, embedded.EnvPassword)
	}
	return l, nil
}

// ClickHouse runs the embedded insights engine.
type ClickHouse struct {
	Listen  string `default:"127.0.0.1:9000" help:"Loopback address to listen on."`
	Data    string `required:"" type:"path" help:"Directory for the tables."`
	Library string `type:"path" help:"Path of libchdb.so. Default: the one that npm installed."`
	Memory  int64  `help:"Memory of the engine in bytes. 0: half of the machine's."`
}

// preferredVictim is the engine's oom_score_adj. When memory runs out, the kernel kills this engine rather than another
// process. The engine restarts within seconds and loses nothing.
const preferredVictim = "500"

// Run serves until SIGTERM or SIGINT.
func (c *ClickHouse) Run() error {
	ctx, stop := untilSignalled()
	defer stop()
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte(preferredVictim), 0); err != nil {
		logger().Warn("Cannot tell the kernel which process to end first when memory runs out.", "error", err)
	}
	user, err := login("ClickHouse")
	if err != nil {
		return err
	}
	if c.Library == "" {
		found, err := packages.Find(packages.Config{})
		if err != nil {
			return err
		}
		if c.Library, _, err = found.ClickHouse(); err != nil {
			return err
		}
	}
	// The engine of a killed parent dies shortly after its parent, so wait until it releases the directory.
	lock, err := dirlock.Acquire(ctx, c.Data, lockWait)
	if err != nil {
		return fmt.Errorf("cannot start ClickHouse: %w", err)
	}
	defer func() { _ = lock.Release() }()
	server, err := chserver.New(chserver.Config{
		Listen: c.Listen, DataDir: filepath.Join(c.Data, "store"), Library: c.Library, User: user.User, Password: user.Password,
		Logger: logger(), OnReady: announce, MaxMemory: c.Memory,
	})
	if err != nil {
		return err
	}
	return server.Run(ctx)
}

// Kafka runs the embedded event log.
type Kafka struct {
	Listen string `default:"127.0.0.1:9092" help:"Loopback address to listen on."`
	Data   string `required:"" type:"path" help:"Directory for the log."`

	WithoutLogin bool `hidden:"" help:"Accept connections without a login, for tests whose clients do not log in."`

	MaxBytes     int64  `help:"Maximum size of the log in bytes. 0: 16 GiB."`
	RetainBytes  int64  `help:"Bytes to keep although every consumer group has committed them. 0: 1 GiB."`
	Clock        string `type:"path" help:"File with the time by which records are old. Default: this machine's clock decides."`
	MinFreeBytes int64  `help:"Disk space in bytes to leave free. 0: 512 MiB, or 5 % of the disk if that is less."`
}

// Run serves until SIGTERM or SIGINT.
func (c *Kafka) Run() error {
	ctx, stop := untilSignalled()
	defer stop()
	var user embedded.Login
	if !c.WithoutLogin {
		var err error
		if user, err = login("the Kafka broker"); err != nil {
			return err
		}
	}
	return kafkaserver.Run(ctx, kafkaserver.Config{
		Listen: c.Listen, DataDir: c.Data, User: user.User, Password: user.Password, Logger: logger(), OnReady: announce,
		MaxBytes: c.MaxBytes, RetainBytes: c.RetainBytes, MinFreeBytes: c.MinFreeBytes, Clock: c.Clock,
	})
}

func untilSignalled() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
}

// logger returns a logger that writes to stderr, because stdout has only the ready line.
func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// announce prints the line that the parent waits for. embedded's Spec.Ready recognises its beginning.
func announce(address net.Addr) {
	fmt.Printf("{\"ready\":true,\"listen\":%q}\n", strings.TrimSpace(address.String()))
}
