package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/segmentio/kafka-go"
)

// Names of a topic's settings.
const (
	cleanupPolicy = "cleanup.policy"
	retentionTime = "retention.ms"
	retentionSize = "retention.bytes"
	leastInSync   = "min.insync.replicas"
	largestBatch  = "max.message.bytes"
	timestampType = "message.timestamp.type"
	unclean       = "unclean.leader.election.enable"
	appendTime    = "LogAppendTime"
)

// topicSettings returns the settings of a topic that the log creates. The topic deletes a message when the message's
// timestamp is old enough. The broker sets this timestamp by its own clock. If the nodes set it, messages of a node
// whose clock is far behind would be deleted immediately.
func (c *Config) topicSettings() []kafka.ConfigEntry {
	return []kafka.ConfigEntry{
		{ConfigName: cleanupPolicy, ConfigValue: "delete"},
		{ConfigName: retentionTime, ConfigValue: strconv.FormatInt(c.Retention.Milliseconds(), 10)},
		{ConfigName: leastInSync, ConfigValue: strconv.Itoa(c.MinInSync)},
		{ConfigName: largestBatch, ConfigValue: strconv.Itoa(c.largestBatch())},
		{ConfigName: timestampType, ConfigValue: appendTime},
	}
}

func (c *Config) largestBatch() int { return max(c.MaxMessageBytes, c.MaxBatchBytes) + 1<<16 }

// topicFacts has the settings of a topic, its number of replicas and the number of brokers. The topicRules check them.
type topicFacts struct {
	values            map[string]string
	replicas, brokers int
}

func (f *topicFacts) number(name string) int64 {
	n, err := strconv.ParseInt(f.values[name], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// topicRule checks one setting. `why` describes the problem with the setting's value. It returns "" if there is no
// problem, or if the value is unknown.
type topicRule struct {
	setting string
	why     func(f *topicFacts, c *Config) string
}

var topicRules = []topicRule{
	{leastInSync, func(f *topicFacts, c *Config) string {
		if n := f.number(leastInSync); n >= 0 && n < int64(min(c.MinInSync, f.replicas)) {
			return fmt.Sprintf("an event is acknowledged once %d of %d replicas have it, and lost with them", n, f.replicas)
		}
		return ""
	}},
	{"replicas", func(f *topicFacts, _ *Config) string {
		if f.replicas == 1 && f.brokers > 1 {
			return fmt.Sprintf("there are %d brokers but one replica: events are lost with its disk", f.brokers)
		}
		return ""
	}},
	{unclean, func(f *topicFacts, _ *Config) string {
		if f.values[unclean] == "true" && f.replicas > 1 {
			return "a replica that lacks acknowledged events may become the leader: they are lost then"
		}
		return ""
	}},
	{retentionTime, func(f *topicFacts, c *Config) string {
		if n := f.number(retentionTime); n >= 0 && n < c.Retention.Milliseconds() {
			return fmt.Sprintf("events are kept for %d ms, less than OCTAVO_KAFKA_RETENTION", n)
		}
		return ""
	}},
	{retentionSize, func(f *topicFacts, _ *Config) string {
		if n := f.number(retentionSize); n >= 0 {
			return fmt.Sprintf("a partition keeps %d bytes, whether or not its events are stored", n)
		}
		return ""
	}},
	{largestBatch, func(f *topicFacts, c *Config) string {
		if n := f.number(largestBatch); n >= 0 && n < int64(c.largestBatch()) {
			return fmt.Sprintf("it takes messages of %d bytes, and a request may need %d", n, c.largestBatch())
		}
		return ""
	}},
	{timestampType, func(f *topicFacts, _ *Config) string {
		if t := f.values[timestampType]; t != "" && t != appendTime {
			return "retention goes by the clocks of the nodes that took the events in: events of a node whose clock is behind expire early"
		}
		return ""
	}},
}

// idempotence is the name with which `identify` reports whether the brokers issue producer ids.
const idempotence = "idempotence"

// checkedSettings are all settings that a Log checks.
func checkedSettings() []string {
	list := []string{idempotence}
	for _, r := range topicRules {
		list = append(list, r.setting)
	}
	return list
}

// errCompacted is wrapped by the error about a compacted topic. Compaction deletes all messages of a site except the
// last message.
var errCompacted = errors.New("it keeps only the last request of each site (cleanup.policy=compact): set it to delete")

// check logs the topic's unsafe settings and reports them in the metrics. It corrects the timestamp type, which is safe
// while the topic is in use. It returns an error for a topic that cannot be used as the log.
func (l *Log) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ProduceTimeout)
	defer cancel()
	facts, err := l.facts(ctx)
	if err != nil {
		l.cfg.Logger.Warn("Cannot read the settings of the event log's topic from Kafka, so they may be unsafe.",
			"topic", l.cfg.Topic, "error", err)
		return nil
	}
	if strings.Contains(facts.values[cleanupPolicy], "compact") {
		return fmt.Errorf("cannot use the topic %s: %w", l.cfg.Topic, errCompacted)
	}
	if t := facts.values[timestampType]; t != "" && t != appendTime {
		if err := l.setAppendTime(ctx); err != nil {
			l.cfg.Logger.Warn("Cannot set message.timestamp.type=LogAppendTime on the event log's topic.", "topic", l.cfg.Topic, "error", err)
		} else {
			l.cfg.Logger.Info("Set message.timestamp.type=LogAppendTime on the event log's topic.", "topic", l.cfg.Topic)
			facts.values[timestampType] = appendTime
		}
	}
	for _, r := range topicRules {
		why := r.why(facts, &l.cfg)
		l.metrics.SettingUnsafe(r.setting, why != "")
		if why != "" {
			l.cfg.Logger.Warn("A setting of the event log's topic is unsafe.", "topic", l.cfg.Topic, "setting", r.setting, "why", why)
		}
	}
	return nil
}

func (l *Log) facts(ctx context.Context) (*topicFacts, error) {
	names := []string{cleanupPolicy}
	for _, e := range append(l.cfg.topicSettings(), kafka.ConfigEntry{ConfigName: unclean}, kafka.ConfigEntry{ConfigName: retentionSize}) {
		if !slices.Contains(names, e.ConfigName) {
			names = append(names, e.ConfigName)
		}
	}
	values, err := l.topic.settings(ctx, names...)
	if err != nil {
		return nil, err
	}
	res, err := l.topic.Client.Metadata(ctx, &kafka.MetadataRequest{Addr: nil, Topics: []string{l.cfg.Topic}})
	if err != nil {
		return nil, err
	}
	facts := &topicFacts{values: values, brokers: len(res.Brokers), replicas: 1}
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			facts.replicas = max(facts.replicas, len(p.Replicas))
		}
	}
	return facts, nil
}

func (l *Log) setAppendTime(ctx context.Context) error {
	res, err := l.topic.Client.IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{
		Addr: nil,
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: l.cfg.Topic,
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: timestampType, Value: appendTime, ConfigOperation: kafka.ConfigOperationSet}},
		}},
		ValidateOnly: false,
	})
	if err != nil {
		return err
	}
	for _, r := range res.Resources {
		if r.Error != nil {
			return r.Error
		}
	}
	return nil
}
