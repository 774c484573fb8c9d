package kafkaserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk/crashdisk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

// patient is a broker's data directory. A test damages the directory while the broker is stopped.
type patient struct {
	t    *testing.T
	disk *crashdisk.Disk
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	p := &patient{t, crashdisk.New()}
	if err := errors.Join(p.disk.Mkdir("/data"), p.disk.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *patient) open() (*broker, error) {
	p.t.Helper()
	cfg := Config{DataDir: "/data", MaxBytes: 4000, RetainBytes: 500, MinFreeBytes: 1, ballast: 1, fs: p.disk}
	if err := cfg.complete(); err != nil {
		p.t.Fatal(err)
	}
	return open(&cfg)
}

func (p *patient) mustOpen() *broker {
	p.t.Helper()
	b, err := p.open()
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// topic creates a topic whose partitions have the given numbers of messages, and stops the broker. It returns the
// topic's folder.
func (p *patient) topic(name string, messages ...int) string {
	p.t.Helper()
	b := p.mustOpen()
	defer b.close()
	t, refusal := b.create(name, len(messages), nil, false)
	if refusal != nil {
		p.t.Fatal(refusal.message)
	}
	for partition, n := range messages {
		for i := range n {
			if _, err := t.log(int32(partition)).Append(oneRecord(i), false); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	return t.dir()
}

// files returns all files with their contents.
func (p *patient) files() map[string]string {
	p.t.Helper()
	found := map[string]string{}
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := p.disk.List(dir)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, e := range entries {
			name := filepath.Join(dir, e.Name)
			if e.Dir {
				walk(name)
				continue
			}
			text, err := disk.ReadFile(p.disk, name, 1<<20)
			if err != nil {
				p.t.Fatal(err)
			}
			found[name] = string(text)
		}
	}
	walk("/data")
	return found
}

// create creates a file and its folders.
func (p *patient) create(name, text string) {
	p.t.Helper()
	err := disk.MakeDir(p.disk, "/", filepath.Dir(name))
	if err != nil {
		p.t.Fatal(err)
	}
	file, err := p.disk.Create(name)
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = file.WriteAt([]byte(text), 0)
	if err := errors.Join(err, file.Close()); err != nil {
		p.t.Fatal(err)
	}
}

// TestAJournalWithoutTopics removes a topic with messages from the journal. The broker refuses to start, and leaves all
// files unchanged.
func TestAJournalWithoutTopics(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b []byte) []byte{
		"gone":  nil,
		"empty": func([]byte) []byte { return nil },
		"cut":   func(b []byte) []byte { return b[:len(b)/8] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			dir := p.topic("a", 3, 0)
			for file := range p.files() {
				var err error
				switch {
				case !strings.Contains(file, "journal-"):
				case change == nil:
					err = p.disk.Remove(file)
				default:
					err = p.disk.Change(file, change)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			before := p.files()
			_, err := p.open()
			if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), dir) ||
				!strings.Contains(err.Error(), "put back a copy") {
				t.Errorf("a journal that lacks a topic: %v", err)
			}
			if after := p.files(); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("before %q, after %q", before, after)
			}
		})
	}
}

// TestTheRestOfADeletedTopic leaves the folder of a deleted topic, as after a power cut or a failed removal. The next
// start removes the folder.
func TestTheRestOfADeletedTopic(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	dir := p.topic("a", 3)
	before := p.files()
	b := p.mustOpen()
	if refusal := b.remove("a"); refusal != nil {
		t.Fatal(refusal.message)
	}
	b.close()
	for name, text := range before {
		if strings.HasPrefix(name, dir) {
			p.create(name, text)
		}
	}
	p.mustOpen().close()
	if there, err := disk.Exists(p.disk, dir); there || err != nil {
		t.Errorf("the folder of a deleted topic is left: %v", err)
	}
	b = p.mustOpen()
	defer b.close()
	if _, ok := b.journal.Get(deletedPrefix + filepath.Base(dir)); ok {
		t.Error("the journal still has the entry of the deleted topic")
	}
}

// TestAPartitionIsGone checks that a partition continues at its old end if its folder is missing, even if no group has
// read its messages.
func TestAPartitionIsGone(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	dir := p.topic("a", 3, 5)
	if err := p.disk.RemoveAll(dir + "/1"); err != nil {
		t.Fatal(err)
	}
	b := p.mustOpen()
	defer b.close()
	for partition, want := range []int64{3, 5} {
		if _, end := b.topic("a").log(int32(partition)).Offsets(); end != want {
			t.Errorf("partition %d ends at %d, want %d", partition, end, want)
		}
	}
}

// TestSwappedSegments swaps the segments of two partitions. The broker refuses to start until they are swapped back.
func TestSwappedSegments(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	dir := p.topic("a", 3, 5)
	name := fmt.Sprintf("/%020d.log", 0)
	swap := func() {
		t.Helper()
		err := errors.Join(p.disk.Rename(dir+"/0"+name, "/data/aside"), p.disk.Rename(dir+"/1"+name, dir+"/0"+name),
			p.disk.Rename("/data/aside", dir+"/1"+name))
		if err != nil {
			t.Fatal(err)
		}
	}
	swap()
	if _, err := p.open(); !errors.Is(err, seglog.ErrForeign) || !strings.Contains(err.Error(), dir+"/") ||
		!strings.Contains(err.Error(), "put back each segment") {
		t.Errorf("swapped segments: %v", err)
	}
	swap()
	p.mustOpen().close()
	// A summary from another partition is ignored.
	name = fmt.Sprintf("/%020d.summary", 0)
	swap()
	b := p.mustOpen()
	defer b.close()
	for partition, want := range []int64{3, 5} {
		if _, end := b.topic("a").log(int32(partition)).Offsets(); end != want {
			t.Errorf("partition %d ends at %d, want %d", partition, end, want)
		}
	}
}

// TestProducerIDsAreNotUsedAgain removes the journal's entry for producer ids. The broker must not give an old id to a
// new producer: a log would drop the producer's first batches as repeats.
func TestProducerIDsAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.topic("a", 1)
	b := p.mustOpen()
	id, err := b.producers.take()
	if err != nil {
		t.Fatal(err)
	}
	batch := oneRecord(1)
	binary.BigEndian.PutUint64(batch[43:], uint64(id))
	binary.BigEndian.PutUint16(batch[51:], 0)
	binary.BigEndian.PutUint32(batch[53:], 0)
	binary.BigEndian.PutUint32(batch[17:], crc32.Checksum(batch[21:], crc32.MakeTable(crc32.Castagnoli)))
	if _, err := b.topic("a").log(0).Append(batch, false); err != nil {
		t.Fatal(err)
	}
	if err := b.journal.Put(journal.Entry{Key: producerKey}); err != nil {
		t.Fatal(err)
	}
	b.close()
	b = p.mustOpen()
	defer b.close()
	if again, err := b.producers.take(); err != nil || again <= id {
		t.Errorf("the next producer has the id %d, %v; want more than %d", again, err, id)
	}
}
