package takeover

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

// maxBatch limits a batch, far above what any topic accepted.
const maxBatch = 128 << 20

// oldSnapshot is a partition's snapshot.json, which a clean stop writes.
type oldSnapshot struct {
	LogStartOffset int64 `json:"log_start_offset"`
}

// partition copies a partition, batch by batch.
func (cfg *Config) partition(from, to, topic, id string, partition int) (batches int, start int64, err error) {
	dir := filepath.Join(from, "partitions", fmt.Sprintf("%s-%d", url.PathEscape(topic), partition))
	entries, err := cfg.FS.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, 0, err
	}
	var bases []int64
	for _, e := range entries {
		if digits, ok := strings.CutSuffix(e.Name, ".dat"); ok && e.Size > 0 {
			if base, err := strconv.ParseInt(digits, 10, 64); err == nil {
				bases = append(bases, base)
			}
		}
		if e.Name == "snapshot.json" {
			if start, err = snapshotStart(cfg.FS, filepath.Join(dir, e.Name)); err != nil {
				cfg.Logger.Warn("Cannot read a partition's snapshot; its records are taken over without it.", "topic", topic, "partition", partition, "error", err)
			}
		}
	}
	slices.Sort(bases)
	if len(bases) > 0 {
		start = max(start, bases[0])
	}
	name := topic + "/" + strconv.Itoa(partition)
	target := filepath.Join(to, topicsName, id, strconv.Itoa(partition))
	if err := disk.MakeDir(cfg.FS, to, target); err != nil {
		return 0, 0, err
	}
	l, err := seglog.Open(cfg.logConfig(target, name, start))
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	var buffer []byte
	for _, base := range bases {
		n, err := cfg.segment(filepath.Join(dir, fmt.Sprintf("%d.dat", base)), l, start, &buffer)
		if err != nil {
			return 0, 0, err
		}
		batches += n
	}
	return batches, start, l.Sync()
}

func snapshotStart(f disk.FS, name string) (int64, error) {
	data, err := disk.ReadFile(f, name, maxJSON)
	if err != nil {
		return 0, err
	}
	var s oldSnapshot
	if err := json.Unmarshal(data, &s, asOldBroker); err != nil {
		return 0, err
	}
	return max(0, s.LogStartOffset), nil
}

// segment copies the batches of one file up to the first incomplete one, which is also where the old broker stopped
// reading.
func (cfg *Config) segment(name string, l *seglog.Log, start int64, buffer *[]byte) (batches int, err error) {
	file, err := cfg.FS.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	size, err := file.Size()
	if err != nil {
		return 0, err
	}
	pos := int64(0)
	for pos < size {
		b, err := readBatch(file, pos, size, buffer)
		if err != nil {
			return 0, err
		}
		if b == nil {
			cfg.Logger.Warn("The end of an old segment is incomplete and is ignored: it was never acknowledged.", "file", name, "bytes", size-pos)
			break
		}
		pos += int64(len(b))
		_, last, err := seglog.CheckBatch(b)
		if err != nil {
			return 0, err
		}
		if last < start {
			continue
		}
		if err := l.Import(b); err != nil {
			return 0, err
		}
		batches++
	}
	return batches, nil
}

// readBatch reads the batch at pos. It returns nil if the batch is incomplete.
func readBatch(file disk.File, pos, size int64, buffer *[]byte) ([]byte, error) {
	var head [12]byte
	if size-pos < int64(len(head)) {
		return nil, nil
	}
	if _, err := file.ReadAt(head[:], pos); err != nil {
		return nil, err
	}
	length := int64(len(head)) + int64(int32(binary.BigEndian.Uint32(head[8:])))
	if length < int64(len(head)) || length > min(size-pos, maxBatch) {
		return nil, nil
	}
	*buffer = slices.Grow((*buffer)[:0], int(length))[:length]
	if n, err := file.ReadAt(*buffer, pos); n < int(length) {
		return nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	if n, _, err := seglog.CheckBatch(*buffer); err == nil && int64(n) == length {
		return *buffer, nil
	}
	return nil, nil // a torn end
}

// oldCommit is an entry of groups.log.
type oldCommit struct {
	Type      string  `json:"type"`
	Group     string  `json:"g"`
	Topic     string  `json:"t"`
	Partition int32   `json:"p"`
	Offset    int64   `json:"o"`
	Epoch     int32   `json:"e"`
	Metadata  *string `json:"m"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// oldEntryHeader is the size of an entry's length and checksum. The length
// includes the version that follows.
const oldEntryHeader = 8

// readGroups reads the last committed offset of each group and partition.
func readGroups(f disk.FS, name string, logger *slog.Logger) ([]oldCommit, error) {
	there, err := disk.Exists(f, name)
	if err != nil || !there {
		return nil, err
	}
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	type place struct {
		group, topic string
		partition    int32
	}
	latest := map[place]oldCommit{}
	for pos := int64(0); pos < size; {
		c, n, err := readEntry(file, pos, size)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			logger.Warn("The end of the old groups.log is incomplete and is ignored.", "bytes", size-pos)
			break
		}
		pos += n
		at := place{c.Group, c.Topic, c.Partition}
		switch c.Type {
		case "commit":
			latest[at] = c
		case "delete":
			delete(latest, at)
		}
	}
	list := make([]oldCommit, 0, len(latest))
	for _, c := range latest {
		list = append(list, c)
	}
	return list, nil
}

// readEntry reads one entry. n is 0 if it is incomplete.
func readEntry(file disk.File, pos, size int64) (c oldCommit, n int64, err error) {
	var head [oldEntryHeader]byte
	if size-pos < oldEntryHeader {
		return c, 0, nil
	}
	if _, err := file.ReadAt(head[:], pos); err != nil {
		return c, 0, err
	}
	length := int64(binary.LittleEndian.Uint32(head[:]))
	if length < 2 || length > min(size-pos-oldEntryHeader, maxJSON) {
		return c, 0, nil
	}
	body := make([]byte, length)
	if got, err := file.ReadAt(body, pos+oldEntryHeader); got < len(body) {
		return c, 0, errors.Join(err, io.ErrUnexpectedEOF)
	}
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return c, 0, nil
	}
	if version := binary.LittleEndian.Uint16(body); version != oldVersion {
		return c, 0, fmt.Errorf("unsupported entry version %d", version)
	}
	if err := json.Unmarshal(body[2:], &c, asOldBroker); err != nil {
		return c, 0, err
	}
	return c, oldEntryHeader + length, nil
}
