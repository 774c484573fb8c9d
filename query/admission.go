package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/fair"
)

// Caller identifies the sender of a query.
type Caller struct {
	// Organization and Token are the ids of the sender's organization and token. Each organization and each token has
	// its own limit of concurrent queries.
	Organization, Token string
	// Request is the id of the HTTP request. The engine's log shows it with the statements. If it is "", the log shows
	// no id.
	Request string
	// If Fresh is true, the query gets a newly computed answer and no cached answer.
	Fresh bool
	// User is the id of the user whose personal segments the query may use. If it is "", the query may use only the
	// site's segments.
	User string
	// View narrows the events that the queries read; nil means no narrowing.
	View *schema.InsightsView
}

// admission limits the number of concurrent queries and the rows that they read. It shares the slots and the rows
// fairly between organizations.
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
	// errTokenShare concerns only the caller's token. Other tokens of its organization may have room.
	errTokenShare = fmt.Errorf("the token: %w", errOwnShare)
	errFull       = errors.New("the node answers as many queries as it may")
)

// enter waits until there is a free slot, and room for the query's rows. `leave` releases the slot and the rows.
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
	case fair.MemberShare:
		err = errTokenShare
	case fair.Full:
		err = errFull
	}
	a.drop(who.Organization, p)
	return nil, cause(ctx, err)
}

// hold counts one more query of an organization, and returns the organization's party. The caller must call `drop` when
// the query ends.
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

// cost is the estimated number of rows that a query will read. The estimate is made before the query's turn, and reads
// no rows. If the number of a site's rows is unknown, the site's queries count the rows when they run (sources.go).
// Counting then takes a part of the query's turn and time.
type cost int64

const (
	// unknownRows is the cost of a query with a long range if the number of the site's rows is unknown.
	unknownRows cost = 2_000_000
	// lightRows is the number of rows that the engine reads in a few hundredths of a second on two cores. A query of at
	// most lightRows needs only a slot, and overtakes queries that wait for rows.
	lightRows cost = 400_000
)

// weight returns the number of rows that the query takes from the limit on concurrently read rows. For a light query,
// it returns 0.
func (c cost) weight() int64 {
	if c <= lightRows {
		return 0
	}
	return int64(c)
}
