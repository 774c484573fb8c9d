package sink

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/octavo-docs/octavo/ingest/deadletter"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema/insights"
)

// unreadableReason is the reason of a dead letter about a message that cannot be read. The reason of a dead letter
// about an event is the Reason of an eventstore.Fault.
const unreadableReason = "unreadable"

// letters returns the dead letters of a cut.
func (c *cut) letters(topic string) ([]deadletter.Letter, error) {
	list := make([]deadletter.Letter, 0, len(c.unreadable)+len(c.refused))
	for _, u := range c.unreadable {
		d := deadletter.Letter{
			Topic: topic, Partition: c.partition.id, Offset: u.offset, Index: deadletter.WholeMessage, Reason: unreadableReason,
			Error: deadletter.ErrorText(u.err), Message: u.data, Sum: deadletter.Sum(u.data),
		}
		if m, err := insights.ParseMessage(u.data); err == nil {
			d.Site, d.Received = m.Site, time.UnixMilli(m.ReceivedMillis).UTC()
		}
		list = append(list, d)
	}
	for _, r := range c.refused {
		m, index := c.messageOf(r.row)
		only, err := m.message.Only(index)
		if err != nil {
			return nil, err
		}
		list = append(list, deadletter.Letter{
			Topic: topic, Partition: c.partition.id, Offset: int64(m.at.Offset), Index: index,
			Site: m.message.Site, Received: time.UnixMilli(m.message.ReceivedMillis).UTC(),
			Reason: eventstore.FaultOf(r.err).Reason, Error: deadletter.ErrorText(r.err), Message: only, Sum: hex.EncodeToString(m.message.ID[:]),
		})
	}
	return list, nil
}

// writeDeadLetters writes the dead letters of a cut, before the cut's offset is committed. If it is interrupted, the
// partition's next owner writes the dead letters again with the same keys.
func (g *generation) writeDeadLetters(ctx context.Context, c *cut) error {
	if len(c.unreadable) == 0 && len(c.refused) == 0 {
		return nil
	}
	s := g.sink
	list, err := c.letters(s.cfg.Topic)
	if err != nil {
		return err
	}
	if err := s.dead.Write(ctx, list); err != nil {
		return err
	}
	s.metrics.unreadable.Add(float64(len(c.unreadable)))
	for i := range list {
		d := &list[i]
		s.metrics.deadLettered.WithLabelValues(d.Reason).Inc()
		s.cfg.Logger.Error("An event cannot be stored and was written to the dead-letter topic.",
			"topic", s.dead.Topic(), "key", d.Key(), "site", d.Site, "reason", d.Reason, "error", d.Error)
	}
	return nil
}

// countBalances adds the outcomes of a stored cut's events to the balances of their sites.
func (s *Sink) countBalances(c *cut) {
	sites := s.cfg.Balances
	// `erased` and `refused` count the rows that are not stored, by their message's offset. Each counter only
	// increases, because Prometheus may read it at any time, and takes a decrease for a restart.
	erased, refused := map[uint64]uint64{}, map[uint64]uint64{}
	for row := range c.erased {
		m, _ := c.messageOf(row)
		erased[m.at.Offset]++
	}
	for _, r := range c.refused {
		m, _ := c.messageOf(r.row)
		refused[m.at.Offset]++
	}
	for _, m := range c.messages {
		account, gone, dead := sites.Account(m.message.Site), erased[m.at.Offset], refused[m.at.Offset]
		account.Stored.Add(uint64(m.message.Count) - gone - dead)
		account.Erased.Add(gone)
		account.DeadLettered.Add(dead)
	}
	// If only the header of a message is readable, the message has one dead letter for all of its events.
	for _, u := range c.unreadable {
		if m, err := insights.ParseMessage(u.data); err == nil {
			sites.Account(m.Site).DeadLettered.Add(uint64(m.Count))
		}
	}
}
