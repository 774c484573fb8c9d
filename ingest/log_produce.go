package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/octavo-docs/octavo/schema/insights"
)

// produce tries to make a batch durable. Every attempt sends the same bytes,
// so a message that the log takes twice has one id, and the sink drops one.
//
// answered is false if an attempt ended without an answer: kafka-go may still
// read the batch then, and its buffer must not be used again.
func (l *Log) produce(ctx context.Context, partition int, b *produceBatch) (answered bool, refusal *Error) {
	l.metrics.produceMessages.Observe(float64(b.count))
	l.metrics.produceBytes.Observe(float64(len(b.buf)))
	answered = true
	// What waited behind others has less time left, so that a request has its
	// answer in time however many were before it.
	give := b.began.Add(l.cfg.AppendTimeout)
	if wait := time.Until(give); wait <= 0 {
		return true, unavailable(fmt.Errorf("gave up after %s behind others", l.cfg.AppendTimeout))
	}
	retry := backoff{wait: l.cfg.RetryWait, most: logBackoff}
	for attempt := 1; ; attempt++ {
		err, gotAnswer := l.attempt(ctx, partition, b, give)
		if err == nil {
			return answered, nil
		}
		answered = answered && gotAnswer
		l.metrics.produceErrors.Inc()
		if errors.Is(err, kafka.MessageSizeTooLarge) && b.count == 1 {
			e := refuse(insights.TooLong, "events", "are more bytes together than the log takes: send them in several requests")
			e.Cause = err
			return answered, e
		}
		if ctx.Err() != nil || !retriable(err) || time.Until(give) <= retry.next() {
			l.cfg.Logger.Error("Events could not be appended to the log.",
				"partition", partition, "messages", b.count, "attempts", attempt, "error", err)
			return answered, unavailable(err)
		}
		// The pool keeps what it knows of leaders for a while: a new pool asks.
		l.transport.CloseIdleConnections()
		retry.sleep(ctx)
	}
}

// attempt is one produce. answered tells whether the broker answered it.
func (l *Log) attempt(ctx context.Context, partition int, b *produceBatch, give time.Time) (err error, answered bool) { //nolint:revive // the error is data here
	timeout := min(l.cfg.ProduceTimeout, time.Until(give))
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	res, err := l.client.RawProduce(ctx, &kafka.RawProduceRequest{
		Addr:            nil, // the client's
		Topic:           l.cfg.Topic,
		Partition:       partition,
		RequiredAcks:    kafka.RequireAll,
		MessageVersion:  2,
		TransactionalID: "",
		RawRecords:      protocol.RawRecordSet{Reader: bytes.NewReader(b.buf)},
	})
	if err != nil {
		return err, false
	}
	return res.Error, true
}

// retriable reports whether trying again may help. What is no answer of a
// broker is a matter of the network.
func retriable(err error) bool {
	if code, ok := errors.AsType[kafka.Error](err); ok {
		return code.Temporary()
	}
	return !isDistrust(err)
}
