package kafkaserver

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/group"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

const (
	topicsName  = "topics"
	topicPrefix = "topic/"
	startPrefix = "start/"
	// An entry with endPrefix has the end of a partition's log at the last clean stop.
	endPrefix = "end/"
	// An entry with deletedPrefix names a deleted topic. Some of its files may still exist.
	deletedPrefix = "deleted/"
	// maxPartitions limits the partitions of a topic, because each partition needs a directory and an open file.
	maxPartitions = 10_000
	maxTopicName  = 249
)

// topic is a topic with the logs of its partitions.
type topic struct {
	name, id string
	broker   *broker
	logs     atomic.Pointer[[]*seglog.Log]
	settings atomic.Pointer[settings]

	mu      sync.Mutex
	configs map[string]string // the configs that a client has set
}

// topicEntry is the journal's value of a topic.
type topicEntry struct {
	ID         string            `json:"id"`
	Partitions int               `json:"partitions"`
	Configs    map[string]string `json:"configs,omitempty"`
}

func (e topicEntry) entry(name string) journal.Entry {
	value, err := json.Marshal(e, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		panic(err) // cannot fail: the entry has only strings and numbers
	}
	return journal.Entry{Key: topicPrefix + name, Value: value}
}

func startEntry(id string, partition int, offset int64) journal.Entry {
	return journal.Entry{Key: startPrefix + id + "/" + strconv.Itoa(partition), Value: strconv.AppendInt(nil, offset, 10)}
}

func endEntry(id string, partition int, offset int64) journal.Entry {
	return journal.Entry{Key: endPrefix + id + "/" + strconv.Itoa(partition), Value: strconv.AppendInt(nil, offset, 10)}
}

func newTopicID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand does not fail
	return hex.EncodeToString(b[:])
}

func validTopicName(name string) bool {
	if name == "" || len(name) > maxTopicName || name == "." || name == ".." {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func (t *topic) partitions() []*seglog.Log { return *t.logs.Load() }

// log returns a partition's log, or nil if there is no such partition.
func (t *topic) log(partition int32) *seglog.Log {
	logs := t.partitions()
	if partition < 0 || int(partition) >= len(logs) {
		return nil
	}
	return logs[partition]
}

func (t *topic) close() {
	for _, l := range t.partitions() {
		l.Close()
	}
}

func (t *topic) dir() string { return filepath.Join(t.broker.dir, topicsName, t.id) }

// openTopic opens a topic from its journal entry.
func (b *broker) openTopic(name string, value []byte) (*topic, error) {
	var e topicEntry
	if err := json.Unmarshal(value, &e); err != nil {
		return nil, fmt.Errorf("cannot read the journal's entry of topic %s: %w", name, err)
	}
	t := &topic{name: name, id: e.ID, broker: b, configs: e.Configs}
	s, err := parse(e.Configs)
	if err != nil {
		return nil, fmt.Errorf("cannot read the journal's entry of topic %s: %w", name, err)
	}
	t.settings.Store(&s)
	logs, err := t.openLogs(nil, e.Partitions)
	if err != nil {
		return nil, err
	}
	t.logs.Store(&logs)
	return t, nil
}

// openLogs opens or creates the logs of the partitions from len(logs) to `count`, and appends them to `logs`.
func (t *topic) openLogs(logs []*seglog.Log, count int) ([]*seglog.Log, error) {
	b := t.broker
	had := len(logs)
	known := map[int32]int64{} // offsets that groups have committed
	b.groups.EachCommit(func(_, _ string, partition int32, c group.Commit) {
		if c.TopicID == t.id {
			known[partition] = max(known[partition], c.Offset)
		}
	})
	logs = append(make([]*seglog.Log, 0, count), logs...)
	for partition := had; partition < count; partition++ {
		dir := filepath.Join(t.dir(), strconv.Itoa(partition))
		l, err := func() (*seglog.Log, error) {
			if err := disk.MakeDir(b.cfg.fs, b.dir, dir); err != nil {
				return nil, err
			}
			start := b.offset(startEntry(t.id, partition, 0).Key)
			reached := max(known[int32(partition)], b.offset(endEntry(t.id, partition, 0).Key))
			return seglog.Open(seglog.Config{
				FS: b.cfg.fs, Dir: dir, Name: t.name + "/" + strconv.Itoa(partition), Logger: b.cfg.Logger,
				Identity:     t.id + "/" + strconv.Itoa(partition),
				SegmentBytes: b.cfg.SegmentBytes, Start: start, Known: reached,
			})
		}()
		if err != nil {
			for _, l := range logs[had:] {
				l.Close()
			}
			return nil, fmt.Errorf("cannot open partition %d of topic %s: %w", partition, t.name, err)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// create creates a topic. Clients see the topic as soon as the journal has its entry. If validateOnly is set, `create`
// only validates the request.
func (b *broker) create(name string, partitions int, configs map[string]string, validateOnly bool) (*topic, *apiError) {
	b.making.Lock()
	defer b.making.Unlock()
	s, err := parse(configs)
	switch {
	case !validTopicName(name):
		return nil, failed(errInvalidTopic, "a topic's name must have 1 to %d letters, digits, '.', '_' or '-'", maxTopicName)
	case b.topic(name) != nil:
		return nil, failed(errTopicExists, "topic %s already exists", name)
	case partitions < 1 || partitions > maxPartitions:
		return nil, failed(errInvalidPartitions, "a topic must have 1 to %d partitions", maxPartitions)
	case err != nil:
		return nil, failed(errInvalidConfig, "%v", err)
	case validateOnly:
		return nil, nil
	}
	t := &topic{name: name, id: newTopicID(), broker: b, configs: configs}
	t.settings.Store(&s)
	logs, err := t.openLogs(nil, partitions)
	if err == nil {
		t.logs.Store(&logs)
		if err = b.journal.Put(topicEntry{t.id, partitions, configs}.entry(name)); err != nil {
			t.close()
		}
	}
	if err != nil {
		b.cfg.Logger.Error("Cannot create a topic.", "topic", name, "error", err)
		_ = b.cfg.fs.RemoveAll(t.dir()) // if this fails, the next start removes the files
		return nil, failed(errStorage, "the disk failed")
	}
	b.mu.Lock()
	b.topics[name] = t
	b.mu.Unlock()
	return t, nil
}

// remove deletes a topic. Committed offsets stay. They have the topic's id, so a group recognizes a later topic of the
// same name as a different topic.
func (b *broker) remove(name string) *apiError {
	b.making.Lock()
	defer b.making.Unlock()
	t := b.topic(name)
	if t == nil {
		return failed(errUnknownTopic, "there is no topic %s", name)
	}
	entries := []journal.Entry{{Key: topicPrefix + name}, {Key: deletedPrefix + t.id, Value: []byte{1}}}
	for _, prefix := range []string{startPrefix, endPrefix} {
		b.journal.Each(prefix+t.id+"/", func(key string, _ []byte) {
			entries = append(entries, journal.Entry{Key: key})
		})
	}
	if err := b.journal.Put(entries...); err != nil {
		return failed(errStorage, "the disk failed")
	}
	b.mu.Lock()
	delete(b.topics, name)
	b.mu.Unlock()
	t.close()
	if err := b.cfg.fs.RemoveAll(t.dir()); err != nil {
		b.cfg.Logger.Warn("Cannot remove the files of a deleted topic; the next start tries again.", "topic", name, "error", err)
	}
	return nil
}

// grow adds partitions to a topic.
func (b *broker) grow(t *topic, count int) *apiError {
	b.making.Lock()
	defer b.making.Unlock()
	had := t.partitions()
	if count <= len(had) || count > maxPartitions {
		return failed(errInvalidPartitions, "topic %s has %d partitions; the new number must be larger and at most %d", t.name, len(had), maxPartitions)
	}
	logs, err := t.openLogs(had, count)
	if err == nil {
		t.mu.Lock()
		configs := t.configs
		t.mu.Unlock()
		if err = b.journal.Put(topicEntry{t.id, count, configs}.entry(t.name)); err != nil {
			for _, l := range logs[len(had):] {
				l.Close()
			}
		}
	}
	if err != nil {
		b.cfg.Logger.Error("Cannot add partitions to a topic.", "topic", t.name, "error", err)
		return failed(errStorage, "the disk failed")
	}
	t.logs.Store(&logs)
	return nil
}

// trim removes a partition's records before an offset. It writes the offset to the journal first. So records that
// reappear after a power loss are removed again.
func (t *topic) trim(partition int, to int64) error {
	if err := t.broker.journal.Put(startEntry(t.id, partition, to)); err != nil {
		return err
	}
	return t.partitions()[partition].Trim(to)
}

// DamagedFiles returns the number of .damaged files in a data directory. They have the damaged bytes of logs.
func DamagedFiles(dataDir string) int {
	names, _ := filepath.Glob(filepath.Join(dataDir, dataName, topicsName, "*", "*", "*"+seglog.DamagedSuffix))
	return len(names)
}
