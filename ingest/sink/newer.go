package sink

import (
	"context"

	"github.com/octavo-docs/octavo/ingest/retry"
)

// newerReason is the reason that counts a message of a later version or another baseline. Such a message blocks its
// partition like an error of the store.
const newerReason = "newer"

// hold waits until a partition is reassigned, because this version cannot read the partition's next message. Waiting is
// safe, because the events stay in the log, and a sink of the version that wrote them can store them.
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
