package sink

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// erase leaves the events of erased visitors and keys out of a cut. It is the first step that changes the cut's rows.
//
// If the previous owner announced a cut, the new owner repeats it with the tombstones of the announcement. So the cut
// has the same rows and the same token. With more tombstones, the repeat could insert no rows. A paused owner's insert
// could then still be stored later. The eraser waits for a later cut.
func (g *generation) erase(c *cut) error {
	p, view := c.partition, g.sink.cfg.Erased.View()
	if view == nil {
		return nil
	}
	if p.intent > c.from {
		view = view.At(p.committed.erased)
	}
	c.honours = view.Version
	if view.None() {
		return nil
	}
	for _, m := range c.messages {
		site := view.Site(m.message.Site)
		if site.Empty() {
			continue
		}
		for i := range m.message.Count {
			row := m.first + i
			if site.Has(c.rows.Content(row).Visitor, c.rows.EventKey(row), m.message.ReceivedMillis) {
				if c.erased == nil {
					c.erased = map[int]bool{}
				}
				c.erased[row] = true
			}
		}
	}
	if len(c.erased) == 0 {
		return nil
	}
	return c.rebuild(0, c.total, nil, g.scratch)
}

// honour prepares a commit. The commit declares for every partition which tombstones its next cut honours. If the
// previous owner of a partition announced a cut, this sink declares the partition's tombstones only with the first cut
// after it.
func (g *generation) honour() {
	view := g.sink.cfg.Erased.View()
	if view == nil || view.Version == g.honoured {
		return
	}
	all := true
	for _, p := range g.partitions {
		at := &p.done
		if !p.prepared {
			at = p.located.Load()
		}
		if at == nil {
			all = false
			continue
		}
		if at.erased < view.Version {
			at.erased = view.Version
			g.stored[p.id] = *at
		}
	}
	if all {
		g.honoured = view.Version
	}
}

// honourAgain is the delay before honour checks undeclared partitions again.
const honourAgain = time.Second

// mayHonour returns a channel that closes when honour or declareLosses may have work.
func (g *generation) mayHonour() <-chan struct{} {
	list := g.sink.cfg.Erased
	changed := list.Changed()
	undeclared := slices.ContainsFunc(g.partitions, func(p *partition) bool { return !p.declared && !p.prepared })
	if view := list.View(); !undeclared && (view == nil || view.Version == g.honoured && len(g.stored) == 0) {
		return changed
	}
	again := make(chan struct{})
	time.AfterFunc(honourAgain, func() { close(again) })
	return again
}

// arrived is an event, with the facts that show whether it intentionally has no row.
type arrived struct {
	insights.RowContent
	key      string // the publishable key, with its generation
	received int64  // in milliseconds
}

// event returns an event of a message.
func (l logged) event(rows *insights.Batch, row int) arrived {
	return arrived{rows.Content(row), rows.EventKey(row), l.message.ReceivedMillis}
}

// erased reports whether an event has no row because its visitor or its key was erased.
func (r *Reconciler) erased(e arrived) bool {
	return r.cfg.Erased.View().Site(e.Site).Has(e.Visitor, e.key, e.received)
}

// expired reports whether an event has no row because the retention deleted it.
func (r *Reconciler) expired(e arrived) bool {
	return slices.ContainsFunc(r.cfg.Expired[e.Site], func(x schema.Expiry) bool {
		return e.TimeMillis < x.Before.UnixMilli() && e.received < x.CarriedOut.UnixMilli()
	})
}

// gone reports whether an event intentionally has no row.
func (r *Reconciler) gone(e arrived) bool { return r.erased(e) || r.expired(e) }

// Honoured reports whether a group's sinks will store no event that tombstones of a version erase. The commit of each
// partition declares the version. A later owner never honours fewer tombstones than the commit that it starts from.
func Honoured(ctx context.Context, log *eventlog.Topic, group string, version int64) (bool, error) {
	count, err := log.Partitions(ctx)
	if err != nil {
		return false, err
	}
	list, err := groupProgress(ctx, log, group, partitionRange(count))
	if errors.Is(err, kafka.GroupIdNotFound) {
		return false, nil // no sink has ever committed
	}
	for _, p := range list {
		if p.erased < version {
			return false, err
		}
	}
	return err == nil, err
}
