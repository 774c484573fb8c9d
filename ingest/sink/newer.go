package sink

import (
	"context"

	"github.com/octavo-docs/octavo/ingest/retry"
)

// newerReason is the reason of a store error that is not the store's: a later
// version, or one of another baseline, wrote the next message.
const newerReason = "newer"

// hold keeps a partition whose next message this version cannot read, until the
// partition is reassigned. Waiting is safe: the events stay in the log, and a sink of
// the version that wrote them stores them.
func (s *Sink) hold(ctx context.Context, p *partition, why error) {
	var pace retry.LogPace
	for ctx.Err() == nil {
		s.metrics.storeErrors.WithLabelValues(newerReason).Inc()
		if pace.Due() {
			s.cfg.Logger.Error("Another version wrote the partition's next message. The sink holds the partition: run that version on this node.",
				"partition", p.id, "error", why)
		}
		if _, end, err := s.log.Offsets(ctx, p.id); err == nil {
			p.end.Store(end)
			s.showLag(p)
		}
		retry.Sleep(ctx, maxWait)
	}
}
