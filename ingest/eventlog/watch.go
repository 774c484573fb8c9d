package eventlog

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/retry"
)

// watch keeps the log's partitions those of its topic, which may get more of
// them, or be deleted and made anew, while the node runs.
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
		// The answer is the client's own unless it is old, or there is no topic.
		count, err := l.topic.Partitions(run)
		if errors.Is(err, kafka.UnknownTopicOrPartition) {
			if pace.Due() {
				l.cfg.Logger.Error("The topic of the event log is gone: what was in it and not stored is lost. It is made anew.", "topic", l.cfg.Topic)
			}
			count, err = l.topic.tryEnsure(run, &l.cfg)
		}
		if err != nil {
			continue // the produces say what is wrong
		}
		l.mu.Lock()
		had := len(l.partitions)
		if l.running && count != had {
			l.resize(run, count)
			l.cfg.Logger.Info("The topic of the event log has another number of partitions.", "topic", l.cfg.Topic, "before", had, "now", count)
		}
		l.mu.Unlock()
	}
}

// resize starts and ends workers until there is one for each partition. The
// caller holds l.mu.
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
		l.partitions[id].close() // what it has waiting is refused: there is nowhere to put it
	}
	l.partitions = list
}
