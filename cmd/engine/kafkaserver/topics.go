package kafkaserver

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const clusterID = "octavo-embedded"

func (c *conn) metadata(_ *request, q *kmsg.MetadataRequest) *kmsg.MetadataResponse {
	b := c.server.broker
	resp := kmsg.NewPtrMetadataResponse()
	id := clusterID
	resp.ClusterID, resp.ControllerID = &id, nodeID
	node := kmsg.NewMetadataResponseBroker()
	node.NodeID, node.Host, node.Port = nodeID, c.server.host, c.server.port
	resp.Brokers = append(resp.Brokers, node)
	if q.Topics == nil || q.Version == 0 && len(q.Topics) == 0 {
		topics := b.list()
		slices.SortFunc(topics, func(x, y *topic) int { return strings.Compare(x.name, y.name) })
		for _, t := range topics {
			resp.Topics = append(resp.Topics, describeTopic(t))
		}
		return resp
	}
	for _, asked := range q.Topics {
		name := ""
		if asked.Topic != nil {
			name = *asked.Topic
		}
		t := b.topic(name)
		var refusal *apiError
		if t == nil {
			refusal = failed(errUnknownTopic, "")
			if !validTopicName(name) {
				refusal = failed(errInvalidTopic, "")
			} else if q.Version < 4 || q.AllowAutoTopicCreation {
				// Create the topic automatically, as Apache Kafka does by default.
				if t, refusal = b.create(name, 1, nil, false); t == nil {
					t = b.topic(name) // another request has created it
				}
			}
		}
		if t == nil {
			answer := kmsg.NewMetadataResponseTopic()
			answer.Topic, answer.ErrorCode = &name, refusal.code
			resp.Topics = append(resp.Topics, answer)
			continue
		}
		resp.Topics = append(resp.Topics, describeTopic(t))
	}
	return resp
}

func describeTopic(t *topic) kmsg.MetadataResponseTopic {
	answer := kmsg.NewMetadataResponseTopic()
	name := t.name
	answer.Topic = &name
	_, _ = hex.Decode(answer.TopicID[:], []byte(t.id)) // an id of newTopicID is always valid
	for i := range t.partitions() {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Leader, p.LeaderEpoch = int32(i), nodeID, 0
		p.Replicas, p.ISR = []int32{nodeID}, []int32{nodeID}
		answer.Partitions = append(answer.Partitions, p)
	}
	return answer
}

func (c *conn) createTopics(_ *request, q *kmsg.CreateTopicsRequest) *kmsg.CreateTopicsResponse {
	resp := kmsg.NewPtrCreateTopicsResponse()
	for i := range q.Topics {
		asked := &q.Topics[i]
		answer := kmsg.NewCreateTopicsResponseTopic()
		answer.Topic = asked.Topic
		answer.ErrorCode, answer.ErrorMessage = c.createTopic(asked, q.ValidateOnly).split()
		if answer.ErrorCode == none {
			if t := c.server.broker.topic(asked.Topic); t != nil {
				answer.NumPartitions, answer.ReplicationFactor = int32(len(t.partitions())), 1
			}
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp
}

func (c *conn) createTopic(asked *kmsg.CreateTopicsRequestTopic, validateOnly bool) *apiError {
	partitions, replicas := int(asked.NumPartitions), asked.ReplicationFactor
	if len(asked.ReplicaAssignment) > 0 {
		partitions, replicas = len(asked.ReplicaAssignment), 1
		for _, a := range asked.ReplicaAssignment {
			if !slices.Equal(a.Replicas, []int32{nodeID}) {
				return failed(errInvalidReplication, "the only broker has id %d", nodeID)
			}
		}
	} else if partitions == -1 {
		partitions = 1
	}
	if replicas != 1 && replicas != -1 {
		return failed(errInvalidReplication, "there is only one broker: the replication factor must be 1")
	}
	configs := map[string]string{}
	for _, given := range asked.Configs {
		if given.Value != nil {
			configs[given.Name] = *given.Value
		}
	}
	_, refusal := c.server.broker.create(asked.Topic, partitions, configs, validateOnly)
	return refusal
}

func (c *conn) deleteTopics(_ *request, q *kmsg.DeleteTopicsRequest) *kmsg.DeleteTopicsResponse {
	resp := kmsg.NewPtrDeleteTopicsResponse()
	for _, name := range q.TopicNames {
		answer := kmsg.NewDeleteTopicsResponseTopic()
		answer.Topic = &name
		answer.ErrorCode, answer.ErrorMessage = c.server.broker.remove(name).split()
		resp.Topics = append(resp.Topics, answer)
	}
	return resp
}

func (c *conn) createPartitions(_ *request, q *kmsg.CreatePartitionsRequest) *kmsg.CreatePartitionsResponse {
	resp := kmsg.NewPtrCreatePartitionsResponse()
	for _, asked := range q.Topics {
		answer := kmsg.NewCreatePartitionsResponseTopic()
		answer.Topic = asked.Topic
		var refusal *apiError
		switch t := c.server.broker.topic(asked.Topic); {
		case t == nil:
			refusal = failed(errUnknownTopic, "there is no topic %s", asked.Topic)
		case q.ValidateOnly:
			if int(asked.Count) <= len(t.partitions()) || asked.Count > maxPartitions {
				refusal = failed(errInvalidPartitions, "topic %s has %d partitions", t.name, len(t.partitions()))
			}
		default:
			refusal = c.server.broker.grow(t, int(asked.Count))
		}
		answer.ErrorCode, answer.ErrorMessage = refusal.split()
		resp.Topics = append(resp.Topics, answer)
	}
	return resp
}

func (c *conn) deleteRecords(_ *request, q *kmsg.DeleteRecordsRequest) *kmsg.DeleteRecordsResponse {
	resp := kmsg.NewPtrDeleteRecordsResponse()
	for _, t := range q.Topics {
		answers := kmsg.NewDeleteRecordsResponseTopic()
		answers.Topic = t.Topic
		for _, p := range t.Partitions {
			answer := kmsg.NewDeleteRecordsResponseTopicPartition()
			answer.Partition = p.Partition
			answer.LowWatermark, answer.ErrorCode = c.server.broker.deleteRecords(t.Topic, p.Partition, p.Offset)
			answers.Partitions = append(answers.Partitions, answer)
		}
		resp.Topics = append(resp.Topics, answers)
	}
	return resp
}

// deleteRecords removes a partition's records before an offset. The offset -1 means the end of the partition.
func (b *broker) deleteRecords(name string, partition int32, offset int64) (start int64, code int16) {
	b.making.Lock()
	defer b.making.Unlock()
	t := b.topic(name)
	if t == nil || t.log(partition) == nil {
		return -1, errUnknownTopic
	}
	start, end := t.log(partition).Offsets()
	if offset == -1 {
		offset = end
	}
	if offset < start || offset > end {
		return -1, errOffsetOutOfRange
	}
	if err := t.trim(int(partition), offset); err != nil {
		b.cfg.Logger.Error("Cannot delete records.", "topic", name, "partition", partition, "error", err)
		return -1, errStorage
	}
	return offset, none
}
