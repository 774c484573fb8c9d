package seglog

import (
	"cmp"
	"errors"
	"fmt"
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
	l := &Log{cfg: cfg, start: cfg.Start, producers: producers{}, watchers: map[chan<- struct{}]struct{}{}}
	entries, err := cfg.FS.List(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open the log of %s: %w", cfg.Name, err)
	}
	var found []segment
	for _, e := range entries {
		if base, ok := baseOf(e.Name); ok && !e.Dir {
			found = append(found, segment{base: base, size: e.Size})
		}
	}
	slices.SortFunc(found, func(a, b segment) int { return cmp.Compare(a.base, b.base) })
	// An empty segment is the last one, or its creation failed and the previous segment went on. In both cases it can
	// go: the offsets follow from the previous one.
	for i := len(found) - 1; i >= 0 && len(found) > 1; i-- {
		if found[i].size == 0 {
			if err := l.remove(found[i].base); err != nil {
				return nil, err
			}
			found = slices.Delete(found, i, i+1)
		}
	}
	for len(found) > 1 && found[1].base <= l.start {
		// The removal of this segment was undone by a power loss, or never
		// happened.
		if err := l.remove(found[0].base); err != nil {
			return nil, err
		}
		found = found[1:]
	}
	if len(found) == 0 {
		file, err := l.begin(l.start)
		if err != nil {
			return nil, fmt.Errorf("cannot begin the log of %s: %w", cfg.Name, err)
		}
		l.active = &active{newOpenSegment(file, nil), summary{base: l.start, end: l.start}}
		return l, nil
	}
	for _, s := range found[:len(found)-1] {
		if err := l.addSealed(s); err != nil {
			return nil, err
		}
	}
	if err := l.openActive(found[len(found)-1]); err != nil {
		return nil, err
	}
	return l, l.settleStart(found[0].base)
}

func (l *Log) settleStart(first int64) error {
	l.start = max(l.start, first)
	if l.start <= l.active.sum.end {
		return nil
	}
	// The last trim left nothing, and a power loss undid the removal of this old segment only. Its producers have
	// continued since then, so its state of them would refuse their next batches. A repeat of an old batch is appended
	// again, as after any trim to the end.
	l.producers = producers{}
	if err := l.roll(l.start); err != nil {
		return err
	}
	return l.Trim(l.start)
}

// addSealed adds a full segment. It uses the segment's summary if that matches
// the file.
func (l *Log) addSealed(s segment) error {
	sum, err := readSummary(l.cfg.FS, l.summaryName(s.base), s.base, s.size)
	if err == nil {
		l.producers = sum.producers
	} else if sum, err = l.summarise(s); err != nil {
		return err
	}
	l.sealed = append(l.sealed, segment{s.base, sum.end, s.size, sum.maxTime})
	return nil
}

// summarise builds the summary of a full segment from the batches' headers and
// writes it.
func (l *Log) summarise(s segment) (*summary, error) {
	file, err := l.cfg.FS.Open(l.segmentName(s.base))
	if err != nil {
		return nil, fmt.Errorf("cannot open a segment of %s: %w", l.cfg.Name, err)
	}
	defer func() { _ = file.Close() }()
	sum, err := l.scan(file, s.base, s.size, false)
	if err != nil {
		return nil, err
	}
	if sum.size < s.size {
		// The segment was completely synced, so this is damage and not a torn end. Nothing after it in this segment can
		// be found.
		l.cfg.Logger.Error("A segment of the log is damaged: its records after the damage are lost, later segments are intact.",
			"partition", l.cfg.Name, "segment", s.base, "whole", sum.size, "size", s.size, "lost_from_offset", sum.end)
		return sum, nil
	}
	sum.producers = l.producers
	if err := writeSummary(l.cfg.FS, l.summaryName(s.base), sum); err != nil {
		l.cfg.Logger.Warn("Cannot write a segment's summary: the next start will read the segment.", "partition", l.cfg.Name, "segment", s.base, "error", err)
	}
	return sum, nil
}

// scan reads a segment up to the first incomplete batch.
func (l *Log) scan(file disk.File, base, size int64, checksum bool) (*summary, error) {
	sum := &summary{base: base, end: base}
	s := newScanner(file, 0, size)
	defer s.free()
	for {
		h, pos, err := s.next(checksum)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errTorn):
			return sum, nil
		case err != nil:
			return nil, fmt.Errorf("cannot read the log of %s: %w", l.cfg.Name, err)
		case h.base < sum.end: // leftover bytes of an earlier write
			return sum, nil
		}
		l.producers.learn(&h)
		sum.add(&h, pos, indexEvery)
	}
}

// openActive opens the last segment for writing. It recovers the segment, unless a clean stop has left its summary.
func (l *Log) openActive(s segment) error {
	file, err := l.cfg.FS.Open(l.segmentName(s.base))
	if err != nil {
		return fmt.Errorf("cannot open a segment of %s: %w", l.cfg.Name, err)
	}
	sum, err := readSummary(l.cfg.FS, l.summaryName(s.base), s.base, s.size)
	if err == nil {
		l.producers, sum.producers = sum.producers, nil
	} else if sum, err = l.recover(file, s); err != nil {
		return errors.Join(fmt.Errorf("cannot continue the log of %s: %w", l.cfg.Name, err), file.Close())
	}
	l.active = &active{newOpenSegment(file, nil), *sum}
	return nil
}

// recover cuts off an incomplete end and syncs data that a kill left unsynced, before any reader sees it: an offset
// that a reader remembers must exist after a power loss. It rewrites everything. The system may count pages as written
// that a failed sync before the kill did not write.
func (l *Log) recover(file disk.File, s segment) (*summary, error) {
	sum, err := l.scan(file, s.base, s.size, true)
	if err != nil {
		return nil, err
	}
	if sum.size < s.size {
		l.cfg.Logger.Warn("The end of the log is incomplete and is cut off: it was never acknowledged.",
			"partition", l.cfg.Name, "offset", sum.end, "bytes", s.size-sum.size)
		if err := file.Truncate(sum.size); err != nil {
			return nil, err
		}
	}
	if err := rewrite(file, 0, sum.size); err != nil {
		return nil, err
	}
	return sum, errors.Join(file.Sync(), l.cfg.FS.SyncDir(l.cfg.Dir))
}
