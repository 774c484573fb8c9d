package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/memory"
	"github.com/octavo-docs/octavo/cmd/engine/supervise"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"
	"golang.org/x/sys/unix"
)

const kills = 3

func TestKilledPostgresKeepsCommittedRows(t *testing.T) {
	t.Parallel()
	var restarts atomic.Int32
	engines := start(t, embedded.Config{Want: embedded.Set{Postgres: true}, OnRestart: func(name string) {
		if name == embedded.Postgres {
			restarts.Add(1)
		}
	}})
	execPostgres(t, engines.PostgresURL, "CREATE TABLE kept (n int)")
	for n := range kills {
		execPostgres(t, engines.PostgresURL, fmt.Sprintf("INSERT INTO kept VALUES (%d)", n))
		kill(t, engines, embedded.Postgres)
	}
	conn, err := pgx.Connect(t.Context(), engines.PostgresURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var rows int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM kept").Scan(&rows); err != nil || rows != kills {
		t.Errorf("%d rows of %d: %v", rows, kills, err)
	}
	if got := int(restarts.Load()); got != kills {
		t.Errorf("OnRestart ran %d times", got)
	}
	for _, state := range engines.State() {
		if state.Status != supervise.StatusRunning {
			t.Errorf("engine %s is %s", state.Name, state.Status)
		}
	}
}

// TestClickHouseIsRestartedAfterAFullDisk checks that the engine exits at a failed write and is restarted. The log has
// the reason. A limit on the size of files makes writes fail, like a full disk.
func TestClickHouseIsRestartedAfterAFullDisk(t *testing.T) {
	t.Parallel()
	var log capture.Buffer
	engines := start(t, embedded.Config{
		Want: embedded.Set{ClickHouse: true}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	execClickHouse := func(statement string) error {
		return openClickHouse(t, engines.ClickHouseURL).Exec(t.Context(), statement)
	}
	if err := execClickHouse("CREATE TABLE kept (n UInt64) ENGINE = MergeTree ORDER BY n"); err != nil {
		t.Fatal(err)
	}
	before, limit := state(engines, embedded.ClickHouse), unix.Rlimit{Cur: 0, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(before.PID, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
	if err := execClickHouse("INSERT INTO kept VALUES (1)"); err == nil {
		t.Error("an insert that could not be written was acknowledged")
	}
	awaitRestart(t, engines, embedded.ClickHouse, before)
	if err := execClickHouse("INSERT INTO kept VALUES (1)"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `level=ERROR msg="The disk is full or failing`) {
		t.Errorf("the log does not say why:\n%s", log.String())
	}
}

// TestLoadHalvesWhenMemoryRanOut kills an engine. The kernel's number of kills rises, stays the same or is unknown. The
// load must be halved if the number rises or is unknown.
func TestLoadHalvesWhenMemoryRanOut(t *testing.T) {
	t.Parallel()
	var count atomic.Int64
	var unknown atomic.Bool
	var log capture.Buffer
	load := &memory.Load{}
	t.Cleanup(load.Stop)
	engines := start(t, embedded.Config{
		Want: embedded.Set{Kafka: true}, Load: load, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Kills: func() (int64, bool) { return count.Load(), !unknown.Load() },
	})
	for n, c := range []struct {
		kills    int64
		unknown  bool
		halvings int
	}{{0, false, 0}, {1, false, 1}, {0, false, 1}, {0, true, 2}} {
		count.Add(c.kills)
		unknown.Store(c.unknown)
		kill(t, engines, embedded.Kafka)
		if got := load.Halvings(); got != c.halvings {
			t.Errorf("kill %d: the load is halved %d times, want %d", n, got, c.halvings)
		}
		if said := strings.Count(log.String(), "because memory ran out"); said != c.halvings {
			t.Errorf("kill %d: the log says it %d times", n, said)
		}
	}
}

func TestKilledClickHouseKeepsAcknowledgedRows(t *testing.T) {
	t.Parallel()
	engines := start(t, embedded.Config{Want: embedded.Set{ClickHouse: true}})
	conn := openClickHouse(t, engines.ClickHouseURL)
	if err := conn.Exec(t.Context(), "CREATE TABLE kept (n UInt64) ENGINE = MergeTree ORDER BY n"); err != nil {
		t.Fatal(err)
	}
	const rows = 1000
	for n := range kills {
		conn := openClickHouse(t, engines.ClickHouseURL)
		batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO kept")
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if err := batch.Append(uint64(n*rows + i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := batch.Send(); err != nil {
			t.Fatal(err)
		}
		kill(t, engines, embedded.ClickHouse)
	}
	var count, distinct uint64
	err := openClickHouse(t, engines.ClickHouseURL).QueryRow(t.Context(), "SELECT count(), uniqExact(n) FROM kept").Scan(&count, &distinct)
	if err != nil || count != kills*rows || distinct != kills*rows {
		t.Errorf("%d rows, %d distinct, of %d: %v", count, distinct, kills*rows, err)
	}
}

// TestKilledKafkaKeepsAcknowledgedMessagesAndOffsets kills the broker while writers continue to write. Acknowledged
// messages and the group's committed offset must survive.
func TestKilledKafkaKeepsAcknowledgedMessagesAndOffsets(t *testing.T) {
	t.Parallel()
	engines := start(t, embedded.Config{Want: embedded.Set{Kafka: true}})
	const topic, partitions, writers = "events", 3, 4
	login, err := scram.Mechanism(scram.SHA256, engines.KafkaLogin.User, engines.KafkaLogin.Password)
	if err != nil {
		t.Fatal(err)
	}
	client := newClient(engines.KafkaBrokers, login)
	created, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1},
	}})
	if err != nil || created.Errors[topic] != nil {
		t.Fatal(err, created)
	}
	ctx, stopWriting := context.WithCancel(t.Context())
	defer stopWriting()
	var (
		mu           sync.Mutex
		acknowledged = map[string]bool{}
		wait         sync.WaitGroup
	)
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(acknowledged)
	}
	for w := range writers {
		wait.Go(func() {
			writer := &kafka.Writer{
				Addr: kafka.TCP(engines.KafkaBrokers...), Topic: topic, Balancer: &kafka.RoundRobin{}, RequiredAcks: kafka.RequireAll,
				BatchTimeout: time.Millisecond, BatchSize: 10, MaxAttempts: 3, WriteTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
				Transport: &kafka.Transport{MetadataTTL: time.Second, SASL: login},
			}
			defer func() { _ = writer.Close() }()
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprintf("%d-%d", w, n)
				if err := writer.WriteMessages(ctx, kafka.Message{Value: []byte(key)}); err == nil {
					mu.Lock()
					acknowledged[key] = true
					mu.Unlock()
				}
			}
		})
	}
	offset := int64(0)
	for n := range kills {
		seen := count()
		eventually.True(t, "messages to be acknowledged", func() bool { return count() > seen+50 })
		offset = commit(t, engines.KafkaBrokers, login, topic, int64(n+1))
		kill(t, engines, embedded.Kafka)
	}
	seen := count()
	eventually.True(t, "messages to be acknowledged", func() bool { return count() > seen+50 })
	stopWriting()
	wait.Wait()

	fresh := newClient(engines.KafkaBrokers, login)
	offsets, err := fresh.OffsetFetch(t.Context(), &kafka.OffsetFetchRequest{GroupID: "group", Topics: map[string][]int{topic: {0}}})
	if err != nil || offsets.Topics[topic][0].CommittedOffset != offset {
		t.Errorf("the group's offset is %+v, want %d: %v", offsets, offset, err)
	}
	stored := readAll(t, engines.KafkaBrokers, login, topic, partitions)
	lost := 0
	for key := range acknowledged {
		if !stored[key] {
			lost++
		}
	}
	t.Logf("%d acknowledged, %d stored", len(acknowledged), len(stored))
	if lost > 0 {
		t.Errorf("%d acknowledged messages are lost", lost)
	}
}

func newClient(brokers []string, login sasl.Mechanism) *kafka.Client {
	return &kafka.Client{
		Addr: kafka.TCP(brokers...), Timeout: eventually.Patience, Transport: &kafka.Transport{SASL: login},
	}
}

func commit(t *testing.T, brokers []string, login sasl.Mechanism, topic string, offset int64) int64 {
	t.Helper()
	client := newClient(brokers, login)
	response, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
		GroupID: "group", GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: offset}}},
	})
	if err != nil || response.Topics[topic][0].Error != nil {
		t.Fatalf("cannot commit: %v %+v", err, response)
	}
	return offset
}

func readAll(t *testing.T, brokers []string, login sasl.Mechanism, topic string, partitions int) map[string]bool {
	t.Helper()
	dialer := &kafka.Dialer{Timeout: eventually.Patience, SASLMechanism: login}
	stored := map[string]bool{}
	for partition := range partitions {
		conn, err := dialer.DialLeader(t.Context(), "tcp", brokers[0], topic, partition)
		if err != nil {
			t.Fatal(err)
		}
		last, err := conn.ReadLastOffset()
		_ = conn.Close()
		if err != nil {
			t.Fatal(err)
		}
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: brokers, Dialer: dialer, Topic: topic, Partition: partition, MaxWait: 100 * time.Millisecond})
		for offset := int64(0); offset < last; offset++ {
			message, err := reader.ReadMessage(t.Context())
			if err != nil {
				t.Fatal(errors.Join(err, reader.Close()))
			}
			stored[string(message.Value)] = true
		}
		_ = reader.Close()
	}
	return stored
}
