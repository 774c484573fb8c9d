// Command edge measures what callers without a token cost a node that is
// otherwise idle: connections that announce a body of 8 MiB and send none of
// it, from one address and from fifty of 127.0.0.0/8, and connections that send
// nothing at all. While they are held, and opened anew when they are closed,
// somebody else asks; the node's memory and that caller's latency are compared
// with those before.
//
//	go run ./bench/edge            # 10,000 connections, some minutes
//	go run ./bench/edge --connections 1000 --hold 3s
//
// It fails when the node takes more than --memory, or answers others at the
// 99th percentile slower than twice the time before (and 5 ms).
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema"
)

type options struct {
	Connections int           `default:"10000" help:"How many are held."`
	Hold        time.Duration `default:"15s" help:"For how long."`
	Asked       int           `default:"1000" help:"Requests of somebody else in each phase."`
	Memory      int           `default:"300" help:"Most that the node may take, in MB."`
	Binary      string        `help:"An octavo that is built; default: build one."`
}

func main() {
	var o options
	kong.Parse(&o)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// attack is one way to hold connections.
type attack struct {
	name      string
	addresses int
	request   string
}

func (o options) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "octavo-edge-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	node, err := o.start(ctx, dir)
	if err != nil {
		return err
	}
	defer node.stop()
	idle, err := node.ask(ctx, o.Asked)
	if err != nil {
		return err
	}
	fmt.Printf("%-42s %9s %9s %9s %9s %10s\n", "", "RSS MB", "peak MB", "p50 ms", "p99 ms", "opened")
	fmt.Printf("%-42s %9d %9s %9.2f %9.2f\n", "idle", node.memory("VmRSS"), "", ms(idle, 50), ms(idle, 99))
	announced := "POST /v1/orgs HTTP/1.1\r\nHost: x\r\nContent-Length: 8388600\r\n"
	var failed []error
	for _, a := range []attack{
		{"announce 8 MiB, no token, 1 address", 1, announced + "\r\n"},
		{"announce 8 MiB, no token, 50 addresses", 50, announced + "\r\n"},
		{"announce 8 MiB, made-up token, 50 addresses", 50, announced + "Authorization: Bearer " + schema.NewToken() + "\r\n\r\n"},
		{"send nothing, 50 addresses", 50, ""},
	} {
		if err := o.hold(ctx, node, a, idle); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", a.name, err))
		}
	}
	return errors.Join(failed...)
}

// hold keeps the connections of an attack open, and opens those anew that are
// closed, while somebody else asks.
func (o options) hold(ctx context.Context, node *node, a attack, idle []time.Duration) error {
	attacking, end := context.WithCancel(ctx)
	var workers sync.WaitGroup
	var opened atomic.Int64
	slots := make(chan int)
	// So many goroutines wait for so many connections; each connects again when
	// its own is closed, after a pause that bounds the load.
	for range o.Connections {
		workers.Go(func() {
			for i := range slots {
				for attacking.Err() == nil {
					once(attacking, node.address, a, i, &opened)
				}
			}
		})
	}
	for i := range o.Connections {
		slots <- i
	}
	close(slots)
	// Measured is what lasts, not the wave of the beginning.
	for wave := time.Now(); opened.Load() < int64(o.Connections) && time.Since(wave) < reopen && ctx.Err() == nil; {
		time.Sleep(10 * time.Millisecond)
	}
	begun := time.Now()
	var got []time.Duration
	peak := 0
	var failure error
	for time.Since(begun) < o.Hold && failure == nil {
		part, err := node.ask(ctx, max(1, o.Asked/10))
		got, failure = append(got, part...), err
		peak = max(peak, node.memory("VmRSS"))
	}
	end()
	workers.Wait()
	if failure != nil {
		return failure
	}
	fmt.Printf("%-42s %9d %9d %9.2f %9.2f %10d\n", a.name, node.memory("VmRSS"), peak, ms(got, 50), ms(got, 99), opened.Load())
	if peak > o.Memory {
		failure = fmt.Errorf("it took %d MB", peak)
	}
	if bound := 2*ms(idle, 99) + 5; ms(got, 99) > bound {
		failure = errors.Join(failure, fmt.Errorf("others waited %.2f ms at the 99th percentile, before %.2f", ms(got, 99), ms(idle, 99)))
	}
	return failure
}

// reopen is the pause before a closed connection is opened anew: as often as an
// attack had to when each was held for 30 s. It is of held connections, not of
// new ones.
const reopen = 30 * time.Second

// once opens a connection and waits for its end.
func once(ctx context.Context, address string, a attack, i int, opened *atomic.Int64) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%a.addresses))}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		opened.Add(1)
		unhook := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_, err = conn.Write([]byte(a.request))
		scrap := make([]byte, 512)
		for err == nil {
			_, err = conn.Read(scrap)
		}
		unhook()
		_ = conn.Close()
	}
	select {
	case <-time.After(reopen):
	case <-ctx.Done():
	}
}

// node is the octavo under attack, with engines of its own.
type node struct {
	address string
	token   string
	cmd     *exec.Cmd
	client  *http.Client
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
	n := &node{address: address, token: schema.NewToken(), client: &http.Client{Timeout: time.Minute}}
	log, err := os.Create(filepath.Join(dir, "log.txt"))
	if err != nil {
		return nil, err
	}
	n.cmd = exec.CommandContext(ctx, binary, "serve")
	n.cmd.Cancel = func() error { return n.cmd.Process.Signal(syscall.SIGTERM) }
	n.cmd.Env = product.Environment("OCTAVO_LISTEN="+address, "OCTAVO_ADMIN_LISTEN=off", "OCTAVO_BOOTSTRAP_TOKEN="+n.token,
		"OCTAVO_DATA_DIR="+filepath.Join(dir, "data"), "OCTAVO_ENGINES_DIR="+filepath.Join(root, "deploy", "engines"))
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

// ask makes requests one after the other, half of them on new connections, and
// gives their times.
func (n *node) ask(ctx context.Context, requests int) ([]time.Duration, error) {
	times := make([]time.Duration, 0, requests)
	for i := range requests {
		if i%2 == 0 {
			n.client.CloseIdleConnections()
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.address+"/v1/user", nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+n.token)
		began := time.Now()
		response, err := n.client.Do(request)
		if err != nil {
			return nil, fmt.Errorf("somebody else is not answered: %w", err)
		}
		_ = response.Body.Close()
		if times = append(times, time.Since(began)); response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("somebody else is answered %d", response.StatusCode)
		}
	}
	return times, nil
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

// ms is a percentile in milliseconds.
func ms(times []time.Duration, percentile int) float64 {
	sorted := slices.Sorted(slices.Values(times))
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[min(len(sorted)-1, len(sorted)*percentile/100)]) / float64(time.Millisecond)
}
