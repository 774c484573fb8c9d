package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// child is a process that is measured. The kernel sends it SIGTERM when this process ends.
type child struct {
	cmd    *exec.Cmd
	name   string
	log    string
	exited chan struct{} // exited is closed after the child has exited
	failed error         // error of the child's exit; read it only after exited is closed
}

// startChild starts a program and writes its output to a log file. If the channel `first` is not nil, startChild sends
// the first line of the output to it. If `environment` is nil, the child gets this process's environment.
func startChild(name, log string, environment []string, first chan<- string, program string, arguments ...string) (*child, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot create the log of %s: %w", name, err)
	}
	defer func() { _ = file.Close() }() // the child has a separate descriptor of the file
	// The command needs no context, because the method `stop` ends the child.
	cmd := exec.CommandContext(context.Background(), program, arguments...)
	c := &child{cmd: cmd, name: name, log: log, exited: make(chan struct{})}
	c.cmd.Env = environment
	c.cmd.Stderr = file
	c.cmd.Stdout = file
	// The child runs in a separate process group, so that Ctrl-C reaches only this process. This process then stops its
	// children one after the other.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	var output io.Reader
	if first != nil {
		c.cmd.Stdout = nil
		if output, err = c.cmd.StdoutPipe(); err != nil {
			return nil, fmt.Errorf("cannot read from %s: %w", name, err)
		}
	}
	if err := enginetest.StartHere(c.cmd); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	go func() {
		if first != nil {
			line, _ := bufio.NewReader(output).ReadString('\n')
			first <- strings.TrimSpace(line)
		}
		c.failed = c.cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

func (c *child) process() machine.Process { return machine.Process(c.cmd.Process.Pid) }

// stop stops the child. It returns an error if the child exits with an error, because the figures of such a server
// cannot be trusted.
func (c *child) stop() error {
	select {
	case <-c.exited:
		return fmt.Errorf("%s exited before it was told to: %w\n%s", c.name, errors.Join(c.failed), c.tail())
	default:
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // Signal fails only if the child has already exited
	select {
	case <-c.exited:
		if c.failed != nil {
			return fmt.Errorf("%s did not stop cleanly: %w\n%s", c.name, c.failed, c.tail())
		}
		return nil
	case <-time.After(time.Minute):
	}
	_ = c.cmd.Process.Kill()
	<-c.exited
	return fmt.Errorf("cannot stop %s: it was killed after a minute\n%s", c.name, c.tail())
}

// await calls `ready` until `ready` returns nil. It fails if the child exits or the time atMost is over.
func (c *child) await(ctx context.Context, atMost time.Duration, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.exited:
			return fmt.Errorf("%s exited: %w\n%s", c.name, errors.Join(c.failed), c.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", c.name, err, c.tail())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tail returns the end of the log.
func (c *child) tail() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return ""
	}
	return string(text[max(0, len(text)-3000):])
}
