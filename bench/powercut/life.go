package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/disk"
	"github.com/octavo-docs/octavo/bench/witness"
)

// life is one installation, from its first start until its last power cut. `judge` checks it after each cut.
type life struct {
	dir     string
	picture string // path of the snapshot of the disk at the last power cut
	size    int64
	disk    *disk.Disk
	disks   int
	node    *node
	site    site
	load    *witness.Load
	endLoad func()
	catchup time.Duration

	spaces  []string // ids of acknowledged spaces
	refused int      // number of acknowledged events that the events table refuses
}

// cut is the result of one power cut.
type cut struct {
	Moment       string
	Acknowledged int // number of events that were acknowledged in this life so far
	Kept         int // number of rows in the table immediately after the cut
	Stored       int // number of stored events after the sink has caught up
	Spaces       int
	DeadLetters  int
	ReadyAfter   string
	Problems     []string
}

// begin creates an empty disk and starts a node on it.
func (l *life) begin(ctx context.Context) error {
	if err := l.newDisk(ctx, ""); err != nil {
		return err
	}
	l.endLoad = func() {}
	if err := l.node.Start(); err != nil {
		return err
	}
	return l.node.Ready(ctx)
}

// newDisk mounts a disk with the content of a snapshot. If `picture` is "", the disk is empty.
func (l *life) newDisk(ctx context.Context, picture string) error {
	l.disks++
	l.disk = &disk.Disk{Dir: filepath.Join(l.dir, "disk-"+strconv.Itoa(l.disks)), Size: l.size}
	l.node.Dir = filepath.Join(l.disk.Root(), "data")
	if picture == "" {
		return l.disk.Make(ctx)
	}
	return l.disk.Restore(ctx, picture)
}

// prepare creates the objects that the load needs.
func (l *life) prepare(ctx context.Context, rate float64, seed uint64) (err error) {
	if l.site, err = l.node.create(ctx); err != nil {
		return err
	}
	t, err := l.table()
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }()
	l.load = witness.NewLoad(rate, keyedShare, l.site.events(), l.node.Client.Token, []string{l.node.Client.Address}, seed)
	door, err := l.node.Client.Door(ctx, l.site.org, l.site.id, witness.EventHost)
	if err != nil {
		return err
	}
	l.load.Through(door)
	return refuse(ctx, t)
}

// startLoad begins to send events and to create spaces. It also sends one event that the table refuses. endLoad stops
// the load.
func (l *life) startLoad(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { l.load.Run(ctx) })
	running.Go(func() { l.others(ctx) })
	l.endLoad = func() {
		end()
		running.Wait()
		l.load.Finish()
		l.endLoad = func() {}
	}
}

// others posts one event that the table refuses, and creates spaces until ctx is done. It ignores errors, because the
// power cut may cause them.
func (l *life) others(ctx context.Context) {
	for number, posted := 0, false; ; number++ {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		if id, err := l.node.Client.Create(attempt, "/v1/orgs/"+url.PathEscape(l.site.org)+"/spaces", "Space "+strconv.Itoa(number)); err == nil {
			l.spaces = append(l.spaces, id)
		}
		// `others` posts only one event that the table refuses, because such an event is expensive. To find it, the
		// sink divides a batch into halves again and again, and inserts each half. The power cut may end an attempt.
		if !posted {
			if posted = l.node.postRefusable(attempt, l.site, l.refused) == nil; posted {
				l.refused++
			}
		}
		cancel()
		if pause(ctx, 200*time.Millisecond) != nil {
			return
		}
	}
}

func (l *life) table() (*witness.Table, error) {
	at, err := l.node.engines()
	if err != nil {
		return nil, err
	}
	return witness.OpenTable(at.ClickHouse)
}

// cut cuts the power and restarts the node with the data that has reached the disk.
func (l *life) cut(ctx context.Context) error {
	// Pause the node, so that it acknowledges no more events. Its engines continue to run.
	if err := l.node.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if err := l.disk.Freeze(ctx); err != nil {
		return err
	}
	err := l.disk.Keep(ctx, l.picture)
	if err := errors.Join(err, l.disk.Thaw(ctx), killAll(time.Minute), l.disk.Close()); err != nil {
		return err
	}
	if err := l.newDisk(ctx, l.picture); err != nil {
		return err
	}
	return l.node.Start()
}

// through sends a load, and cuts the power at the moment m. After the node is ready again, the load continues for a
// second. Then `through` calls `judge`.
func (l *life) through(ctx context.Context, m moment) (cut, error) {
	l.startLoad(ctx)
	err := m.wait(ctx, l)
	if err == nil {
		err = l.cut(ctx)
	}
	began := time.Now()
	if err == nil {
		err = l.node.Ready(ctx)
	}
	ready := time.Since(began)
	if err == nil {
		err = pause(ctx, time.Second)
	}
	l.endLoad()
	if err != nil {
		return cut{}, fmt.Errorf("at the moment %q: %w", m.name, err)
	}
	c, err := l.judge(ctx)
	c.Moment, c.ReadyAfter = m.name, ready.Round(10*time.Millisecond).String()
	return c, err
}

// judge compares the acknowledged events with the stored events. The caller has stopped the load.
func (l *life) judge(ctx context.Context) (c cut, err error) {
	t, err := l.table()
	if err != nil {
		return c, err
	}
	defer func() { _ = t.Close() }()
	if err := l.load.Resend(50); err != nil {
		c.Problems = append(c.Problems, err.Error())
	}
	requests := l.load.Requests()
	for _, r := range requests {
		if r.Outcome == witness.Acknowledged {
			c.Acknowledged += r.Events
		}
	}
	rows, err := t.Read(ctx, l.site.id)
	if err != nil {
		return c, err
	}
	c.Kept = len(rows)
	var v witness.Verdict
	letters := 0
	waiting, cancel := context.WithTimeout(ctx, l.catchup)
	defer cancel()
	caughtUp := witness.Await(waiting, func(ctx context.Context) error {
		rows, err := t.Read(ctx, l.site.id)
		if err != nil {
			return err
		}
		if v = witness.Compare(requests, rows); v.Lost > 0 || v.Torn > 0 {
			return fmt.Errorf("%d events are not stored", v.Lost)
		}
		if letters, err = l.node.deadLetters(ctx); err == nil && letters < l.refused {
			err = fmt.Errorf("%d of %d events that the table refuses are dead letters", letters, l.refused)
		}
		return err
	})
	if caughtUp != nil {
		c.Problems = append(c.Problems, caughtUp.Error())
	}
	c.Stored, c.DeadLetters = v.Stored, letters
	c.Problems = append(c.Problems, v.Problems()...)
	c.Problems = append(c.Problems, v.Examples...)
	log, err := witness.Reconcile(ctx, l.node.Binary, l.node.Settings()...)
	if err != nil {
		return c, err
	}
	if log.Ranges > 0 {
		c.Problems = append(c.Problems, fmt.Sprintf("the log and the table differ in %d ranges: %v", log.Ranges, log.FirstLines))
	}
	for _, id := range l.spaces {
		if err := l.node.Client.Call(ctx, http.MethodGet, "/v1/spaces/"+url.PathEscape(id), nil, http.StatusOK, nil); err != nil {
			c.Problems = append(c.Problems, "an acknowledged space: "+err.Error())
		}
	}
	c.Spaces = len(l.spaces)
	return c, nil
}

// end stops the load and the node, and removes the disk.
func (l *life) end() error {
	l.endLoad()
	var err error
	if l.node != nil {
		err = l.node.stop()
	}
	if l.disk != nil {
		err = errors.Join(err, l.disk.Close())
	}
	return err
}
