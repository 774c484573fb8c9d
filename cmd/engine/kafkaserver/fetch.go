package kafkaserver

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

const (
	// maxFetch limits the bytes of a response's records. But the first batch is sent whatever its size is.
	maxFetch = 16 << 20
	// maxFetchWait limits the wait that a client may request.
	maxFetchWait = 5 * time.Minute
	nodeID       = 0
)

// fetch answers when the client's minimum of bytes is available, or when the client's wait has ended.
func (c *conn) fetch(_ *request, q *kmsg.FetchRequest) *kmsg.FetchResponse {
	wait := min(max(0, time.Duration(q.MaxWaitMillis)*time.Millisecond), maxFetchWait)
	resp, size, urgent := c.fetchOnce(q)
	if urgent || size >= int64(q.MinBytes) || wait == 0 {
		return resp
	}
	moved := make(chan struct{}, 1)
	for _, t := range q.Topics {
		topic := c.server.broker.topic(t.Topic)
		for _, p := range t.Partitions {
			if topic == nil {
				continue
			}
			if l := topic.log(p.Partition); l != nil {
				l.Watch(moved)
				defer l.Unwatch(moved)
			}
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		// Fetch again before the first wait, because records may have arrived before the calls of Watch.
		if resp, size, urgent = c.fetchOnce(q); urgent || size >= int64(q.MinBytes) {
			return resp
		}
		select {
		case <-moved:
		case <-timer.C:
			return resp
		case <-c.server.ctx.Done():
			return resp
		}
	}
}

// fetchOnce reads the records that are available now. `urgent` is true if the response has an error and must be sent
// immediately.
func (c *conn) fetchOnce(q *kmsg.FetchRequest) (resp *kmsg.FetchResponse, size int64, urgent bool) {
	resp = kmsg.NewPtrFetchResponse()
	most := int64(q.MaxBytes)
	if most <= 0 || most > maxFetch {
		most = maxFetch
	}
	buffer := c.records[:0]
	for _, t := range q.Topics {
		answers := kmsg.NewFetchResponseTopic()
		answers.Topic = t.Topic
		topic := c.server.broker.topic(t.Topic)
		for _, p := range t.Partitions {
			answer := kmsg.NewFetchResponseTopicPartition()
			answer.Partition, answer.HighWatermark, answer.LastStableOffset, answer.LogStartOffset = p.Partition, -1, -1, -1
			answer.RecordBatches = []byte{}
			var l *seglog.Log
			if topic != nil {
				l = topic.log(p.Partition)
			}
			if l == nil {
				answer.ErrorCode, urgent = errUnknownTopic, true
				answers.Partitions = append(answers.Partitions, answer)
				continue
			}
			at := len(buffer)
			var err error
			buffer, err = l.Read(buffer, p.FetchOffset, int(min(int64(p.PartitionMaxBytes), most-size)), size == 0)
			answer.LogStartOffset, answer.HighWatermark = l.Offsets()
			answer.LastStableOffset = answer.HighWatermark
			if err != nil {
				answer.ErrorCode, urgent = codeOf(err), true
				if answer.ErrorCode == errStorage {
					c.server.broker.cfg.Logger.Error("Cannot read the log.", "topic", t.Topic, "partition", p.Partition, "offset", p.FetchOffset, "error", err)
				}
			} else {
				answer.RecordBatches = buffer[at:len(buffer):len(buffer)] // stays valid if buffer is reallocated
				size += int64(len(buffer) - at)
			}
			answers.Partitions = append(answers.Partitions, answer)
		}
		resp.Topics = append(resp.Topics, answers)
	}
	if cap(buffer) <= keepBuffer*2 {
		c.records = buffer
	}
	return resp, size, urgent
}

// These are the special timestamps of ListOffsets.
const (
	latest   = -1
	earliest = -2
)

func (c *conn) listOffsets(_ *request, q *kmsg.ListOffsetsRequest) *kmsg.ListOffsetsResponse {
	resp := kmsg.NewPtrListOffsetsResponse()
	for _, t := range q.Topics {
		answers := kmsg.NewListOffsetsResponseTopic()
		answers.Topic = t.Topic
		topic := c.server.broker.topic(t.Topic)
		for _, p := range t.Partitions {
			answer := kmsg.NewListOffsetsResponseTopicPartition()
			answer.Partition, answer.Offset, answer.Timestamp, answer.LeaderEpoch = p.Partition, -1, -1, 0
			var l *seglog.Log
			if topic != nil {
				l = topic.log(p.Partition)
			}
			switch {
			case l == nil:
				answer.ErrorCode = errUnknownTopic
			case p.Timestamp == latest:
				_, answer.Offset = l.Offsets()
			case p.Timestamp == earliest:
				answer.Offset, _ = l.Offsets()
			case p.Timestamp < 0:
				answer.ErrorCode = errInvalidRequest
			default:
				var err error
				answer.Offset, answer.Timestamp, err = l.OffsetAt(p.Timestamp)
				answer.ErrorCode = codeOf(err)
			}
			answers.Partitions = append(answers.Partitions, answer)
		}
		resp.Topics = append(resp.Topics, answers)
	}
	return resp
}
