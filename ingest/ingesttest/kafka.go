package ingesttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// Start starts a component, for example a log or a sink, and stops it at the end of the test.
func Start(t testing.TB, part interface {
	Start(context.Context) error
	Stop(context.Context) error
}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Patience)
	defer cancel()
	if err := part.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
		defer cancel()
		if err := part.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

// Logger returns a logger that writes to the output of a verbose test. Otherwise it discards the lines.
func Logger(t testing.TB) *slog.Logger {
	if !testing.Verbose() {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// ReadTopic reads all messages of a partition, in order, as key=value.
func ReadTopic(t testing.TB, brokers []string, topic string, partition int) []string {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: eventually.Patience}
	var list []string
	for {
		res, err := client.Fetch(t.Context(), &kafka.FetchRequest{Topic: topic, Partition: partition, Offset: int64(len(list)), MinBytes: 1, MaxBytes: 10 << 20, MaxWait: 10 * time.Millisecond})
		if err == nil {
			err = res.Error
		}
		if err != nil {
			t.Fatal(err)
		}
		for {
			r, err := res.Records.ReadRecord()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			key, _ := io.ReadAll(r.Key)
			value, _ := io.ReadAll(r.Value)
			list = append(list, string(key)+"="+string(value))
		}
		if int64(len(list)) >= res.HighWatermark {
			return list
		}
	}
}

// MemoryLog stores copies of the appended messages.
type MemoryLog struct {
	Err      error // each call of Append returns Err
	Messages [][]byte

	mu sync.Mutex
}

// Append implements intake.Appender.
func (l *MemoryLog) Append(_ context.Context, _ string, _ int, message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Err != nil {
		return l.Err
	}
	l.Messages = append(l.Messages, bytes.Clone(message))
	return nil
}
