package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

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

// goneEvery is how often long work looks whether somebody still waits for it.
const goneEvery = 250 * time.Millisecond

// untilGone is ctx until the client has closed its connection: fasthttp itself notices that when it writes the answer. stop ends
// the watch, and must be called before the call ends.
func (c *Caller) untilGone(ctx context.Context) (until context.Context, stop func()) {
	until, cancel := context.WithCancel(ctx)
	if c.conn == nil {
		return until, cancel
	}
	conn, ended := c.conn, make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(goneEvery)
		defer tick.Stop()
		for {
			select {
			case <-until.Done():
				return
			case <-tick.C:
				if closedByPeer(conn) {
					cancel()
				}
			}
		}
	}()
	return until, func() {
		cancel()
		<-ended
	}
}

// viewer is the caller as a member of the organization of the scope.
func (c *Caller) viewer() store.Viewer {
	return store.Viewer{UserID: c.Principal.UserID, Role: c.Organization.Role}
}

// RequestID is a copy of the id that the response carries in X-Request-Id.
func (c *Caller) RequestID() string { return string(c.requestID) }

// requestIDs makes ids that are unique across processes without asking for randomness per request.
type requestIDs struct {
	prefix [8]byte
	next   atomic.Uint64
}

func newRequestIDs() *requestIDs {
	ids := &requestIDs{}
	_, _ = rand.Read(ids.prefix[:]) // crypto/rand.Read never fails: it ends the process instead.
	return ids
}

// append takes the client's own id where it is sane, and makes one otherwise.
func (ids *requestIDs) append(dst, fromClient []byte) []byte {
	if saneRequestID(fromClient) {
		return append(dst, fromClient...)
	}
	var raw [16]byte
	copy(raw[:8], ids.prefix[:])
	binary.BigEndian.PutUint64(raw[8:], ids.next.Add(1))
	return hex.AppendEncode(dst, raw[:])
}

// saneRequestID refuses what would let a client forge log lines or fill them.
func saneRequestID(id []byte) bool {
	if len(id) == 0 || len(id) > 128 {
		return false
	}
	for _, c := range id {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && !bytes.ContainsRune([]byte("-_.:/+="), rune(c)) {
			return false
		}
	}
	return true
}

// clientIP finds the client's address. X-Forwarded-For is read from the right, where the nearest proxy wrote, and only as
// far as the addresses are trusted: everything further left may be made up.
func clientIP(ctx *fasthttp.RequestCtx, trusted []netip.Prefix) netip.Addr {
	var ip netip.Addr
	if tcp, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		ip = tcp.AddrPort().Addr().Unmap()
	}
	if len(trusted) == 0 || !isTrusted(ip, trusted) {
		return ip
	}
	forwarded := ctx.Request.Header.PeekAll("X-Forwarded-For")
	for i := len(forwarded) - 1; i >= 0; i-- {
		list := forwarded[i]
		for len(list) > 0 {
			cut := bytes.LastIndexByte(list, ',')
			hop, err := netip.ParseAddr(string(bytes.TrimSpace(list[cut+1:])))
			if err != nil {
				return ip
			}
			ip = hop.Unmap()
			if !isTrusted(ip, trusted) {
				return ip
			}
			list = list[:max(cut, 0)]
		}
	}
	return ip
}

func isTrusted(ip netip.Addr, trusted []netip.Prefix) bool {
	for _, prefix := range trusted {
		if prefix.Contains(ip) {
			return true
		}
	}
	return false
}
