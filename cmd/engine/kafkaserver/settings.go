package kafkaserver

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// settings has a topic's parsed configs.
type settings struct {
	retention      time.Duration // how long records stay; < 0 means forever
	retentionBytes int64         // limit for a partition; < 0 means no limit
	maxMessage     int
	minInSync      int
	appendTime     bool
}

// topicConfig is a supported topic config. `standard` is its default value.
type topicConfig struct {
	name, standard string
	kind           int8 // type of the value, as in DescribeConfigs
	read           func(s *settings, value string) error
}

// These are the protocol's types of config values.
const (
	kindString = 2
	kindInt    = 3
	kindLong   = 5
	kindList   = 7
	kindBool   = 1
)

// topicConfigs has all supported topic configs. A config with a single allowed value is listed for tools that set it.
var topicConfigs = []topicConfig{
	{"cleanup.policy", "delete", kindList, only("delete")},
	{"compression.type", "producer", kindString, only("producer")},
	{"max.message.bytes", "1048588", kindInt, func(s *settings, value string) (err error) {
		n, err := number(value, 1, maxProduce/2)
		s.maxMessage = int(n)
		return err
	}},
	{"message.timestamp.type", "CreateTime", kindString, func(s *settings, value string) error {
		if value != "CreateTime" && value != "LogAppendTime" {
			return fmt.Errorf("%q is neither CreateTime nor LogAppendTime", value)
		}
		s.appendTime = value == "LogAppendTime"
		return nil
	}},
	{"min.insync.replicas", "1", kindInt, func(s *settings, value string) error {
		n, err := number(value, 1, math.MaxInt32)
		s.minInSync = int(n)
		return err
	}},
	{"retention.bytes", "-1", kindLong, func(s *settings, value string) (err error) {
		s.retentionBytes, err = number(value, -1, math.MaxInt64)
		return err
	}},
	{"retention.ms", "604800000", kindLong, func(s *settings, value string) error {
		n, err := number(value, -1, math.MaxInt64)
		s.retention = time.Duration(min(n, int64(math.MaxInt64/time.Millisecond))) * time.Millisecond
		return err
	}},
	{"unclean.leader.election.enable", "false", kindBool, only("false")},
}

func only(value string) func(*settings, string) error {
	return func(_ *settings, given string) error {
		if given != value {
			return fmt.Errorf("%q is not supported by this broker, only %q", given, value)
		}
		return nil
	}
}

func number(value string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a number from %d to %d", value, least, most)
	}
	return n, nil
}

func configOf(name string) *topicConfig {
	for i := range topicConfigs {
		if topicConfigs[i].name == name {
			return &topicConfigs[i]
		}
	}
	return nil
}

// parse parses a topic's configs. A missing config has its default value.
func parse(configs map[string]string) (s settings, err error) {
	for name := range configs {
		if configOf(name) == nil {
			return s, fmt.Errorf("%s is not a topic config of this broker", name)
		}
	}
	for _, c := range topicConfigs {
		value, given := configs[c.name]
		if !given {
			value = c.standard
		}
		if err := c.read(&s, value); err != nil {
			return s, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return s, nil
}

// change edits a topic's configs. If validateOnly is set, it only validates the edit.
func (t *topic) change(edit func(map[string]string), validateOnly bool) *apiError {
	t.broker.making.Lock()
	defer t.broker.making.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	changed := map[string]string{}
	for name, value := range t.configs {
		changed[name] = value
	}
	edit(changed)
	s, err := parse(changed)
	if err != nil {
		return failed(errInvalidConfig, "%v", err)
	}
	if validateOnly {
		return nil
	}
	if err := t.broker.journal.Put(topicEntry{t.id, len(t.partitions()), changed}.entry(t.name)); err != nil {
		return failed(errStorage, "the disk failed")
	}
	t.configs = changed
	t.settings.Store(&s)
	return nil
}
