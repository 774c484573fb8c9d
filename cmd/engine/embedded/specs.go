package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/chserver"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
	"github.com/octavo-docs/octavo/cmd/engine/packages"
	"github.com/octavo-docs/octavo/cmd/engine/pgserver"
	"github.com/octavo-docs/octavo/cmd/engine/supervise"
)

// loadTimeout bounds how long an engine may load its data before it listens.
const loadTimeout = 10 * time.Minute

// plan is one engine that is to be started, before its port is chosen.
type plan struct {
	name string
	// build returns the child for a port, and the child's URL.
	build func(ctx context.Context, port int) (supervise.Spec, string, error)
}

// programs has the files of the installed engines.
type programs struct {
	postgresBin, clickHouseLibrary string
	writeGuard                     *os.File // stays open while ClickHouse may start
}

// find locates the wanted engines. It fails if an engine is not installed.
func (c *Config) find() (*programs, error) {
	p := &programs{}
	if !c.Want.Postgres && !c.Want.ClickHouse {
		return p, nil
	}
	found, err := packages.Find(packages.Config{Dir: c.EnginesDir})
	if err == nil && c.Want.Postgres {
		p.postgresBin, err = found.PostgresBin()
	}
	if err == nil && c.Want.ClickHouse {
		p.clickHouseLibrary, p.writeGuard, err = findClickHouse(found)
	}
	return p, err
}

func findClickHouse(found *packages.Packages) (library string, guard *os.File, err error) {
	library, path, err := found.ClickHouse()
	if err == nil {
		guard, err = os.Open(path)
	}
	return library, guard, err
}

// plans returns a plan for each wanted engine.
func (c *Config) plans(found *programs, logins logins) []plan {
	var plans []plan
	if c.Want.Postgres {
		plans = append(plans, plan{Postgres, func(ctx context.Context, port int) (supervise.Spec, string, error) {
			return c.postgres(ctx, found.postgresBin, port)
		}})
	}
	if c.Want.Kafka {
		plans = append(plans, plan{Kafka, func(_ context.Context, port int) (supervise.Spec, string, error) {
			login := logins[Kafka]
			arguments := c.Log.arguments()
			if c.ClockFile != "" {
				arguments = append(arguments, "--clock", c.ClockFile)
			}
			if login == (Login{}) {
				arguments = append(arguments, "--without-login")
			}
			spec, address := c.own(Kafka, port, login, arguments...) // the child outlives this call
			spec.Ping = func(ctx context.Context) error { return kafkaserver.Ping(ctx, address, login.User, login.Password) }
			return spec, address, nil
		}})
	}
	if c.Want.ClickHouse {
		plans = append(plans, plan{ClickHouse, func(_ context.Context, port int) (supervise.Spec, string, error) {
			login := logins[ClickHouse]
			// The child runs for longer than this start, so its command does not use the start's context.
			spec, address := c.own(ClickHouse, port, login, "--library", found.clickHouseLibrary,
				"--memory", strconv.FormatInt(c.Memory[ClickHouse], 10))
			command := spec.Command
			spec.Command = func() (*exec.Cmd, error) {
				cmd, err := command()
				if err == nil {
					chserver.PutGuard(cmd, found.writeGuard)
				}
				return cmd, err
			}
			spec.Ping = func(ctx context.Context) error { return pingClickHouse(ctx, address, login) }
			at := url.URL{Scheme: "clickhouse", User: url.UserPassword(login.User, login.Password), Host: address, Path: "/default"}
			return spec, at.String(), nil
		}})
	}
	return plans
}

func (c *Config) postgres(ctx context.Context, bin string, port int) (supervise.Spec, string, error) {
	server, err := pgserver.New(pgserver.Config{
		BinDir: bin, Dir: filepath.Join(c.DataDir, Postgres), Port: port, NoSync: c.NoSync,
		Memory: c.Memory[Postgres],
	})
	if err != nil {
		return supervise.Spec{}, "", err
	}
	if err := server.Prepare(ctx); err != nil {
		return supervise.Spec{}, "", err
	}
	return supervise.Spec{
		Name:    Postgres,
		Command: server.Command,
		Ping: func(ctx context.Context) error {
			err := server.Ping(ctx)
			if errors.Is(err, pgserver.ErrStarting) {
				return fmt.Errorf("%w: %w", supervise.ErrStarting, err)
			}
			return err
		},
		Reap: server.Reap,
		Line: pgserver.Line,
		// See pgserver.Command for the two signals.
		StopSignal:  syscall.SIGINT,
		DeathSignal: syscall.SIGQUIT,
		StopTimeout: 30 * time.Second,
	}, server.URL(), nil
}

// own builds the spec of an engine that is a command of this binary.
func (c *Config) own(name string, port int, login Login, more ...string) (supervise.Spec, string) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	arguments := append([]string{"engine", name, "--listen", address, "--data", filepath.Join(c.DataDir, name)}, more...)
	return supervise.Spec{
		Name: name,
		Command: func() (*exec.Cmd, error) {
			path, program := c.command()
			cmd := exec.CommandContext(context.Background(), path, arguments...) // the supervisor stops it
			cmd.Args[0] = program
			cmd.Env = append(childEnv(), EnvUser+"="+login.User, EnvPassword+"="+login.Password)
			if most := c.Memory[name]; name == Kafka && most > 0 {
				// The soft limit of the broker's Go runtime is all of the broker's memory.
				cmd.Env = append(cmd.Env, "GOMEMLIMIT="+strconv.FormatInt(most, 10))
			}
			return cmd, nil
		},
		Ready:        func(line string) bool { return strings.HasPrefix(line, `{"ready":true`) },
		Line:         ownLine,
		StopTimeout:  30 * time.Second,
		StartTimeout: loadTimeout,
	}, address
}

// childEnv returns this process's environment without Octavo's settings. Some settings are secrets, and an engine needs
// only its flags and its login.
func childEnv() []string {
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "OCTAVO_") {
			env = append(env, entry)
		}
	}
	return env
}

// ownLine takes the level and message from a line that slog's text handler wrote in the child. The time is dropped,
// because the parent's log adds the time.
func ownLine(line string) (slog.Level, string) {
	_, rest, found := strings.Cut(line, " level=")
	if !found {
		return slog.LevelWarn, line // the line is from a panic, or from the engine's library
	}
	name, text, _ := strings.Cut(rest, " ")
	var level slog.Level
	if level.UnmarshalText([]byte(name)) != nil {
		return slog.LevelWarn, line
	}
	quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(text, "msg="))
	if err != nil {
		return level, strings.TrimPrefix(text, "msg=")
	}
	message, err := strconv.Unquote(quoted)
	if err != nil {
		return level, text
	}
	return level, message + strings.TrimPrefix(text, "msg="+quoted)
}
