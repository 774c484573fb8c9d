package intake

import (
	"context"
	"time"

	"github.com/octavo-docs/octavo/schema/fair"
	"github.com/octavo-docs/octavo/schema/insights"
)

// siteHeadroom limits a site's slots (requests in flight) and bytes to this multiple of the free slots and bytes. A
// single busy site can use three quarters of the node's slots and bytes, and two busy sites can use six sevenths. So
// another site always finds room immediately.
const siteHeadroom = 3

// admission limits the requests in flight and the bytes of their bodies. The same number of requests and bytes may also
// wait until they are admitted.
type admission struct {
	gate    *fair.Gate
	metrics *Metrics
}

func newAdmission(cfg *Config, m *Metrics) *admission {
	room := fair.Room{Slots: int64(cfg.MaxInFlight), Bytes: cfg.MaxBytesInFlight, Wait: cfg.AdmitWait, Headroom: siteHeadroom}
	return &admission{gate: fair.New(room, admissionMetrics{m}), metrics: m}
}

// enter reserves room for a body of `size` bytes, and `leave` releases this room.
func (a *admission) enter(ctx context.Context, site *fair.Party, size int) *insights.Refusal {
	switch a.gate.Enter(ctx, site, "", int64(size)) {
	case fair.OwnShare, fair.MemberShare:
		return insights.Refuse(insights.SiteOverloaded, "", "too many events of this site are in flight, try again")
	case fair.Full:
		return insights.Refuse(insights.Overloaded, "", "too many events are in flight, try again")
	case fair.Admitted:
	}
	a.metrics.requestsInFlight.Inc()
	a.metrics.bytesInFlight.Add(float64(a.gate.Weight(int64(size))))
	return nil
}

func (a *admission) leave(site *fair.Party, size int) {
	a.metrics.requestsInFlight.Dec()
	a.metrics.bytesInFlight.Sub(float64(a.gate.Weight(int64(size))))
	a.gate.Leave(site, "", int64(size))
}

// admissionMetrics reports the number of waiting requests and their waiting times in the metrics.
type admissionMetrics struct{ *Metrics }

func (m admissionMetrics) Waiting(delta int)      { m.requestsWaiting.Add(float64(delta)) }
func (m admissionMetrics) Waited(d time.Duration) { m.admitSeconds.Observe(d.Seconds()) }
