package query

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/fair"
)

// Caller identifies the sender of a query.
type Caller struct {
	// Organization and Token have separate limits of concurrent queries.
	Organization, Token string
	// Request is the id of the HTTP request. The engine's log shows it with the statements. If it is "", the log shows
	// no id.
	Request string
	// Fresh requests a newly computed answer instead of a cached answer.
	Fresh bool
	// User is the user whose personal segments are visible. If it is "", only the site's segments are visible.
	User string
	// View narrows the events that the queries read; nil means no narrowing.
	View *schema.InsightsView
}

// admission limits the number of concurrent queries and the rows that they read. It shares both limits fairly between
// organizations.
type admission struct {
	config  Config
	gate    *fair.Gate
	metrics *Metrics

	mu      sync.Mutex
	parties map[string]*party // organizations with a waiting or running query, by id
}

type party struct {
	fair.Party
	queries int
}

// waitersPerSlot is the number of queries that may wait for each slot. A dashboard sends the queries of all its panels
// concurrently.
const waitersPerSlot = 16

func newAdmission(c Config, m *Metrics) *admission {
	return &admission{
		config: c,
		gate: fair.New(fair.Room{
			Slots: int64(c.Concurrency), Waiting: waitersPerSlot * int64(c.Concurrency), Wait: c.QueueWait,
			PartySlots: int64(c.PerOrganization), MemberSlots: int64(c.PerToken),
			Bytes: c.Rows, PartyBytes: c.RowsPerOrganization, MemberBytes: c.RowsPerToken, WaitingBytes: math.MaxInt64,
		}, queueMetrics{m}),
		metrics: m, parties: map[string]*party{},
	}
}

var (
	errOwnShare = errors.New("the caller's share of concurrent queries, or of their rows, is used up")
	errFull     = errors.New("the node answers as many queries as it may")
)

// enter waits until there is a free slot, and room for the query's rows. leave releases the slot and the rows.
func (a *admission) enter(ctx context.Context, who Caller, rows cost) (leave func(), err error) {
	a.gate.SetSlots(int64(max(1, a.config.Concurrency>>a.config.halvings())))
	p, weight := a.hold(who.Organization), rows.weight()
	counted := float64(a.gate.Weight(weight))
	a.metrics.waitingRows.Add(counted)
	verdict := a.gate.Enter(ctx, &p.Party, who.Token, weight)
	a.metrics.waitingRows.Sub(counted)
	switch verdict {
	case fair.Admitted:
		a.metrics.runningRows.Add(counted)
		return func() {
			a.metrics.runningRows.Sub(counted)
			a.gate.Leave(&p.Party, who.Token, weight)
			a.drop(who.Organization, p)
		}, nil
	case fair.OwnShare:
		err = errOwnShare
	case fair.Full:
		err = errFull
	}
	a.drop(who.Organization, p)
	return nil, cause(ctx, err)
}

// hold returns the party of an organization for one more query. The caller must call drop when the query ends.
func (a *admission) hold(organization string) *party {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.parties[organization]
	if p == nil {
		p = &party{}
		a.parties[organization] = p
	}
	p.queries++
	return p
}

func (a *admission) drop(organization string, p *party) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.queries--; p.queries == 0 {
		delete(a.parties, organization)
	}
}

// queueMetrics reports the queue's state as metrics.
type queueMetrics struct{ *Metrics }

func (m queueMetrics) Waiting(delta int)         { m.waiting.Add(float64(delta)) }
func (m queueMetrics) Waited(time time.Duration) { m.waitSeconds.Observe(time.Seconds()) }

// cost is the number of rows that a query reads, as estimated before its turn. The estimate itself reads no rows. If a
// site's rows are unknown, the site's queries count the rows when they run (sources.go), in their own turn and time.
type cost int64

const (
	// unknownRows is the cost of a long range on a site with an unknown number of rows.
	unknownRows cost = 2_000_000
	// lightRows is the number of rows that the engine reads in a few hundredths of a second on two cores. A query of at
	// most lightRows needs only a slot, and overtakes queries that wait for rows.
	lightRows cost = 400_000
)

// weight returns how many rows the query takes from the limit of rows that are read concurrently. A light query takes
// 0.
func (c cost) weight() int64 {
	if c <= lightRows {
		return 0
	}
	return int64(c)
}
