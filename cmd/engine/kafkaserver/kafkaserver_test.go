package kafkaserver_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
	"github.com/octavo-docs/octavo/cmd/engine/supervise/dirlock"
	"github.com/segmentio/kafka-go"
)

func TestOnlyLoopback(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"0.0.0.0:0", ":9092", "192.0.2.1:9092", "localhost:9092", "9092"} {
		t.Run(listen, func(t *testing.T) {
			t.Parallel()
			err := kafkaserver.Run(t.Context(), kafkaserver.Config{Listen: listen, DataDir: t.TempDir()})
			if err == nil || !strings.Contains(err.Error(), listen) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTakenPortIsNamed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	address := listener.Addr().String()
	err = kafkaserver.Run(t.Context(), kafkaserver.Config{Listen: address, DataDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), address+" is in use") {
		t.Errorf("got %v", err)
	}
}

func TestOneBrokerPerDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, dir, "127.0.0.1:0")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := kafkaserver.Run(ctx, kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: dir})
	var held *dirlock.HeldError
	if !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &held) {
		t.Errorf("got %v", err)
	}
}

// TestLoginIsRequired starts brokers with different passwords, and without a password, on the same directory.
func TestLoginIsRequired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, password := range []string{"first", "second", ""} {
		t.Run("password "+password, func(t *testing.T) { // not parallel, because the brokers use the same directory
			cfg := kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: dir}
			if password != "" {
				cfg.User, cfg.Password = "octavo", password
			}
			address, _ := runConfig(t, cfg)
			if err := kafkaserver.Ping(t.Context(), address, cfg.User, cfg.Password); err != nil {
				t.Errorf("the right password gave %v", err)
			}
			if password == "" {
				return
			}
			for _, wrong := range [][2]string{{"", ""}, {"octavo", "third"}, {"octavo", ""}, {"admin", "admin"}, {"admin", password}} {
				t.Run(wrong[0]+":"+wrong[1], func(t *testing.T) {
					if err := kafkaserver.Ping(t.Context(), address, wrong[0], wrong[1]); err == nil {
						t.Errorf("the login %q was accepted", wrong)
					}
				})
			}
		})
	}
	if err := kafkaserver.Run(t.Context(), kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), User: "octavo"}); err == nil {
		t.Error("a user without a password was accepted")
	}
}

func TestCleanRestartKeepsTopicsMessagesAndOffsets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address, stop := run(t, dir, "127.0.0.1:0")
	client := &kafka.Client{Addr: kafka.TCP(address), Timeout: eventually.Patience}
	created, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: "kept", NumPartitions: 2, ReplicationFactor: 1},
	}})
	if err != nil || created.Errors["kept"] != nil {
		t.Fatal(err, created)
	}
	produced, err := client.Produce(t.Context(), &kafka.ProduceRequest{
		Topic: "kept", Partition: 1, RequiredAcks: kafka.RequireAll,
		Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte("hello"))}),
	})
	if err != nil || produced.Error != nil {
		t.Fatal(err, produced)
	}
	committed, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
		GroupID: "group", GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{"kept": {{Partition: 1, Offset: 1}}},
	})
	if err != nil || committed.Topics["kept"][0].Error != nil {
		t.Fatal(err, committed)
	}
	stop()
	if again, _ := run(t, dir, address); again != address {
		t.Fatalf("it restarted at %s", again)
	}
	// Use a new client, because the old client's connections are broken.
	client = &kafka.Client{Addr: kafka.TCP(address), Timeout: eventually.Patience, Transport: &kafka.Transport{}}
	fetched, err := client.Fetch(t.Context(), &kafka.FetchRequest{Topic: "kept", Partition: 1, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: time.Second})
	if err != nil || fetched.Error != nil {
		t.Fatal(err, fetched)
	}
	record, err := fetched.Records.ReadRecord()
	if err != nil {
		t.Fatal(err)
	}
	if value, _ := kafka.ReadAll(record.Value); string(value) != "hello" {
		t.Errorf("got %q", value)
	}
	offsets, err := client.OffsetFetch(t.Context(), &kafka.OffsetFetchRequest{GroupID: "group", Topics: map[string][]int{"kept": {1}}})
	if err != nil || offsets.Topics["kept"][0].CommittedOffset != 1 {
		t.Errorf("got %v, %v", offsets, err)
	}
}

func TestPing(t *testing.T) {
	t.Parallel()
	address, stop := run(t, t.TempDir(), "127.0.0.1:0")
	if err := kafkaserver.Ping(t.Context(), address, "", ""); err != nil {
		t.Error(err)
	}
	stop()
	if err := kafkaserver.Ping(t.Context(), address, "", ""); err == nil {
		t.Error("a stopped broker answered")
	}
}

// run starts a broker. It returns the broker's address, and a function that stops the broker. The function may be
// called repeatedly.
func run(t *testing.T, dir, listen string) (string, func()) {
	t.Helper()
	return runConfig(t, kafkaserver.Config{Listen: listen, DataDir: dir})
}

func runConfig(t testing.TB, cfg kafkaserver.Config) (string, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan struct{})
	cfg.OnReady = func(a net.Addr) { ready <- a.String() }
	var err error
	go func() {
		defer close(done)
		err = kafkaserver.Run(ctx, cfg)
	}()
	stop := func() {
		cancel()
		<-done
		if err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	select {
	case address := <-ready:
		return address, stop
	case <-done:
		t.Fatal(err)
		return "", nil
	}
}
