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

// produce tries to make a batch durable. Every attempt sends the same bytes,
// with the same producer id and sequence: the broker appends them once.
//
// A batch that is given up may still be in the log, or come to be. The next one
// then has another producer id: with the old one, its sequence would be the
// given-up batch's if that is not in the log, and the broker would take one for
// a repeat of the other.
//
// answered is false if an attempt ended without an answer: kafka-go may still
// read the batch then, and its buffer must not be used again.
func (l *Log) produce(ctx context.Context, p *partition, b *batch) (answered bool, refusal *insights.Refusal) {
	l.metrics.produceMessages.Observe(float64(b.count))
	l.metrics.produceBytes.Observe(float64(len(b.buf)))
	answered = true
	// What waited behind others has less time left, so that a request has its
	// answer in time however many were before it.
	deadline := b.began.Add(l.cfg.AppendTimeout)
	if time.Until(deadline) <= 0 {
		return true, Unavailable(fmt.Errorf("gave up after %s behind others", l.cfg.AppendTimeout))
	}
	wait := retry.Backoff{First: l.cfg.RetryWait, Max: maxWait}
	uncertain := false // whether an attempt may have appended it
	for attempt := 1; ; attempt++ {
		a := l.attempt(ctx, p, b, deadline, uncertain)
		err := a.err
		if err == nil || uncertain && errors.Is(err, kafka.DuplicateSequenceNumber) {
			if !b.plain {
				p.from.next += int32(b.count)
			}
			return answered, nil
		}
		answered = answered && a.answered
		l.metrics.produceErrors.Inc()
		lost := isOneOf(err, lostProducer)
		if lost {
			l.metrics.producersLost.Inc()
			l.cfg.Logger.Error("The log has other events of this node than it acknowledged: were some lost by an unclean election, or was the topic made anew?",
				"partition", p.id, "error", err)
			p.from = noProducer
		}
		before := uncertain
		uncertain = uncertain || !isOneOf(err, notAppended) && a.sent
		if errors.Is(err, kafka.MessageSizeTooLarge) && b.count == 1 && !uncertain {
			return answered, insights.Refuse(insights.TooLong, "events", "are more bytes together than the log takes: send them in several requests").Because(err)
		}
		// The embedded broker says so that it is full, and another attempt soon would not change that. After an attempt in doubt the
		// batch may be in the log all the same, and its sequence must not be used again.
		if errors.Is(err, kafka.PolicyViolation) && !before {
			return answered, insights.Refuse(insights.LogFull, "", "the event log is full, try again later").Because(err)
		}
		// Under another producer id, a batch that may be in the log could come twice.
		again := retriable(err) || lost && !before
		if ctx.Err() != nil || !again || time.Until(deadline) <= wait.Next() {
			if uncertain {
				p.from = noProducer
			}
			l.cfg.Logger.Error("Events could not be appended to the log.",
				"partition", p.id, "messages", b.count, "attempts", attempt, "error", err)
			return answered, Unavailable(err)
		}
		l.topic.Close() // the next attempt asks again who leads
		wait.Sleep(ctx)
	}
}

// attempt is how one try to produce went.
type attempt struct {
	err            error
	sent, answered bool // whether the batch went out, and the broker answered
}

// attempt is one produce. In doubt the batch keeps the producer id that it was
// sent with.
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
		Addr:            nil, // the client's
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

// isUnrouted tells errors of kafka-go, which does not know where to send a batch
// and sends it nowhere.
func isUnrouted(err error) bool {
	return errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition) || errors.Is(err, protocol.ErrNoLeader)
}

// retriable reports whether trying again may help. What is no answer of a
// broker is a matter of the network.
func retriable(err error) bool {
	if code, ok := errors.AsType[kafka.Error](err); ok {
		return code.Temporary()
	}
	return !isDistrust(err)
}
