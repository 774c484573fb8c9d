package supervise_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/supervise"
)

// The tests run the test binary as the child. envMode selects the child's
// behaviour.
const (
	envMode    = "SUPERVISE_TEST_MODE"
	envAddress = "SUPERVISE_TEST_ADDRESS"
	envNote    = "SUPERVISE_TEST_NOTE"
)

func TestMain(m *testing.M) {
	switch mode := os.Getenv(envMode); mode {
	case "":
		os.Exit(m.Run())
	case "fail":
		fmt.Fprintln(os.Stderr, "first words")
		fmt.Fprint(os.Stderr, "no such luck")
		os.Exit(3)
	case "mute": // alive, but never listens
		<-notify()
		os.Exit(0)
	case "serve", "stubborn":
		serve(mode == "stubborn")
	}
}

func notify() chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	return signals
}

func serve(stubborn bool) {
	signals := notify()
	listener, err := net.Listen("tcp", os.Getenv(envAddress))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintln(conn, os.Getpid())
			_ = conn.Close()
		}
	}()
	for range signals {
		if !stubborn {
			if note := os.Getenv(envNote); note != "" {
				file, err := os.OpenFile(note, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				if err != nil {
					os.Exit(1)
				}
				_, _ = fmt.Fprintln(file, os.Getenv(envAddress))
				_ = file.Close()
			}
			os.Exit(0)
		}
	}
}

// childSpec returns the spec of a child that runs in the given mode on a free port. It also returns the child's
// address.
func childSpec(t *testing.T, name, mode string) (supervise.Spec, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	return supervise.Spec{
		Name: name,
		Command: func() (*exec.Cmd, error) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), envMode+"="+mode, envAddress+"="+address)
			return cmd, nil
		},
		Ready:        func(line string) bool { return line == "ready" },
		Ping:         func(ctx context.Context) error { _, err := ask(ctx, address); return err },
		PingInterval: 20 * time.Millisecond,
		PingTimeout:  time.Second,
	}, address
}

// ask connects to a child, which sends its pid. It returns the pid.
func ask(ctx context.Context, address string) (string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	line, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line), err
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
