// Package single runs one `octavo serve` with embedded engines, like a user who tries the product. The only other
// packages of this module that it may import are bench/machine, bench/product, bench/witness, cmd/engine/enginetest
// (for an address) and schema (for a token).
package single

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema"
)

const (
	startLimit = 3 * time.Minute // longest time until a node is ready, even after a power cut
	stopLimit  = time.Minute
)

// Node is a node that can be started again after it has exited.
type Node struct {
	Binary, Dir string         // the program's path and the data directory
	Client      product.Client // the node's address and bootstrap token
	More        []string       // additional settings, such as "OCTAVO_RATE_LIMIT=0"
	Log         *os.File

	process *exec.Cmd
	ended   chan error
}

// Start starts a node in a folder, at a free address, and waits until it is ready. If `binary` is "", Start builds the
// program.
func Start(ctx context.Context, binary, dir string, more ...string) (*Node, error) {
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
	log, err := os.Create(filepath.Join(dir, "log.txt"))
	if err != nil {
		return nil, err
	}
	node := &Node{
		Binary: binary, Dir: filepath.Join(dir, "data"), Log: log, More: more,
		Client: product.Client{Address: address, Token: schema.NewToken()},
	}
	if err := node.Start(); err != nil {
		return nil, err
	}
	if err := node.Ready(ctx); err != nil {
		return nil, errors.Join(err, node.Stop())
	}
	return node, nil
}

// Settings returns the environment variables for the node, and for octavo commands that run next to it.
func (n *Node) Settings() []string {
	return append([]string{
		"OCTAVO_DATA_DIR=" + n.Dir,
		"OCTAVO_LISTEN=" + n.Client.Address,
		"OCTAVO_ADMIN_LISTEN=off",
		"OCTAVO_BOOTSTRAP_TOKEN=" + n.Client.Token,
	}, n.More...)
}

// Start starts the node with additional flags of `octavo serve`, and returns immediately. Ready waits for the node.
func (n *Node) Start(flags ...string) error {
	n.process = exec.CommandContext(context.Background(), n.Binary, append([]string{"serve"}, flags...)...)
	n.process.Env = product.Environment(n.Settings()...)
	n.process.Stdout, n.process.Stderr = n.Log, n.Log
	n.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := n.process.Start(); err != nil {
		return fmt.Errorf("cannot start the node: %w", err)
	}
	n.ended = make(chan error, 1)
	go func(p *exec.Cmd, ended chan<- error) { ended <- p.Wait() }(n.process, n.ended)
	return nil
}

// Ready waits until the node is ready.
func (n *Node) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return witness.Await(ctx, func(ctx context.Context) error {
		select {
		case err := <-n.ended:
			n.ended <- err
			cancel()
			return fmt.Errorf("the node exited: %w", err)
		default:
			return n.Client.Ready(ctx)
		}
	})
}

// Exited reports whether the node has exited.
func (n *Node) Exited() bool {
	select {
	case err := <-n.ended:
		n.ended <- err
		return true
	default:
		return false
	}
}

// Wait waits until the node has exited.
func (n *Node) Wait() {
	err := <-n.ended
	n.ended <- err
}

// PID returns the process id of the node.
func (n *Node) PID() int { return n.process.Process.Pid }

// Engine returns the process of one of the node's engines. `name` is the engine's name in its command line, such as
// "clickhouse". Engine also finds an engine that outlived its node, if this process adopts orphans.
func (n *Node) Engine(name string) (machine.Process, error) {
	processes, err := machine.Process(os.Getpid()).Descendants()
	if err != nil {
		return 0, err
	}
	for _, p := range processes {
		if line := p.Command(); len(line) > 2 && line[1] == "engine" && line[2] == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("no engine %q is running", name)
}

// Signal sends a signal to the node's process. Its engines do not receive the signal. It returns no error if the node
// has already exited.
func (n *Node) Signal(s syscall.Signal) error {
	if err := n.process.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Run runs an octavo command while the node runs. The command has the node's settings and the settings in `more`. Run
// returns its output.
func (n *Node) Run(ctx context.Context, more []string, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, n.Binary, arguments...)
	cmd.Env = product.Environment(append(n.Settings(), more...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("octavo %s: %w: %s", arguments[0], err, said.String())
	}
	return string(out), nil
}

// Stop sends SIGTERM to the node, as an operator does, and waits until the node has exited. Stop does not check the
// exit status; the node's log shows whether an error occurred.
func (n *Node) Stop() error {
	if n.process == nil {
		return nil
	}
	if err := n.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-n.ended:
		n.ended <- err
		return nil
	case <-time.After(stopLimit):
		return errors.New("the node does not exit")
	}
}
