package apitest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// txtRecords is a fake name server with the TXT records that a test sets. If Down is true, every look-up times out.
type txtRecords struct {
	mu      sync.Mutex
	records map[string][]string
	Down    bool
}

func (r *txtRecords) Set(domain string, values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.records == nil {
		r.records = map[string][]string{}
	}
	r.records[domain+"."] = values
}

func (r *txtRecords) LookupTXT(ctx context.Context, name string) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, bounded := ctx.Deadline(); !bounded {
		return nil, &net.DNSError{Err: "the look-up has no deadline"}
	}
	if r.Down {
		return nil, &net.DNSError{Err: "i/o timeout", Name: name, IsTimeout: true}
	}
	if values, ok := r.records[name]; ok {
		return values, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// fakeIntake records the requests that it receives. If Run is set, its error is the result of the request.
type fakeIntake struct {
	mu     sync.Mutex
	Bodies []string
	Sites  []schema.EventSite
	From   []schema.ClientInfo
	Run    func(body []byte) error
	// Doors has the DoorInfo of each request that a browser sent. The bodies and sites of these requests are in Bodies
	// and Sites.
	Doors []schema.DoorInfo
	// Unread has the reason of each request that the server refused before it read the body.
	Unread []string
	// Unknown is the number of events with an unknown type that the fake reports for each request.
	Unknown int
	// Hidden has the ids of the sites for which OneAddress is true: all their visitors come from the same address.
	Hidden map[string]bool
}

func (f *fakeIntake) Accept(_ context.Context, site schema.EventSite, body []byte, from schema.ClientInfo) (unknown int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Bodies, f.Sites, f.From = append(f.Bodies, string(body)), append(f.Sites, site), append(f.From, from)
	if f.Run != nil {
		err = f.Run(body)
	}
	return f.Unknown, err
}

func (f *fakeIntake) AcceptDoor(_ context.Context, site schema.EventSite, body []byte, from schema.DoorInfo) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Bodies, f.Sites, f.Doors = append(f.Bodies, string(body)), append(f.Sites, site), append(f.Doors, from)
	if f.Run != nil {
		return f.Run(body)
	}
	return nil
}

func (f *fakeIntake) OneAddress(siteID string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Hidden[siteID]
}

func (f *fakeIntake) RefuseUnread(_ string, reason *insights.Reason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Unread = append(f.Unread, reason.Label)
}

type fakeInsights struct{}

func (*fakeInsights) Answer(ctx context.Context, from schema.QueryOrigin, of query.Report, body []byte) ([]byte, map[string]string, error) {
	if deadline, ok := ctx.Deadline(); ok {
		return nil, nil, fmt.Errorf("the operation's deadline %v pre-empts the question's own", deadline)
	}
	if !bytes.Contains(body, []byte("range")) {
		return nil, nil, schema.Invalid("range", "is required")
	}
	answer := map[query.Report]string{
		query.Aggregate: `{"columns":[]}`, query.Funnel: `{"steps":[]}`, query.Retention: `{"cohorts":[]}`,
		query.Transitions: `{"views":0,"entries":0,"exits":0,"reloads":0,"from":[],"to":[]}`,
		query.Pages:       `{"object":"insights-pages","items":[],"count":0}`,
	}[of]
	return []byte(answer), map[string]string{
		"X-Octavo-Site":   from.SiteID,
		"X-Octavo-Caller": from.OrganizationID + " " + from.TokenID + " " + from.RequestID,
		"X-Octavo-Fresh":  strconv.FormatBool(from.Fresh),
	}, nil
}

// SettingsChanged does nothing, because the fake caches no settings.
func (*fakeInsights) SettingsChanged(string) {}

func (*fakeInsights) Batch(_ context.Context, from schema.QueryOrigin, body []byte) ([]byte, map[string]string, error) {
	if !bytes.Contains(body, []byte("queries")) {
		return nil, nil, schema.Invalid("queries", "is required")
	}
	return []byte(`{"now":"2026-11-28T12:00:00.000Z","timezone":"UTC",` +
			`"queries":{"a":{"status":200,"answer":{"columns":[]}}}}`),
		map[string]string{"X-Octavo-Site": from.SiteID}, nil
}

func (*fakeInsights) Live(_ context.Context, from schema.QueryOrigin, _ []string) ([]byte, map[string]string, error) {
	answer := `{"object":"insights-live","now":"2026-11-28T12:00:00.000Z","from":"2026-11-28T11:31:00.000Z",` +
		`"timezone":"UTC"`
	for _, part := range query.LiveParts() {
		answer += `,"` + part + `":{"columns":[]}`
	}
	return []byte(answer + "}"), map[string]string{"X-Octavo-Site": from.SiteID}, nil
}

func (*fakeInsights) VisitorSegments(context.Context, schema.QueryOrigin, schema.PageRequest) ([]byte, map[string]string, error) {
	return []byte(`{"items":[],"count":0}`), nil, nil
}

// balancesOf returns a fixed balance for every site.
type balancesOf struct{}

func (balancesOf) Balance(_ context.Context, site string) schema.EventBalance {
	return schema.EventBalance{
		Object: "event-balance", Site: site, Since: time.Unix(1_750_000_000, 0).UTC(), Received: 9, Accepted: 4, Repeated: 2,
		Refused: map[string]uint64{"unknown_type": 3}, UnreadRequests: map[string]uint64{"overloaded": 2},
		RefusedByDay: []schema.RefusedDay{
			{Date: "2026-11-25", Events: 2}, {Date: "2026-11-27", Events: 1, Requests: 2},
		},
		Stored: 5, DeadLettered: 1, Earlier: 2,
		Scope: "node", Roles: []string{"api"},
	}
}

// erasuresOf returns a pending erasure for every site and visitor, except the visitor "nobody".
type erasuresOf struct{}

func (erasuresOf) Erase(_ context.Context, site, visitor string) (schema.VisitorErasure, error) {
	return schema.VisitorErasure{Object: "visitor-erasure", Site: site, Visitor: visitor, State: schema.ErasurePending, AskedAt: time.Unix(1_750_000_000, 0).UTC()}, nil
}

func (erasuresOf) EraseKey(_ context.Context, site, key string) (schema.EventKeyErasure, error) {
	return schema.EventKeyErasure{
		Object: "event-key-erasure", Site: site, EventKey: key, State: schema.ErasurePending,
		AskedAt: time.Unix(1_750_000_000, 0).UTC(),
	}, nil
}

func (e erasuresOf) KeyErasure(ctx context.Context, site, key string) (schema.EventKeyErasure, error) {
	return e.EraseKey(ctx, site, key)
}

func (e erasuresOf) Erasure(ctx context.Context, site, visitor string) (schema.VisitorErasure, error) {
	if visitor == "nobody" {
		return schema.VisitorErasure{}, schema.NotFound("erasure of this visitor")
	}
	return e.Erase(ctx, site, visitor)
}
