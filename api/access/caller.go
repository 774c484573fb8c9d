package access

import (
	"net"
	"net/netip"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Caller is who asks, and the object that the operation's scope found and allowed. It lives as long as the call: a function
// that keeps something of it keeps a copy.
type Caller struct {
	// Principal is nil for public operations.
	Principal *store.Principal
	// Rights are the caller's on the object of the scope.
	Rights Rights
	// Organization, Site, Space and Collection are set by the scopes that name them; EventSite by those of insights.
	Organization *store.Membership
	Site         *store.SiteAccess
	Space        *store.SpaceAccess
	Collection   *store.CollectionAccess
	EventSite    schema.EventSite
	// ChangeRequest is set together with Space by the scope that names it.
	ChangeRequest *store.ChangeRequest
	// IP is the client's address, through trusted proxies only.
	IP netip.Addr
	// Now is when the request was read.
	Now time.Time

	requestID []byte
	conn      net.Conn
}

// Viewer is the caller as a member of the organization of the scope.
func (c *Caller) Viewer() store.Viewer {
	return store.Viewer{UserID: c.Principal.UserID, Role: c.Organization.Role}
}

// RequestID is a copy of the id that the response carries in X-Request-Id.
func (c *Caller) RequestID() string { return string(c.requestID) }

// Begin readies the Caller for a request that was read. The request's id and its connection stay the frame's.
func (c *Caller) Begin(requestID []byte, conn net.Conn, ip netip.Addr, now time.Time) {
	c.requestID, c.conn, c.IP, c.Now = requestID, conn, ip, now
}
