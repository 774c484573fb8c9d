package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/retry"
)

// Topic reads one topic of Kafka and its metadata.
type Topic struct {
	Name string
	// Client sends requests for which Topic has no method. The Addr of such a request may be nil.
	Client *kafka.Client
	// Check returns an error if an existing topic cannot be used. nil accepts every topic.
	Check func(ctx context.Context, partitions int) error

	transport *kafka.Transport
}

// NewTopic returns a Topic that connects at first use. clientID names the program to the brokers. The parameter
// `others` has the names of further topics that Client may use.
func NewTopic(brokers []string, access Access, clientID string, timeout time.Duration, name string, others ...string) *Topic {
	t := &Topic{Name: name, transport: newTransport(clientID, access, append(others, name)...)}
	t.Client = &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: timeout, Transport: t.transport}
	return t
}

// Close closes the idle connections. After an error, call Close so that the next request looks up the partition's
// leader. The connection pool otherwise caches the leader for a while.
func (t *Topic) Close() { t.transport.CloseIdleConnections() }

// maxPartitions is the largest number of partitions, because a row of the events table stores the partition in 16 bits.
const maxPartitions = 1 << 16

// errPartitions is wrapped by the error about a topic with too many partitions.
var errPartitions = fmt.Errorf("choose 1 to %d", maxPartitions)

// Partitions returns the number of partitions. The client answers from its cache, unless the cache is old or lacks the
// topic.
func (t *Topic) Partitions(ctx context.Context) (int, error) {
	found, err := t.metadata(ctx, t.Name)
	if err != nil {
		return 0, err
	}
	n := len(found.Partitions)
	if n < 1 || n > maxPartitions {
		return 0, fmt.Errorf("cannot use the %d partitions of %s: %w", n, t.Name, errPartitions)
	}
	return n, nil
}

// ReplicasOf returns a topic's number of replicas. The topic must have been passed to NewTopic.
func (t *Topic) ReplicasOf(ctx context.Context, name string) (int, error) {
	found, err := t.metadata(ctx, name)
	if err != nil {
		return 0, err
	}
	replicas := 1
	for _, p := range found.Partitions {
		replicas = max(replicas, len(p.Replicas))
	}
	return replicas, nil
}

func (t *Topic) metadata(ctx context.Context, name string) (kafka.Topic, error) {
	res, err := t.Client.Metadata(ctx, &kafka.MetadataRequest{Addr: nil, Topics: []string{name}})
	if err != nil {
		return kafka.Topic{}, err
	}
	for _, found := range res.Topics {
		if found.Name == name {
			return found, found.Error
		}
	}
	return kafka.Topic{}, kafka.UnknownTopicOrPartition
}

// Offsets returns a partition's first offset and the offset of its next message.
func (t *Topic) Offsets(ctx context.Context, partition int) (first, next int64, err error) {
	res, err := t.Client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Addr:           nil,
		Topics:         map[string][]kafka.OffsetRequest{t.Name: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)}},
		IsolationLevel: kafka.ReadUncommitted,
	})
	if err == nil {
		err = kafka.UnknownTopicOrPartition
		for _, o := range res.Topics[t.Name] {
			if o.Partition == partition {
				first, next, err = o.FirstOffset, o.LastOffset, o.Error
			}
		}
	}
	if err != nil {
		return 0, 0, fmt.Errorf("cannot ask for the offsets of partition %d of %s: %w", partition, t.Name, err)
	}
	return first, next, nil
}

// Ends returns the offsets of the next messages of partitions 0 to count-1.
func (t *Topic) Ends(ctx context.Context, count int) ([]int64, error) {
	last := make([]kafka.OffsetRequest, count)
	for id := range last {
		last[id] = kafka.LastOffsetOf(id)
	}
	res, err := t.Client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Addr: nil, Topics: map[string][]kafka.OffsetRequest{t.Name: last}, IsolationLevel: kafka.ReadUncommitted,
	})
	if err != nil {
		return nil, err
	}
	if len(res.Topics[t.Name]) != count {
		return nil, errors.New("the broker did not answer for each partition")
	}
	ends := make([]int64, count)
	for _, o := range res.Topics[t.Name] {
		if o.Error != nil {
			return nil, o.Error
		}
		ends[o.Partition] = o.LastOffset
	}
	return ends, nil
}

// Retention returns the time for which the topic stores messages. 0 means that it stores them forever, or that the time
// is unknown.
func (t *Topic) Retention(ctx context.Context) (time.Duration, error) {
	values, err := t.settings(ctx, retentionTime)
	if err != nil {
		return 0, err
	}
	facts := topicFacts{values: values}
	return time.Duration(max(0, facts.number(retentionTime))) * time.Millisecond, nil
}

// settings reads the topic's effective settings.
func (t *Topic) settings(ctx context.Context, names ...string) (map[string]string, error) {
	res, err := t.Client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Addr:      nil,
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: t.Name, ConfigNames: names}},
	})
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, r := range res.Resources {
		if r.Error != nil {
			return nil, r.Error
		}
		for _, e := range r.ConfigEntries {
			values[e.ConfigName] = e.ConfigValue
		}
	}
	return values, nil
}

// Create creates the topic as configured by `cfg`, unless it exists. It retries temporary errors until ctx is done.
func (t *Topic) Create(ctx context.Context, cfg Config) error {
	cfg.Topic = t.Name
	if err := cfg.complete(); err != nil {
		return err
	}
	_, err := t.ensure(ctx, &cfg, func(err error) bool { return !retriable(err) })
	return err
}

// ensure creates the topic unless it exists, and returns its number of partitions. It retries until ctx is done, or
// until giveUp returns true for an attempt's error.
func (t *Topic) ensure(ctx context.Context, cfg *Config, giveUp func(error) bool) (partitions int, err error) {
	wait := retry.Backoff{First: cfg.RetryWait, Max: maxWait}
	for {
		if partitions, err = t.tryEnsure(ctx, cfg); err == nil {
			return partitions, nil
		}
		switch {
		case ctx.Err() != nil:
			return 0, fmt.Errorf("cannot prepare the topic %s: %w: %w", t.Name, ctx.Err(), err)
		case errors.Is(err, ErrBaseline) && giveUp(err):
			return 0, err // the error already names the topic
		case giveUp(err):
			return 0, fmt.Errorf("cannot prepare the topic %s: %w", t.Name, err)
		}
		wait.Sleep(ctx)
	}
}

func (t *Topic) tryEnsure(ctx context.Context, cfg *Config) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.ProduceTimeout)
	defer cancel()
	// A client may have the right to use the topic without the right to create it. So create the topic only if the
	// broker reports that it does not exist.
	if n, err := t.checked(ctx); !errors.Is(err, kafka.UnknownTopicOrPartition) {
		return n, err
	}
	res, err := t.Client.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Addr: nil,
		Topics: []kafka.TopicConfig{{
			Topic:              t.Name,
			NumPartitions:      cfg.Partitions,
			ReplicationFactor:  cfg.Replicas,
			ReplicaAssignments: nil,
			ConfigEntries:      cfg.topicSettings(),
		}},
		ValidateOnly: false,
	})
	if err != nil {
		return 0, err
	}
	switch err := res.Errors[t.Name]; {
	case errors.Is(err, kafka.TopicAlreadyExists): // another program has created the topic
		return t.checked(ctx)
	case err != nil:
		return 0, err
	}
	return t.Partitions(ctx)
}

// checked returns the number of partitions of an existing topic. It also calls Check, because the topic may have
// messages of another baseline.
func (t *Topic) checked(ctx context.Context) (int, error) {
	n, err := t.Partitions(ctx)
	if err == nil && t.Check != nil {
		err = t.Check(ctx, n)
	}
	return n, err
}
