package schema

import (
	"net/netip"
	"time"
)

// EventSite is what event intake must know about the site that events are for.
type EventSite struct {
	OrganizationID string
	SiteID         string
	// StoreClearIDs says that the site asked for visitor and session ids in clear beside their keyed hashes.
	StoreClearIDs bool
}

// ClientInfo is what is known about who posted events, apart from the events themselves.
type ClientInfo struct {
	// IP is the address of the client; it decides on the country and is then dropped.
	IP netip.Addr
	// Now is when the request came in.
	Now time.Time
	// IdempotencyKey makes a retry of the same request store nothing twice; empty without one.
	IdempotencyKey string
}
