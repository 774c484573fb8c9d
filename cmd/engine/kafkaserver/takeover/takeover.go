package takeover

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/group"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

const (
	oldName    = "log"
	keptName   = "log.taken-over"
	unfinished = ".importing"
	markName   = "settled" // in the new directory: the takeover is complete
	topicsName = "topics"
	spareBytes = 64 << 20 // required in addition to the log's size
	maxJSON    = 64 << 20
)

// Config of a takeover.
type Config struct {
	FS           disk.FS
	DataDir      string
	Name         string // of the new directory in DataDir
	Logger       *slog.Logger
	SegmentBytes int64
	// TopicEntry returns the journal's entries for a topic.
	TopicEntry func(name, id string, partitions int, starts []int64, configs map[string]string) []journal.Entry
}

// Run takes over old data, if there is any that has not been taken over.
func Run(cfg Config) error {
	target := filepath.Join(cfg.DataDir, cfg.Name)
	mark := filepath.Join(target, markName)
	settled, err := disk.Exists(cfg.FS, mark)
	if err != nil {
		return fmt.Errorf("cannot inspect the data directory: %w", err)
	}
	old, err := disk.Exists(cfg.FS, filepath.Join(cfg.DataDir, oldName))
	if err != nil {
		return fmt.Errorf("cannot inspect the data directory: %w", err)
	}
	if settled {
		if old {
			return fmt.Errorf("an older version has run on %s after this one: the events that it accepted are in %s and would be lost. "+
				"To keep them and drop this version's log, move %s away; to drop them, move %s away",
				cfg.DataDir, filepath.Join(cfg.DataDir, oldName), target, filepath.Join(cfg.DataDir, oldName))
		}
		return nil
	}
	made, err := disk.Exists(cfg.FS, target)
	if err != nil {
		return fmt.Errorf("cannot inspect the data directory: %w", err)
	}
	if old && !made {
		if err := cfg.build(target); err != nil {
			return fmt.Errorf("cannot take over the log in %s: %w", filepath.Join(cfg.DataDir, oldName), err)
		}
	}
	if err := disk.MakeDir(cfg.FS, cfg.DataDir, target); err != nil {
		return fmt.Errorf("cannot create %s: %w", target, err)
	}
	if old {
		if err := cfg.keepOld(); err != nil {
			return fmt.Errorf("cannot rename the old log: %w", err)
		}
	}
	file, err := cfg.FS.Create(mark)
	if err == nil {
		err = errors.Join(file.Sync(), file.Close(), cfg.FS.SyncDir(target))
	}
	if err != nil {
		return fmt.Errorf("cannot mark %s: %w", target, err)
	}
	return nil
}

// keepOld renames the old directory, so that later starts ignore it.
func (cfg *Config) keepOld() error {
	from := filepath.Join(cfg.DataDir, oldName)
	to := filepath.Join(cfg.DataDir, keptName)
	for n := 2; ; n++ {
		taken, err := disk.Exists(cfg.FS, to)
		if err != nil {
			return err
		}
		if !taken {
			break
		}
		to = filepath.Join(cfg.DataDir, fmt.Sprintf("%s.%d", keptName, n))
	}
	if err := errors.Join(cfg.FS.Rename(from, to), cfg.FS.SyncDir(cfg.DataDir)); err != nil {
		return err
	}
	cfg.Logger.Info("The log of the previous version was taken over. Its directory is no longer needed and may be removed.", "directory", to)
	return nil
}

// build writes the new directory and renames it to target.
func (cfg *Config) build(target string) error {
	began := time.Now()
	from, to := filepath.Join(cfg.DataDir, oldName), target+unfinished
	size, err := sizeOf(cfg.FS, from)
	if err != nil {
		return err
	}
	if err := cfg.FS.RemoveAll(to); err != nil {
		return err
	}
	free, _, err := cfg.FS.Free(cfg.DataDir)
	if err != nil {
		return err
	}
	if free < size+spareBytes {
		return fmt.Errorf("copying it needs %d bytes but the disk has only %d free: free some space and start again", size+spareBytes, free)
	}
	cfg.Logger.Info("Taking over the log of the previous version.", "directory", from, "bytes", size)
	if err := disk.MakeDir(cfg.FS, cfg.DataDir, filepath.Join(to, topicsName)); err != nil {
		return err
	}
	j, err := journal.Open(journal.Config{FS: cfg.FS, Dir: to, Logger: cfg.Logger})
	if err != nil {
		return err
	}
	batches, err := cfg.topics(from, to, j)
	j.Close()
	if err != nil {
		return err
	}
	if err := errors.Join(cfg.FS.Rename(to, target), cfg.FS.SyncDir(cfg.DataDir)); err != nil {
		return err
	}
	cfg.Logger.Info("The log of the previous version was copied.", "batches", batches, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

func sizeOf(f disk.FS, dir string) (int64, error) {
	entries, err := f.List(dir)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for _, e := range entries {
		total += e.Size
		if e.Dir {
			size, err := sizeOf(f, filepath.Join(dir, e.Name))
			if err != nil {
				return 0, err
			}
			total += size
		}
	}
	return total, nil
}

// oldTopics is topics.json.
type oldTopics struct {
	Version int `json:"version"`
	Topics  []struct {
		Name       string            `json:"name"`
		Partitions int               `json:"partitions"`
		Configs    map[string]string `json:"configs"`
	} `json:"topics"`
}

const oldVersion = 1

// asOldBroker accepts everything that encoding/json does: the old broker wrote and read its files with it.
var asOldBroker = json.JoinOptions(json.MatchCaseInsensitiveNames(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// topics copies all topics and then the groups' committed offsets.
func (cfg *Config) topics(from, to string, j *journal.Journal) (batches int, err error) {
	var list oldTopics
	there, err := disk.Exists(cfg.FS, filepath.Join(from, "topics.json"))
	if err != nil || !there {
		return 0, err
	}
	data, err := disk.ReadFile(cfg.FS, filepath.Join(from, "topics.json"), maxJSON)
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(data, &list, asOldBroker); err != nil {
		return 0, fmt.Errorf("cannot read topics.json: %w", err)
	}
	if list.Version != oldVersion {
		return 0, fmt.Errorf("cannot read topics.json of version %d", list.Version)
	}
	ids := map[string]string{}
	for _, t := range list.Topics {
		var random [16]byte
		_, _ = rand.Read(random[:]) // crypto/rand does not fail
		id := hex.EncodeToString(random[:])
		ids[t.Name] = id
		starts := make([]int64, t.Partitions)
		for partition := range t.Partitions {
			n, start, err := cfg.partition(from, to, t.Name, id, partition)
			if err != nil {
				return 0, fmt.Errorf("partition %d of topic %s: %w", partition, t.Name, err)
			}
			batches += n
			starts[partition] = start
		}
		if err := j.Put(cfg.TopicEntry(t.Name, id, t.Partitions, starts, t.Configs)...); err != nil {
			return 0, err
		}
	}
	return batches, cfg.commits(from, j, ids)
}

// commits copies the offsets that groups have committed.
func (cfg *Config) commits(from string, j *journal.Journal, ids map[string]string) error {
	commits, err := readGroups(cfg.FS, filepath.Join(from, "groups.log"), cfg.Logger)
	if err != nil {
		return fmt.Errorf("cannot read groups.log: %w", err)
	}
	entries := make([]journal.Entry, 0, len(commits))
	for _, c := range commits {
		commit := group.Commit{Offset: c.Offset, Epoch: c.Epoch, TopicID: ids[c.Topic], At: time.Now().UTC()}
		if c.Metadata != nil {
			commit.Metadata = *c.Metadata
		}
		entries = append(entries, commit.Entry(c.Group, c.Topic, c.Partition))
	}
	if len(entries) == 0 {
		return nil
	}
	return j.Put(entries...)
}

// logConfig returns the configuration of a partition's new log.
func (cfg *Config) logConfig(dir, name string, start int64) seglog.Config {
	return seglog.Config{FS: cfg.FS, Dir: dir, Name: name, Logger: cfg.Logger, SegmentBytes: cfg.SegmentBytes, Start: start}
}
