package sites

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/customization"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
)

const (
	visitorSessionPath = "/__session/2/"
	// visitorCookie has the id of a visitor. The browser stores it for our host. Front ends store another cookie of the
	// same name for their own hosts.
	visitorCookie = "__session"
	// visitorCookieSeconds is the lifetime of the cookie: one year, because browsers allow little more.
	visitorCookieSeconds = 365 * 24 * 60 * 60
	visitorID            = `^[A-Za-z0-9._~-]+$`
)

var validVisitorID = regexp.MustCompile(visitorID)

// visitorSessions gives a reader's browser an id in a cookie. All pages that the reader loads use this id, so the
// reader is counted as one visitor.
type visitorSessions struct {
	store *store.Store
	// cookie has the attributes that all visitor cookies share.
	cookie http.Cookie
	// origins has the origins of the front ends and our own origin.
	origins []string
}

func newVisitorSessions(st *store.Store, urls schema.URLs, frontEnds []*url.URL) *visitorSessions {
	v := &visitorSessions{store: st}
	for _, frontEnd := range frontEnds {
		v.origins = append(v.origins, originOf(frontEnd))
	}
	base, err := url.Parse(urls.Base())
	if err != nil {
		base = &url.URL{} // NewURLs has parsed the address; documents are made without one.
	}
	v.origins = append(v.origins, originOf(base))
	// Scripts never need the cookie. Over https, the browser also sends the cookie with requests from pages of other
	// sites. The browser stores a separate cookie for each of these sites, so that the id does not follow a reader from
	// site to site.
	secure := base.Scheme == "https"
	v.cookie = http.Cookie{
		Name: visitorCookie, Path: strings.TrimRight(base.Path, "/") + visitorSessionPath, MaxAge: visitorCookieSeconds,
		HttpOnly: true, Secure: secure, Partitioned: secure, SameSite: http.SameSiteLaxMode,
	}
	if secure {
		v.cookie.SameSite = http.SameSiteNoneMode
	}
	return v
}

func visitorSessionRows(v *visitorSessions) []frame.Operation {
	return []frame.Operation{{
		Method: http.MethodGet, Path: visitorSessionPath, Root: true, ID: "getVisitorSession", Tag: "sites",
		Doc: "Tell a reader's browser the id that counts it as one visitor: its cookie's, or the id that it " +
			"proposes and then keeps. " +
			"Front ends call this from their readers' pages. An addition to the published contract.",
		Scope: access.Public(), Status: http.StatusOK, Handler: frame.Handle(v.get),
	}}
}

type visitorSessionRequest struct {
	Proposed  *string `query:"proposed" rules:"required,len=1..128,pattern=visitorId"`
	Origin    string  `header:"Origin"`
	Host      string  `header:"Host"`
	FetchSite string  `header:"Sec-Fetch-Site"`
	Cookie    string  `cookie:"__session"`
}

type visitorSession struct {
	DeviceID string `json:"deviceId"`
}

// OpenAPIAnswer describes the answer, which has the visitor's id.
func (*visitorSessionRequest) OpenAPIAnswer() jsonschema.Dict {
	return jsonschema.Object(jsonschema.Dict{"deviceId": jsonschema.Text()}, "deviceId")
}

// get answers with the visitor's id. A browser sends the header Origin if the page has another origin than this server.
// If the page has our origin, the browser sends Sec-Fetch-Site: same-origin. Without both headers, the answer sets no
// cookie. Otherwise a page of another site could choose the id of its readers.
func (v *visitorSessions) get(
	ctx context.Context, _ *access.Caller, r *visitorSessionRequest,
) (encoded frame.Encoded, err error) {
	origin := &url.URL{Host: r.Host}
	if r.Origin != "" {
		if origin, err = url.Parse(r.Origin); err != nil {
			return encoded, errOrigin
		}
	}
	counted := r.Origin != "" || r.FetchSite == "same-origin"
	if counted {
		if err := v.admit(ctx, origin); err != nil {
			return encoded, err
		}
	}
	id := *r.Proposed
	if counted && len(r.Cookie) <= 128 && validVisitorID.MatchString(r.Cookie) {
		id = r.Cookie
	}
	encoded.Header = map[string]string{"Vary": "Origin"}
	if counted {
		cookie := v.cookie
		cookie.Value = id
		encoded.Header["Set-Cookie"] = cookie.String()
	}
	if r.Origin != "" {
		encoded.Header["Access-Control-Allow-Origin"] = r.Origin
		encoded.Header["Access-Control-Allow-Credentials"] = "true"
	}
	encoded.Body, err = schema.EncodeJSON(visitorSession{id})
	return encoded, err
}

var errOrigin = schema.Forbidden("Origin is neither a front end's nor a published host's")

// admit returns an error for an origin that shows no site. It also returns an error for the host of a published site
// whose setting insights.trackingCookie is false. The origin of a front end is always admitted, because it shows many
// sites. The front end calls this operation only for sites where the setting is true.
func (v *visitorSessions) admit(ctx context.Context, origin *url.URL) error {
	if v.cookie.Secure && origin.Scheme == "http" {
		return errOrigin // Without TLS, an attacker in the network could have written the page.
	}
	known := slices.ContainsFunc(v.origins, func(ours string) bool {
		return ours == originOf(origin) ||
			origin.Scheme == "" && strings.HasSuffix(ours, "://"+strings.ToLower(origin.Host))
	})
	found, err := v.store.Sites.Published(ctx, sites.PublishedRef{Hostname: strings.ToLower(origin.Hostname())})
	if schema.IsCode(err, schema.CodeNotFound) || err == nil && !found.Site.Published {
		if !known {
			return errOrigin
		}
		return nil
	}
	if err != nil {
		return err
	}
	settings, err := v.store.Sites.Customization(ctx, found.Site.ID)
	if err != nil {
		return err
	}
	insights := customization.Overlay(customization.Default(), settings).Insights
	if !*insights.Value.TrackingCookie.Value {
		return schema.Forbidden("the site sets insights.trackingCookie to false")
	}
	return nil
}

// originOf returns the origin of an address in the form in which browsers send it.
func originOf(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }
