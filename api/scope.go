package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Scope says who may call an operation: nobody in particular, any user, or those who have a right on the object that the
// path names. The frame looks the object up before it reads the body, so that a caller without access learns nothing from
// the body's errors. Where the body names the object, the frame reads that member first.
type Scope struct {
	set     bool
	public  bool
	object  *scopeObject
	named   *namedObject
	right   Rights
	siteKey bool
	orGone  bool
}

// scopeObject is a kind of object that a scope can be on: the path parameter that names it, and how a user's access to it is
// found. find answers "not found" both for what does not exist and for what is another tenant's.
type scopeObject struct {
	name  string
	param string
	find  func(ctx context.Context, f *frame, c *call) error
}

var (
	onOrganization = &scopeObject{name: "organization", param: "organizationId", find: findOrganization}
	onSite         = &scopeObject{name: "site", param: "siteId", find: findSite}
	onSpace        = &scopeObject{name: "space", param: "spaceId", find: findSpace}
	onCollection   = &scopeObject{name: "collection", param: "collectionId", find: findCollection}
	// onChangeRequest takes the rights on the space that the change request is for.
	onChangeRequest = &scopeObject{name: "change request", param: "changeRequestId", find: findChangeRequest}
	// onInsights is a site again, found in memory: its answer may be as old as Config.AuthTTL.
	onInsights = &scopeObject{name: "insights", param: "siteId", find: findEventSite}
)

// public is the scope of what needs no token.
func public() Scope { return Scope{set: true, public: true} }

// anyUser is the scope of what every user may do.
func anyUser() Scope { return Scope{set: true} }

// having is the scope of what takes a right on an object.
func having(right Rights, object *scopeObject) Scope {
	return Scope{set: true, object: object, right: right}
}

// orSiteKey admits the site's own key as well.
func (s Scope) orSiteKey() Scope {
	s.siteKey = true
	return s
}

// orAlreadyGone is for deleting the object of the scope itself: where there is none, the work is done.
func (s Scope) orAlreadyGone() Scope {
	s.orGone = true
	return s
}

// String names the scope in documents.
func (s Scope) String() string {
	switch {
	case s.public:
		return "public"
	case s.named != nil:
		return fmt.Sprintf("%s in the body:%s", s.named.name, rightNames[s.right])
	case s.object == nil:
		return "user"
	}
	name := fmt.Sprintf("%s:%s", s.object.name, rightNames[s.right])
	if s.siteKey {
		name += " or site key"
	}
	return name
}

var rightNames = map[Rights]string{
	RightView: "view", RightAccess: "access", RightComment: "comment", RightEdit: "edit", RightReview: "review",
	RightMerge: "merge", RightCreate: "create", RightAdmin: "admin",
}

func (s Scope) check(path string) error {
	switch {
	case !s.set:
		return errors.New("scope is missing")
	case (s.object != nil || s.named != nil) && rightNames[s.right] == "":
		return errors.New("scope names no single right")
	case s.object != nil && !strings.Contains(path, "{"+s.object.param+"}"):
		return fmt.Errorf("scope needs {%s} in the path", s.object.param)
	case s.object != nil && s.named != nil:
		return errors.New("scope names two objects")
	case s.siteKey && s.object != onInsights:
		return errors.New("a site key opens a site's insights only")
	}
	return nil
}

// authorize admits the caller or refuses with 401, 403 or 404, and leaves the object in the Caller.
func (f *frame) authorize(ctx context.Context, op *Operation, c *call) error {
	s := op.Scope
	if s.public {
		return f.auth.addresses.takePublic(c.IP, c.Now)
	}
	session, err := f.auth.authenticate(ctx, c.http.Request.Header.Peek("Authorization"), c.IP, c.Now)
	if err != nil {
		return err
	}
	c.Principal = &session.principal
	if err := f.limit(op.Rate, session.use, c); err != nil {
		return err
	}
	if err := s.admit(c.Principal.Kind); err != nil {
		return err
	}
	if s.object == nil {
		return nil
	}
	err = s.object.find(ctx, f, c)
	if err == nil {
		err = c.Require(s.right, s.object.name)
	}
	if s.orGone && schema.IsCode(err, schema.CodeNotFound) {
		return errAlreadyGone
	}
	return err
}

// admit says which kinds of principal an operation is for. A kind without a case of its own gets nothing.
func (s Scope) admit(kind schema.TokenKind) error {
	switch kind {
	case schema.TokenUser:
		return nil
	case schema.TokenSite:
		if !s.siteKey {
			return schema.Forbidden("a site key may only post its site's events")
		}
		return nil
	default:
		return schema.Forbidden("this version does not know what this kind of token may do")
	}
}

// errAlreadyGone ends a call as a success without content.
var errAlreadyGone = errors.New("nothing there to delete")

// Require refuses a caller who has not the right on the object of the scope: as if it were not there if the caller may not
// even know of it. Scopes ask for what an operation always takes; functions for what depends on the request.
func (c *Caller) Require(right Rights, object string) error { return c.Rights.require(right, object) }

func (r Rights) require(right Rights, object string) error {
	switch {
	case r.Has(right):
		return nil
	case !r.Has(RightView):
		return schema.NotFound(object)
	}
	return schema.Forbidden("you may not do this: it takes the right to " + rightNames[right] + " on the " + object)
}

func findOrganization(ctx context.Context, f *frame, c *call) error {
	id, ok := c.pathID("organizationId")
	if !ok {
		return schema.NotFound("organization")
	}
	membership, err := f.store.Organization(ctx, c.Principal.UserID, id)
	if err != nil {
		return err
	}
	c.Organization = &membership
	c.Rights = RightsOf(Access{Role: membership.Role})
	return nil
}

func findSite(ctx context.Context, f *frame, c *call) error {
	organization, ok := c.pathID("organizationId")
	site, ok2 := c.pathID("siteId")
	if !ok || !ok2 {
		return schema.NotFound("site")
	}
	access, err := f.store.Site(ctx, c.Principal.UserID, organization, site)
	if err != nil {
		return err
	}
	c.Site = &access
	c.Rights = RightsOf(Access{Role: access.Role})
	return nil
}

func findSpace(ctx context.Context, f *frame, c *call) error {
	id, ok := c.pathID("spaceId")
	if !ok {
		return schema.NotFound("space")
	}
	access, err := f.store.Space(ctx, c.Principal.UserID, id)
	if err != nil {
		return err
	}
	c.Space = &access
	c.Rights = contentRights(access.ContentAccess)
	return nil
}

func findChangeRequest(ctx context.Context, f *frame, c *call) error {
	if err := findSpace(ctx, f, c); err != nil {
		return err
	}
	id, ok := c.pathID("changeRequestId")
	if !ok {
		return schema.NotFound("change request")
	}
	request, err := f.store.ChangeRequest(ctx, c.Space.Space.ID, id)
	if err != nil {
		return err
	}
	c.ChangeRequest = &request
	return nil
}

// eventSiteKey is a site as one principal asks for it: a user, or the site's own key, which has no user.
type eventSiteKey struct {
	kind                     schema.TokenKind
	user, organization, site string
}

// eventSiteGrant is what is remembered of a site for insights.
type eventSiteGrant struct {
	site   schema.EventSite
	rights Rights
}

func findEventSite(ctx context.Context, f *frame, c *call) error {
	// These alias the request: they are compared with what is remembered, and copied before they are kept.
	key := eventSiteKey{
		kind: c.Principal.Kind, user: c.Principal.UserID,
		organization: c.pathRaw("organizationId"), site: c.pathRaw("siteId"),
	}
	if key.kind == schema.TokenSite && (key.site != c.Principal.SiteID || key.organization != c.Principal.OrganizationID) {
		return schema.NotFound("site")
	}
	grant, err, known := f.sites.peek(key, c.Now)
	if !known {
		if !schema.ValidID(key.organization) || !schema.ValidID(key.site) {
			return schema.NotFound("site")
		}
		key.organization, key.site = strings.Clone(key.organization), strings.Clone(key.site)
		grant, err = f.sites.load(ctx, key, c.Now, func(ctx context.Context) (eventSiteGrant, error) {
			return loadEventSite(ctx, f.store, key)
		})
	}
	if err != nil {
		return err
	}
	c.EventSite, c.Rights = grant.site, grant.rights
	return nil
}

func loadEventSite(ctx context.Context, st *store.Store, key eventSiteKey) (eventSiteGrant, error) {
	access := store.SiteAccess{Role: schema.RoleGuest}
	switch key.kind {
	case schema.TokenUser:
		var err error
		if access, err = st.Site(ctx, key.user, key.organization, key.site); err != nil {
			return eventSiteGrant{}, err
		}
	case schema.TokenSite:
		// The key of this very site: the token's row already tied it to the organization.
		site, err := st.SiteByID(ctx, key.site)
		if err != nil {
			return eventSiteGrant{}, err
		}
		access.Site = site
	default:
		return eventSiteGrant{}, schema.NotFound("site")
	}
	site := access.Site
	return eventSiteGrant{
		site:   schema.EventSite{OrganizationID: site.OrganizationID, SiteID: site.ID, StoreClearIDs: site.StoreClearIds},
		rights: RightsOf(Access{Role: access.Role}),
	}, nil
}
