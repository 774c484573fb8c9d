package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema/insights"
)

// produce tries to make a batch durable. Every attempt sends the same bytes, with the same producer id and sequence, so
// the broker appends them once.
//
// An abandoned batch may be in the log already, or may arrive later. The next batch then takes another producer id.
// With the same id, both batches would have the same sequence number, and the broker would drop the next batch as a
// repeat.
//
// `answered` is false if an attempt ended without an answer. kafka-go may then still read the batch's buffer, so the
// caller must not reuse the buffer.
func (l *Log) produce(ctx context.Context, p *partition, b *batch) (answered bool, refusal *insights.Refusal) {
	l.metrics.produceMessages.Observe(float64(b.count))
	l.metrics.produceBytes.Observe(float64(len(b.buf)))
	answered = true
	// The deadline includes the time that the batch waited in the queue. So a request is answered in time, however long
	// the queue is.
	deadline := b.began.Add(l.cfg.AppendTimeout)
	if time.Until(deadline) <= 0 {
		return true, Unavailable(fmt.Errorf("gave up after %s behind others", l.cfg.AppendTimeout))
	}
	wait := retry.Backoff{First: l.cfg.RetryWait, Max: maxWait}
	uncertain := false // whether an earlier attempt may have appended the batch
	for attempt := 1; ; attempt++ {
		a := l.attempt(ctx, p, b, deadline, uncertain)
		err := a.err
		if err == nil || uncertain && errors.Is(err, kafka.DuplicateSequenceNumber) {
			if !b.plain {
				p.from.next += int32(b.count)
			}
			l.refuses(false)
			return answered, nil
		}
		answered = answered && a.answered
		l.metrics.produceErrors.Inc()
		lost := isOneOf(err, lostProducer)
		if lost {
			l.metrics.producersLost.Inc()
			l.cfg.Logger.Error("Kafka may have lost events that it acknowledged to this node: an unclean election lost some, or the topic was recreated.",
				"partition", p.id, "error", err)
			p.from = noProducer
		}
		before := uncertain
		uncertain = uncertain || !isOneOf(err, notAppended) && a.sent
		if errors.Is(err, kafka.MessageSizeTooLarge) && b.count == 1 && !uncertain {
			return answered, insights.Refuse(insights.TooLong, "events", "are more bytes together than the log takes: send them in several requests").Because(err)
		}
		// The embedded broker returns this error when it is full, so a retry fails too. If an earlier attempt was
		// uncertain, the batch may be in the log, so its sequence number must not be used again.
		if errors.Is(err, kafka.PolicyViolation) && !before {
			l.refuses(true)
			return answered, insights.Refuse(insights.LogFull, "", "the event log is full, try again later").Because(err)
		}
		// A batch that may be in the log must not be sent under another producer id, because the log could then have it
		// twice.
		again := retriable(err) || lost && !before
		if ctx.Err() != nil || !again || time.Until(deadline) <= wait.Next() {
			if uncertain {
				p.from = noProducer
			}
			l.cfg.Logger.Error("Cannot append events to the log.",
				"partition", p.id, "messages", b.count, "attempts", attempt, "error", err)
			return answered, Unavailable(err)
		}
		l.topic.Close() // the next attempt looks up the leader again
		wait.Sleep(ctx)
	}
}

// attempt is the result of one attempt to produce a batch.
type attempt struct {
	err            error
	sent, answered bool // whether the batch was sent, and whether the broker answered
}

// attempt sends a batch once. If an earlier attempt was uncertain, the batch has the same producer id again.
func (l *Log) attempt(ctx context.Context, p *partition, b *batch, deadline time.Time, uncertain bool) attempt {
	timeout := min(l.cfg.ProduceTimeout, time.Until(deadline))
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if !uncertain {
		if err := l.identify(ctx, p, b); err != nil {
			return attempt{err: err, answered: true}
		}
	}
	res, err := l.topic.Client.RawProduce(ctx, &kafka.RawProduceRequest{
		Addr:            nil, // the client's address
		Topic:           l.cfg.Topic,
		Partition:       p.id,
		RequiredAcks:    kafka.RequireAll,
		MessageVersion:  2,
		TransactionalID: "",
		RawRecords:      protocol.RawRecordSet{Reader: bytes.NewReader(b.buf)},
	})
	if err != nil {
		return attempt{err: err, sent: !isUnrouted(err)}
	}
	return attempt{err: res.Error, sent: true, answered: true}
}

// isUnrouted reports whether kafka-go sent no request because it found no leader.
func isUnrouted(err error) bool {
	return errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition) || errors.Is(err, protocol.ErrNoLeader)
}

// retriable reports whether a retry may help. An error without a Kafka error code comes from the network.
func retriable(err error) bool {
	if code, ok := errors.AsType[kafka.Error](err); ok {
		return code.Temporary()
	}
	return !isDistrust(err) && !errors.Is(err, ErrBaseline)
}
