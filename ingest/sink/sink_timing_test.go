package sink

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// typicalMessages returns `count` log messages with n typical events each.
func typicalMessages(b *testing.B, count, n int) [][]byte {
	b.Helper()
	return intaketest.Messages(b, slices.Repeat([][]byte{ingesttest.TypicalBody(n)}, count)...)
}

// BenchmarkSinkDecode measures how fast the sink decodes messages into columns.
func BenchmarkSinkDecode(b *testing.B) {
	for _, n := range ingesttest.BodySizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			messages := typicalMessages(b, 1000, n)
			batch := insights.NewBatch()
			b.ReportAllocs()
			for b.Loop() {
				batch.Reset()
				ingesttest.Fill(b, batch, messages)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000*n), "ns/event")
		})
	}
}

// BenchmarkInsert measures inserts of prepared batches of 100,000 rows. It is the baseline for BenchmarkSink.
func BenchmarkInsert(b *testing.B) {
	store, _ := newStore(b, enginetest.ClickHouse(b))
	batch := insights.NewBatch()
	ingesttest.Fill(b, batch, typicalMessages(b, 1000, 100))
	b.ReportAllocs()
	for b.Loop() {
		if err := store.Insert(b.Context(), batch, fmt.Sprint(b.N, time.Now().UnixNano())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(batch.Rows())*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkSink measures a sink that moves messages from the log to the store. The messages are already in the log. The
// sink reads, decodes, inserts and commits them.
func BenchmarkSink(b *testing.B) {
	for _, n := range ingesttest.BodySizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			const perRun = 1_000_000
			messages := typicalMessages(b, 200, n)
			for b.Loop() {
				b.StopTimer()
				brokers, topic := enginetest.Kafka(b), enginetest.Topic(b, 4)
				store, conn := newStore(b, enginetest.ClickHouse(b))
				produceAll(b, brokers, topic, 4, messages, perRun/n)
				s := newTestSink(b, Config{Brokers: brokers, Topic: topic, Group: topic, Store: store, HeartbeatInterval: time.Second})
				b.StartTimer()
				start := time.Now()
				if err := s.Start(b.Context()); err != nil {
					b.Fatal(err)
				}
				eventually.Succeeds(b, "all events", func() error {
					var rows uint64
					if err := conn.QueryRow(b.Context(), "SELECT count() FROM events").Scan(&rows); err != nil {
						b.Fatal(err)
					}
					if rows < perRun {
						return fmt.Errorf("%d events are stored", rows)
					}
					return nil
				})
				b.ReportMetric(perRun/time.Since(start).Seconds(), "events/s")
				b.StopTimer()
				if err := s.Stop(context.Background()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// produceAll appends `count` messages with different ids to a topic.
func produceAll(b *testing.B, brokers []string, topic string, partitions int, messages [][]byte, count int) {
	b.Helper()
	l := newTestLog(b, brokers, func(c *eventlog.Config) {
		c.Topic, c.AppendTimeout, c.ProduceTimeout = topic, time.Minute, 30*time.Second
	})
	next := make(chan int)
	done := make(chan error, 256)
	for range cap(done) {
		go func() {
			for i := range next {
				data := append([]byte(nil), messages[i%len(messages)]...)
				binary.BigEndian.PutUint64(data[3+8:], uint64(i)) // the second half of the message's id
				if err := l.Append(b.Context(), "site_1", i%partitions, data); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for i := range count {
		next <- i
	}
	close(next)
	for range cap(done) {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFetch compares two ways to read a partition with kafka-go.
func BenchmarkFetch(b *testing.B) {
	const n = 200_000
	brokers, topic := enginetest.Kafka(b), enginetest.Topic(b, 1)
	produceAll(b, brokers, topic, 1, typicalMessages(b, 200, 1), n)
	b.Run("client", func(b *testing.B) {
		s := newTestSink(b, Config{Brokers: brokers, Topic: topic, Store: &eventstore.ClickHouse{}})
		for b.Loop() {
			for next := int64(0); next < n; {
				c, err := s.fetch(b.Context(), &partition{}, next, s.cfg.FetchBytes)
				if err != nil {
					b.Fatal(err)
				}
				next = c.messages[len(c.messages)-1].offset + 1
				c.free()
			}
		}
		b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	})
	b.Run("reader", func(b *testing.B) {
		for b.Loop() {
			r := kafka.NewReader(kafka.ReaderConfig{Brokers: brokers, Topic: topic, Partition: 0, MinBytes: 1, MaxBytes: 4 << 20, QueueCapacity: 1000})
			for range n {
				if _, err := r.ReadMessage(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			_ = r.Close()
		}
		b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	})
}
