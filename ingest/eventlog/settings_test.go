package eventlog

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// unsafeOf returns the settings that a log reports as unsafe.
func unsafeOf(l *Log) map[string]bool {
	list := map[string]bool{}
	for _, setting := range checkedSettings() {
		if testutil.ToFloat64(l.metrics.unsafe.WithLabelValues(setting)) > 0 {
			list[setting] = true
		}
	}
	return list
}

// TestTopicIsMadeSafe checks that a topic which the log creates has the correct settings, and that the log reports no
// setting as unsafe.
func TestTopicIsMadeSafe(t *testing.T) {
	t.Parallel()
	brokers, topic := enginetest.Kafka(t), enginetest.Topic(t, 1)
	client := &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: eventually.Patience}
	if _, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{topic}}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the topic to be gone", func() bool {
		_, _, err := (&Topic{Name: topic, Client: client}).Offsets(t.Context(), 0)
		return err != nil
	})
	l := newTestLog(t, brokers, func(c *Config) { c.Topic, c.Retention = topic, 48*time.Hour })
	values, err := l.topic.settings(t.Context(), retentionTime, leastInSync, timestampType, cleanupPolicy)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{retentionTime: "172800000", leastInSync: "1", timestampType: appendTime, cleanupPolicy: "delete"} {
		if values[name] != want {
			t.Errorf("%s is %q, want %q", name, values[name], want)
		}
	}
	if list := unsafeOf(l); len(list) > 0 {
		t.Errorf("unsafe are %v", list)
	}
}

// TestReplicasInSync checks that, by default, all replicas except one must have an event before the broker acknowledges
// it. The configuration can set another number.
func TestReplicasInSync(t *testing.T) {
	t.Parallel()
	for replicas, want := range map[int]string{1: "1", 2: "1", 3: "2"} {
		t.Run(fmt.Sprint(replicas, " replicas"), func(t *testing.T) {
			cluster := brokertest.Start(t, brokertest.Options{Nodes: 3})
			l := newTestLog(t, cluster.Addresses(), func(c *Config) { c.Replicas = replicas })
			values, err := l.topic.settings(t.Context(), leastInSync)
			if err != nil || values[leastInSync] != want {
				t.Errorf("with %d replicas %s must be in sync, want %s; %v", replicas, values[leastInSync], want, err)
			}
			if list := unsafeOf(l); len(list) > 1 || list["replicas"] != (replicas == 1) {
				t.Errorf("with %d replicas, unsafe settings: %v", replicas, list)
			}
		})
	}
}

// TestUnsafeTopic checks a topic that another program created with unsafe settings. The log must report these settings,
// and must correct the setting for the records' timestamps.
func TestUnsafeTopic(t *testing.T) {
	t.Parallel()
	cluster := brokertest.Start(t, brokertest.Options{Nodes: 3})
	client := &kafka.Client{Addr: kafka.TCP(cluster.Addresses()...), Timeout: eventually.Patience}
	create := func(topic string, settings ...kafka.ConfigEntry) {
		res, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
			{Topic: topic, NumPartitions: 1, ReplicationFactor: 3, ConfigEntries: settings},
		}})
		if err == nil {
			err = res.Errors[topic]
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	create("unsafe", kafka.ConfigEntry{ConfigName: leastInSync, ConfigValue: "1"}, kafka.ConfigEntry{ConfigName: unclean, ConfigValue: "true"},
		kafka.ConfigEntry{ConfigName: retentionTime, ConfigValue: "3600000"}, kafka.ConfigEntry{ConfigName: retentionSize, ConfigValue: "1000000"},
		kafka.ConfigEntry{ConfigName: largestBatch, ConfigValue: "100000"}, kafka.ConfigEntry{ConfigName: timestampType, ConfigValue: "CreateTime"})
	l := newTestLog(t, cluster.Addresses(), func(c *Config) { c.Topic, c.Replicas = "unsafe", 3 })
	list := unsafeOf(l)
	for _, setting := range []string{leastInSync, unclean, retentionTime, retentionSize, largestBatch} {
		if !list[setting] {
			t.Errorf("%s is not reported as unsafe", setting)
		}
	}
	if len(list) != 5 {
		t.Errorf("unsafe are %v", list)
	}
	if values, err := l.topic.settings(t.Context(), timestampType); err != nil || values[timestampType] != appendTime {
		t.Errorf("records have the time of %s; %v", values[timestampType], err)
	}

	create("compacted", kafka.ConfigEntry{ConfigName: cleanupPolicy, ConfigValue: "compact,delete"})
	refused, err := New(Config{Brokers: cluster.Addresses(), Topic: "compacted"}, NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	if err := refused.Start(t.Context()); !errors.Is(err, errCompacted) {
		t.Errorf("a topic that is compacted: %v", err)
		_ = refused.Stop(context.Background())
	}
}
