package kafkaserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk/crashdisk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/group"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

// oneRecord returns a batch with one record. The record's value is n.
func oneRecord(n int) []byte {
	value := fmt.Sprintf("%08d", n)
	b := make([]byte, 61)
	record := append([]byte{0, 0, 0, 1, 16}, value...)
	record = append(record, 0)
	b = binary.AppendVarint(b, int64(len(record)))
	b = append(b, record...)
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	b[16] = 2
	for i := 43; i < 57; i++ {
		b[i] = 0xff
	}
	b[60] = 1
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// kept describes the records that a partition must contain.
type kept struct {
	first  int64
	values []int // values of the records, beginning with offset 0
}

// TestTheBrokerKeepsWhatItAcknowledged creates and deletes topics, appends, commits and cleans, with power losses
// between these steps. All acknowledged topics, records and offsets must survive.
func TestTheBrokerKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		disk := crashdisk.New()
		if err := disk.Mkdir("/data"); err != nil {
			r.Fatal(err)
		}
		if err := disk.SyncDir("/"); err != nil {
			r.Fatal(err)
		}
		cfg := Config{DataDir: "/data", MaxBytes: 4000, RetainBytes: 500, MinFreeBytes: 1, SegmentBytes: 300, ballast: 1}
		var b *broker
		topics := map[string][]*kept{}
		commits := map[string]int64{} // committed offset of partition 0, by topic
		count := 0
		open1 := func() {
			cfg.fs = disk
			if err := cfg.complete(); err != nil {
				r.Fatal(err)
			}
			var err error
			if b, err = open(&cfg); err != nil {
				r.Fatal(err)
			}
		}
		open1()
		name := func(r *rapid.T) string { return rapid.SampledFrom([]string{"a", "b"}).Draw(r, "topic") }
		logOf := func(topic string, partition int) *seglog.Log { return b.topic(topic).log(int32(partition)) }
		appendOne := func(r *rapid.T) {
			topic := name(r)
			if topics[topic] == nil {
				return
			}
			partition := rapid.IntRange(0, 1).Draw(r, "partition")
			batch := oneRecord(count)
			if !b.space.admit(b.topic(topic), int64(len(batch))) {
				return
			}
			done, err := logOf(topic, partition).Append(batch, false)
			b.space.wrote(int64(len(batch)))
			k := topics[topic][partition]
			if err != nil || done.Base != int64(len(k.values)) {
				r.Fatalf("%+v, %v with %d before it", done, err, len(k.values))
			}
			k.values = append(k.values, count)
			count++
		}
		r.Repeat(map[string]func(*rapid.T){
			"": func(r *rapid.T) {
				for _, topic := range []string{"a", "b"} {
					if (b.topic(topic) != nil) != (topics[topic] != nil) {
						r.Fatalf("topic %s: %v", topic, b.topic(topic))
					}
					for partition, k := range topics[topic] {
						checkPartition(r, logOf(topic, partition), k, partition == 0, commits[topic])
					}
					if topics[topic] == nil {
						continue
					}
					q := kmsg.NewPtrOffsetFetchRequest()
					q.Group = "g"
					q.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: []int32{0}}}
					if got := b.groups.Fetch(q).Topics[0].Partitions[0].Offset; got != commits[topic]-1 {
						r.Fatalf("topic %s is committed up to %d, not %d", topic, got, commits[topic]-1)
					}
				}
			},
			"append": appendOne, "append again": appendOne, "append more": appendOne,
			"create": func(r *rapid.T) {
				topic := name(r)
				if topics[topic] == nil {
					if _, refusal := b.create(topic, 2, nil, false); refusal != nil {
						r.Fatal(refusal.message)
					}
					topics[topic] = []*kept{{}, {}}
					delete(commits, topic)
					forget(r, b, topic)
				}
			},
			"delete": func(r *rapid.T) {
				topic := name(r)
				if topics[topic] != nil {
					if refusal := b.remove(topic); refusal != nil {
						r.Fatal(refusal.message)
					}
					delete(topics, topic)
				}
			},
			"commit": func(r *rapid.T) {
				topic := name(r)
				if topics[topic] == nil {
					return
				}
				to := int64(rapid.IntRange(0, len(topics[topic][0].values)).Draw(r, "offset"))
				q := kmsg.NewPtrOffsetCommitRequest()
				q.Group, q.Generation = "g", -1
				q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 0, Offset: to}}}}
				if code := b.groups.Commit(q).Topics[0].Partitions[0].ErrorCode; code != 0 {
					r.Fatalf("code %d", code)
				}
				commits[topic] = to + 1
			},
			"clean": func(*rapid.T) { b.clean(time.UnixMilli(1000)) },
			"restart": func(*rapid.T) {
				b.close()
				open1()
			},
			"power cut": func(r *rapid.T) {
				after := disk.Crash(func(n int) int { return rapid.IntRange(0, n).Draw(r, "chance") })
				b.close()
				disk = after
				open1()
			},
		})
		b.close()
	})
}

// forget deletes the offsets that the group committed on an earlier topic with the same name.
func forget(r *rapid.T, b *broker, topic string) {
	other := map[string]int64{}
	b.groups.EachCommit(func(_, name string, _ int32, c group.Commit) {
		if name != topic {
			other[name] = c.Offset
		}
	})
	b.groups.Delete(&kmsg.DeleteGroupsRequest{Groups: []string{"g"}})
	for name, offset := range other {
		q := kmsg.NewPtrOffsetCommitRequest()
		q.Group, q.Generation = "g", -1
		q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: name, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 0, Offset: offset}}}}
		_ = b.groups.Commit(q)
	}
}

// checkPartition reads a whole partition and compares it with k. Records may be missing only if the group has committed
// them.
func checkPartition(r *rapid.T, l *seglog.Log, k *kept, consumed bool, commit int64) {
	start, end := l.Offsets()
	if end != int64(len(k.values)) || start < k.first {
		r.Fatalf("it has %d to %d, not %d to %d", start, end, k.first, len(k.values))
	}
	if gone := start > k.first; gone && (!consumed || start > commit-1) {
		r.Fatalf("what is before %d is gone, committed is %d", start, commit-1)
	}
	k.first = start
	for at := start; at < end; {
		batches, err := l.Read(nil, at, 1, true)
		if err != nil {
			r.Fatal(err)
		}
		if got := string(batches[len(batches)-9 : len(batches)-1]); got != fmt.Sprintf("%08d", k.values[at]) {
			r.Fatalf("at %d is %s, not %d", at, got, k.values[at])
		}
		at++
	}
}

// TestCommittedOffsetsAreNotUsedAgain removes a partition's only segment after a group's commit. The next record must
// not get an offset that the group has already read.
func TestCommittedOffsetsAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	disk := crashdisk.New()
	if err := errors.Join(disk.Mkdir("/data"), disk.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	start := func() *broker {
		cfg := Config{DataDir: "/data", MaxBytes: 4000, RetainBytes: 500, MinFreeBytes: 1, ballast: 1, fs: disk}
		if err := cfg.complete(); err != nil {
			t.Fatal(err)
		}
		b, err := open(&cfg)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := start()
	topic, refusal := b.create("a", 1, nil, false)
	if refusal != nil {
		t.Fatal(refusal.message)
	}
	for i := range 3 {
		if _, err := topic.log(0).Append(oneRecord(i), false); err != nil {
			t.Fatal(err)
		}
	}
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Group, q.Generation = "g", -1
	commit := []kmsg.OffsetCommitRequestTopicPartition{{Partition: 0, Offset: 2}}
	q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "a", Partitions: commit}}
	if code := b.groups.Commit(q).Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatalf("code %d", code)
	}
	if err := disk.Lose(fmt.Sprintf("%s/0/%020d.log", topic.dir(), 0), ""); err != nil {
		t.Fatal(err)
	}
	b = start() // the broker was not closed, as after a kill
	defer b.close()
	if done, err := b.topic("a").log(0).Append(oneRecord(3), false); err != nil || done.Base != 2 {
		t.Errorf("the next record is at %d, %v", done.Base, err)
	}
}
