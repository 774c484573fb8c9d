package orgs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

const (
	// samlCodeCookie is the name of the cookie that binds a code to the browser that logged in. Without the cookie, a
	// link with the code of another person's login would sign the reader of the link in as this person.
	samlCodeCookie = "octavo_sso_code"
	// samlCodeLife is longer than the lifetime of a code.
	samlCodeLife = 2 * time.Minute
)

// codeCookie returns the cookie that binds a code to the browser. The page of this server exchanges its code with it.
// No cookie reaches another origin, so codeCookie returns nil there. Servers of front ends at such origins exchange
// codes without the cookie. The dashboard at a second name of this server sends Octavo-Browser, so it cannot sign in.
func (h *samlLogins) codeCookie(returnTo, code string) (*http.Cookie, error) {
	target, err := url.Parse(returnTo)
	if err != nil {
		return nil, err
	}
	exchange, err := url.Parse(h.view.API("sso", "token"))
	if err != nil {
		return nil, err
	}
	if !sameOrigin(target, exchange) {
		return nil, nil
	}
	// The page at returnTo sends the cookie by itself, so no request of another site needs it.
	return &http.Cookie{
		Name: samlCodeCookie, Value: markOf(code), Path: exchange.EscapedPath(), MaxAge: int(samlCodeLife.Seconds()),
		HttpOnly: true, Secure: exchange.Scheme == "https", SameSite: http.SameSiteStrictMode,
	}, nil
}

// checkCode refuses a code that a page of this server presents in a browser that did not log in with it. marker is the
// header Octavo-Browser. Pages of this server always send it, and pages of other origins cannot.
func checkCode(marker, cookie, code string) error {
	if marker == "" || hmac.Equal([]byte(markOf(code)), []byte(cookie)) {
		return nil
	}
	return schema.Invalid("code", "is not valid: it is from a login of another browser, "+
		"or the page is not at the public address of the server")
}

// markOf returns the value of the cookie for a code. The code cannot be computed from it.
func markOf(code string) string {
	sum := sha256.Sum256([]byte("code of a login " + code))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host)
}
