package enginetest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const launchTimeout = 3 * time.Minute

// Running is one `octavo engine run`.
type Running struct {
	PostgresURL   string         `json:"postgres_url"`
	KafkaBrokers  []string       `json:"kafka_brokers"`
	KafkaLogin    Login          `json:"kafka_login"`
	ClickHouseURL string         `json:"clickhouse_url"`
	PIDs          map[string]int `json:"pids"`
	DataDir       string         `json:"data_dir"`

	Cmd    *exec.Cmd     `json:"-"`
	exited chan struct{} // closed after the process's end
}

// Login is what the broker asks for, by SCRAM-SHA-256; zero if it is open.
type Login struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// Launch says which engines to run.
type Launch struct {
	Binary  string
	Engines []string
	// Dir empty: a temporary one that is removed with the engines.
	Dir string
	// Sync keeps durability against power loss, which tests do without for speed.
	Sync bool
	// OpenKafka asks nobody for a password at the broker.
	OpenKafka bool
	Args      []string
	// Adjust changes the command before its start.
	Adjust func(*exec.Cmd)
}

// Start runs the engines until Stop, or until this process ends, however it ends.
func (l Launch) Start(ctx context.Context) (*Running, error) {
	log, err := os.CreateTemp("", "octavo-engines-*.log")
	if err != nil {
		return nil, fmt.Errorf("cannot create the engines' log: %w", err)
	}
	// The open file is all that is needed; the child keeps it too.
	defer func() { _ = log.Close() }()
	defer func() { _ = os.Remove(log.Name()) }()
	arguments := []string{"engine", "run", "--engines", strings.Join(l.Engines, ",")}
	if l.Dir != "" {
		arguments = append(arguments, "--data", l.Dir)
	}
	if !l.Sync {
		arguments = append(arguments, "--no-sync")
	}
	if l.OpenKafka {
		arguments = append(arguments, "--open-kafka")
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), l.Binary, append(arguments, l.Args...)...)
	// Not this process's stderr: `go test` waits for whoever holds that, and engines outlive the test process by a moment.
	cmd.Stderr = log
	// SIGTERM lets the engines stop cleanly and removes their directory.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if l.Adjust != nil {
		l.Adjust(cmd)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("cannot read from the engines: %w", err)
	}
	if err := StartHere(cmd); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", l.Binary, err)
	}
	r := &Running{Cmd: cmd, exited: make(chan struct{})}
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(output).ReadString('\n')
		line <- text
		_ = cmd.Wait() // how it ended shows in its log
		close(r.exited)
	}()
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	select {
	case text := <-line:
		if json.Unmarshal([]byte(text), r) == nil {
			return r, nil
		}
		<-r.exited
		return nil, startFailure(log)
	case <-ctx.Done():
		stopErr := r.Stop()
		return nil, errors.Join(fmt.Errorf("cannot start the engines in time: %w", startFailure(log)), stopErr)
	}
}

// StartHere starts a command whose PDEATHSIG must follow this process and not the thread that happens to start it: threads of the Go
// runtime end only under goroutines that return locked, so a locked goroutine that never returns is a safe parent.
func StartHere(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			runtime.UnlockOSThread()
			return
		}
		select {}
	}()
	return <-started
}

func startFailure(log *os.File) error {
	text := make([]byte, 8<<10)
	size, _ := log.Seek(0, 2)
	n, _ := log.ReadAt(text, max(0, size-int64(len(text))))
	message := strings.TrimSpace(string(text[:n]))
	if strings.Contains(message, "make engines") || strings.Contains(message, "embedded engines run on") {
		return fmt.Errorf("%w: %s", errMissing, message)
	}
	return errors.New(message)
}

// Stop ends the engines cleanly, or hard after a while. It returns after the exit.
func (r *Running) Stop() error {
	_ = r.Cmd.Process.Signal(syscall.SIGTERM) // fails only if it is gone
	select {
	case <-r.exited:
		return nil
	case <-time.After(time.Minute):
	}
	_ = r.Cmd.Process.Kill()
	<-r.exited
	return errors.New("cannot stop the engines cleanly: they were killed after a minute")
}

// Exited is closed when the process has ended.
func (r *Running) Exited() <-chan struct{} { return r.exited }
