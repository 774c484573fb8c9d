package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/single"
	"github.com/octavo-docs/octavo/bench/witness"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

const (
	firstPort   = 31700
	readyLimit  = 30 * time.Second // longest time until a damaged node is ready, or reports why it is not
	settleLimit = 15 * time.Second // longest time until the events that are only in the log are stored
)

// rig runs cases on copies of the world's data directories.
type rig struct {
	*world
	slot    string              // name of the data directory of the current case
	ports   int                 // first of the engines' ports
	message int64               // size of a message of the log, in bytes
	want    map[string][]answer // answers of undamaged nodes, by the data directory that was copied
}

func newRig(ctx context.Context, dir, binary string) (*rig, error) {
	w, err := newWorld(ctx, dir, binary)
	if err != nil {
		return nil, err
	}
	r := &rig{world: w, slot: "case", ports: firstPort, want: map[string][]answer{}}
	logs, err := filepath.Glob(filepath.Join(w.waiting, segments))
	if err != nil {
		return nil, err
	}
	for _, path := range logs {
		size, err := sizeOf(path)
		if err != nil {
			return nil, err
		}
		r.message += size
	}
	r.message /= 3 * requests * sites
	return r, nil
}

// judgeAll runs cases, several at a time, and reports each verdict.
func (r *rig) judgeAll(ctx context.Context, cases []damageCase, workers int, tell func(row)) ([]row, error) {
	for _, from := range []string{r.stored, r.waiting} {
		if _, err := r.undamaged(ctx, from); err != nil {
			return nil, err
		}
	}
	rows := make([]row, len(cases))
	next := make(chan int)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for i := range workers {
		running.Go(func() {
			own, err := r.worker(i)
			if err != nil {
				cancel(err)
				return
			}
			for at := range next {
				v, err := own.judge(ctx, cases[at])
				if err != nil {
					v = verdict{silent, "the case cannot be run: " + err.Error()}
				}
				if rows[at] = (row{cases[at], v}); ctx.Err() == nil {
					tell(rows[at])
				}
			}
		})
	}
	for i := range cases {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	running.Wait()
	return rows, context.Cause(ctx)
}

// worker returns a rig with a separate address and data directory.
func (r *rig) worker(i int) (*rig, error) {
	address, err := enginetest.FreeAddress()
	own, world := *r, *r.world
	world.address = address
	own.world, own.slot, own.ports = &world, fmt.Sprintf("case-%d", i), firstPort+10*(i+1)
	return &own, err
}

// from returns the data directory that a case copies.
func (r *rig) from(when string) string {
	if when == waiting {
		return r.waiting
	}
	return r.stored
}

// undamaged returns the answers of a node that runs on an undamaged copy of a data directory. It fails if the node does
// not return all posted events.
func (r *rig) undamaged(ctx context.Context, from string) ([]answer, error) {
	if want, ok := r.want[from]; ok {
		return want, nil
	}
	dir, err := r.copy(from)
	if err != nil {
		return nil, err
	}
	err = r.with(ctx, dir, func(n *single.Node) error {
		posted := 2 * requests * perPost
		if from == r.waiting {
			posted += requests * perPost
		}
		return witness.Await(ctx, func(ctx context.Context) error {
			r.want[from] = r.ask(ctx, n.Client, true)
			for _, a := range r.want[from] {
				counted := sum(a.text)
				switch {
				case a.status != http.StatusOK || a.missing != "":
					return fmt.Errorf("the undamaged node answers %s: %s", a.name, brief(a))
				case strings.HasPrefix(a.name, "events by month") && counted != posted:
					return fmt.Errorf("the undamaged node has %d of %d events", counted, posted)
				}
			}
			return nil
		})
	})
	return r.want[from], errors.Join(err, os.RemoveAll(dir))
}

func (r *rig) copy(from string) (string, error) {
	dir := filepath.Join(r.dir, r.slot)
	// Each copy uses other ports, because all copies have the same passwords. With the same port, a node could connect
	// to an engine of another copy.
	ports := fmt.Sprintf(`{"postgres":%d,"kafka":%d,"clickhouse":%d}`, r.ports+1, r.ports+2, r.ports+3)
	return dir, errors.Join(os.RemoveAll(dir), copyTree(from, dir),
		os.WriteFile(filepath.Join(dir, "ports.json"), []byte(ports), 0o600))
}

// judge runs a case and returns its verdict.
func (r *rig) judge(ctx context.Context, c damageCase) (v verdict, err error) {
	want, err := r.undamaged(ctx, r.from(c.when))
	if err != nil {
		return v, err
	}
	dir, err := r.copy(r.from(c.when))
	if err != nil {
		return v, err
	}
	n, err := r.node(dir)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, r.end(n), n.Log.Close(), os.RemoveAll(dir), r.keepLog(c)) }()
	switch c.when {
	case running:
		return r.whileRunning(ctx, c, n, want)
	case repaired:
		return r.fromCopy(ctx, c, n, want)
	}
	target, err := r.target(dir, c)
	if err != nil {
		return v, err
	}
	taken, err := ways[c.way](target)
	if err != nil {
		return v, err
	}
	if v, err = r.look(ctx, n, c, target, taken, want); err != nil || v.outcome != refused {
		return v, err
	}
	// The node's message must be true. So after the damage is undone, without another change, every answer must be
	// right again.
	if err := undo(target, dir, r.from(c.when)); err != nil {
		return v, err
	}
	again, err := r.look(ctx, n, c, target, 0, want)
	if err == nil && again.outcome != right {
		v = verdict{silent, "put back: " + string(again.outcome) + ": " + again.text + " (after " + v.text + ")"}
	}
	return v, err
}

// keepLog moves the node's log of a case into the folder of logs.
func (r *rig) keepLog(c damageCase) error {
	logs := filepath.Join(r.dir, "logs")
	name := filepath.Join(logs, c.String()+".log")
	return errors.Join(os.MkdirAll(logs, 0o700), os.Rename(filepath.Join(r.dir, r.slot+".log"), name))
}

// whileRunning damages the files of a running node, examines it, and examines it again after a restart. It returns the
// worse verdict.
func (r *rig) whileRunning(
	ctx context.Context, c damageCase, n *single.Node, want []answer,
) (v verdict, err error) {
	if err := n.Start(); err != nil {
		return v, err
	}
	if err := n.Ready(ctx); err != nil {
		return v, err
	}
	t, err := r.target(n.Dir, c)
	if err != nil {
		return v, err
	}
	taken, err := ways[c.way](t)
	if err != nil {
		return v, err
	}
	first, err := r.examine(ctx, n, c, taken, want)
	if err != nil || first.outcome == silent {
		return first, err
	}
	if err := r.end(n); err != nil {
		return v, err
	}
	second, err := r.look(ctx, n, c, t, taken, want)
	if second.outcome == right {
		second = first
	}
	return second, err
}

// look starts the node, and examines its answers. Then it posts more events, which the node must store.
func (r *rig) look(
	ctx context.Context, n *single.Node, c damageCase, t target, taken int64, want []answer,
) (v verdict, err error) {
	if err := n.Start(); err != nil {
		return v, err
	}
	bounded, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	if err := n.Ready(bounded); err != nil && n.Exited() {
		return refusal(logOf(n), n.Dir, t.path), nil
	}
	if v, err = r.examine(ctx, n, c, taken, want); err != nil || v.outcome == silent {
		return v, err
	}
	if text := r.goesOn(ctx, n.Client, v.outcome); text != "" {
		v = verdict{silent, text + " (" + string(v.outcome) + ": " + v.text + ")"}
	}
	return v, nil
}

func logOf(n *single.Node) string {
	text, err := os.ReadFile(n.Log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// examine sends all requests to a running node, and judges the answers.
func (r *rig) examine(
	ctx context.Context, n *single.Node, c damageCase, taken int64, want []answer,
) (v verdict, err error) {
	git := strings.HasPrefix(c.files, gitCache)
	if !git {
		want = slices.DeleteFunc(slices.Clone(want), func(a answer) bool { return a.name == gitImport })
	}
	bounded, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	settled := witness.Await(bounded, func(context.Context) error {
		s := seen{answers: r.ask(ctx, n.Client, git), taken: taken, message: r.message}
		if s.again() {
			s.later = r.ask(ctx, n.Client, git)
		}
		s.ready, s.log, s.lost = ready(ctx, n.Client), logOf(n), r.lost(ctx, n.Client)
		v = judge(want, s)
		// Events that are only in the log are stored after some time, so examine sends the requests again. Events that
		// were already stored must be in the first answers, or be reported as missing.
		if v.outcome == silent && c.when == waiting {
			return errors.New(v.text)
		}
		return nil
	})
	if v.outcome == silent || ctx.Err() != nil {
		return v, ctx.Err()
	}
	return v, settled
}

// goesOn posts events. If the node does not store them, it returns a description of the problem. If the node cannot
// count its events because of the damage, goesOn returns "". The function `judge` has already judged this damage.
func (r *rig) goesOn(ctx context.Context, c product.Client, so outcome) string {
	for _, site := range r.sites {
		before, err := r.count(ctx, c, site)
		if err != nil {
			continue
		}
		if err := r.post(ctx, c, site, time.Now(), 0); err != nil {
			return "new events are refused: " + err.Error()
		}
		bounded, cancel := context.WithTimeout(ctx, settleLimit)
		err = witness.Await(bounded, func(ctx context.Context) error {
			after, err := r.count(ctx, c, site)
			// While the sink catches up, the count also increases by events that were only in the log.
			if err == nil && after != before+perPost && (so == right || after < before+perPost) {
				err = fmt.Errorf("%d events became %d after %d more", before, after, perPost)
			}
			return err
		})
		cancel()
		if err != nil {
			return "new events: " + err.Error()
		}
	}
	return ""
}

// end stops a node, and kills it if it does not stop.
func (r *rig) end(n *single.Node) error {
	if n.Exited() {
		return nil
	}
	if n.Stop() == nil {
		return nil
	}
	if err := n.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	n.Wait()
	return nil
}
