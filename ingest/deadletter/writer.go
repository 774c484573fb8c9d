package deadletter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
)

const (
	// Retention is the time for which the topic keeps a letter, so that an operator can inspect it.
	Retention = 90 * 24 * time.Hour
	// maxBytes is the topic's limit for a record. It is more than the size of a letter with the largest message.
	maxBytes = 16 << 20
	// produceBytes is the largest number of bytes of letters in one produce request, unless a single letter is larger.
	produceBytes = 512 << 10
	// sends is the largest number of produce requests for the same records.
	sends = 8
)

// Writer makes letters durable in the dead-letter topic. It creates the topic when it writes the first letter.
type Writer struct {
	brokers   []string
	log       string // the log's topic
	minInSync int
	topic     *eventlog.Topic

	mu      sync.Mutex
	created bool
}

// NewWriter returns a Writer that connects at first use. `log` is the log's topic, and `clientID` identifies the
// program to the brokers. minInSync is the number of replicas that must have a letter, as in eventlog.Config.MinInSync.
// 0 means all replicas except one.
func NewWriter(brokers []string, access eventlog.Access, log, clientID string, minInSync int) *Writer {
	topic := eventlog.NewTopic(brokers, access, clientID, 10*time.Second, log+Suffix, log)
	w := &Writer{brokers: brokers, log: log, minInSync: minInSync, topic: topic}
	topic.Check = w.checkOldest
	return w
}

// CheckBaseline returns an error if the topic's oldest letters have another baseline. A missing or empty topic is
// accepted.
func (w *Writer) CheckBaseline(ctx context.Context) error {
	if _, err := w.topic.Partitions(ctx); err != nil {
		if errors.Is(err, kafka.UnknownTopicOrPartition) {
			return nil
		}
		return err
	}
	return w.checkOldest(ctx, 1)
}

// checkOldest is CheckBaseline for a topic that exists.
func (w *Writer) checkOldest(ctx context.Context, _ int) error {
	return w.topic.Oldest(ctx, 0, func(text []byte) error {
		_, err := parse(w.topic, text)
		return err
	})
}

// Topic returns the name of the dead-letter topic.
func (w *Writer) Topic() string { return w.topic.Name }

// Close closes the connections.
func (w *Writer) Close() { w.topic.Close() }

// create ensures that the topic exists, with as many replicas as the log.
func (w *Writer) create(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.created {
		return nil
	}
	replicas, err := w.topic.ReplicasOf(ctx, w.log)
	if err != nil && !errors.Is(err, kafka.UnknownTopicOrPartition) {
		return err
	}
	replicas = max(replicas, 1)
	err = w.topic.Create(ctx, eventlog.Config{
		Brokers: w.brokers, Partitions: 1, Replicas: replicas, MinInSync: min(w.minInSync, replicas),
		Retention: Retention, MaxMessageBytes: maxBytes,
	})
	w.created = err == nil
	return err
}

// Write makes letters durable.
func (w *Writer) Write(ctx context.Context, list []Letter) error {
	records := make([]record, len(list))
	for i := range list {
		value, err := marshal(value{Letter: &list[i]})
		if err != nil {
			return err
		}
		records[i] = record{list[i].Key(), value}
	}
	most := produceBytes
	for len(records) > 0 {
		n, bytes := 0, 0
		for n < len(records) && (n == 0 || bytes+len(records[n].value) <= most) {
			bytes += len(records[n].value)
			n++
		}
		err := w.produce(ctx, records[:n])
		// Another program created the topic with a smaller limit, so send each letter separately.
		if errors.Is(err, kafka.MessageSizeTooLarge) && n > 1 {
			most = 0
			continue
		}
		if errors.Is(err, kafka.MessageSizeTooLarge) {
			// Store the letter without its message. The log has the message at the letter's position until the message
			// expires.
			letter := list[len(list)-len(records)]
			letter.Message = nil
			if records[0].value, err = marshal(value{Letter: &letter}); err == nil {
				err = w.produce(ctx, records[:1])
			}
		}
		if err != nil {
			return fmt.Errorf("cannot write to %s: %w", w.topic.Name, err)
		}
		records = records[n:]
	}
	return nil
}

// record is a record of the dead-letter topic. Its value has a Letter, or a Replaying. A nil value is a tombstone,
// which marks the letter as replayed.
type record struct {
	key   string
	value []byte
}

// value is the value of a record: a baseline, and either a Letter or a Replaying.
type value struct {
	Baseline int     `json:"baseline"`
	Letter   *Letter `json:"letter,omitempty"`
	// Replaying is written before a letter's event is appended to the log again.
	Replaying *replaying `json:"replaying,omitempty"`
}

// replaying has the partition, and the offset from which on the log may contain the replayed event.
type replaying struct {
	Partition int   `json:"partition"`
	From      int64 `json:"from"`
}

// marshal replaces invalid UTF-8, because sites and errors may contain any bytes. A letter that cannot be written would
// block its partition.
func marshal(v value) ([]byte, error) {
	v.Baseline = schema.Baseline
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true))
}

// parse parses a record's value. It returns an empty value if another program wrote the record. It fails if the value's
// baseline is not the baseline of this version.
func parse(topic *eventlog.Topic, text []byte) (*value, error) {
	v := &value{}
	ours := json.Unmarshal(text, v) == nil && (v.Letter != nil || v.Replaying != nil)
	switch {
	case !ours:
		return &value{}, nil
	case v.Baseline != schema.Baseline:
		return nil, topic.OtherBaseline(v.Baseline)
	}
	return v, nil
}

// produce writes records. It retries a few times while the partition's leader moves, or has just been chosen: the
// broker has then written nothing.
func (w *Writer) produce(ctx context.Context, records []record) error {
	if err := w.create(ctx); err != nil {
		return err
	}
	wait := retry.Backoff{First: 50 * time.Millisecond, Max: time.Second}
	for attempt := 1; ; attempt++ {
		err := w.send(ctx, records)
		if attempt == sends || ctx.Err() != nil || !errors.Is(err, kafka.NotLeaderForPartition) {
			return err
		}
		wait.Sleep(ctx)
	}
}

func (w *Writer) send(ctx context.Context, records []record) error {
	list := make([]kafka.Record, len(records))
	for i, r := range records {
		list[i] = kafka.Record{Key: kafka.NewBytes([]byte(r.key))}
		if r.value != nil {
			list[i].Value = kafka.NewBytes(r.value)
		}
	}
	res, err := w.topic.Client.Produce(ctx, &kafka.ProduceRequest{
		Addr: nil, Topic: w.topic.Name, Partition: 0, RequiredAcks: kafka.RequireAll, MessageVersion: 2, TransactionalID: "",
		Records: kafka.NewRecordReader(list...), Compression: 0,
	})
	if err == nil {
		err = res.Error
	}
	if err != nil && !errors.Is(err, kafka.MessageSizeTooLarge) {
		w.topic.Close() // the next attempt looks up the partition's leader again
	}
	return err
}
