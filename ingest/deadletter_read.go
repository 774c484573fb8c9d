package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/schema/insights"
)

// DeadLetters reads the dead-letter topic of a log, and puts events of it into
// the log again. It is used by one goroutine.
type DeadLetters struct {
	dead      *deadTopic
	log       *kafka.Client
	transport *kafka.Transport
	topic     string

	known map[string]*letterState // as of offset read
	read  int64
}

// NewDeadLetters builds a reader. It connects when it is used.
func NewDeadLetters(brokers []string, access KafkaAccess, topic string) (*DeadLetters, error) {
	if err := CheckBrokers(brokers); err != nil {
		return nil, fmt.Errorf("cannot read dead letters: %w", err)
	}
	setDefault(&topic, defaultTopic)
	const client = "octavo-deadletter"
	d := &DeadLetters{dead: newDeadTopic(brokers, access, topic, client), topic: topic, transport: newTransport(client, access, topic)}
	d.log = &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: 10 * time.Second, Transport: d.transport}
	return d, nil
}

// Close gives the connections back.
func (d *DeadLetters) Close() {
	d.dead.close()
	d.transport.CloseIdleConnections()
}

// letterState is what the topic says of a letter.
type letterState struct {
	at        int64 // the offset of its last record; -1: there is none
	replaying *replaying
	replayed  bool
}

// Each calls f with every letter that was not replayed, in their order, each
// once. all includes those that were.
func (d *DeadLetters) Each(ctx context.Context, all bool, f func(letter *DeadLetter, replayed bool) error) error {
	states, end, err := d.states(ctx)
	if err != nil || len(states) == 0 {
		return err
	}
	first, _, err := offsetsOf(ctx, d.dead.client, d.dead.name, 0)
	if err != nil {
		return err
	}
	return d.scan(ctx, first, end, func(offset int64, key string, v *deadValue) error {
		state := states[key]
		if v == nil || v.Letter == nil || state.at != offset || state.replayed && !all {
			return nil
		}
		return f(v.Letter, state.replayed)
	})
}

// states reads what came to the topic since it was last read, up to its end of
// now.
func (d *DeadLetters) states(ctx context.Context) (states map[string]*letterState, end int64, err error) {
	if _, err := countPartitions(ctx, d.dead.client, d.dead.name); errors.Is(err, kafka.UnknownTopicOrPartition) {
		return nil, 0, nil // nothing was ever put aside
	}
	first, end, err := offsetsOf(ctx, d.dead.client, d.dead.name, 0)
	if err != nil {
		return nil, 0, err
	}
	if d.known == nil {
		d.known = map[string]*letterState{}
	}
	err = d.scan(ctx, max(first, d.read), end, func(offset int64, key string, v *deadValue) error {
		state := d.known[key]
		if state == nil {
			state = &letterState{at: -1}
			d.known[key] = state
		}
		switch {
		case v == nil:
			// For ever: a letter that a slow sink writes once more is the same.
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

// scan reads the dead-letter topic. Of a record that is none of ours it says
// nothing but where it is.
func (d *DeadLetters) scan(ctx context.Context, from, end int64, f func(offset int64, key string, v *deadValue) error) error {
	return readRecords(ctx, d.dead.client, d.dead.name, 0, from, end, func(offset int64, key, value []byte) error {
		if value == nil {
			return f(offset, string(key), nil)
		}
		v := &deadValue{}
		if json.Unmarshal(value, v) != nil {
			v = &deadValue{}
		}
		return f(offset, string(key), v)
	})
}

// Find is the letter with a key; nil if there is none.
func (d *DeadLetters) Find(ctx context.Context, key string) (found *DeadLetter, replayed bool, err error) {
	err = d.Each(ctx, true, func(letter *DeadLetter, was bool) error {
		if letter.Key() == key {
			found, replayed = letter, was
		}
		return nil
	})
	return found, replayed, err
}

// ErrReplayed is wrapped by Replay's error about a letter that was replayed.
var ErrReplayed = errors.New("it was replayed already")

// Replay appends a letter's event to the log again and marks the letter. It is
// safe to break off and to repeat: before it appends, it notes where the
// event will be, and looks there before it appends again. The event's message
// has an id that is the letter's, so that the sink drops the second of two
// replays at the same time.
func (d *DeadLetters) Replay(ctx context.Context, letter *DeadLetter) error {
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
		return fmt.Errorf("its message was more than the topic of dead letters takes: it is in the log, at offset %d of partition %d, until it expires there", letter.Offset, letter.Partition)
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
			err = d.note(ctx, letter, deadValue{Replaying: at})
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
	if err := d.dead.produce(ctx, []deadRecord{{letter.Key(), nil}}); err != nil {
		return fmt.Errorf("it is in the log again, but cannot be marked: %w", err)
	}
	return nil
}

func replayID(letter *DeadLetter) (id insights.MessageID) {
	sum := sha256.Sum256([]byte("octavo replay " + letter.Topic + " " + letter.Key()))
	copy(id[:], sum[:])
	return id
}

// place is where the log's next message of the letter's partition will be.
func (d *DeadLetters) place(ctx context.Context, letter *DeadLetter) (*replaying, error) {
	count, err := countPartitions(ctx, d.log, d.topic)
	if err != nil {
		return nil, err
	}
	at := &replaying{Partition: letter.Partition % count}
	_, at.From, err = offsetsOf(ctx, d.log, d.topic, at.Partition)
	return at, err
}

func (d *DeadLetters) note(ctx context.Context, letter *DeadLetter, v deadValue) error {
	value, err := json.Marshal(v)
	if err == nil {
		err = d.dead.produce(ctx, []deadRecord{{letter.Key(), value}})
	}
	return err
}

// appended tells whether a replay that was broken off had come to its append.
func (d *DeadLetters) appended(ctx context.Context, at *replaying, id insights.MessageID) (found bool, err error) {
	first, end, err := offsetsOf(ctx, d.log, d.topic, at.Partition)
	if err != nil {
		return false, err
	}
	if at.From < first || at.From > end {
		return false, fmt.Errorf("a replay of it was broken off, and the log no longer tells whether it was appended: its messages from offset %d of partition %d on are gone", at.From, at.Partition)
	}
	found, _, err = findMessage(ctx, d.log, d.topic, at.Partition, at.From, end, id)
	return found, err
}

// append makes a message durable in the log. An attempt without an answer is
// not repeated: the next replay looks for it.
func (d *DeadLetters) append(ctx context.Context, partition int, site string, message []byte) error {
	res, err := d.log.Produce(ctx, &kafka.ProduceRequest{
		Addr: nil, Topic: d.topic, Partition: partition, RequiredAcks: kafka.RequireAll, MessageVersion: 2, TransactionalID: "",
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
