package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// sessions has the operations that sign a browser in and out.
type sessions struct {
	store  *store.Store
	origin string
	// cookie has the attributes of every cookie.
	cookie http.Cookie
}

func newSessions(st *store.Store, urls schema.URLs) *sessions {
	base, err := url.Parse(urls.Base())
	if err != nil {
		base = &url.URL{} // NewURLs has parsed the address; the table for the documents has no address
	}
	return &sessions{store: st, origin: access.OriginOf(urls.Base()), cookie: http.Cookie{
		Name: access.BrowserCookie, Path: strings.TrimRight(base.Path, "/") + "/",
		HttpOnly: true, Secure: base.Scheme == "https", SameSite: http.SameSiteStrictMode,
	}}
}

func sessionOperations(h *sessions) []frame.Operation {
	const path = "/o/session"
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: path, Root: true, ID: "openBrowserSession", Tag: "dashboard",
			Doc: "Sign a browser in as the token that the request has: the answer sets a cookie, which ends after " +
				"12 hours and with the token. An addition to the published contract.",
			Scope: access.AnyUser().OrSession(), Status: http.StatusOK, Handler: frame.Handle(h.open),
		},
		{
			Method: http.MethodPost, Path: path + "/link", Root: true, ID: "openBrowserSessionByLink", Tag: "dashboard",
			Doc: "Sign a browser in with the secret of a link that `octavo serve --quickstart` prints. A link works " +
				"once, within ten minutes. An addition to the published contract.",
			Scope: access.Public(), Status: http.StatusOK, BodyLimit: 4 << 10, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.openByLink),
		},
		{
			Method: http.MethodDelete, Path: path, Root: true, ID: "endBrowserSession", Tag: "dashboard",
			Doc: "Sign a browser out, if it is signed in. Nodes that have just seen its cookie may accept it for a " +
				"few seconds more. An addition to the published contract.",
			Scope: access.Public(), Status: http.StatusNoContent, Handler: frame.Handle(h.end),
		},
	}
}

type openSessionRequest struct{}

// OpenAPIAnswer describes the session.
func (*openSessionRequest) OpenAPIAnswer() jsonschema.Dict { return sessionSchema() }

func sessionSchema() jsonschema.Dict {
	return jsonschema.Object(jsonschema.Dict{
		"object":    jsonschema.Enum([]string{"browser-session"}),
		"expiresAt": jsonschema.Dict{"type": "string", "format": "date-time"},
	}, "object", "expiresAt")
}

func (h *sessions) open(ctx context.Context, c *access.Caller, _ *openSessionRequest) (frame.Encoded, error) {
	if c.Principal.Browser {
		return frame.Encoded{}, schema.Forbidden("a session of a browser cannot make another: this takes a token")
	}
	made, err := h.store.CreateBrowserSession(ctx, *c.Principal)
	if err != nil {
		return frame.Encoded{}, err
	}
	return h.answer(made)
}

// page has the headers that show from which page a browser sends a request.
type page struct {
	Marker    string `header:"Octavo-Browser"`
	Origin    string `header:"Origin"`
	Host      string `header:"Host"`
	FetchSite string `header:"Sec-Fetch-Site"`
}

func (h *sessions) pageOf(p page) access.PageOrigin {
	return access.PageOrigin{
		Marker: []byte(p.Marker), Origin: []byte(p.Origin), Host: []byte(p.Host), FetchSite: []byte(p.FetchSite),
		Base: h.origin,
	}
}

type openByLinkRequest struct {
	page
	Body struct {
		Link *string `json:"link" rules:"required,len=16..512"`
	} `body:"json"`
}

// OpenAPIAnswer describes the session.
func (*openByLinkRequest) OpenAPIAnswer() jsonschema.Dict { return sessionSchema() }

func (h *sessions) openByLink(ctx context.Context, _ *access.Caller, r *openByLinkRequest) (frame.Encoded, error) {
	if err := h.pageOf(r.page).CheckOrigin(); err != nil {
		return frame.Encoded{}, err
	}
	made, err := h.store.OpenBrowserLink(ctx, *r.Body.Link)
	if err != nil {
		return frame.Encoded{}, err
	}
	return h.answer(made)
}

// browserSession is the part of a session that the answer shows to the page.
type browserSession struct {
	Object    string    `json:"object"`
	ExpiresAt time.Time `json:"expiresAt"`
}

func (h *sessions) answer(made store.BrowserSession) (frame.Encoded, error) {
	cookie := h.cookie
	cookie.Value, cookie.Expires = made.Secret, made.ExpiresAt
	body, err := schema.EncodeJSON(browserSession{"browser-session", made.ExpiresAt.UTC()})
	return frame.Encoded{Body: body, Header: map[string]string{
		"Set-Cookie": cookie.String(), "Cache-Control": "no-store",
	}}, err
}

type endSessionRequest struct {
	page
	Cookie string `cookie:"octavo_session"`
}

func (h *sessions) end(ctx context.Context, _ *access.Caller, r *endSessionRequest) (frame.NoContent, error) {
	if r.Cookie != "" {
		if err := h.pageOf(r.page).Check(); err != nil {
			return frame.NoContent{}, err
		}
		if err := h.store.EndBrowserSession(ctx, r.Cookie); err != nil {
			return frame.NoContent{}, err
		}
	}
	cookie := h.cookie
	cookie.MaxAge = -1
	return frame.NoContent{Header: map[string]string{"Set-Cookie": cookie.String()}}, nil
}
