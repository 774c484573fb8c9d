package kafkaserver

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/group"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
)

const dataName = "broker" // the broker's folder in the data directory

// broker has the topics, the groups and the state of the disk space.
type broker struct {
	cfg     *Config
	dir     string
	journal *journal.Journal
	groups  *group.Manager
	space   *space

	mu     sync.RWMutex
	topics map[string]*topic
	// `making` is held while topics are created, changed or deleted, and while `clean` runs.
	making sync.Mutex
	clock  clockFile

	producers producerIDs
	stopping  chan struct{}
	workers   sync.WaitGroup
}

// open opens the data directory.
func open(cfg *Config) (*broker, error) {
	dir := filepath.Join(cfg.DataDir, dataName)
	if err := disk.MakeDir(cfg.fs, cfg.DataDir, filepath.Join(dir, topicsName)); err != nil {
		return nil, err
	}
	b := &broker{cfg: cfg, dir: dir, topics: map[string]*topic{}, stopping: make(chan struct{})}
	j, err := journal.Open(journal.Config{
		FS: cfg.fs, Dir: dir, Logger: cfg.Logger, Ballast: cfg.ballast, Check: b.checkTopics,
	})
	if err != nil {
		return nil, err
	}
	b.journal, b.producers.journal = j, j
	b.groups = group.New(j, b, cfg.Logger)
	if err := b.load(); err != nil {
		b.closeLogs()
		j.Close()
		return nil, err
	}
	b.space = newSpace(b)
	return b, nil
}

// start starts the background work.
func (b *broker) start() { b.workers.Go(b.maintain) }

// close stops the background work and closes the logs. No request may be in
// progress.
func (b *broker) close() {
	close(b.stopping)
	b.workers.Wait()
	b.closeLogs()
	b.noteEnds()
	b.journal.Close()
}

// noteEnds writes the ends of the logs to the journal, so that the next start can detect offsets lost by damage. The
// logs must be closed.
func (b *broker) noteEnds() {
	var entries []journal.Entry
	for _, t := range b.list() {
		for partition, l := range t.partitions() {
			if _, end := l.Offsets(); end != b.offset(endEntry(t.id, partition, 0).Key) {
				entries = append(entries, endEntry(t.id, partition, end))
			}
		}
	}
	if len(entries) == 0 {
		return
	}
	if err := b.journal.Put(entries...); err != nil {
		b.cfg.Logger.Warn("Cannot note the ends of the logs.", "error", err)
	}
}

// offset returns the offset that the journal has for a key, or 0 if it has none.
func (b *broker) offset(key string) (offset int64) {
	if value, ok := b.journal.Get(key); ok {
		offset, _ = strconv.ParseInt(string(value), 10, 64) // the broker wrote a valid number
	}
	return offset
}

func (b *broker) closeLogs() {
	for _, t := range b.list() {
		t.close()
	}
}

// list returns all topics.
func (b *broker) list() []*topic {
	b.mu.RLock()
	defer b.mu.RUnlock()
	list := make([]*topic, 0, len(b.topics))
	for _, t := range b.topics {
		list = append(list, t)
	}
	return list
}

func (b *broker) topic(name string) *topic {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.topics[name]
}

// Topic implements group.Topics.
func (b *broker) Topic(name string) (id string, partitions int, ok bool) {
	t := b.topic(name)
	if t == nil {
		return "", 0, false
	}
	return t.id, len(t.partitions()), true
}

// load opens the topics in the journal, and removes the files of topics that were deleted, or were not created
// completely.
func (b *broker) load() error {
	var errs []error
	known := map[string]bool{}
	b.journal.Each(topicPrefix, func(key string, value []byte) {
		t, err := b.openTopic(key[len(topicPrefix):], value)
		if err != nil {
			errs = append(errs, err)
			return
		}
		known[t.id] = true
		b.topics[t.name] = t
		for _, l := range t.partitions() {
			b.producers.least = max(b.producers.least, l.LastProducer()+1)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	dir := filepath.Join(b.dir, topicsName)
	entries, err := b.cfg.fs.List(dir)
	if err != nil {
		return fmt.Errorf("cannot list topics: %w", err)
	}
	for _, e := range entries {
		if e.Dir && !known[e.Name] {
			b.cfg.Logger.Info("Removing the files of a deleted or half-created topic.", "directory", e.Name)
			if err := b.cfg.fs.RemoveAll(filepath.Join(dir, e.Name)); err != nil {
				return fmt.Errorf("cannot remove the files of a deleted or half-created topic: %w", err)
			}
		}
	}
	return b.forgetDeleted(entries)
}

// checkTopics refuses a journal that lacks a topic whose folder has messages, unless the topic was deleted.
func (b *broker) checkTopics(j *journal.Journal) error {
	known := map[string]bool{}
	j.Each(topicPrefix, func(_ string, value []byte) {
		var e topicEntry
		if json.Unmarshal(value, &e) == nil { // load returns the error
			known[e.ID] = true
		}
	})
	dir := filepath.Join(b.dir, topicsName)
	entries, err := b.cfg.fs.List(dir)
	if err != nil {
		return fmt.Errorf("cannot list topics: %w", err)
	}
	for _, e := range entries {
		if _, deleted := j.Get(deletedPrefix + e.Name); !e.Dir || known[e.Name] || deleted {
			continue
		}
		filled, err := b.hasMessages(filepath.Join(dir, e.Name))
		if err != nil {
			return fmt.Errorf("cannot list the files of a topic: %w", err)
		}
		if filled {
			return fmt.Errorf("%w: it lacks the topic whose messages are in %s: %s; if that topic was deleted, move "+
				"its folder away", journal.ErrDamaged, filepath.Join(dir, e.Name), j.WayOut())
		}
	}
	return nil
}

// hasMessages reports whether a partition of a topic's folder has a segment that is not empty.
func (b *broker) hasMessages(dir string) (bool, error) {
	partitions, err := b.cfg.fs.List(dir)
	for _, p := range partitions {
		if err != nil || !p.Dir {
			continue
		}
		var files []disk.Entry
		files, err = b.cfg.fs.List(filepath.Join(dir, p.Name))
		for _, f := range files {
			if strings.HasSuffix(f.Name, ".log") && f.Size > 0 {
				return true, nil
			}
		}
	}
	return false, err
}

// forgetDeleted removes, from the journal, the entries of deleted topics whose folders no longer exist.
func (b *broker) forgetDeleted(folders []disk.Entry) error {
	var entries []journal.Entry
	b.journal.Each(deletedPrefix, func(key string, _ []byte) {
		if !slices.ContainsFunc(folders, func(e disk.Entry) bool { return deletedPrefix+e.Name == key }) {
			entries = append(entries, journal.Entry{Key: key})
		}
	})
	if len(entries) == 0 {
		return nil
	}
	// A power cut could bring back a folder whose removal is not synced.
	if err := b.cfg.fs.SyncDir(filepath.Join(b.dir, topicsName)); err != nil {
		return fmt.Errorf("cannot sync the folder of topics: %w", err)
	}
	return b.journal.Put(entries...)
}
