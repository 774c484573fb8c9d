package seglog

import (
	"errors"
	"fmt"
	"io"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// page is a size that is at least as large as the system's unit of disk writes.
const page = 64 << 10

// undo removes a failed write. No part of the write was synced, so truncating the file is enough. If the truncation
// fails too, the log is broken.
func (l *Log) undo() {
	if err := l.active.file.Truncate(l.active.sum.size); err != nil {
		l.broken = true
	}
}

// repair makes a log usable again after a failed sync. After such a failure, the system may treat unwritten pages as
// written. So `repair` verifies the synced data. It rewrites and syncs the pages that also contain unsynced data. Then
// it begins a new file. The caller holds `writing`.
func (l *Log) repair() error {
	if !l.broken {
		return nil
	}
	if err := l.rewriteEnd(); err != nil {
		return l.storageError("repair the log", err)
	}
	if l.active.sum.size > 0 {
		if err := l.roll(l.active.sum.end); err != nil {
			return err
		}
	}
	l.broken = false
	l.cfg.Logger.Info("The log works again.", "partition", l.cfg.Name, "offset", l.active.sum.end)
	return nil
}

func (l *Log) rewriteEnd() error {
	sum := &l.active.sum
	// A new descriptor may show errors that the old descriptor hides.
	file, err := l.cfg.FS.Open(l.segmentName(sum.base))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := file.Truncate(sum.size); err != nil {
		return err
	}
	from := max(0, sum.size-page) / page * page
	// Begin with the first batch that has a part in these pages.
	at := position{sum.base, 0, sum.size}
	for _, m := range sum.marks {
		if m.pos <= from {
			at.offset, at.pos = m.offset, m.pos
		}
	}
	s := l.newScanner(file, at, sum.end)
	defer s.free()
	for {
		if _, _, err := s.next(true); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("cannot read previously synced data: %w", err)
		}
	}
	if err := rewrite(file, from, sum.size); err != nil {
		return err
	}
	return file.Sync()
}

// rewrite writes a part of a file again with the same content, so that the next sync stores it.
func rewrite(file disk.File, from, to int64) error {
	window := windows.Get().(*[scanWindow]byte)
	defer windows.Put(window)
	for from < to {
		b := window[:min(to-from, scanWindow)]
		if n, err := file.ReadAt(b, from); n < len(b) {
			return errors.Join(err, io.ErrUnexpectedEOF)
		}
		if _, err := file.WriteAt(b, from); err != nil {
			return err
		}
		from += int64(len(b))
	}
	return nil
}
