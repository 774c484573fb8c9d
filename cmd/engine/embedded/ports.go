package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/go-json-experiment/json"
)

const (
	portsFile = "ports.json"
	// Ports are chosen below Linux's range for outgoing connections (32768 and up). In that range, a retrying client
	// could get the port of a stopped engine as its own source port. It would then connect to itself, and the engine
	// could not bind the port.
	lowestPort  = 20000
	highestPort = 32000
	portTries   = 200
)

// ports remembers each engine's port in a file, so that its address survives restarts of the node.
type ports struct {
	path   string
	fixed  map[string]int
	chosen map[string]int
}

func loadPorts(dir string, fixed map[string]int) (*ports, error) {
	p := &ports{path: filepath.Join(dir, portsFile), fixed: fixed, chosen: map[string]int{}}
	text, err := os.ReadFile(p.path)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the engines' ports: %w", err)
	}
	if err := json.Unmarshal(text, &p.chosen); err != nil {
		p.chosen = map[string]int{} // a broken file is no problem: choose new ports
	}
	return p, nil
}

func (p *ports) save() error {
	text, err := json.Marshal(p.chosen, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("cannot encode the engines' ports: %w", err)
	}
	if err := replaceFile(p.path, append(text, '\n')); err != nil {
		return fmt.Errorf("cannot save the engines' ports: %w", err)
	}
	return nil
}

// choose returns an engine's fixed port. If the engine has no fixed port, `choose` returns its stored port, or a new
// port if the stored port is taken.
func (p *ports) choose(ctx context.Context, engine string) (int, error) {
	if port := p.fixed[engine]; port != 0 {
		if err := free(ctx, port); err != nil {
			return 0, p.takenError(engine, port, err)
		}
		return port, nil
	}
	if port := p.chosen[engine]; port != 0 && free(ctx, port) == nil {
		return port, nil
	}
	for range portTries {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if p.promised(port) || free(ctx, port) != nil {
			continue
		}
		p.chosen[engine] = port
		return port, nil
	}
	return 0, fmt.Errorf("cannot find a free port for %s on 127.0.0.1 between %d and %d", engine, lowestPort, highestPort)
}

// promised reports whether the port is chosen for another engine, which may not have bound it yet.
func (p *ports) promised(port int) bool {
	for _, used := range p.chosen {
		if used == port {
			return true
		}
	}
	for _, used := range p.fixed {
		if used == port {
			return true
		}
	}
	return false
}

func (p *ports) takenError(engine string, port int, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("cannot start %s: port %d on 127.0.0.1 is taken by another process: stop that process or configure another port: %w",
			engine, port, err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("cannot start %s: this user may not listen on port %d: configure one above 1023: %w", engine, port, err)
	default:
		return fmt.Errorf("cannot start %s on port %d: %w", engine, port, err)
	}
}

func free(ctx context.Context, port int) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return listener.Close()
}
