package ingest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"
)

// maxPartitions is how many partitions a row's position can name.
const maxPartitions = 1 << 16

// errPartitions is wrapped by the error about a topic with more of them.
var errPartitions = fmt.Errorf("choose 1 to %d", maxPartitions)

// CheckBrokers says which address of a list can never be a broker's. That a
// name is not known now is no fault of it: that of a broker which is away may
// not be.
func CheckBrokers(list []string) error {
	if len(list) == 0 {
		return errors.New("there is no address of a Kafka broker")
	}
	for _, address := range list {
		host, port, err := net.SplitHostPort(address)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || host == "" || n == 0 {
			return fmt.Errorf("%q is not the host:port of a Kafka broker", address)
		}
	}
	return nil
}

// hopelessCodes are a broker's answers that waiting for it does not change: it
// refuses who asks or what is asked for. All others may be those of a cluster
// that starts or is in part away; InvalidReplicationFactor is, while fewer
// brokers are there than a topic is to have replicas. A broker that closes the
// connection instead of an answer to a login cannot be told from one that ends.
var hopelessCodes = []kafka.Error{
	kafka.SASLAuthenticationFailed, kafka.UnsupportedSASLMechanism, kafka.IllegalSASLState,
	kafka.TopicAuthorizationFailed, kafka.ClusterAuthorizationFailed,
	kafka.InvalidTopic, kafka.InvalidPartitionNumber, kafka.InvalidConfiguration, kafka.PolicyViolation,
	kafka.UnsupportedVersion,
}

// hopeless tells errors of a configuration that can never work from those of a
// broker that is away.
func hopeless(err error) bool {
	if code, ok := errors.AsType[kafka.Error](err); ok {
		return slices.Contains(hopelessCodes, code)
	}
	return isDistrust(err) || errors.Is(err, errPartitions) || errors.Is(err, errCompacted)
}

// ensureTopic creates the topic unless it exists and returns its number of
// partitions. It tries until ctx is done or enough says so of an attempt's
// error.
func ensureTopic(ctx context.Context, client *kafka.Client, cfg *LogConfig, enough func(error) bool) (partitions int, err error) {
	retry := backoff{wait: cfg.RetryWait, most: logBackoff}
	for {
		if partitions, err = tryTopic(ctx, client, cfg); err == nil {
			return partitions, nil
		}
		switch {
		case ctx.Err() != nil:
			return 0, fmt.Errorf("cannot prepare the topic %s: %w: %w", cfg.Topic, ctx.Err(), err)
		case enough(err):
			return 0, fmt.Errorf("cannot prepare the topic %s: %w", cfg.Topic, err)
		}
		retry.sleep(ctx)
	}
}

func tryTopic(ctx context.Context, client *kafka.Client, cfg *LogConfig) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.ProduceTimeout)
	defer cancel()
	// Who may use the topic may not be allowed to create it: only one that is
	// said not to exist is created.
	if n, err := countPartitions(ctx, client, cfg.Topic); !errors.Is(err, kafka.UnknownTopicOrPartition) {
		return n, err
	}
	res, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Addr: nil,
		Topics: []kafka.TopicConfig{{
			Topic:              cfg.Topic,
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
	if err := res.Errors[cfg.Topic]; err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
		return 0, err
	}
	return countPartitions(ctx, client, cfg.Topic)
}

func countPartitions(ctx context.Context, client *kafka.Client, topic string) (int, error) {
	res, err := client.Metadata(ctx, &kafka.MetadataRequest{Addr: nil, Topics: []string{topic}})
	if err != nil {
		return 0, err
	}
	for _, t := range res.Topics {
		if t.Name == topic {
			if t.Error != nil {
				return 0, t.Error
			}
			if n := len(t.Partitions); n > 0 && n <= maxPartitions {
				return n, nil
			}
			return 0, fmt.Errorf("cannot use the %d partitions of %s: %w", len(t.Partitions), topic, errPartitions)
		}
	}
	return 0, kafka.UnknownTopicOrPartition
}
