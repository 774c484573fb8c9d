package sink

import (
	"context"

	"github.com/octavo-docs/octavo/ingest/retry"
)

// newerReason is the reason under which the metric of store errors counts a message of a later version or another
// baseline. Like an error of the store, such a message blocks its partition.
const newerReason = "newer"

// hold waits until a partition is reassigned, because this version cannot read the partition's next message. No event
// is lost while it waits, because the events stay in the log. A sink of the version that wrote the message can store
// it.
func (s *Sink) hold(ctx context.Context, p *partition, why error) {
	var pace retry.LogPace
	for ctx.Err() == nil {
		s.metrics.storeErrors.WithLabelValues(newerReason).Inc()
		if pace.Due() {
			s.cfg.Logger.Error("The sink holds the partition, because another version wrote its next message. "+
				"Run that version on this node.", "partition", p.id, "error", why)
		}
		if _, end, err := s.log.Offsets(ctx, p.id); err == nil {
			p.end.Store(end)
			s.showLag(p)
		}
		retry.Sleep(ctx, maxWait)
	}
}
