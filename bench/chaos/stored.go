package main

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
)

// rollup is a table that the engine keeps beside the raw rows, and must agree
// with them: Raw and Rolled each select a key and a count of events.
type rollup struct{ Name, Raw, Rolled string }

// rollups is every rollup there is. There are none yet: the first one is one
// row here.
var rollups = []rollup{}

// differences compares every rollup with the raw rows.
func differences(ctx context.Context, table *witness.Table, list []rollup) (found []string, err error) {
	for _, r := range list {
		raw, err := table.Pairs(ctx, r.Raw)
		if err != nil {
			return nil, err
		}
		rolled, err := table.Pairs(ctx, r.Rolled)
		if err != nil {
			return nil, err
		}
		for key, n := range raw {
			if rolled[key] != n {
				found = append(found, fmt.Sprintf("%s: %s has %d events raw and %d rolled up", r.Name, key, n, rolled[key]))
			}
		}
		for key, n := range rolled {
			if _, ok := raw[key]; !ok {
				found = append(found, fmt.Sprintf("%s: %s has no event raw and %d rolled up", r.Name, key, n))
			}
		}
	}
	return found, nil
}

// lag is how many messages of the log the sinks have not committed.
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
		return 0, fmt.Errorf("cannot ask how long the log is: %w", err)
	}
	group, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: r.topic + ".sink", Topics: map[string][]int{r.topic: ids}})
	if err == nil {
		err = group.Error
	}
	if err != nil {
		return 0, fmt.Errorf("cannot ask how far the sinks are: %w", err)
	}
	committed := map[int]int64{}
	for _, p := range group.Topics[r.topic] {
		if p.Error != nil {
			return 0, fmt.Errorf("cannot ask how far the sinks are: %w", p.Error)
		}
		committed[p.Partition] = max(0, p.CommittedOffset)
	}
	lag, told := int64(0), 0
	for _, p := range ends.Topics[r.topic] {
		if p.Error != nil {
			return 0, fmt.Errorf("cannot ask how long the log is: %w", p.Error)
		}
		lag += p.LastOffset - committed[p.Partition]
		told++
	}
	if told != partitions || len(committed) != partitions {
		return 0, fmt.Errorf("the broker tells of %d partitions' ends and %d commits, want %d", told, len(committed), partitions)
	}
	return lag, nil
}

// caughtUp waits until nothing of the log is left to store.
func (r *rig) caughtUp(ctx context.Context) error {
	return witness.Await(ctx, func(ctx context.Context) error {
		lag, err := r.lag(ctx)
		if err == nil && lag != 0 {
			err = fmt.Errorf("%d messages of the log are not stored", lag)
		}
		return err
	})
}
