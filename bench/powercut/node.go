package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
	"github.com/octavo-docs/octavo/schema/insights"
)

// startLimit is how long a node may take until it is ready, after a cut too.
const startLimit = 3 * time.Minute

// node is one `octavo serve` with everything embedded, on a disk's data directory.
type node struct {
	binary, dir, address string
	log                  *os.File
	client               product.Client

	process *exec.Cmd
	ended   chan error
}

// settings are the node's, and those of a command that runs beside it.
func (n *node) settings() []string {
	return []string{
		"OCTAVO_DATA_DIR=" + n.dir,
		"OCTAVO_LISTEN=" + n.address,
		"OCTAVO_ADMIN_LISTEN=off",
		"OCTAVO_BOOTSTRAP_TOKEN=" + n.client.Token,
		"OCTAVO_RATE_LIMIT=0", "OCTAVO_MAX_CONNS_PER_IP=0",
		"OCTAVO_SINK_SESSION_TIMEOUT=6s",
	}
}

// start starts it and returns at once; ready waits.
func (n *node) start() error {
	n.process = exec.CommandContext(context.Background(), n.binary, "serve")
	n.process.Env = product.Environment(n.settings()...)
	n.process.Stdout, n.process.Stderr = n.log, n.log
	n.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := n.process.Start(); err != nil {
		return fmt.Errorf("cannot start the node: %w", err)
	}
	n.ended = make(chan error, 1)
	go func(p *exec.Cmd, ended chan<- error) { ended <- p.Wait() }(n.process, n.ended)
	return nil
}

// ready waits until the node can reach all that it needs.
func (n *node) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return witness.Await(ctx, func(ctx context.Context) error {
		select {
		case err := <-n.ended:
			n.ended <- err
			cancel()
			return fmt.Errorf("the node has ended: %w", err)
		default:
			return n.client.Ready(ctx)
		}
	})
}

// silence stops the node, so that it acknowledges nothing more. Its engines go on.
func (n *node) silence() error { return n.process.Process.Signal(syscall.SIGSTOP) }

// engines are the addresses of the running engines.
type engines struct{ Postgres, ClickHouse string }

func (n *node) engines() (e engines, err error) {
	text, err := os.ReadFile(filepath.Join(n.dir, "engines.json"))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		return e, fmt.Errorf("cannot read where the engines are: %w", err)
	}
	return e, nil
}

// child is the process of one engine below the node, by what its command line holds.
func (n *node) child(argument string) (pid int, err error) {
	pids, err := descendants()
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(line, []byte("engine\x00"+argument)) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("no engine %q runs", argument)
}

// site is where the events of a life go.
type site struct{ org, id string }

func (s site) events() string { return product.Insights(s.org, s.id) + "/events" }

// create makes an organization and a site.
func (n *node) create(ctx context.Context) (s site, err error) {
	if s.org, err = n.client.Create(ctx, "/v1/orgs", "Power cut"); err != nil {
		return s, err
	}
	s.id, err = n.client.Create(ctx, "/v1/orgs/"+url.PathEscape(s.org)+"/sites", "Power cut")
	return s, err
}

// refusable is in the URL of events that the table refuses, so that they become dead letters.
const refusable = "/refused-by-the-table/"

// refuse makes the table refuse such events.
func refuse(ctx context.Context, t *witness.Table) error {
	return t.Exec(ctx, "ALTER TABLE "+insights.Table+" ADD CONSTRAINT IF NOT EXISTS octavo_powercut CHECK position(url, '"+refusable+"') = 0")
}

// postRefusable posts one such event.
func (n *node) postRefusable(ctx context.Context, s site, id int) error {
	body := fmt.Sprintf(`{"events":[{"type":"page_view","session":{"visitorId":"v","sessionId":"s"},"location":{"url":"https://docs.example.com%s%d"}}]}`, refusable, id)
	return n.client.Call(ctx, http.MethodPost, s.events(), []byte(body), http.StatusNoContent, nil)
}

// deadLetters is how many letters there are, as the operator's command tells.
func (n *node) deadLetters(ctx context.Context) (int, error) {
	cmd := exec.CommandContext(ctx, n.binary, "deadletter", "list", "--json", "--limit", "0")
	cmd.Env = product.Environment(n.settings()...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("cannot list the dead letters: %w: %s", err, said.String())
	}
	return bytes.Count(out, []byte("\n")), nil
}

// stop ends it as an operator would.
func (n *node) stop() error {
	if n.process == nil {
		return nil
	}
	if err := n.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-n.ended:
		n.ended <- err // of the start that is over; how it ended was said in its log
	case <-time.After(time.Minute):
	}
	return killAll(time.Minute)
}
