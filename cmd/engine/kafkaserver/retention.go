package kafkaserver

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/group"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

// maintain measures the free space and removes segments, until the broker
// stops.
func (b *broker) maintain() {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	clean := time.NewTicker(b.cfg.CleanEvery)
	defer clean.Stop()
	for {
		select {
		case <-b.stopping:
			return
		case <-look.C:
			b.space.look()
			if b.space.tight() {
				b.clean(time.Now())
			}
			b.journal.RestoreBallast(b.space.fits(2 * b.cfg.ballast))
		case <-clean.C:
			b.clean(time.Now())
		}
	}
}

// clockFile is the state of the file Config.Clock. Only `clean` uses it.
type clockFile struct {
	read   bool // the file was read at least once
	failed bool // the last try to read the file failed, and this failure is logged
}

// guarded returns the earlier of two times: `now` and the time in the file Config.Clock. If the file cannot be read, it
// returns a time at which no record is old. At the first start, the file does not exist for a moment, so `guarded` does
// not log a missing file.
func (b *broker) guarded(now time.Time) time.Time {
	if b.cfg.Clock == "" {
		return now
	}
	var at time.Time
	text, err := os.ReadFile(b.cfg.Clock)
	if err == nil {
		at, err = time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	}
	if err != nil {
		if !b.clock.failed && (b.clock.read || !errors.Is(err, fs.ErrNotExist)) {
			b.clock.failed = true
			b.cfg.Logger.Warn("Cannot read the time: no message is removed by age.", "file", b.cfg.Clock, "error", err)
		}
		return time.Unix(0, 0)
	}
	if b.clock.failed {
		b.cfg.Logger.Info("The time can be read again: messages are removed by age.", "file", b.cfg.Clock)
	}
	b.clock = clockFile{read: true}
	if at.Before(now) {
		return at
	}
	return now
}

// committed has the offsets that groups have committed on a topic, by group and partition.
type committed struct {
	groups map[string]map[int32]int64
}

func (b *broker) committed() map[string]*committed {
	byTopic := map[string]*committed{}
	b.groups.EachCommit(func(name, _ string, partition int32, c group.Commit) {
		of := byTopic[c.TopicID]
		if of == nil {
			of = &committed{map[string]map[int32]int64{}}
			byTopic[c.TopicID] = of
		}
		if of.groups[name] == nil {
			of.groups[name] = map[int32]int64{}
		}
		of.groups[name][partition] = c.Offset
	})
	return byTopic
}

// of returns the partition's least offset that a group still needs. A group that has committed only on other
// partitions of the topic needs the whole partition.
func (c *committed) of(partition int32) int64 {
	least := int64(-1)
	for _, offsets := range c.groups {
		offset, ok := offsets[partition]
		if !ok {
			return 0
		}
		if least < 0 || offset < least {
			least = offset
		}
	}
	return max(0, least)
}

// candidate is a segment that may be removed.
type candidate struct {
	topic     *topic
	partition int
	segment   seglog.Segment
}

// clean removes segments that exceed their topic's retention time or size, and the oldest committed segments beyond
// RetainBytes. If any group has ever committed on a topic, the topic's uncommitted records stay, at any age and size.
func (b *broker) clean(now time.Time) {
	b.making.Lock() // so that no topic is deleted meanwhile
	defer b.making.Unlock()
	now = b.guarded(now)
	tight := b.space.tight()
	groups := b.committed()
	var kept []candidate
	for _, t := range b.list() {
		for partition := range t.partitions() {
			kept = append(kept, b.cleanPartition(t, partition, groups[t.id], now, tight)...)
		}
	}
	b.cleanKept(kept)
}

// When space is short, the active segment is closed so that its committed records can be removed. Closing it needs disk
// space, too. So the active segment of a partition with more than fewSegments segments is closed only if it has at
// least rollBytes. Without this limit, each clean could leave a small segment, because the last committed records stay.
const (
	fewSegments = 4
	rollBytes   = 1 << 20
)

// cleanPartition removes the segments that exceed the topic's retention. It returns the remaining segments that every
// group has committed.
func (b *broker) cleanPartition(t *topic, partition int, groups *committed, now time.Time, tight bool) (kept []candidate) {
	l, s := t.partitions()[partition], t.settings.Load()
	old := func(seg seglog.Segment) bool {
		return s.retention >= 0 && seg.MaxTime < now.Add(-s.retention).UnixMilli()
	}
	done := int64(-1) // without a group, only the retention decides
	if groups != nil {
		done = groups.of(int32(partition))
	}
	if last := l.Segments(); len(last) > 0 {
		active := last[len(last)-1]
		free := groups != nil && active.End <= done
		short := tight && free && (len(last) <= fewSegments || active.Size >= rollBytes)
		if active.Size > 0 && (old(active) && (groups == nil || free) || short) {
			if err := l.Roll(); err != nil {
				b.cfg.Logger.Warn("Cannot close a segment.", "topic", t.name, "partition", partition, "error", err)
			}
		}
	}
	rest := l.Size()
	for _, seg := range l.Segments() {
		if seg.Active || done >= 0 && seg.End > done {
			break
		}
		switch {
		case old(seg), s.retentionBytes >= 0 && rest-seg.Size >= s.retentionBytes:
			b.drop(candidate{t, partition, seg})
			rest -= seg.Size
		case done >= 0:
			kept = append(kept, candidate{t, partition, seg})
		}
	}
	return kept
}

// leastRest is the size of the committed records that stay when space is short. A sink that takes over a partition
// reads these messages again to recognize repeats. Without them, an event that was produced twice would be stored
// twice.
const leastRest = 64 << 20

// cleanKept removes the oldest candidates until RetainBytes are left. When space is short, it removes candidates until
// there is enough space.
func (b *broker) cleanKept(kept []candidate) {
	slices.SortStableFunc(kept, func(x, y candidate) int { return cmp.Compare(x.segment.MaxTime, y.segment.MaxTime) })
	sum := int64(0)
	for _, c := range kept {
		sum += c.segment.Size
	}
	least := min(leastRest, b.cfg.RetainBytes, b.cfg.MaxBytes/8)
	b.space.measure()
	for _, c := range kept {
		if sum <= b.cfg.RetainBytes && !b.space.tight() || sum-c.segment.Size < least {
			return
		}
		b.drop(c)
		sum -= c.segment.Size
		b.space.measure()
	}
}

func (b *broker) drop(c candidate) {
	if start, _ := c.topic.partitions()[c.partition].Offsets(); start >= c.segment.End {
		return // the segment was removed together with a later segment
	}
	if err := c.topic.trim(c.partition, c.segment.End); err != nil {
		b.cfg.Logger.Warn("Cannot remove a segment.", "topic", c.topic.name, "partition", c.partition, "error", err)
		return
	}
	b.cfg.Logger.Info("A segment was removed.", "topic", c.topic.name, "partition", c.partition, "to_offset", c.segment.End, "bytes", c.segment.Size)
}
