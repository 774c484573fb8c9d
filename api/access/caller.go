package access

import (
	"net"
	"net/netip"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// Caller describes the sender of a request, and the object that the scope found for the operation. It is valid only
// during the call. Functions must copy the values that they retain.
type Caller struct {
	// Principal is nil for public operations without a publishable key.
	Principal *store.Principal
	// Reader is set for the reader of a published site. A reader is not a user, so the Principal has no UserID.
	Reader *Reader
	// Rights are the caller's rights on the scope's object.
	Rights Rights
	// Organization, Site, Space or Collection is set if the scope's object is of this kind. Scopes of insights set
	// EventSite.
	Organization *orgs.Membership
	Site         *sites.Access
	Space        *store.SpaceAccess
	Collection   *store.CollectionAccess
	EventSite    schema.EventSite
	// View is the part of EventSite's insights that a share link shows; nil for callers who see everything.
	View *schema.InsightsView
	// Key is set by the scope of publishable keys, together with EventSite.
	Key *PublishableKey
	// Integration and Installation are set by the scopes of the same names.
	Integration  *store.Integration
	Installation *store.Installation
	// ChangeRequest and Space are set by the scope of a change request.
	ChangeRequest *store.ChangeRequest
	// IP is the client's address. It is taken from forwarding headers only if a trusted proxy sent them.
	IP netip.Addr
	// Now is the time at which the request was read.
	Now time.Time
	// Head is set if the method is HEAD. The answer then has the same headers as the answer to GET, and the operation
	// must change nothing.
	Head bool

	requestID []byte
	conn      net.Conn
}

// Viewer returns the caller as a member of the scope's organization.
func (c *Caller) Viewer() postgres.Viewer {
	return postgres.Viewer{UserID: c.Principal.UserID, Role: c.Organization.Role}
}

// RequestID returns a copy of the request's id, which the response has in X-Request-Id.
func (c *Caller) RequestID() string { return string(c.requestID) }

// Begin sets the Caller's data about a request that has been read. The frame still owns requestID and `conn`.
func (c *Caller) Begin(requestID []byte, conn net.Conn, ip netip.Addr, now time.Time) {
	c.requestID, c.conn, c.IP, c.Now = requestID, conn, ip, now
}
