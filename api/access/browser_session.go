package access

import (
	"bytes"
	"context"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

const (
	// BrowserCookie is the name of the cookie that contains the secret of a browser's session. Scripts cannot read the
	// cookie.
	BrowserCookie = "octavo_session"
	// BrowserHeader is the name of a header that every request with BrowserCookie must have. A page of another origin
	// could send the header only if our answers allowed it by CORS, and no answer does.
	BrowserHeader = "Octavo-Browser"
)

// Presented has the parts of a request that identify its sender. It aliases the request.
type Presented struct {
	Authorization []byte
	// Cookie is the value of BrowserCookie.
	Cookie []byte
	Page   PageOrigin
}

// PageOrigin has the headers that show which page caused a browser's request. It may alias the request.
type PageOrigin struct {
	// Marker is the value of BrowserHeader.
	Marker []byte
	// Origin, Host and FetchSite are the headers Origin, Host and Sec-Fetch-Site. A browser sends Origin with every
	// request that may change data.
	Origin, Host, FetchSite []byte
	// Base is the origin of our public address, such as https://docs.example.com.
	Base string
}

// OriginOf returns the origin of a URL, or "" if `address` is not an absolute URL.
func OriginOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Check refuses requests without BrowserHeader, and requests for pages of other origins.
func (p PageOrigin) Check() error {
	if len(p.Marker) == 0 {
		return schema.Forbidden("with a browser's session, this takes the header " + BrowserHeader)
	}
	return p.CheckOrigin()
}

// CheckOrigin refuses requests for pages of other origins. A page is ours if its origin is our public address, or if
// its host is the requested host. The public address is also compared, because a proxy may change the requested host.
func (p PageOrigin) CheckOrigin() error {
	refused := schema.Forbidden("a browser's session is for the pages of this server only")
	if len(p.FetchSite) > 0 && string(p.FetchSite) != "same-origin" {
		return refused
	}
	if len(p.Origin) == 0 || strings.EqualFold(string(p.Origin), p.Base) {
		return nil
	}
	if _, host, ok := bytes.Cut(p.Origin, []byte("://")); !ok || !bytes.EqualFold(host, p.Host) {
		return refused
	}
	return nil
}

// browser finds the session of a browser's cookie. Only this function accepts the cookie. It refuses requests that a
// page of another site may have caused. As with tokens, the request counts against the caller's address only if the
// cookie must be looked up in the store.
func (g *Guard) browser(ctx context.Context, p Presented, ip netip.Addr, now time.Time) (*Session, error) {
	if err := p.Page.Check(); err != nil {
		return nil, err
	}
	if !schema.ValidToken(p.Cookie) {
		return nil, g.refuseToken(ip, now, "the session is not valid")
	}
	hash := schema.HashBrowserSecret(p.Cookie)
	if s, err, known := g.tokens.peek(hash, now); known {
		return g.recent(s, err, ip, now)
	}
	return g.load(ctx, hash, ip, now, func(ctx context.Context) (*Session, error) {
		return g.session(g.store.AuthenticateBrowser(ctx, hash))
	})
}
