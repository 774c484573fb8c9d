package eventlog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/initproducerid"
)

// producer identifies the sender of a partition's batches. The broker recognises a repeated batch by its producer id
// and sequence, and appends it once.
type producer struct {
	id    int64
	epoch int16
	next  int32 // sequence number of the next batch's first message
}

// noProducer stands for a missing producer id: in plain batches, and in a partition that has no id yet.
var noProducer = producer{id: -1, epoch: -1, next: -1}

// lasts reports whether the producer has enough sequence numbers left for a number of messages. Broker versions differ
// in how sequence numbers start again after the largest number, so the log takes a new producer id before this number.
func (p producer) lasts(messages int) bool {
	return p.id >= 0 && int64(p.next)+int64(messages) <= math.MaxInt32
}

// lostProducer has the error codes that a broker returns if it lost acknowledged batches of a producer. The cause is an
// unclean election or a recreated topic.
var lostProducer = []kafka.Error{
	kafka.OutOfOrderSequenceNumber, kafka.DuplicateSequenceNumber, kafka.UnknownProducerId,
	kafka.InvalidProducerEpoch, kafka.ProducerFenced, kafka.InvalidProducerIDMapping,
}

// notAppended has the error codes that a broker returns if it has appended nothing. After any other error the batch may
// be in the log.
var notAppended = append([]kafka.Error{
	kafka.MessageSizeTooLarge, kafka.NotLeaderForPartition, kafka.UnknownTopicOrPartition, kafka.NotEnoughReplicas,
	kafka.TopicAuthorizationFailed, kafka.ClusterAuthorizationFailed,
}, lostProducer...)

func isOneOf(err error, list []kafka.Error) bool {
	code, ok := errors.AsType[kafka.Error](err)
	return ok && slices.Contains(list, code)
}

// refusesProducers has the error codes of brokers that never issue a producer id to this client.
var refusesProducers = []kafka.Error{kafka.ClusterAuthorizationFailed, kafka.UnsupportedVersion, kafka.TransactionalIDAuthorizationFailed}

// identify sets a batch's producer id and seals the batch. If the brokers issue no ids, the batch is sent without a
// producer id.
func (l *Log) identify(ctx context.Context, p *partition, b *batch) error {
	if b.plain || l.noIDs.Load() {
		b.plain = true
		b.seal(noProducer)
		return nil
	}
	if !p.from.lasts(b.count) {
		id, epoch, err := newProducerID(ctx, l.topic.Client)
		if isOneOf(err, refusesProducers) {
			l.cfg.Logger.Warn("Kafka gives out no producer id, so a retried produce may be in the log twice; the sink drops the second only if it is near the first. Allow IdempotentWrite on the cluster, then restart.",
				"topic", l.cfg.Topic, "error", err)
			l.metrics.SettingUnsafe(idempotence, true)
			l.noIDs.Store(true)
			return l.identify(ctx, p, b)
		}
		if err != nil {
			return fmt.Errorf("cannot get a producer id: %w", err)
		}
		p.from = producer{id: id, epoch: epoch}
	}
	b.seal(p.from)
	return nil
}

// newProducerID asks any broker for a new producer id.
func newProducerID(ctx context.Context, client *kafka.Client) (id int64, epoch int16, err error) {
	m, err := client.Transport.RoundTrip(ctx, client.Addr, &producerIDRequest{ProducerID: -1, ProducerEpoch: -1})
	if err != nil {
		return 0, 0, err
	}
	res, ok := m.(*initproducerid.Response)
	switch {
	case !ok:
		return 0, 0, fmt.Errorf("the answer is a %T", m)
	case res.ErrorCode != 0:
		return 0, 0, kafka.Error(res.ErrorCode)
	case res.ProducerID < 0:
		return 0, 0, fmt.Errorf("the broker gave out %d", res.ProducerID)
	}
	return res.ProducerID, res.ProducerEpoch, nil
}

// producerIDRequest is an InitProducerId request outside of transactions. kafka-go's own request type first looks for
// the coordinator of a transaction. This lookup makes Kafka create its internal topic for transactions.
type producerIDRequest struct {
	_ struct{} `kafka:"min=v2,max=v4,tag"`

	TransactionalID      string `kafka:"min=v0,max=v4,nullable"`
	TransactionTimeoutMs int32  `kafka:"min=v0,max=v4"`
	ProducerID           int64  `kafka:"min=v3,max=v4"`
	ProducerEpoch        int16  `kafka:"min=v3,max=v4"`
}

func (r *producerIDRequest) ApiKey() protocol.ApiKey { return protocol.InitProducerId }

// TypeKey makes kafka-go encode this type instead of kafka-go's own.
func (r *producerIDRequest) TypeKey() protocol.OverrideTypeKey { return producerIDOverride }

const producerIDOverride protocol.OverrideTypeKey = 1

func init() {
	protocol.RegisterOverride(&producerIDRequest{}, &initproducerid.Response{}, producerIDOverride)
}
