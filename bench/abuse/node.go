package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema"
)

// node is the octavo under attack, with engines of its own.
type node struct {
	address string
	token   string
	binary  string
	env     []string
	cmd     *exec.Cmd
	client  *http.Client
}

// run runs a command of octavo's beside the node and gives its output.
func (n *node) run(ctx context.Context, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, n.binary, arguments...) //nolint:gosec // Built here, or named by whoever runs this.
	command.Env = append(n.env, "OCTAVO_TOKEN="+n.token, "OCTAVO_URL=http://"+n.address)
	var failure strings.Builder
	command.Stderr = &failure
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("octavo %s: %w: %s", arguments[0], err, failure.String())
	}
	return strings.TrimSpace(string(out)), nil
}

func (o options) start(ctx context.Context, dir string) (*node, error) {
	binary := o.Binary
	if binary == "" {
		binary = filepath.Join(dir, "octavo")
		if err := product.Build(ctx, binary); err != nil {
			return nil, err
		}
	}
	address, err := enginetest.FreeAddress()
	if err != nil {
		return nil, err
	}
	root, err := enginetest.ModuleRoot()
	if err != nil {
		return nil, err
	}
	n := &node{address: address, token: schema.NewToken(), binary: binary, client: &http.Client{Timeout: time.Minute}}
	log, err := os.Create(filepath.Join(dir, "log.txt"))
	if err != nil {
		return nil, err
	}
	n.cmd = exec.CommandContext(ctx, binary, "serve")
	n.cmd.Cancel = func() error { return n.cmd.Process.Signal(syscall.SIGTERM) }
	n.env = product.Environment("OCTAVO_LISTEN="+address, "OCTAVO_ADMIN_LISTEN=off", "OCTAVO_BOOTSTRAP_TOKEN="+n.token,
		"OCTAVO_DATA_DIR="+filepath.Join(dir, "data"), "OCTAVO_ENGINES_DIR="+filepath.Join(root, "deploy", "engines"))
	n.cmd.Env = n.env
	n.cmd.Stdout, n.cmd.Stderr = log, log
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := product.Client{Address: address}.Ready(ctx)
		if err == nil {
			return n, nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			n.stop()
			return nil, fmt.Errorf("the node is not ready: %w", err)
		}
	}
}

func (n *node) stop() {
	_ = n.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = n.cmd.Wait()
}

// question is a request of somebody else.
type question struct{ method, path, token, body string }

// ask makes requests for some time with a pause before each, half of them on
// new connections, and gives their times and the most memory that it saw.
func (n *node) ask(ctx context.Context, total, pause time.Duration, q question) (times []time.Duration, peak int, err error) {
	for end := time.Now().Add(total); time.Now().Before(end); {
		time.Sleep(pause)
		if len(times)%2 == 0 {
			n.client.CloseIdleConnections()
		}
		if len(times)%100 == 0 {
			peak = max(peak, n.memory("VmRSS"))
		}
		began := time.Now()
		status, err := n.do(ctx, q)
		if err != nil {
			return nil, 0, fmt.Errorf("somebody else is not answered: %w", err)
		}
		if times = append(times, time.Since(began)); status != http.StatusOK {
			return nil, 0, fmt.Errorf("somebody else is answered %d", status)
		}
	}
	return times, peak, nil
}

// do makes a request and reads its answer.
func (n *node) do(ctx context.Context, q question) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, q.method, "http://"+n.address+q.path, strings.NewReader(q.body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+q.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := n.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// memory is a line of the process's status, in MB.
func (n *node) memory(line string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for field := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(field, line+":"); ok {
			kb, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return kb >> 10
		}
	}
	return 0
}
