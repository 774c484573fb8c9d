package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

const (
	filePrefix  = "journal-"
	newSuffix   = ".new"
	ballastName = "ballast"
	// maxFile bounds the bytes that a start reads. Topics and offsets need far less.
	maxFile = 1 << 30

	frameHeader = 8 // length and checksum
	removed     = ^uint32(0)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func entrySize(key string, value []byte) int64 { return int64(frameHeader + 8 + len(key) + len(value)) }

// appendFrame appends a frame with changes. After a crash, all changes of a frame are applied, or none.
func appendFrame(b []byte, entries []Entry) []byte {
	at := len(b)
	b = append(b, make([]byte, frameHeader)...)
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Key)))
		b = append(b, e.Key...)
		if e.Value == nil {
			b = binary.LittleEndian.AppendUint32(b, removed)
			continue
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Value)))
		b = append(b, e.Value...)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-frameHeader))
	binary.LittleEndian.PutUint32(b[at+4:], crc32.Checksum(b[at+frameHeader:], castagnoli))
	return b
}

// readFrame reads the first frame of b. `size` is 0 if the frame is incomplete or
// damaged.
func readFrame(b []byte) (entries []Entry, size int) {
	if len(b) < frameHeader {
		return nil, 0
	}
	length := int(binary.LittleEndian.Uint32(b))
	if length == 0 || length > len(b)-frameHeader {
		return nil, 0
	}
	body := b[frameHeader : frameHeader+length]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return nil, 0
	}
	take := func() ([]byte, bool) {
		if len(body) < 4 {
			return nil, false
		}
		n := binary.LittleEndian.Uint32(body)
		body = body[4:]
		if n == removed {
			return nil, true
		}
		if uint64(n) > uint64(len(body)) {
			return nil, false
		}
		field := append([]byte{}, body[:n]...)
		body = body[n:]
		return field, true
	}
	for len(body) > 0 {
		key, ok := take()
		value, also := take()
		if !ok || !also {
			return nil, 0
		}
		entries = append(entries, Entry{string(key), value})
	}
	return entries, frameHeader + length
}

// Open opens the journal of a directory or creates one.
func Open(cfg Config) (*Journal, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.MinRewrite == 0 {
		cfg.MinRewrite = 4 << 20
	}
	j := &Journal{cfg: cfg, synced: map[string][]byte{}, number: -1}
	old, err := j.findNewest()
	if err != nil {
		return nil, err
	}
	if j.number >= 0 {
		if err := j.load(); err != nil {
			return nil, err
		}
		old = append(old, filepath.Base(j.fileName(j.number)))
	}
	if cfg.Check != nil {
		if err := cfg.Check(j); err != nil {
			return nil, err
		}
	}
	// Rewrite the file at each start. If a sync failed, or a kill interrupted it, its data can be read but may not be
	// on disk. Only a second write makes the data durable.
	err = j.rewrite()
	if full(err) && j.freeBallast() {
		err = j.rewrite()
	}
	if err != nil {
		return nil, err
	}
	for _, name := range old {
		if err := cfg.FS.Remove(filepath.Join(cfg.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot remove an old journal: %w", err)
		}
	}
	j.createBallast()
	return j, nil
}

// findNewest finds the newest file, and returns the names of older files.
func (j *Journal) findNewest() (old []string, err error) {
	entries, err := j.cfg.FS.List(j.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open the journal: %w", err)
	}
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name, filePrefix)
		if !ok {
			continue
		}
		number, err := strconv.ParseInt(digits, 10, 64)
		switch {
		case err != nil: // a rewrite that was not finished
			old = append(old, e.Name)
		case number > j.number:
			if j.number >= 0 {
				old = append(old, filepath.Base(j.fileName(j.number)))
			}
			j.number = number
		default:
			old = append(old, e.Name)
		}
	}
	return old, nil
}

// load reads the newest file.
func (j *Journal) load() error {
	data, err := disk.ReadFile(j.cfg.FS, j.fileName(j.number), maxFile)
	if err != nil {
		return fmt.Errorf("cannot read the journal: %w: %s", err, j.WayOut())
	}
	total := len(data)
	for len(data) > 0 {
		entries, size := readFrame(data)
		if size == 0 {
			if at := syncedUpTo(data); at > 0 {
				return j.damaged(total-len(data), at)
			}
			j.cfg.Logger.Warn("The end of the journal is incomplete and is ignored: nothing shows that it was synced.",
				"bytes", len(data))
			return nil
		}
		j.apply(entries)
		data = data[size:]
	}
	return nil
}

// ErrDamaged is wrapped by the error of Open if the journal is damaged.
var ErrDamaged = errors.New("the journal is damaged")

// damaged returns the error with which Open refuses a damaged journal. Without the damaged entries, the broker would
// delete topics that it does not know, and assign offsets a second time.
func (j *Journal) damaged(at, bytes int) error {
	return fmt.Errorf("%w: %d bytes at %d of %s are not as they were written: %s",
		ErrDamaged, bytes, at, j.fileName(j.number), j.WayOut())
}

// WayOut returns the advice for an operator whose journal cannot be read.
func (j *Journal) WayOut() string {
	return fmt.Sprintf("put back a copy of the whole directory %s, or move that directory away and start with an "+
		"empty log (octavo serve --accept-loss kafka), without the events that were not stored yet", j.cfg.Dir)
}

// syncedMark is the first entry of a frame that was written after all earlier frames were synced. A power cut may
// damage an unsynced frame while the next frame is good. But then the next frame has no mark.
var syncedMark = Entry{}

// syncedUpTo returns the position of the first good frame with a mark after b's beginning, or 0 if b has no such frame.
func syncedUpTo(b []byte) int {
	for at := 1; len(b)-at > frameHeader; at++ {
		if entries, _ := readFrame(b[at:]); len(entries) > 0 && entries[0].Key == "" && entries[0].Value == nil {
			return at
		}
	}
	return 0
}

// rewrite writes the synced entries to a new file, which becomes the journal.
func (j *Journal) rewrite() error {
	name := j.fileName(j.number+1) + newSuffix
	file, err := j.cfg.FS.Create(name)
	if err != nil {
		if err = j.cfg.FS.Remove(name); err == nil {
			file, err = j.cfg.FS.Create(name)
		}
		if err != nil {
			return fmt.Errorf("cannot rewrite the journal: %w", err)
		}
	}
	size, err := j.writeAll(file)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = j.cfg.FS.Rename(name, j.fileName(j.number+1))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot rewrite the journal: %w", err), file.Close(), j.cfg.FS.Remove(name))
	}
	// From this point, the next start reads the new file. So the journal continues with the new file even after a
	// failure.
	old, oldNumber := j.file, j.number
	j.file, j.number, j.size, j.broken = file, j.number+1, size, true
	if err := j.cfg.FS.SyncDir(j.cfg.Dir); err != nil {
		return fmt.Errorf("cannot sync the journal's directory: %w", err)
	}
	j.broken = false
	if old != nil {
		_ = old.Close()
		if err := j.cfg.FS.Remove(j.fileName(oldNumber)); err != nil {
			j.cfg.Logger.Warn("Cannot remove an old journal.", "error", err)
		}
	}
	return nil
}

func (j *Journal) writeAll(file disk.File) (size int64, err error) {
	var b []byte
	flush := func() {
		if err == nil {
			_, err = file.WriteAt(b, size)
			size += int64(len(b))
			b = b[:0]
		}
	}
	j.mu.Lock()
	synced := make([]Entry, 0, len(j.synced))
	for key, value := range j.synced {
		synced = append(synced, Entry{key, value})
	}
	j.mu.Unlock()
	// The whole file is synced before it becomes the journal. So each of its frames begins with a mark, and a frame
	// with only a mark follows the last entry.
	for _, e := range synced {
		if b = appendFrame(b, []Entry{syncedMark, e}); len(b) > 1<<20 {
			flush()
		}
	}
	b = appendFrame(b, []Entry{syncedMark})
	flush()
	return size, err
}

// createBallast creates the ballast. A failure is not an error, because the journal works without the ballast.
func (j *Journal) createBallast() {
	name := filepath.Join(j.cfg.Dir, ballastName)
	if there, err := disk.Exists(j.cfg.FS, name); j.cfg.Ballast == 0 || there || err != nil {
		return
	}
	file, err := j.cfg.FS.Create(name)
	if err != nil {
		return
	}
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < j.cfg.Ballast && err == nil; at += int64(len(zeros)) {
		_, err = file.WriteAt(zeros[:min(int64(len(zeros)), j.cfg.Ballast-at)], at)
	}
	if err == nil {
		err = file.Sync()
	}
	_ = file.Close()
	if err != nil {
		_ = j.cfg.FS.Remove(name)
	}
}

func (j *Journal) freeBallast() bool {
	if j.cfg.FS.Remove(filepath.Join(j.cfg.Dir, ballastName)) != nil {
		return false
	}
	j.ballastFreed.Store(true)
	j.cfg.Logger.Error("The disk is full: the journal's reserve was freed, so that commits can continue.")
	return true
}

// RestoreBallast creates the ballast again if it was deleted and there is room.
func (j *Journal) RestoreBallast(room bool) {
	if room && j.ballastFreed.CompareAndSwap(true, false) {
		j.createBallast()
	}
}
