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

// Open opens a partition's log, or begins it. Of the last segment it cuts off what is not whole.
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
	// One without content was begun last, or its begin failed and the segment before went on: then it is that one's offsets that count.
	for i := len(found) - 1; i >= 0 && len(found) > 1; i-- {
		if found[i].size == 0 {
			if err := l.remove(found[i].base); err != nil {
				return nil, err
			}
			found = slices.Delete(found, i, i+1)
		}
	}
	for len(found) > 1 && found[1].base <= l.start {
		// A removal that a power cut took back, or a stop before it.
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
	if err := l.roll(l.start); err != nil {
		return err
	}
	return l.Trim(l.start)
}

// addSealed takes a full segment in, by its summary if that is of this file.
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

// summarise reads the headers of a full segment and writes its summary.
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
		// It was synced as a whole, so this is damage, not a torn end. What lies behind it in this segment cannot be found.
		l.cfg.Logger.Error("A segment of the log is damaged: what lies behind the damage is lost, the next segments are there.",
			"partition", l.cfg.Name, "segment", s.base, "whole", sum.size, "size", s.size, "lost_from_offset", sum.end)
		return sum, nil
	}
	sum.producers = l.producers
	if err := writeSummary(l.cfg.FS, l.summaryName(s.base), sum); err != nil {
		l.cfg.Logger.Warn("A segment's summary cannot be written: the next start reads the segment.", "partition", l.cfg.Name, "segment", s.base, "error", err)
	}
	return sum, nil
}

// scan goes through a segment up to the first batch that is not whole.
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
		case h.base < sum.end: // bytes of before
			return sum, nil
		}
		l.producers.learn(&h)
		sum.add(&h, pos, indexEvery)
	}
}

// openActive checks the last segment and goes on with it, unless a clean stop has left its summary.
func (l *Log) openActive(s segment) error {
	file, err := l.cfg.FS.Open(l.segmentName(s.base))
	if err != nil {
		return fmt.Errorf("cannot open a segment of %s: %w", l.cfg.Name, err)
	}
	sum, err := readSummary(l.cfg.FS, l.summaryName(s.base), s.base, s.size)
	if err == nil {
		l.producers, sum.producers = sum.producers, nil
	} else if sum, err = l.recover(file, s); err != nil {
		return errors.Join(fmt.Errorf("cannot go on with the log of %s: %w", l.cfg.Name, err), file.Close())
	}
	l.active = &active{newOpenSegment(file, nil), *sum}
	return nil
}

// recover cuts off what is not whole, and syncs what a kill left there unsynced before anybody reads it: a reader that remembers an
// offset must find it after a power cut. All is written once more, because the system may take for written what a sync that failed
// before the kill did not write.
func (l *Log) recover(file disk.File, s segment) (*summary, error) {
	sum, err := l.scan(file, s.base, s.size, true)
	if err != nil {
		return nil, err
	}
	if sum.size < s.size {
		l.cfg.Logger.Warn("The end of the log was not whole and is cut off: it was never acknowledged.",
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
