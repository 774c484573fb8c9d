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

// erase removes the events of erased visitors and erased keys from a cut. It must be the first step that changes the
// cut's rows.
//
// If the partition's previous owner announced a cut, the new owner repeats it with the same tombstones. So the repeated
// cut has the same rows and the same token. With more tombstones, the repeated cut might have no rows to insert, so the
// new owner would not use the token. A previous owner that was only paused could then insert its own rows, because
// ClickHouse would not know the token. The erasure job waits until the sink commits a later cut, with newer tombstones.
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

// honour prepares a commit that declares, for every partition, the version of the tombstones that the next cut honours.
// If the previous owner of a partition announced a cut, the sink declares the version for this partition only with the
// first cut after the announced cut.
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

// mayHonour returns a channel. It is closed when `honour` or declareLosses may have something to commit.
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

// arrived has the data of an event that show whether the event intentionally has no row.
type arrived struct {
	insights.RowContent
	key      string // the id and the generation of the publishable key
	received int64  // received is in milliseconds
}

// event returns an event of a message.
func (l logged) event(rows *insights.Batch, row int) arrived {
	return arrived{rows.Content(row), rows.EventKey(row), l.message.ReceivedMillis}
}

// erased reports whether an event must have no row because its visitor or its key was erased.
func (r *Reconciler) erased(e arrived) bool {
	return r.cfg.Erased.View().Site(e.Site).Has(e.Visitor, e.key, e.received)
}

// expired reports whether an event must have no row because the site's retention has deleted it.
func (r *Reconciler) expired(e arrived) bool {
	return slices.ContainsFunc(r.cfg.Expired[e.Site], func(x schema.Expiry) bool {
		return e.TimeMillis < x.Before.UnixMilli() && e.received < x.CarriedOut.UnixMilli()
	})
}

// gone reports whether an event intentionally has no row: it was erased or has expired.
func (r *Reconciler) gone(e arrived) bool { return r.erased(e) || r.expired(e) }

// Honoured reports whether every sink of a group honours the tombstones up to a version, so that it stores no event
// that they erase. A sink declares this version in the commits of its partitions. A later owner of a partition honours
// at least the tombstones of the last commit.
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
