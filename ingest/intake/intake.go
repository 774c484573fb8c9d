package intake

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/intake/agentlist"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Appender makes messages durable.
type Appender interface {
	// Append returns nil when the message is durable, and an error when the log has abandoned it. It does not retain
	// `site` or `message`. With eventlog.AnyPartition the log chooses the partition.
	Append(ctx context.Context, site string, partition int, message []byte) error
}

// Site is the site of the events.
type Site struct {
	ID string
	// ClearIDs means that the site stores visitor and session ids in clear.
	ClearIDs bool
}

// Client describes the sender of a request.
type Client struct {
	IP  netip.Addr // IP is used for events without session.ip, and is not stored
	Now time.Time  // when the request arrived
	// Place is the client's place if a trusted sender names it. Then the place of IP is not looked up.
	Place Place
	// IdempotencyKey identifies the request, so that a repeat of the request stores no events. "" means no key.
	IdempotencyKey string
	// AnyPast means that the limit Config.MaxPast does not apply.
	AnyPast bool
	// MaxEvents limits the number of events in the request, in addition to Config.MaxEvents. 0 means no additional
	// limit.
	MaxEvents int
}

// Intake accepts events.
type Intake struct {
	cfg       Config
	hasher    Hasher
	agents    *agents
	ranges    atomic.Pointer[agentlist.Ranges]
	admission *admission
	search    SearchableLog // cfg.Log, if Config.Keys is set
	recent    *recentKeys
	sessions  *sessions
	crowds    *crowds
	ids       messageIDs
	metrics   *Metrics

	finishing chan struct{}  // finishing limits the goroutines that finish a key after the answer
	finishes  sync.WaitGroup // finishes waits for these goroutines
}

// New builds an intake. It starts nothing.
func New(cfg Config, m *Metrics) (*Intake, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	in := &Intake{
		cfg:       cfg,
		hasher:    NewHasher(cfg.HashKey),
		agents:    newAgents(cachedAgents),
		admission: newAdmission(&cfg, m),
		ids:       newMessageIDs(),
		recent:    newRecentKeys(),
		sessions:  newSessions(cfg.DoorSessions, m),
		crowds:    newCrowds(cfg.Logger, m),
		metrics:   m,
		finishing: make(chan struct{}, keyFinishes),
	}
	in.UseRanges(agentlist.EmbeddedRanges())
	in.search, _ = cfg.Log.(SearchableLog) // Config.complete has checked the type if Config.Keys is set
	return in, nil
}

// UseRanges replaces the published addresses with which agents are verified. It may be called while requests run.
func (in *Intake) UseRanges(r *agentlist.Ranges) { in.ranges.Store(r) }

// Accept takes a request's decompressed body {"events":[...]}. It returns nil when every event is durable in the log,
// or an *insights.Refusal. A refused request stores no event, except with the reason LogUnavailable: then its events
// may be stored. If such a request is repeated with its Idempotency-Key, its events are stored once.
//
// The caller must not change `body` before Accept returns. Accept retains none of its bytes.
func (in *Intake) Accept(ctx context.Context, site Site, body []byte, client Client) error {
	_, err := in.take(ctx, site, body, client, false, nil)
	return err
}

// AcceptKnown is like Accept, for senders that may know more event types than this version. It refuses events of
// unknown types individually and returns their number.
func (in *Intake) AcceptKnown(ctx context.Context, site Site, body []byte, client Client) (unknown int, err error) {
	return in.take(ctx, site, body, client, true, nil)
}

// take accepts a request to the API, or a browser's batch if `door` is not nil.
func (in *Intake) take(
	ctx context.Context, site Site, body []byte, client Client, known bool, door *Door,
) (unknown int, failed error) {
	a := in.cfg.Balances.Account(site.ID)
	// If no room is free, the request is refused before its body is read, so its events are not counted. A
	// refusal must cost an overloaded node as little as possible.
	if err := in.admission.enter(ctx, &a.InFlight, len(body)); err != nil {
		return 0, in.refuseUnread(a, err)
	}
	defer in.admission.leave(&a.InFlight, len(body))
	var salts daySalts
	if door != nil {
		var err *insights.Refusal
		if salts, err = in.saltsAt(ctx, client.Now); err != nil {
			return 0, in.refuseUnread(a, err)
		}
	}
	d := getDecoder(body)
	defer putDecoder(d)
	d.known = known
	if door != nil {
		d.door.begin(site.ID, door, &salts)
	}
	if count, err := in.accept(ctx, a, site, body, client, d); err != nil {
		in.metrics.refuse(err.Reason, count)
		a.Refuse(err.Reason, count)
		return 0, err
	}
	if d.unknown > 0 {
		in.metrics.refused[insights.UnknownType].events.Add(float64(d.unknown))
		a.Refuse(insights.UnknownType, d.unknown)
	}
	return d.unknown, nil
}

// refuseUnread counts a request that is refused before its body is read.
func (in *Intake) refuseUnread(a *balance.Account, err *insights.Refusal) error {
	in.metrics.refused[err.Reason].requests.Inc()
	a.RefuseUnread(err.Reason)
	return err
}

// accept processes an admitted request. It counts all events of the request as received, including events of unknown
// types, and returns their number.
func (in *Intake) accept(ctx context.Context, a *balance.Account, site Site, body []byte, client Client, d *decoder) (all int, refused *insights.Refusal) {
	err := d.request(in, site, client)
	count := d.encoder.Len()
	if all = count + d.unknown; err != nil {
		all = d.refusedEvents(err)
	}
	a.Received.Add(uint64(all))
	if err != nil {
		return all, err
	}
	key := client.IdempotencyKey
	if d.door.on {
		key = d.door.idempotencyKey()
		in.crowds.see(site.ID, &d.door)
	}
	if count > 0 {
		if key != "" && in.cfg.Keys != nil {
			repeated, err := in.appendOnce(ctx, site.ID, key, body, d)
			if err != nil {
				return all, err
			}
			if repeated {
				a.Repeated.Add(uint64(count))
				return all, nil
			}
		} else if err := in.cfg.Log.Append(ctx, site.ID, eventlog.AnyPartition, d.encoder.Bytes()); err != nil {
			return all, asError(err)
		}
	}
	a.Accepted.Add(uint64(count))
	in.metrics.accepted.Add(float64(count))
	in.metrics.requests.Inc()
	return all, nil
}

// asError converts an error of an Appender to a refusal.
func asError(err error) *insights.Refusal {
	if e, ok := err.(*insights.Refusal); ok { //nolint:errorlint // errors.As would lose the wrapping error's text
		return e
	}
	return eventlog.Unavailable(err)
}

// messageIDs generates unique message ids. The first half of an id is a random number of the process. The second half
// is the number of the message.
type messageIDs struct {
	process [8]byte
	count   *atomic.Uint64
}

func newMessageIDs() messageIDs {
	ids := messageIDs{count: new(atomic.Uint64)}
	_, _ = rand.Read(ids.process[:]) // crypto/rand does not fail
	return ids
}

func (m messageIDs) next() (id insights.MessageID) {
	copy(id[:], m.process[:])
	binary.BigEndian.PutUint64(id[8:], m.count.Add(1))
	return id
}
