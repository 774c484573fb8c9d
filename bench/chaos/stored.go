package main

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
)

// lag returns the number of messages that the sinks have not committed.
func (r *rig) lag(ctx context.Context) (int64, error) {
	login, err := product.KafkaMechanism(r.engines.KafkaLogin.User, r.engines.KafkaLogin.Password)
	if err != nil {
		return 0, fmt.Errorf("cannot log in to the broker: %w", err)
	}
	transport := &kafka.Transport{DialTimeout: 5 * time.Second, SASL: login}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(r.brokers...), Timeout: 10 * time.Second, Transport: transport}
	ids := make([]int, partitions)
	ask := make([]kafka.OffsetRequest, partitions)
	for i := range ids {
		ids[i], ask[i] = i, kafka.LastOffsetOf(i)
	}
	ends, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{r.topic: ask}})
	if err != nil {
		return 0, fmt.Errorf("cannot read the log's end offsets: %w", err)
	}
	group, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: r.topic + ".sink", Topics: map[string][]int{r.topic: ids}})
	if err == nil {
		err = group.Error
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the sinks' committed offsets: %w", err)
	}
	committed := map[int]int64{}
	for _, p := range group.Topics[r.topic] {
		if p.Error != nil {
			return 0, fmt.Errorf("cannot read the sinks' committed offsets: %w", p.Error)
		}
		committed[p.Partition] = max(0, p.CommittedOffset)
	}
	lag, told := int64(0), 0
	for _, p := range ends.Topics[r.topic] {
		if p.Error != nil {
			return 0, fmt.Errorf("cannot read the log's end offsets: %w", p.Error)
		}
		lag += p.LastOffset - committed[p.Partition]
		told++
	}
	if told != partitions || len(committed) != partitions {
		return 0, fmt.Errorf("the broker returned %d end offsets and %d commits, want %d each", told, len(committed), partitions)
	}
	return lag, nil
}

// caughtUp waits until the sinks have committed the whole log.
func (r *rig) caughtUp(ctx context.Context) error {
	return witness.Await(ctx, func(ctx context.Context) error {
		lag, err := r.lag(ctx)
		if err == nil && lag != 0 {
			err = fmt.Errorf("%d messages of the log are not stored", lag)
		}
		return err
	})
}
