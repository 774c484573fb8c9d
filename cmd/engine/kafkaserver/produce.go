package kafkaserver

import (
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

// toAppend is one partition's part of a produce request.
type toAppend struct {
	topic     string
	partition int32
	batch     []byte // points into the request
}

// readProduce decodes a produce request of versions 3 to 8, which have the same layout. It allocates memory for the
// bytes present, not for announced counts.
func readProduce(b []byte) (acks int16, transaction bool, list []toAppend, err error) {
	r := reader{left: b}
	_, transaction = r.text()
	acks = r.int16()
	r.int32() // how long to wait for replicas
	for topics := r.int32(); topics > 0 && !r.short; topics-- {
		topic, _ := r.text()
		for partitions := r.int32(); partitions > 0 && !r.short; partitions-- {
			a := toAppend{topic, r.int32(), nil}
			a.batch = r.bytes()
			list = append(list, a)
		}
	}
	if err := r.err(); err != nil {
		return 0, false, nil, err
	}
	if len(r.left) > 0 {
		return 0, false, nil, errors.New("extra bytes at its end")
	}
	return acks, transaction, list, nil
}

// produceRequest appends the batches of a request to their partitions concurrently.
func (c *conn) produceRequest(r *request) (kmsg.Response, error) {
	acks, transaction, list, err := readProduce(r.body)
	if err != nil {
		return nil, fmt.Errorf("%w: a produce request: %w", errRefused, err)
	}
	r.noAnswer = acks == 0
	answers := make([]kmsg.ProduceResponseTopicPartition, len(list))
	one := func(i int) { answers[i] = c.append(&list[i], acks, transaction) }
	if len(list) == 1 {
		one(0)
	} else {
		var wait sync.WaitGroup
		for i := range list {
			wait.Go(func() { one(i) })
		}
		wait.Wait()
	}
	resp := kmsg.NewPtrProduceResponse()
	for i, a := range list {
		if n := len(resp.Topics); n == 0 || resp.Topics[n-1].Topic != a.topic {
			t := kmsg.NewProduceResponseTopic()
			t.Topic = a.topic
			resp.Topics = append(resp.Topics, t)
		}
		t := &resp.Topics[len(resp.Topics)-1]
		t.Partitions = append(t.Partitions, answers[i])
	}
	return resp, nil
}

func (c *conn) append(a *toAppend, acks int16, transaction bool) kmsg.ProduceResponseTopicPartition {
	answer := kmsg.NewProduceResponseTopicPartition()
	answer.Partition, answer.BaseOffset = a.partition, -1
	b := c.server.broker
	var l *seglog.Log
	t := b.topic(a.topic)
	if t != nil {
		l = t.log(a.partition)
	}
	if l == nil {
		answer.ErrorCode = errUnknownTopic
		return answer
	}
	s := t.settings.Load()
	switch {
	case acks != -1 && acks != 0 && acks != 1:
		answer.ErrorCode = errInvalidAcks
	case transaction:
		answer.ErrorCode = errInvalidRequest
	case len(a.batch) > s.maxMessage:
		answer.ErrorCode = errTooLarge
	case acks == -1 && s.minInSync > 1:
		answer.ErrorCode = errTooFewReplicas // there is only this broker
	case !b.space.admit(t, int64(len(a.batch))):
		answer.ErrorCode = errPolicy
	}
	if answer.ErrorCode != none {
		return answer
	}
	done, err := l.Append(a.batch, s.appendTime)
	if err != nil {
		answer.ErrorCode = codeOf(err)
		message := err.Error()
		answer.ErrorMessage = &message
		if errors.Is(err, seglog.ErrFull) {
			b.space.exhausted()
		}
		return answer
	}
	b.space.wrote(int64(len(a.batch)))
	answer.BaseOffset, answer.LogAppendTime = done.Base, done.Time
	answer.LogStartOffset, _ = l.Offsets()
	return answer
}
