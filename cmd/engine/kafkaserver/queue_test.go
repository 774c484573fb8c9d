package kafkaserver_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
)

// fill produces messages until the broker refuses one. It returns the number of accepted messages.
func fill(t *testing.T, c *kafka.Client, topic string) (taken int) {
	t.Helper()
	for range 1000 {
		err := produce(t, c, topic, 0, strings.Repeat("x", 50_000))
		if errors.Is(err, kafka.PolicyViolation) {
			return taken
		}
		if err != nil {
			t.Fatal(err)
		}
		taken++
	}
	t.Fatal("the log never became full")
	return 0
}

func TestAFullLogRefusesUntilItsGroupsHaveCommitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: dir, MaxBytes: 4 << 20, RetainBytes: 1 << 20, SegmentBytes: 256 << 10}
	address, stop := runConfig(t, cfg)
	c := clientOf(t, address)
	create(t, c, "events", 1)
	if err := commit(t, c, "sink", "events", 0, 0, "begun"); err != nil {
		t.Fatal(err)
	}
	taken := fill(t, c, "events")
	if bytes := taken * 50_000; bytes < 3<<20 || bytes > 4<<20 {
		t.Errorf("it was full at %d bytes", bytes)
	}
	// Reads, commits and small topics, such as the topic of dead letters, still work.
	if got := read(t, c, "events", 0); len(got) != taken {
		t.Errorf("%d of %d are there", len(got), taken)
	}
	create(t, c, "events.dead", 1)
	if err := produce(t, c, "events.dead", 0, "put aside"); err != nil {
		t.Error(err)
	}
	// A record stays until each group has committed it.
	if err := errors.Join(commit(t, c, "other", "events", 0, 0, ""), commit(t, c, "sink", "events", 0, int64(taken), "")); err != nil {
		t.Fatal(err)
	}
	if err := produce(t, c, "events", 0, strings.Repeat("x", 50_000)); !errors.Is(err, kafka.PolicyViolation) {
		t.Errorf("with one group behind: %v", err)
	}
	stop()
	address, _ = runConfig(t, cfg)
	c = clientOf(t, address)
	if got := read(t, c, "events", 0); len(got) != taken {
		t.Errorf("after a restart %d of %d are there", len(got), taken)
	}
	if err := commit(t, c, "other", "events", 0, int64(taken), ""); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "room", func() error { return produce(t, c, "events", 0, strings.Repeat("y", 50_000)) })
	first, end := offsets(t, c, "events", 0)
	if end != int64(taken)+1 || first == 0 {
		t.Errorf("from %d to %d", first, end)
	}
}

func TestCommittedRecordsAreRemovedBeyondRetainBytes(t *testing.T) {
	t.Parallel()
	address, _ := runConfig(t, kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), MaxBytes: 64 << 20, RetainBytes: 1 << 20, SegmentBytes: 128 << 10, CleanEvery: 10 * time.Millisecond})
	c := clientOf(t, address)
	create(t, c, "events", 2, kafka.ConfigEntry{ConfigName: "retention.ms", ConfigValue: "1"})
	for i := range 100 {
		if err := produce(t, c, "events", i%2, strings.Repeat("x", 50_000)); err != nil {
			t.Fatal(err)
		}
		if i == 1 { // after this commit, uncommitted records are not removed
			if err := commit(t, c, "sink", "events", 0, 0, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := commit(t, c, "sink", "events", 0, 30, ""); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the committed segments to go", func() bool {
		first, _ := offsets(t, c, "events", 0)
		return first > 20
	})
	if first, _ := offsets(t, c, "events", 0); first > 30 {
		t.Errorf("uncommitted records before %d are gone", first)
	}
	if first, end := offsets(t, c, "events", 1); first > 1 || end != 50 {
		t.Errorf("the other partition, without commits, has records from %d to %d", first, end)
	}
}

// TestRetentionHasAClock checks that retention uses the time in the file Config.Clock. If the file is missing,
// retention deletes no record because of its age. If the file cannot be read, the broker logs one error. It logs
// another error only after it has read the file successfully.
func TestRetentionHasAClock(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "clock")
	log := &capture.Buffer{}
	address, _ := runConfig(t, kafkaserver.Config{
		Listen: "127.0.0.1:0", DataDir: t.TempDir(), Clock: file, Logger: slog.New(slog.NewTextHandler(log, nil)),
		SegmentBytes: 128 << 10, CleanEvery: 10 * time.Millisecond,
	})
	c := clientOf(t, address)
	create(t, c, "old", 1, kafka.ConfigEntry{ConfigName: "retention.ms", ConfigValue: "1"})
	create(t, c, "large", 1, kafka.ConfigEntry{ConfigName: "retention.bytes", ConfigValue: "300000"})
	// grow produces to both topics, and waits for the next clean. It recognizes a clean by the topic `large`, which
	// loses records.
	grow := func() {
		t.Helper()
		before, _ := offsets(t, c, "large", 0)
		for range 20 {
			for _, topic := range []string{"old", "large"} {
				if err := produce(t, c, topic, 0, strings.Repeat("x", 50_000)); err != nil {
					t.Fatal(err)
				}
			}
		}
		eventually.True(t, "the broker to clean", func() bool {
			first, _ := offsets(t, c, "large", 0)
			return first > before+10
		})
	}
	hourAgo := time.Now().Add(-time.Hour).Format(time.RFC3339)
	for _, step := range []struct {
		name, text   string
		faults, ends int // numbers of lines in the broker's log since its start
	}{
		{"no file", "", 0, 0},
		{"an empty file", "\n", 1, 0},
		{"a damaged file", "2026-1", 1, 0},
		{"an hour ago", hourAgo, 1, 1},
		{"damaged again", "2026-13-01T00:00:00Z", 2, 1},
		{"readable again", hourAgo, 2, 2},
		{"the file is gone", "", 3, 2},
	} {
		if step.text != "" {
			if err := os.WriteFile(file, []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		grow()
		if first, _ := offsets(t, c, "old", 0); first != 0 {
			t.Errorf("%s: the records before %d are gone", step.name, first)
		}
		eventually.True(t, step.name+" to be logged", func() bool {
			return strings.Count(log.String(), "Cannot read the time") == step.faults &&
				strings.Count(log.String(), "can be read again") == step.ends
		})
	}
	if err := os.WriteFile(file, []byte(time.Now().Add(time.Hour).Format(time.RFC3339)), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the old records to go", func() bool {
		first, end := offsets(t, c, "old", 0)
		return first == end
	})
}

// TestAFullDiskLeavesARest checks that some committed records stay even on a full disk. A sink that takes over a
// partition reads these records again.
func TestAFullDiskLeavesARest(t *testing.T) {
	t.Parallel()
	cfg := kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), MaxBytes: 8 << 20, SegmentBytes: 128 << 10, MinFreeBytes: 1}
	address, stop := runConfig(t, cfg)
	c := clientOf(t, address)
	create(t, c, "events", 1)
	const taken = 60
	for range taken {
		if err := produce(t, c, "events", 0, strings.Repeat("x", 50_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := commit(t, c, "sink", "events", 0, taken, ""); err != nil {
		t.Fatal(err)
	}
	stop()
	cfg.MinFreeBytes = 1 << 60
	address, _ = runConfig(t, cfg)
	c = clientOf(t, address)
	// The broker removes old messages before it refuses new messages.
	if err := produce(t, c, "events", 0, strings.Repeat("x", 50_000)); !errors.Is(err, kafka.PolicyViolation) {
		t.Fatalf("on a full disk: %v", err)
	}
	if first, end := offsets(t, c, "events", 0); first == 0 || (end-first)*50_000 < 1<<20 {
		t.Errorf("records from %d to %d are left", first, end)
	}
}

func TestATopicWithoutGroupsHasItsRetention(t *testing.T) {
	t.Parallel()
	address, _ := runConfig(t, kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), SegmentBytes: 128 << 10, CleanEvery: 10 * time.Millisecond})
	c := clientOf(t, address)
	create(t, c, "old", 1, kafka.ConfigEntry{ConfigName: "retention.ms", ConfigValue: "1"})
	create(t, c, "large", 1, kafka.ConfigEntry{ConfigName: "retention.bytes", ConfigValue: "300000"})
	create(t, c, "kept", 1)
	for _, topic := range []string{"old", "large", "kept"} {
		for range 20 {
			if err := produce(t, c, topic, 0, strings.Repeat("x", 50_000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually.True(t, "the excess records to go", func() bool {
		old, _ := offsets(t, c, "old", 0)
		large, _ := offsets(t, c, "large", 0)
		return old == 20 && large > 10
	})
	if first, _ := offsets(t, c, "kept", 0); first != 0 {
		t.Errorf("the topic with a week's retention begins at %d", first)
	}
	if first, _ := offsets(t, c, "large", 0); first > 16 {
		t.Errorf("with 300,000 bytes of retention, records from %d of 20 are left", first)
	}
}

func TestGenerationsAndFencing(t *testing.T) {
	t.Parallel()
	address, _ := run(t, t.TempDir(), "127.0.0.1:0")
	c := clientOf(t, address)
	create(t, c, "events", 4)
	join := func() (*kafka.ConsumerGroup, *kafka.Generation) {
		t.Helper()
		g, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
			ID: "sink", Brokers: []string{address}, Topics: []string{"events"}, HeartbeatInterval: 50 * time.Millisecond,
			SessionTimeout: 5 * time.Second, RebalanceTimeout: 5 * time.Second, JoinGroupBackoff: 10 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = g.Close() })
		generation, err := g.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return g, generation
	}
	first, one := join()
	if n := len(one.Assignments["events"]); n != 4 {
		t.Fatalf("the only member has %d partitions", n)
	}
	if err := one.CommitOffsets(map[string]map[int]int64{"events": {2: 5}}); err != nil {
		t.Fatal(err)
	}
	again := make(chan *kafka.Generation, 1)
	go func() {
		g, err := first.Next(t.Context())
		if err != nil {
			t.Error(err)
		}
		again <- g
	}()
	_, two := join()
	one2 := <-again
	if n, m := len(one2.Assignments["events"]), len(two.Assignments["events"]); n != 2 || m != 2 {
		t.Errorf("two members have %d and %d partitions", n, m)
	}
	for _, a := range append(one2.Assignments["events"], two.Assignments["events"]...) {
		if want := map[bool]int64{true: 5, false: -1}[a.ID == 2]; a.Offset != want && a.Offset != kafka.FirstOffset {
			t.Errorf("partition %d begins at %d", a.ID, a.Offset)
		}
	}
	// Members of the old generation and unknown members cannot commit.
	for name, request := range map[string]*kafka.OffsetCommitRequest{
		"the generation before": {GroupID: "sink", GenerationID: int(one.ID), MemberID: one.MemberID},
		"a stranger":            {GroupID: "sink", GenerationID: int(two.ID), MemberID: "nobody"},
		"outside of the group":  {GroupID: "sink", GenerationID: -1},
	} {
		t.Run(name, func(t *testing.T) {
			request.Topics = map[string][]kafka.OffsetCommit{"events": {{Partition: 2, Offset: 99}}}
			res, err := c.OffsetCommit(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			got := res.Topics["events"][0].Error
			if !errors.Is(got, kafka.IllegalGeneration) && !errors.Is(got, kafka.UnknownMemberId) {
				t.Errorf("got %v", got)
			}
		})
	}
	groups, err := c.DescribeGroups(t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{"sink"}})
	if err != nil || groups.Groups[0].GroupState != "Stable" || len(groups.Groups[0].Members) != 2 {
		t.Errorf("%+v, %v", groups, err)
	}
	_ = first.Close()
	eventually.True(t, "the other member to be alone", func() bool {
		groups, err := c.DescribeGroups(t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{"sink"}})
		return err == nil && len(groups.Groups[0].Members) == 1
	})
}

func TestProducerIDsAreGivenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen := map[int]bool{}
	for range 3 {
		address, stop := run(t, dir, "127.0.0.1:0")
		c := clientOf(t, address)
		for range 5 {
			res, err := c.InitProducerID(t.Context(), &kafka.InitProducerIDRequest{})
			if err != nil || res.Error != nil {
				t.Fatal(err, res)
			}
			if seen[res.Producer.ProducerID] {
				t.Errorf("id %d was given twice", res.Producer.ProducerID)
			}
			seen[res.Producer.ProducerID] = true
		}
		stop()
	}
}

func TestConfigs(t *testing.T) {
	t.Parallel()
	address, _ := run(t, t.TempDir(), "127.0.0.1:0")
	c := clientOf(t, address)
	create(t, c, "events", 1, kafka.ConfigEntry{ConfigName: "message.timestamp.type", ConfigValue: "LogAppendTime"})
	for _, bad := range []kafka.ConfigEntry{{ConfigName: "cleanup.policy", ConfigValue: "compact"}, {ConfigName: "retention.ms", ConfigValue: "long"}, {ConfigName: "no.such", ConfigValue: "1"}} {
		t.Run(bad.ConfigName, func(t *testing.T) {
			res, err := c.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: "bad", NumPartitions: 1, ReplicationFactor: 1, ConfigEntries: []kafka.ConfigEntry{bad}}}})
			if err != nil || !errors.Is(res.Errors["bad"], kafka.InvalidConfiguration) {
				t.Errorf("got %v, %v", err, res)
			}
		})
	}
	res, err := c.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: "events",
		Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: "max.message.bytes", Value: "100", ConfigOperation: kafka.ConfigOperationSet}},
	}}})
	if err != nil || res.Resources[0].Error != nil {
		t.Fatal(err, res)
	}
	if err := produce(t, c, "events", 0, strings.Repeat("x", 200)); !errors.Is(err, kafka.MessageSizeTooLarge) {
		t.Errorf("got %v", err)
	}
	made, err := c.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{{Name: "events", Count: 3}}})
	if err != nil || made.Errors["events"] != nil {
		t.Fatal(err, made)
	}
	c = clientOf(t, address) // the other client has cached the number of partitions
	if err := produce(t, c, "events", 2, "x"); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(read(t, c, "events", 2)); got != "map[0:x]" {
		t.Error(got)
	}
}
