package seglog

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"slices"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// Open opens or creates a partition's log. It cuts off an incomplete end of the last segment.
func Open(cfg Config) (*Log, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.SegmentBytes == 0 {
		cfg.SegmentBytes = 64 << 20
	}
	l := &Log{
		cfg: cfg, start: cfg.Start, known: cfg.Known, producers: producers{},
		watchers: map[chan<- struct{}]struct{}{},
	}
	if cfg.Identity != "" {
		l.identity = crc32.Checksum([]byte(cfg.Identity), castagnoli)
	}
	entries, err := cfg.FS.List(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open the log of %s: %w", cfg.Name, err)
	}
	l.known = max(l.known, l.learn(entries))
	var found []segment
	for _, e := range entries {
		if base, ok := baseOf(e.Name, ".log"); ok && !e.Dir {
			found = append(found, segment{base: base, size: e.Size})
		}
	}
	slices.SortFunc(found, func(a, b segment) int { return cmp.Compare(a.base, b.base) })
	for _, s := range found {
		if err := l.checkForeign(s); err != nil {
			return nil, err
		}
	}
	// An empty segment is the last segment, or its creation failed and writing continued in the previous segment. In
	// both cases it can be removed, because the previous segment determines the offsets.
	for i := len(found) - 1; i >= 0 && len(found) > 1; i-- {
		if found[i].size == 0 {
			if err := l.remove(found[i].base); err != nil {
				return nil, err
			}
			found = slices.Delete(found, i, i+1)
		}
	}
	for len(found) > 1 && found[1].base <= l.start {
		// A power loss has undone the removal of this segment, or the removal never happened.
		if err := l.remove(found[0].base); err != nil {
			return nil, err
		}
		found = found[1:]
	}
	if len(found) == 0 {
		end := max(l.start, l.known)
		l.missing(l.start, end)
		file, err := l.begin(end)
		if err != nil {
			return nil, fmt.Errorf("cannot begin the log of %s: %w", cfg.Name, err)
		}
		l.active = &active{newOpenSegment(file, nil), summary{base: end, end: end}}
		return l, nil
	}
	next := l.start
	for i, s := range found[:len(found)-1] {
		l.missing(next, s.base)
		if err := l.addSealed(s, found[i+1].base); err != nil {
			return nil, err
		}
		next = max(next, l.sealed[i].end)
	}
	last := found[len(found)-1]
	l.missing(next, last.base)
	if err := l.openActive(last); err != nil {
		return nil, err
	}
	return l, l.settleEnds(found[0].base)
}

func (l *Log) settleEnds(first int64) error {
	l.start = max(l.start, first)
	end := l.active.sum.end
	l.missing(max(l.start, end), l.known)
	if l.start <= end && l.known <= end {
		return nil
	}
	// The log ends before its start or before Known. There are two possible causes. Damage may have removed the log's
	// end. Or the last trim left no records, and a power loss undid only the removal of this old segment. Its producers
	// have sent more batches since then. With the older state of the producers in this segment, the log would refuse
	// their next batches. So the log forgets this state. A repeat of an old batch is then appended again, as after
	// every trim to the end.
	l.producers = producers{}
	if err := l.roll(max(l.start, l.known)); err != nil {
		return err
	}
	return l.Trim(l.start)
}

// addSealed adds a full segment, whose offsets are below `upper`. It uses the segment's summary if the summary matches
// the file.
func (l *Log) addSealed(s segment, upper int64) error {
	sum, err := l.readSummary(s.base, s.size)
	if err == nil {
		l.producers = sum.producers
	} else if sum, err = l.summarise(s, upper); err != nil {
		return err
	}
	// A segment from an older copy of the log may overlap the next segment.
	l.sealed = append(l.sealed, segment{s.base, min(sum.end, upper), s.size, sum.maxTime})
	return nil
}

// summarise builds the summary of a full segment from the batches' headers and
// writes it.
func (l *Log) summarise(s segment, upper int64) (*summary, error) {
	file, err := l.cfg.FS.Open(l.segmentName(s.base))
	if err != nil {
		return nil, fmt.Errorf("cannot open a segment of %s: %w", l.cfg.Name, err)
	}
	defer func() { _ = file.Close() }()
	sum, holes, err := l.scan(file, s.base, s.size, upper, false)
	if err != nil {
		return nil, err
	}
	l.lost(file, s.base, holes)
	sum.size, sum.producers = s.size, l.producers
	if err := l.writeSummary(l.summaryName(s.base), sum); err != nil {
		l.cfg.Logger.Warn("Cannot write a segment's summary: the next start will read the segment.", "partition", l.cfg.Name, "segment", s.base, "error", err)
	}
	return sum, nil
}

// scan reads a segment up to its last good batch. `holes` has the damage before and after this batch.
func (l *Log) scan(file disk.File, base, size, upper int64, checksum bool) (sum *summary, holes []hole, err error) {
	sum = &summary{base: base, end: base}
	s := l.newScanner(file, position{base, 0, size}, upper)
	defer s.free()
	for {
		h, pos, err := s.nextGood(checksum)
		if errors.Is(err, io.EOF) {
			return sum, s.holes, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read the log of %s: %w", l.cfg.Name, err)
		}
		l.producers.learn(&h)
		sum.add(&h, pos, indexEvery)
	}
}

// openActive opens the last segment for writing. It recovers the segment if the last stop was not clean and so left no
// summary.
func (l *Log) openActive(s segment) error {
	file, err := l.cfg.FS.Open(l.segmentName(s.base))
	if err != nil {
		return fmt.Errorf("cannot open a segment of %s: %w", l.cfg.Name, err)
	}
	var holes []hole
	sum, err := l.readSummary(s.base, s.size)
	if err == nil {
		l.producers, sum.producers = sum.producers, nil
	} else if sum, holes, err = l.recover(file, s); err != nil {
		return errors.Join(fmt.Errorf("cannot continue the log of %s: %w", l.cfg.Name, err), file.Close())
	}
	l.active = &active{newOpenSegment(file, nil), *sum}
	l.lost(file, s.base, holes)
	return nil
}

// maxSpan limits the range of offsets of a segment whose end is unknown.
const maxSpan = 1 << 40

// recover cuts off an incomplete end and syncs data that a kill left unsynced. Readers see the data only afterwards,
// because an offset that a reader remembers must exist after a power loss. `recover` rewrites all good data, because
// after a failed sync the system may treat unwritten pages as written. `holes` is the damage before the last good
// batch.
func (l *Log) recover(file disk.File, s segment) (sum *summary, holes []hole, err error) {
	sum, holes, err = l.scan(file, s.base, s.size, s.base+maxSpan, true)
	if err != nil {
		return nil, nil, err
	}
	if sum.size < s.size {
		l.cfg.Logger.Warn("The end of the log is incomplete and is cut off: no good batch follows.",
			"partition", l.cfg.Name, "offset", sum.end, "bytes", s.size-sum.size)
		if err := file.Truncate(sum.size); err != nil {
			return nil, nil, err
		}
	}
	holes = holes[:len(holes)-1] // the last hole comes after the last good batch
	from := int64(0)
	for _, h := range append(slices.Clone(holes), hole{from: sum.size}) {
		if err := rewrite(file, from, h.from); err != nil {
			return nil, nil, err
		}
		from = h.to
	}
	return sum, holes, errors.Join(file.Sync(), l.cfg.FS.SyncDir(l.cfg.Dir))
}
