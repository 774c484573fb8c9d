package eventlog

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/retry"
)

// watch adapts the log to changes of the topic while the node runs. It starts workers for new partitions. If the topic
// was deleted, `watch` creates the topic again.
func (l *Log) watch(run context.Context) {
	timer := time.NewTicker(l.cfg.WatchWait)
	defer timer.Stop()
	var pace retry.LogPace
	for {
		select {
		case <-l.stopping:
			return
		case <-run.Done():
			return
		case <-timer.C:
		}
		count, err := l.topic.Partitions(run)
		if errors.Is(err, kafka.UnknownTopicOrPartition) {
			if pace.Due() {
				l.cfg.Logger.Error(
					"The event log's topic was deleted: its unstored events are lost. The topic is created again.",
					"topic", l.cfg.Topic)
			}
			count, err = l.topic.tryEnsure(run, &l.cfg)
		}
		if err != nil {
			continue // a produce request that fails logs the cause
		}
		l.mu.Lock()
		had := len(l.partitions)
		if l.running && count != had {
			l.resize(run, count)
			l.cfg.Logger.Info("The number of partitions of the event log's topic has changed.",
				"topic", l.cfg.Topic, "before", had, "now", count)
		}
		l.mu.Unlock()
	}
}

// resize starts and stops workers until each partition has one worker. The caller holds l.mu.
func (l *Log) resize(run context.Context, count int) {
	list := make([]*partition, count)
	for id := range list {
		if id < len(l.partitions) {
			list[id] = l.partitions[id]
			continue
		}
		p := &partition{log: l, id: id, wake: make(chan struct{}, 1), from: noProducer}
		list[id] = p
		l.workers.Go(func() { p.run(run) })
	}
	for id := count; id < len(l.partitions); id++ {
		l.partitions[id].close() // close refuses the messages that wait for this partition, which no longer exists
	}
	l.partitions = list
}
