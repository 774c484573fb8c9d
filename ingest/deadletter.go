package ingest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/schema/insights"
)

// DeadSuffix makes the name of the dead-letter topic from that of the log.
const DeadSuffix = ".dead"

const (
	// deadRetention is how long somebody has to look at a dead letter.
	deadRetention = 90 * 24 * time.Hour
	// deadMessageBytes is above a letter's size with the largest message in it.
	deadMessageBytes = 16 << 20
	// maxReason is how much of an error's text a letter keeps.
	maxReason = 1000
	// deadProduce is how many bytes of letters go into one produce.
	deadProduce = 512 << 10
	// unreadableReason is that of messages; those of events are a storeFault's.
	unreadableReason = "unreadable"
)

// DeadLetter is an event that the store refuses, or a message of the log that
// cannot be read.
type DeadLetter struct {
	Topic     string    `json:"topic"`
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`
	Index     int       `json:"index"` // of the event in its message; -1: the whole message
	Site      string    `json:"site,omitempty"`
	Received  time.Time `json:"received,omitzero"`
	Reason    string    `json:"reason"` // a short word, as in the metric
	Error     string    `json:"error"`
	// Message is a message of the log with this event only, or the bytes that
	// cannot be read; nil if they are more than the topic takes.
	Message []byte `json:"message,omitempty"`
	// Sum tells the message from that of another log at the same place.
	Sum string `json:"sum"`
}

// Key names a letter for ever: two letters with one key are one.
func (d *DeadLetter) Key() string {
	return fmt.Sprintf("%d/%d/%d/%s", d.Partition, d.Offset, d.Index, d.Sum)
}

// letters are those of a cut.
func (c *cut) letters(topic string) ([]DeadLetter, error) {
	list := make([]DeadLetter, 0, len(c.unreadable)+len(c.refused))
	for _, u := range c.unreadable {
		d := DeadLetter{
			Topic: topic, Partition: c.partition.id, Offset: u.offset, Index: -1, Reason: unreadableReason,
			Error: shortened(u.err), Message: u.data, Sum: sumOf(u.data),
		}
		if m, err := insights.ParseMessage(u.data); err == nil {
			d.Site, d.Received = m.Site, time.UnixMilli(m.ReceivedMillis).UTC()
		}
		list = append(list, d)
	}
	for _, r := range c.refused {
		m, index := c.messageOf(r.row)
		only, err := m.message.Only(index)
		if err != nil {
			return nil, err
		}
		list = append(list, DeadLetter{
			Topic: topic, Partition: c.partition.id, Offset: int64(m.at.Offset), Index: index,
			Site: m.message.Site, Received: time.UnixMilli(m.message.ReceivedMillis).UTC(),
			Reason: faultOf(r.err).reason, Error: shortened(r.err), Message: only, Sum: hex.EncodeToString(m.message.ID[:]),
		})
	}
	return list, nil
}

func sumOf(data []byte) string { return fmt.Sprintf("%016x", xxhash.Sum64(data)) }

func shortened(err error) string {
	text := err.Error()
	if len(text) > maxReason {
		text = text[:maxReason] + "…"
	}
	return text
}

// bury writes a cut's dead letters. They are durable before the cut is done;
// if that is interrupted, the cut's next owner writes them again with the same
// keys.
func (g *generation) bury(ctx context.Context, c *cut) error {
	if len(c.unreadable) == 0 && len(c.refused) == 0 {
		return nil
	}
	s := g.sink
	list, err := c.letters(s.cfg.Topic)
	if err != nil {
		return err
	}
	if err := s.dead.write(ctx, list); err != nil {
		return err
	}
	s.metrics.unreadable.Add(float64(len(c.unreadable)))
	for i := range list {
		d := &list[i]
		s.metrics.deadLettered.WithLabelValues(d.Reason).Inc()
		s.cfg.Logger.Error("An event cannot be stored and is a dead letter now.", "topic", s.dead.name, "key", d.Key(), "site", d.Site, "reason", d.Reason, "error", d.Error)
	}
	return nil
}

// deadTopic is the topic of dead letters. It is made when it is first needed.
type deadTopic struct {
	log, name string
	brokers   []string
	minInSync int // as LogConfig has it
	transport *kafka.Transport
	client    *kafka.Client
	mu        sync.Mutex
	made      bool
}

func newDeadTopic(brokers []string, access KafkaAccess, log, clientID string) *deadTopic {
	t := &deadTopic{log: log, name: log + DeadSuffix, brokers: brokers}
	t.transport = newTransport(clientID, access, t.log, t.name)
	t.client = &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: 10 * time.Second, Transport: t.transport}
	return t
}

func (t *deadTopic) close() { t.transport.CloseIdleConnections() }

// ensure creates the topic unless it exists, with as many replicas as the log has.
func (t *deadTopic) ensure(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.made {
		return nil
	}
	meta, err := t.client.Metadata(ctx, &kafka.MetadataRequest{Addr: nil, Topics: []string{t.log}})
	if err != nil {
		return err
	}
	replicas := 1
	for _, topic := range meta.Topics {
		if topic.Name == t.log && len(topic.Partitions) > 0 {
			replicas = max(replicas, len(topic.Partitions[0].Replicas))
		}
	}
	cfg := LogConfig{
		Brokers: t.brokers, Topic: t.name, Partitions: 1, Replicas: replicas, MinInSync: min(t.minInSync, replicas),
		Retention: deadRetention, MaxMessageBytes: deadMessageBytes,
	}
	if err := cfg.complete(); err != nil {
		return err
	}
	if _, err := ensureTopic(ctx, t.client, &cfg, func(err error) bool { return !retriable(err) }); err != nil {
		return err
	}
	t.made = true
	return nil
}

// write makes letters durable.
func (t *deadTopic) write(ctx context.Context, list []DeadLetter) error {
	records := make([]deadRecord, len(list))
	for i := range list {
		value, err := json.Marshal(deadValue{Letter: &list[i]})
		if err != nil {
			return err
		}
		records[i] = deadRecord{list[i].Key(), value}
	}
	most := deadProduce
	for len(records) > 0 {
		n, bytes := 0, 0
		for n < len(records) && (n == 0 || bytes+len(records[n].value) <= most) {
			bytes += len(records[n].value)
			n++
		}
		err := t.produce(ctx, records[:n])
		// Somebody made the topic with another limit: then each goes alone.
		if errors.Is(err, kafka.MessageSizeTooLarge) && n > 1 {
			most = 0
			continue
		}
		if errors.Is(err, kafka.MessageSizeTooLarge) {
			// The message stays in the log, at the position that the letter
			// names, until it expires.
			d := list[len(list)-len(records)]
			d.Message = nil
			if records[0].value, err = json.Marshal(deadValue{Letter: &d}); err == nil {
				err = t.produce(ctx, records[:1])
			}
		}
		if err != nil {
			return fmt.Errorf("cannot write to %s: %w", t.name, err)
		}
		records = records[n:]
	}
	return nil
}

// deadRecord is a record of the topic: a letter, a note about one, or (nil)
// that it was replayed.
type deadRecord struct {
	key   string
	value []byte
}

// deadValue is a record's value; one member is set.
type deadValue struct {
	Letter *DeadLetter `json:"letter,omitempty"`
	// Replaying is noted before a letter's event is appended to the log again.
	Replaying *replaying `json:"replaying,omitempty"`
}

func (t *deadTopic) produce(ctx context.Context, records []deadRecord) error {
	if err := t.ensure(ctx); err != nil {
		return err
	}
	list := make([]kafka.Record, len(records))
	for i, r := range records {
		list[i] = kafka.Record{Key: kafka.NewBytes([]byte(r.key))}
		if r.value != nil {
			list[i].Value = kafka.NewBytes(r.value)
		}
	}
	res, err := t.client.Produce(ctx, &kafka.ProduceRequest{
		Addr: nil, Topic: t.name, Partition: 0, RequiredAcks: kafka.RequireAll, MessageVersion: 2, TransactionalID: "",
		Records: kafka.NewRecordReader(list...), Compression: 0,
	})
	if err == nil {
		err = res.Error
	}
	if err != nil && !errors.Is(err, kafka.MessageSizeTooLarge) {
		t.transport.CloseIdleConnections() // a new pool asks who leads
	}
	return err
}

// replaying says where a letter's event will be in the log if it is.
type replaying struct {
	Partition int   `json:"partition"`
	From      int64 `json:"from"`
}
