// Command with runs a command with one set of engines for all of its tests. It starts the engines in a temporary
// directory, puts their addresses into the command's environment, and stops them after the command. If the environment
// already has the address of an engine, it does not start this engine.
//
//	go run ./cmd/engine/enginetest/with -- go test ./...
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
	"golang.org/x/sys/unix"
)

// init makes the kernel send SIGTERM to this process when its parent, usually `go run`, is killed. The kernel stores
// this setting for a thread, so `init` locks the main thread.
func init() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0)
}

func main() {
	engines := flag.String("engines", "postgres,kafka,clickhouse", "engines to start")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: with [-engines postgres,kafka,clickhouse] -- command [argument…]")
		os.Exit(2)
	}
	code, err := run(strings.Split(*engines, ","), flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "with:", err)
	}
	os.Exit(code)
}

// run runs the command with the engines and returns its exit code.
func run(engines, command []string) (code int, err error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	binary, err := enginetest.Build()
	if err != nil {
		return 1, err
	}
	set := &enginetest.Running{}
	var lost <-chan struct{}
	if engines = unnamed(engines); len(engines) > 0 {
		if set, err = start(enginetest.Launch{Binary: binary, Engines: engines, OpenKafka: true}, signals); err != nil {
			return 1, err
		}
		lost = set.Exited()
		defer func() {
			report(set)
			err = errors.Join(err, set.Stop())
		}()
	}
	return runCommand(command, environment(binary, set), lost, signals)
}

// report prints the processor seconds that the engines have used. `go test` reports only its own processes.
func report(set *enginetest.Running) {
	var parts []string
	for _, engine := range slices.Sorted(maps.Keys(set.PIDs)) {
		if used, err := cputime.OfProcess(set.PIDs[engine]); err == nil {
			parts = append(parts, fmt.Sprintf("%s %.1f", engine, used.Seconds()))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintln(os.Stderr, "processor seconds of the shared engines:", strings.Join(parts, ", "))
	}
}

// start starts the engines. A signal interrupts the start.
func start(launch enginetest.Launch, signals <-chan os.Signal) (*enginetest.Running, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type result struct {
		running *enginetest.Running
		err     error
	}
	launched := make(chan result, 1)
	go func() {
		running, err := launch.Start(ctx)
		launched <- result{running, err}
	}()
	select {
	case r := <-launched:
		return r.running, r.err
	case sig := <-signals:
		cancel()
		r := <-launched
		if r.err == nil {
			r.err = r.running.Stop()
		}
		return nil, errors.Join(fmt.Errorf("%v before the engines were started", sig), r.err)
	}
}

// unnamed removes the engines whose addresses are already in the environment. So tests can use other servers.
func unnamed(engines []string) []string {
	names := map[string]string{
		"clickhouse": enginetest.EnvClickHouse, "kafka": enginetest.EnvKafka, "postgres": enginetest.EnvPostgres,
	}
	return slices.DeleteFunc(engines, func(engine string) bool { return os.Getenv(names[engine]) != "" })
}

func environment(binary string, set *enginetest.Running) []string {
	env := os.Environ()
	for name, value := range map[string]string{
		enginetest.EnvClickHouse: set.ClickHouseURL,
		enginetest.EnvKafka:      strings.Join(set.KafkaBrokers, ","),
		enginetest.EnvPostgres:   set.PostgresURL,
	} {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return append(env,
		enginetest.EnvRequire+"=1",
		enginetest.EnvBinary+"="+binary,
		enginetest.EnvRun+"="+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(time.Now().UnixNano(), 36),
	)
}

// runCommand runs the command, forwards signals to it and waits until it exits.
func runCommand(command, env []string, lost <-chan struct{}, signals <-chan os.Signal) (int, error) {
	cmd := exec.CommandContext(context.Background(), command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = env
	// The kernel ends the command when this process ends. Without the engines, the command's tests would only fail
	// slowly.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return 127, fmt.Errorf("cannot run %s: %w", command[0], err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			_ = cmd.Process.Signal(sig) // fails only if the command has ended
		case <-lost:
			lost = nil
			fmt.Fprintln(os.Stderr, "with: the engines exited before the command")
		case err := <-done:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
					return 128 + int(status.Signal()), nil
				}
				return exit.ExitCode(), nil
			}
			if err != nil {
				return 1, fmt.Errorf("cannot run %s: %w", command[0], err)
			}
			return 0, nil
		}
	}
}
