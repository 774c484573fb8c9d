package orgs

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/saml"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
)

// SSO has the operator's settings for logins by SAML.
type SSO struct {
	// SessionLength is the longest duration of a session; 0 means DefaultSessionLength. The identity provider may end a
	// session earlier.
	SessionLength time.Duration
	// ReturnTo has the origins to which a login may redirect the browser, in addition to our own origin.
	ReturnTo []string
}

// DefaultSessionLength is long enough for a working day.
const DefaultSessionLength = 12 * time.Hour

// samlLogins has the operations of a login by SAML. A browser calls them without a token.
type samlLogins struct {
	store *store.Store
	view  view.Presenter
	sso   SSO
}

func samlLoginOperations(h *samlLogins) []frame.Operation {
	const one = "/orgs/{organizationId}/saml/{samlProviderId}"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: one + "/metadata", ID: "getSAMLServiceMetadata", Tag: "sso",
			Doc: "Describe this service to an identity provider.", Scope: access.Public(), Status: http.StatusOK,
			Produces: []string{mediaSAMLMetadata}, Handler: frame.Handle(h.metadata),
		},
		{
			Method: http.MethodGet, Path: one + "/start", ID: "startSAMLLogin", Tag: "sso",
			Doc:   "Send a browser to the identity provider. `returnTo` is where it goes after the login, with a code for POST /sso/token in `code`; without it, a page shows the session's token.",
			Scope: access.Public(), Status: http.StatusFound, Handler: frame.Handle(h.start),
		},
		{
			Method: http.MethodPost, Path: one + "/acs", ID: "finishSAMLLogin", Tag: "sso",
			Doc:   "Take the answer of an identity provider, which a browser posts, and start a session.",
			Scope: access.Public(), Status: http.StatusOK, Redirects: true, BodyLimit: frame.PublicBodyLimit, Accepts: frame.MediaForm,
			Handler: frame.Handle(h.finish),
		},
		{
			Method: http.MethodPost, Path: "/sso/token", ID: "openSession", Tag: "sso",
			Doc: "Exchange the code that a browser brought back from a login for the token of the session. A code " +
				"works once, within a minute. Pages of this server send the header `Octavo-Browser`. They can " +
				"exchange only the code of their own browser's login.",
			Scope: access.Public(), Status: http.StatusOK, BodyLimit: 4 << 10, Accepts: frame.MediaJSON, Handler: frame.Handle(h.open),
		},
	}
}

const mediaSAMLMetadata = "application/samlmetadata+xml"

// SAMLAddress names a provider in the path.
type SAMLAddress struct {
	OrganizationID string `path:"organizationId"`
	ID             string `path:"samlProviderId"`
}

// active finds the provider in the path. It returns "not found" if users cannot log in with the provider yet.
func (h *samlLogins) active(ctx context.Context, r SAMLAddress) (orgs.SAMLProvider, error) {
	row, err := h.provider(ctx, r)
	if err == nil && !row.Active {
		err = schema.NotFound("SAML provider")
	}
	return row, err
}

func (h *samlLogins) provider(ctx context.Context, r SAMLAddress) (orgs.SAMLProvider, error) {
	if !schema.ValidID(r.OrganizationID) || !schema.ValidID(r.ID) {
		return orgs.SAMLProvider{}, schema.NotFound("SAML provider")
	}
	return h.store.Orgs.SAMLProvider(ctx, r.OrganizationID, r.ID)
}

func (h *samlLogins) service(row orgs.SAMLProvider) saml.Service {
	s := h.view.SAMLService(row.OrganizationID, row.ID)
	return saml.Service{EntityID: s.EntityID, ACSURL: s.ACSURL}
}

// sides returns the two parties of a login as package saml needs them: this service, and the identity provider.
func (h *samlLogins) sides(row orgs.SAMLProvider) (saml.Service, saml.Provider, error) {
	certificates, err := saml.ParseCertificates(schema.Or(row.Certificate, ""))
	if err != nil {
		err = fmt.Errorf("cannot read the certificates of provider %s: %w", row.ID, err)
		return saml.Service{}, saml.Provider{}, schema.Internal(err)
	}
	return h.service(row), saml.Provider{EntityID: *row.EntityID, SSOURL: *row.SsoUrl, Certificates: certificates}, nil
}

// metadata also answers for a provider that is not active yet, because many identity providers need the metadata first.
func (h *samlLogins) metadata(ctx context.Context, _ *access.Caller, r *struct{ SAMLAddress }) (frame.Encoded, error) {
	row, err := h.provider(ctx, r.SAMLAddress)
	if err != nil {
		return frame.Encoded{}, err
	}
	text, err := saml.Metadata(h.service(row))
	if err != nil {
		return frame.Encoded{}, schema.Internal(err)
	}
	return frame.Encoded{Body: text, ContentType: mediaSAMLMetadata}, nil
}

type startSAMLLoginRequest struct {
	SAMLAddress
	ReturnTo *string `query:"returnTo" rules:"len=1..512,pattern=uri"`
	Cookie   string  `cookie:"octavo_sso"`
}

func (h *samlLogins) start(ctx context.Context, c *access.Caller, r *startSAMLLoginRequest) (frame.Redirect, error) {
	row, err := h.active(ctx, r.SAMLAddress)
	if err != nil {
		return frame.Redirect{}, err
	}
	returnTo := schema.Or(r.ReturnTo, "")
	if returnTo != "" && !h.mayReturnTo(returnTo) {
		return frame.Redirect{}, schema.Invalid("returnTo", "must be an address of this service or of a front end that the operator allows")
	}
	service, provider, err := h.sides(row)
	if err != nil {
		return frame.Redirect{}, err
	}
	requests, err := h.requests(ctx, row)
	if err != nil {
		return frame.Redirect{}, err
	}
	request := newSAMLRequest(returnTo, c.Now)
	address, err := saml.LoginURL(service, provider, request.ID, c.Now)
	if err != nil {
		return frame.Redirect{}, schema.Internal(err)
	}
	cookie, err := requests.cookie(append([]samlRequest{request}, requests.read(r.Cookie, c.Now)...), service.ACSURL)
	if err != nil {
		return frame.Redirect{}, schema.Internal(err)
	}
	return frame.Redirect{To: address, Cookies: []*http.Cookie{cookie}}, nil
}

func (h *samlLogins) requests(ctx context.Context, row orgs.SAMLProvider) (samlRequests, error) {
	key, err := h.store.Orgs.SAMLRequestKey(ctx)
	return samlRequests{key: key, provider: row.ID}, err
}

// mayReturnTo reports whether a login may redirect to an address: its origin must be ours or allowed by the operator.
// The check must be strict, because the site at this address gets the session.
func (h *samlLogins) mayReturnTo(address string) bool {
	target, err := url.Parse(address)
	if err != nil || target.Fragment != "" || target.User != nil {
		return false
	}
	return slices.ContainsFunc(append([]string{h.view.API()}, h.sso.ReturnTo...), func(allowed string) bool {
		own, err := url.Parse(allowed)
		return err == nil && sameOrigin(own, target)
	})
}

type finishSAMLLoginRequest struct {
	SAMLAddress
	Cookie string `cookie:"octavo_sso"`
	Body   struct {
		SAMLResponse *string `json:"SAMLResponse" rules:"required,len=1..200000"`
		RelayState   string  `json:"RelayState"`
	} `body:"form"`
}

func (h *samlLogins) finish(ctx context.Context, c *access.Caller, r *finishSAMLLoginRequest) (frame.Page, error) {
	row, err := h.active(ctx, r.SAMLAddress)
	if err != nil {
		return frame.Page{}, err
	}
	service, provider, err := h.sides(row)
	if err != nil {
		return frame.Page{}, err
	}
	requests, err := h.requests(ctx, row)
	if err != nil {
		return frame.Page{}, err
	}
	open := requests.read(r.Cookie, c.Now)
	expected := make([]string, len(open))
	for i, request := range open {
		expected[i] = request.ID
	}
	said, err := saml.Read(service, provider, *r.Body.SAMLResponse, expected, c.Now)
	if err != nil {
		return frame.Page{}, schema.BadRequest("the login was refused: " + err.Error())
	}
	at := slices.Index(expected, said.RequestID)
	request := open[at]
	login, err := h.loginOf(row, request, said, c.Now)
	if err != nil {
		return frame.Page{}, err
	}
	secret, err := h.store.Orgs.LogInBySAML(ctx, login)
	if err != nil {
		return frame.Page{}, err
	}
	cookie, err := requests.cookie(slices.Delete(open, at, at+1), service.ACSURL)
	if err != nil {
		return frame.Page{}, schema.Internal(err)
	}
	if request.ReturnTo == "" {
		answer, err := page("You are logged in", tokenTemplate, map[string]string{
			"Token": secret, "Ends": login.SessionEnds.UTC().Format("2 January 2006, 15:04 UTC"),
		})
		answer.Cookies = []*http.Cookie{cookie}
		return answer, err
	}
	cookies := []*http.Cookie{cookie}
	bound, err := h.codeCookie(request.ReturnTo, secret)
	if err != nil {
		return frame.Page{}, schema.Internal(err)
	}
	if bound != nil {
		cookies = append(cookies, bound)
	}
	to, err := withCode(request.ReturnTo, secret)
	return frame.Page{To: to, Cookies: cookies}, err
}

// loginOf returns the login in the form that the store needs. It returns an error for invalid texts of the identity
// provider.
func (h *samlLogins) loginOf(
	row orgs.SAMLProvider, request samlRequest, said saml.Login, now time.Time,
) (orgs.SAMLLogin, error) {
	length := h.sso.SessionLength
	if length == 0 {
		length = DefaultSessionLength
	}
	ends := now.Add(length)
	if !said.SessionEnds.IsZero() && said.SessionEnds.Before(ends) {
		ends = said.SessionEnds
	}
	for _, text := range []string{said.NameID, said.Email, said.Name} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return orgs.SAMLLogin{}, schema.BadRequest(
				"the login was refused: the assertion has text that is not valid",
			)
		}
	}
	if said.Email != "" && !isEmail(said.Email) {
		return orgs.SAMLLogin{}, schema.BadRequest("the login was refused: the assertion's e-mail address is not one")
	}
	return orgs.SAMLLogin{
		Provider: row, RequestID: request.ID, RequestEnds: time.Unix(request.Ends, 0).Add(time.Hour), NameID: said.NameID,
		Email: said.Email, Name: frame.Clip(said.Name, 100), SessionEnds: ends, ByCode: request.ReturnTo != "",
	}, nil
}

var tokenTemplate = template.Must(template.New("token").Parse(`<p>This is the token of your session. It is shown once, and ends on {{.Ends}}.</p>
<p><input type="text" readonly value="{{.Token}}" aria-label="Token" autocomplete="off"></p>
<p>Send it as <code>Authorization: Bearer &lt;token&gt;</code>. It acts for you in this organization only.</p>
`))

// withCode adds the code of a session to the address to which the browser is redirected.
func withCode(address, code string) (string, error) {
	target, err := url.Parse(address)
	if err != nil {
		return "", schema.Internal(fmt.Errorf("signed address: %w", err))
	}
	query := target.Query()
	query.Set("code", code)
	target.RawQuery = query.Encode()
	return target.String(), nil
}

type openSessionRequest struct {
	Marker string `header:"Octavo-Browser"`
	Cookie string `cookie:"octavo_sso_code"`
	Body   struct {
		Code *string `json:"code" rules:"required,len=1..200"`
	} `body:"json"`
}

func (h *samlLogins) open(
	ctx context.Context, _ *access.Caller, r *openSessionRequest,
) (people.SessionToken, error) {
	if err := checkCode(r.Marker, r.Cookie, *r.Body.Code); err != nil {
		return people.SessionToken{}, err
	}
	token, session, err := h.store.Orgs.OpenSession(ctx, *r.Body.Code)
	if err != nil {
		return people.SessionToken{}, err
	}
	return people.SessionToken{
		Token: token, Session: session.ID, Organization: session.OrganizationID, User: session.UserID, ExpiresAt: session.ExpiresAt.UTC(),
	}, nil
}
