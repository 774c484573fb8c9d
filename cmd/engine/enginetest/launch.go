package enginetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// Running is a running `octavo engine run`.
type Running struct {
	PostgresURL   string         `json:"postgres_url"`
	KafkaBrokers  []string       `json:"kafka_brokers"`
	KafkaLogin    Login          `json:"kafka_login"`
	ClickHouseURL string         `json:"clickhouse_url"`
	PIDs          map[string]int `json:"pids"`
	DataDir       string         `json:"data_dir"`

	Cmd    *exec.Cmd     `json:"-"`
	exited chan struct{} // exited is closed after the process has exited
}

// Login is the broker's login with SCRAM-SHA-256. It is zero if the broker requires no login.
type Login struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// Launch has the engines to run, and their settings.
type Launch struct {
	Binary  string
	Engines []string
	// Dir is the data directory. If it is empty, a temporary directory is used, and is removed after the engines have
	// stopped.
	Dir string
	// Sync makes the engines sync their writes. Without it, tests are faster
	// but data does not survive a power loss.
	Sync bool
	// OpenKafka lets the broker accept connections without a login.
	OpenKafka bool
	Args      []string
	// Adjust changes the command before its start.
	Adjust func(*exec.Cmd)
}

// memory is the folder for the temporary data of engines that do not sync. A test's database has some 600 files. A
// disk's file system spends more time on creating and removing these files than Postgres spends on the test. Engines
// use the folder only if it has much free space, because a container's folder may have only 64 MiB.
const (
	memory     = "/dev/shm"
	memoryFree = 8 << 30 // bytes
)

// inMemory returns a new directory in memory, or "" if there is too little room.
func inMemory() string {
	var about unix.Statfs_t
	if unix.Statfs(memory, &about) != nil || about.Type != unix.TMPFS_MAGIC {
		return ""
	}
	if about.Bavail*uint64(about.Bsize) < memoryFree {
		return ""
	}
	dir, err := os.MkdirTemp(memory, "octavo-engines-")
	if err != nil {
		return ""
	}
	return dir
}

// Start runs the engines until Stop is called, or until this process ends for any reason.
func (l Launch) Start(ctx context.Context) (*Running, error) {
	log, err := os.CreateTemp("", "octavo-engines-*.log")
	if err != nil {
		return nil, fmt.Errorf("cannot create the engines' log: %w", err)
	}
	// The child has its own descriptor of the log. So this process can close and remove the file.
	defer func() { _ = log.Close() }()
	defer func() { _ = os.Remove(log.Name()) }()
	arguments := []string{"engine", "run", "--engines", strings.Join(l.Engines, ",")}
	dir := l.Dir
	if dir == "" && !l.Sync {
		dir = inMemory()
		arguments = append(arguments, "--ephemeral")
	}
	if dir != "" {
		arguments = append(arguments, "--data", dir)
	}
	if !l.Sync {
		arguments = append(arguments, "--no-sync")
	}
	if l.OpenKafka {
		arguments = append(arguments, "--open-kafka")
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), l.Binary, append(arguments, l.Args...)...)
	// Do not use this process's stderr. `go test` waits for all processes that have it open, and engines outlive the
	// test process for a short time.
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
		_ = cmd.Wait() // the log of the process shows how it ended
		close(r.exited)
	}()
	ctx, cancel := context.WithTimeout(ctx, eventually.Patience)
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

// StartHere starts a command that gets its PDEATHSIG when this process ends. Linux ties the signal to the thread that
// starts the command. The Go runtime ends a thread only when a goroutine locked to it returns. So a locked goroutine
// that never returns is a safe parent.
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

// Stop stops the engines, and kills them if they do not end. It returns after the
// exit.
func (r *Running) Stop() error {
	_ = r.Cmd.Process.Signal(syscall.SIGTERM) // fails only if the process has exited
	select {
	case <-r.exited:
		return nil
	case <-time.After(eventually.Patience):
	}
	_ = r.Cmd.Process.Kill()
	<-r.exited
	return errors.New("cannot stop the engines cleanly: they had to be killed")
}

// Exited is closed when the process has exited.
func (r *Running) Exited() <-chan struct{} { return r.exited }
