package kafkaserver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
)

// old starts the previous broker on a directory, as commit 722db72 did. It returns its address and a function that
// stops it.
func old(t *testing.T, dir string) (string, func()) {
	t.Helper()
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1), kfake.DataDir(filepath.Join(dir, "log")), kfake.SyncWrites(), kfake.AllowAutoTopicCreation(),
		kfake.DefaultNumPartitions(1), kfake.BrokerConfigs(map[string]string{"log.segment.bytes": "2000"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return cluster.ListenAddrs()[0], cluster.Close
}

func clientOf(t *testing.T, address string) *kafka.Client {
	transport := &kafka.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(address), Timeout: 10 * time.Second, Transport: transport}
}

func create(t *testing.T, c *kafka.Client, topic string, partitions int, configs ...kafka.ConfigEntry) {
	t.Helper()
	res, err := c.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1, ConfigEntries: configs},
	}})
	if err == nil {
		err = res.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
}

func produce(t *testing.T, c *kafka.Client, topic string, partition int, values ...string) error {
	t.Helper()
	records := make([]kafka.Record, len(values))
	for i, v := range values {
		records[i] = kafka.Record{Key: kafka.NewBytes([]byte("key")), Value: kafka.NewBytes([]byte(v))}
	}
	res, err := c.Produce(t.Context(), &kafka.ProduceRequest{
		Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...),
	})
	if err != nil {
		return err
	}
	return res.Error
}

// read reads a partition from its first offset to its end.
func read(t *testing.T, c *kafka.Client, topic string, partition int) map[int64]string {
	t.Helper()
	first, end := offsets(t, c, topic, partition)
	found := map[int64]string{}
	for at := first; at < end; {
		res, err := c.Fetch(t.Context(), &kafka.FetchRequest{Topic: topic, Partition: partition, Offset: at, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: time.Second})
		if err == nil {
			err = res.Error
		}
		if err != nil {
			t.Fatal(err)
		}
		before := at
		for {
			r, err := res.Records.ReadRecord()
			if err != nil {
				break
			}
			value, err := kafka.ReadAll(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			if r.Offset >= at {
				found[r.Offset] = string(value)
				at = r.Offset + 1
			}
		}
		if at == before {
			t.Fatalf("nothing at %d of %d", at, end)
		}
	}
	return found
}

func offsets(t *testing.T, c *kafka.Client, topic string, partition int) (first, end int64) {
	t.Helper()
	res, err := c.ListOffsets(t.Context(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range res.Topics[topic] {
		if o.Partition == partition && o.Error == nil {
			return o.FirstOffset, o.LastOffset
		}
	}
	t.Fatalf("no offsets of %s/%d: %+v", topic, partition, res.Topics)
	return 0, 0
}

func commit(t *testing.T, c *kafka.Client, group, topic string, partition int, offset int64, metadata string) error {
	t.Helper()
	res, err := c.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
		GroupID: group, GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: partition, Offset: offset, Metadata: metadata}}},
	})
	if err != nil {
		return err
	}
	return res.Topics[topic][0].Error
}

func TestTheOldLogIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, clean := range map[string]bool{"after a clean stop": true, "after a kill": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, copied := t.TempDir(), t.TempDir()
			address, stop := old(t, dir)
			before := clientOf(t, address)
			create(t, before, "octavo.events", 2, kafka.ConfigEntry{ConfigName: "max.message.bytes", ConfigValue: "2000000"}, kafka.ConfigEntry{ConfigName: "retention.ms", ConfigValue: "777777777"})
			create(t, before, "octavo.events.dead", 1)
			want := []map[int64]string{{}, {}}
			for i := range 60 {
				partition := i % 2
				values := []string{fmt.Sprint("a", i), strings.Repeat("b", 200)}
				if err := produce(t, before, "octavo.events", partition, values...); err != nil {
					t.Fatal(err)
				}
				n := int64(len(want[partition]))
				want[partition][n], want[partition][n+1] = values[0], values[1]
			}
			metadata := strings.Repeat("m", 4000)
			if err := commit(t, before, "sink", "octavo.events", 1, 17, metadata); err != nil {
				t.Fatal(err)
			}
			if !clean { // simulate a kill: the files as they are now, with a torn end
				if err := os.CopyFS(filepath.Join(copied, "log"), os.DirFS(filepath.Join(dir, "log"))); err != nil {
					t.Fatal(err)
				}
				tear(t, filepath.Join(copied, "log"))
				dir = copied
			}
			stop()
			check := func(address string) {
				t.Helper()
				c := clientOf(t, address)
				for partition := range want {
					if got := read(t, c, "octavo.events", partition); fmt.Sprint(got) != fmt.Sprint(want[partition]) {
						t.Errorf("partition %d has %d records of %d", partition, len(got), len(want[partition]))
					}
				}
				res, err := c.OffsetFetch(t.Context(), &kafka.OffsetFetchRequest{GroupID: "sink", Topics: map[string][]int{"octavo.events": {0, 1}}})
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range res.Topics["octavo.events"] {
					if p.Partition == 1 && (p.CommittedOffset != 17 || p.Metadata != metadata) || p.Partition == 0 && p.CommittedOffset != -1 {
						t.Errorf("%d: %d %q", p.Partition, p.CommittedOffset, p.Metadata)
					}
				}
				configs, err := c.DescribeConfigs(t.Context(), &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: "octavo.events"}}})
				if err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf("%+v", configs.Resources)
				if !strings.Contains(text, "777777777") || !strings.Contains(text, "2000000") {
					t.Error(text)
				}
			}
			// An interrupted takeover begins again.
			if err := os.MkdirAll(filepath.Join(dir, "broker.importing", "topics", "half"), 0o700); err != nil {
				t.Fatal(err)
			}
			address, stop = run(t, dir, "127.0.0.1:0")
			check(address)
			if err := produce(t, clientOf(t, address), "octavo.events", 0, "new"); err != nil {
				t.Fatal(err)
			}
			want[0][60] = "new"
			stop()
			address, stop = run(t, dir, "127.0.0.1:0")
			check(address)
			stop()
			if _, err := os.Stat(filepath.Join(dir, "log.taken-over", "topics.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// tear leaves half a batch at the end of each partition's last segment.
func tear(t *testing.T, dir string) {
	t.Helper()
	last := map[string]string{}
	segments, err := filepath.Glob(filepath.Join(dir, "partitions", "*", "*.dat"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range segments {
		had := last[filepath.Dir(name)]
		if len(name) > len(had) || len(name) == len(had) && name > had {
			last[filepath.Dir(name)] = name
		}
	}
	if len(last) != 2 {
		t.Fatalf("%d partitions have segments", len(last))
	}
	for _, name := range last {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write([]byte("\x00\x00\x00\x00\x00\x00\x00\x3c\x00\x00\x01\x00torn"))
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEventsOfAnOlderVersionAreNotLostSilently(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, stop := run(t, dir, "127.0.0.1:0")
	stop()
	address, stop := old(t, dir)
	create(t, clientOf(t, address), "events", 1)
	stop()
	err := tryRun(t, dir)
	if err == nil || !strings.Contains(err.Error(), "older version") {
		t.Errorf("got %v", err)
	}
}
