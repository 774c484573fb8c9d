package group

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
)

const (
	keyPrefix = "offset/"
	// maxMetadata limits the metadata of a committed offset. Kafka's limit is
	// 4,096 bytes.
	maxMetadata = 64 << 10
)

// Commit is a group's committed offset of a partition.
type Commit struct {
	Offset   int64  `json:"offset"`
	Epoch    int32  `json:"epoch"`
	Metadata string `json:"metadata,omitempty"`
	// TopicID distinguishes the topic from a later topic of the same name.
	TopicID string    `json:"topic,omitempty"`
	At      time.Time `json:"at"`
}

// Entry is the journal's entry of a commit.
func (c Commit) Entry(group, topic string, partition int32) journal.Entry {
	// A client's metadata may contain invalid UTF-8.
	value, err := json.Marshal(c, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // cannot fail: c has only numbers, strings and a current time
	}
	return journal.Entry{Key: groupKey(group) + url.QueryEscape(topic) + "/" + strconv.Itoa(int(partition)), Value: value}
}

func groupKey(group string) string { return keyPrefix + url.QueryEscape(group) + "/" }

// parseKey parses a key that Entry made.
func parseKey(key string) (group, topic string, partition int32, ok bool) {
	parts := strings.Split(strings.TrimPrefix(key, keyPrefix), "/")
	if len(parts) != 3 {
		return "", "", 0, false
	}
	group, err := url.QueryUnescape(parts[0])
	if err != nil {
		return "", "", 0, false
	}
	if topic, err = url.QueryUnescape(parts[1]); err != nil {
		return "", "", 0, false
	}
	number, err := strconv.ParseInt(parts[2], 10, 32)
	return group, topic, int32(number), err == nil
}

// EachCommit calls f with every committed offset.
func (m *Manager) EachCommit(f func(group, topic string, partition int32, c Commit)) {
	m.eachCommit(keyPrefix, f)
}

func (m *Manager) eachCommit(prefix string, f func(group, topic string, partition int32, c Commit)) {
	m.journal.Each(prefix, func(key string, value []byte) {
		var c Commit
		if group, topic, partition, ok := parseKey(key); ok && json.Unmarshal(value, &c) == nil {
			f(group, topic, partition, c)
		}
	})
}

// Commit answers when the offsets are on disk.
func (m *Manager) Commit(req *kmsg.OffsetCommitRequest) *kmsg.OffsetCommitResponse {
	resp := &kmsg.OffsetCommitResponse{}
	var entries []journal.Entry
	now := time.Now().UTC()
	for _, t := range req.Topics {
		answer := kmsg.OffsetCommitResponseTopic{Topic: t.Topic}
		id, partitions, known := m.topics.Topic(t.Topic)
		for _, p := range t.Partitions {
			c := Commit{Offset: p.Offset, Epoch: p.LeaderEpoch, TopicID: id, At: now}
			if p.Metadata != nil {
				c.Metadata = *p.Metadata
			}
			code := int16(none)
			switch {
			case !known || p.Partition < 0 || int(p.Partition) >= partitions:
				code = codeUnknownTopic
			case len(c.Metadata) > maxMetadata:
				code = codeMetadataTooLarge
			default:
				entries = append(entries, c.Entry(req.Group, t.Topic, p.Partition))
			}
			answer.Partitions = append(answer.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: code})
		}
		resp.Topics = append(resp.Topics, answer)
	}
	code := m.commit(req, entries)
	for i := range resp.Topics {
		for k := range resp.Topics[i].Partitions {
			if p := &resp.Topics[i].Partitions[k]; p.ErrorCode == none {
				p.ErrorCode = code
			}
		}
	}
	return resp
}

// commit writes offsets in the order in which mayCommit has accepted them. So a commit of an old generation cannot
// overwrite a commit of the next generation.
func (m *Manager) commit(req *kmsg.OffsetCommitRequest, entries []journal.Entry) int16 {
	if req.Group == "" || len(req.Group) > maxName {
		return codeInvalidGroup
	}
	var ticket *journal.Ticket
	g := m.group(req.Group, req.Generation < 0)
	if g == nil {
		return codeUnknownMember
	}
	g.mu.Lock()
	code := g.mayCommit(req)
	if code == none && len(entries) > 0 {
		ticket = m.journal.Begin(entries...)
	}
	g.mu.Unlock()
	if ticket != nil && ticket.Wait() != nil {
		return codeNotAvailable // the journal has logged the reason
	}
	return code
}

func (g *group) mayCommit(req *kmsg.OffsetCommitRequest) int16 {
	if g.gone {
		return codeNotAvailable
	}
	if req.Generation < 0 && len(g.members) == 0 {
		return none // a client without group membership, or a tool
	}
	m, code := g.check(req.MemberID, req.InstanceID, req.Generation)
	switch {
	case code != none:
		return code
	case g.phase == completing:
		return codeRebalanceInProgress
	}
	g.touch(m)
	return none
}

// Fetch waits for commits in progress and answers with the offsets on disk.
func (m *Manager) Fetch(req *kmsg.OffsetFetchRequest) *kmsg.OffsetFetchResponse {
	m.journal.Barrier()
	resp := &kmsg.OffsetFetchResponse{}
	commits := map[string]map[int32]Commit{}
	m.eachCommit(groupKey(req.Group), func(_, topic string, partition int32, c Commit) {
		if commits[topic] == nil {
			commits[topic] = map[int32]Commit{}
		}
		commits[topic][partition] = c
	})
	add := func(topic *kmsg.OffsetFetchResponseTopic, partition int32) {
		p := kmsg.OffsetFetchResponseTopicPartition{Partition: partition, Offset: -1, LeaderEpoch: -1}
		metadata := ""
		if c, ok := commits[topic.Topic][partition]; ok {
			p.Offset, p.LeaderEpoch, metadata = c.Offset, c.Epoch, c.Metadata
		}
		p.Metadata = &metadata
		topic.Partitions = append(topic.Partitions, p)
	}
	if req.Topics == nil {
		for name, partitions := range commits {
			topic := kmsg.OffsetFetchResponseTopic{Topic: name}
			for partition := range partitions {
				add(&topic, partition)
			}
			resp.Topics = append(resp.Topics, topic)
		}
		return resp
	}
	for _, t := range req.Topics {
		topic := kmsg.OffsetFetchResponseTopic{Topic: t.Topic}
		for _, partition := range t.Partitions {
			add(&topic, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}
