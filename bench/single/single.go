// Package single runs one `octavo serve` with everything embedded, as somebody
// who tries the product does.
package single

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
)

const (
	startLimit = 3 * time.Minute // until the node is ready, after a power cut too
	stopLimit  = time.Minute
)

// Node is one that may be started again after its end.
type Node struct {
	Binary, Dir string         // the program, and the data directory
	Client      product.Client // its address, and the token that it is made with
	More        []string       // further settings, such as "OCTAVO_RATE_LIMIT=0"
	Log         *os.File

	process *exec.Cmd
	ended   chan error
}

// Settings are the node's, and those of a command that runs beside it.
func (n *Node) Settings() []string {
	return append([]string{
		"OCTAVO_DATA_DIR=" + n.Dir,
		"OCTAVO_LISTEN=" + n.Client.Address,
		"OCTAVO_ADMIN_LISTEN=off",
		"OCTAVO_BOOTSTRAP_TOKEN=" + n.Client.Token,
	}, n.More...)
}

// Start starts it and returns at once; Ready waits.
func (n *Node) Start() error {
	n.process = exec.CommandContext(context.Background(), n.Binary, "serve")
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

// Ready waits until the node can reach all that it needs.
func (n *Node) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return witness.Await(ctx, func(ctx context.Context) error {
		select {
		case err := <-n.ended:
			n.ended <- err
			cancel()
			return fmt.Errorf("the node has ended: %w", err)
		default:
			return n.Client.Ready(ctx)
		}
	})
}

// PID is that of the process that was started last.
func (n *Node) PID() int { return n.process.Process.Pid }

// Signal sends a signal to the node, not to its engines. One that has ended
// needs none.
func (n *Node) Signal(s syscall.Signal) error {
	if err := n.process.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Run runs a command of octavo's beside the node, with its settings and more,
// and gives what it prints.
func (n *Node) Run(ctx context.Context, more []string, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, n.Binary, arguments...) //nolint:gosec // built here, or named by whoever runs this
	cmd.Env = product.Environment(append(n.Settings(), more...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("octavo %s: %w: %s", arguments[0], err, said.String())
	}
	return string(out), nil
}

// Stop ends it as an operator would. How it ended is in its log.
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
		return errors.New("the node does not end")
	}
}
