package kafkaserver

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/group"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
)

const dataName = "broker" // in the data directory

// broker holds the topics, the groups and the state of the disk space.
type broker struct {
	cfg     *Config
	dir     string
	journal *journal.Journal
	groups  *group.Manager
	space   *space

	mu     sync.RWMutex
	topics map[string]*topic
	// making is held while topics are created, changed or deleted.
	making sync.Mutex

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
	j, err := journal.Open(journal.Config{FS: cfg.fs, Dir: dir, Logger: cfg.Logger, Ballast: cfg.ballast})
	if err != nil {
		return nil, err
	}
	b := &broker{cfg: cfg, dir: dir, journal: j, topics: map[string]*topic{}, stopping: make(chan struct{})}
	b.producers.journal = j
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
	b.journal.Close()
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

// load opens the topics in the journal and removes the files of all others.
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
	return nil
}
