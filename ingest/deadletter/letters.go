package deadletter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Letters reads the dead-letter topic of a log, and appends its events to the log again. Only one goroutine may use a
// Letters.
type Letters struct {
	// Erased reports whether an event's visitor or key was erased after the event was received. Replay does not append
	// such an event to the log again. nil means that no visitor was erased.
	Erased func(site string, visitor uint64, eventKey string, receivedMillis int64) bool

	writer *Writer
	dead   *eventlog.Topic
	log    *eventlog.Topic

	known map[string]*letterState // states by the key of the letter, from the records before the offset `read`
	read  int64
}

// Open returns Letters that connect at first use. An empty topic name means the topic of the default log.
func Open(brokers []string, access eventlog.Access, topic string) (*Letters, error) {
	if err := eventlog.CheckBrokers(brokers); err != nil {
		return nil, fmt.Errorf("cannot read dead letters: %w", err)
	}
	topic = cmp.Or(topic, eventlog.DefaultTopic)
	const client = "octavo-deadletter"
	w := NewWriter(brokers, access, topic, client, 0)
	return &Letters{writer: w, dead: w.topic, log: eventlog.NewTopic(brokers, access, client, 10*time.Second, topic)}, nil
}

// Close closes the connections.
func (d *Letters) Close() {
	d.writer.Close()
	d.log.Close()
}

// letterState is the state of a letter, computed from the records of the topic.
type letterState struct {
	at        int64 // the offset of the last record with the letter itself; -1 if there is no such record
	replaying *replaying
	replayed  bool
}

// Each calls f once for each letter that has not been replayed, in the order of the topic. If `all` is true, it also
// calls f for replayed letters.
func (d *Letters) Each(ctx context.Context, all bool, f func(letter *Letter, replayed bool) error) error {
	states, end, err := d.states(ctx)
	if err != nil || len(states) == 0 {
		return err
	}
	first, _, err := d.dead.Offsets(ctx, 0)
	if err != nil {
		return err
	}
	return d.scan(ctx, first, end, func(offset int64, key string, v *value) error {
		state := states[key]
		if v == nil || v.Letter == nil || state.at != offset || state.replayed && !all {
			return nil
		}
		return f(v.Letter, state.replayed)
	})
}

// states returns the state of each letter, by its key, and the offset of the topic's next record. It reads only the
// records that it has not read before.
func (d *Letters) states(ctx context.Context) (states map[string]*letterState, end int64, err error) {
	if _, err := d.dead.Partitions(ctx); errors.Is(err, kafka.UnknownTopicOrPartition) {
		return nil, 0, nil // the first letter creates the topic
	}
	first, end, err := d.dead.Offsets(ctx, 0)
	if err != nil {
		return nil, 0, err
	}
	if d.known == nil {
		d.known = map[string]*letterState{}
	}
	err = d.scan(ctx, max(first, d.read), end, func(offset int64, key string, v *value) error {
		state := d.known[key]
		if state == nil {
			state = &letterState{at: -1}
			d.known[key] = state
		}
		switch {
		case v == nil:
			// A replayed letter stays replayed. A slow sink may write the letter again, but it is the same letter.
			state.replayed = true
		case v.Replaying != nil:
			state.replaying = v.Replaying
		case v.Letter != nil:
			state.at = offset
		}
		d.read = offset + 1
		return nil
	})
	return d.known, end, err
}

// scan calls f for each record of the dead-letter topic. For an unreadable record, v is an empty value. For a
// tombstone, v is nil.
func (d *Letters) scan(ctx context.Context, from, end int64, f func(offset int64, key string, v *value) error) error {
	return d.dead.Scan(ctx, 0, from, end, func(r eventlog.Record) error {
		if r.Value == nil {
			return f(r.Offset, string(r.Key), nil)
		}
		v, err := parse(d.dead, r.Value)
		if err != nil {
			return err
		}
		return f(r.Offset, string(r.Key), v)
	})
}

// Find returns the letter with a key, or nil if no letter has the key.
func (d *Letters) Find(ctx context.Context, key string) (found *Letter, replayed bool, err error) {
	err = d.Each(ctx, true, func(letter *Letter, was bool) error {
		if letter.Key() == key {
			found, replayed = letter, was
		}
		return nil
	})
	return found, replayed, err
}

// ErrReplayed is wrapped by the error that Replay returns for a letter that was replayed before.
var ErrReplayed = errors.New("it was replayed already")

// ErrErased is wrapped by the error that Replay returns for a letter of an erased visitor. Replay also marks this
// letter as replayed.
var ErrErased = errors.New("its visitor was erased")

// erased reports whether all events of a letter's message are erased. A message usually has one event. If only some
// events are erased, the letter is replayed, and the sink leaves out the erased events.
func (d *Letters) erased(message []byte) bool {
	m, err := insights.ParseMessage(message)
	rows := insights.NewBatch()
	if d.Erased == nil || err != nil || rows.Add(m, insights.Position{}, nil) != nil {
		return false
	}
	for i := range rows.Rows() {
		if !d.Erased(m.Site, rows.Content(i).Visitor, rows.EventKey(i), m.ReceivedMillis) {
			return false
		}
	}
	return rows.Rows() > 0
}

// Replay appends a letter's event to the log again and marks the letter as replayed. An interrupted Replay can be
// repeated. Before it appends the event, it records the partition's end. A repeated Replay first searches the log for
// the event, beginning at the recorded offset. The message's id is derived from the letter, so if two replays run at
// the same time, the sink drops the second copy.
func (d *Letters) Replay(ctx context.Context, letter *Letter) error {
	states, _, err := d.states(ctx)
	if err != nil {
		return err
	}
	state := states[letter.Key()]
	if state == nil {
		return errors.New("there is no such letter")
	}
	if state.replayed {
		return ErrReplayed
	}
	if letter.Message == nil {
		return fmt.Errorf("its message was larger than the topic of dead letters takes: it is in the log, at offset %d of partition %d, until it expires there", letter.Offset, letter.Partition)
	}
	if d.erased(letter.Message) {
		if err := d.writer.produce(ctx, []record{{letter.Key(), nil}}); err != nil {
			return err
		}
		return ErrErased
	}
	id := replayID(letter)
	message, err := insights.WithID(letter.Message, id)
	if err != nil {
		return fmt.Errorf("this version cannot read its message: %w", err)
	}
	at := state.replaying
	appended := false
	if at == nil {
		if at, err = d.place(ctx, letter); err == nil {
			err = d.note(ctx, letter, value{Replaying: at})
		}
	} else {
		appended, err = d.appended(ctx, at, id)
	}
	if err == nil && !appended {
		err = d.append(ctx, at.Partition, letter.Site, message)
	}
	if err != nil {
		return err
	}
	if err := d.writer.produce(ctx, []record{{letter.Key(), nil}}); err != nil {
		return fmt.Errorf("it is in the log again, but cannot be marked: %w", err)
	}
	return nil
}

func replayID(letter *Letter) (id insights.MessageID) {
	sum := sha256.Sum256([]byte("octavo replay " + letter.Topic + " " + letter.Key()))
	copy(id[:], sum[:])
	return id
}

// place returns the partition of the log to which the letter is appended, and the end of this partition.
func (d *Letters) place(ctx context.Context, letter *Letter) (*replaying, error) {
	count, err := d.log.Partitions(ctx)
	if err == nil {
		err = d.log.CheckBaseline(ctx, count)
	}
	if err != nil {
		return nil, err
	}
	at := &replaying{Partition: letter.Partition % count}
	_, at.From, err = d.log.Offsets(ctx, at.Partition)
	return at, err
}

func (d *Letters) note(ctx context.Context, letter *Letter, v value) error {
	text, err := marshal(v)
	if err == nil {
		err = d.writer.produce(ctx, []record{{letter.Key(), text}})
	}
	return err
}

// appended reports whether an interrupted replay had appended the event.
func (d *Letters) appended(ctx context.Context, at *replaying, id insights.MessageID) (found bool, err error) {
	first, end, err := d.log.Offsets(ctx, at.Partition)
	if err != nil {
		return false, err
	}
	if at.From < first || at.From > end {
		return false, fmt.Errorf("an earlier replay was interrupted, and the log can no longer show whether it appended the event: its messages from offset %d of partition %d on are gone", at.From, at.Partition)
	}
	found, _, err = d.log.FindMessage(ctx, at.Partition, at.From, end, id)
	return found, err
}

// append makes a message durable in the log. If the broker does not answer, `append` does not retry, because the next
// replay searches the log for the message.
func (d *Letters) append(ctx context.Context, partition int, site string, message []byte) error {
	res, err := d.log.Client.Produce(ctx, &kafka.ProduceRequest{
		Addr: nil, Topic: d.log.Name, Partition: partition, RequiredAcks: kafka.RequireAll, MessageVersion: 2, TransactionalID: "",
		Records:     kafka.NewRecordReader(kafka.Record{Key: kafka.NewBytes([]byte(site)), Value: kafka.NewBytes(message)}),
		Compression: 0,
	})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		return fmt.Errorf("cannot append to the log: %w", err)
	}
	return nil
}
