package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// Scope defines who may call an operation: anybody, any user, or users with a right on an object. The path or a member
// of the body names the object. The frame looks up the object before it decodes the body. So a caller without access
// does not see the body's errors.
//
// The server does not start with a zero Scope: an operation without a scope is a mistake, not a public operation.
type Scope struct {
	set bool
	// Public means that the operation needs no token.
	Public bool
	// Key means that callers identify themselves by a publishable key in the path of a public operation.
	Key bool
	// Object is the kind of object that the path names; nil without an object.
	Object *Object
	// Named is the kind of object that the body names; nil without an object.
	Named *NamedObject
	// Right is the right that the caller needs on the object of the operation.
	Right Rights
	// SiteKey also admits the site's own key.
	SiteKey bool
	// FrontEnd also admits front-end tokens.
	FrontEnd bool
	// Readers also admits the readers of a published site, who have a site token. They may use their site and the
	// spaces that it shows.
	Readers bool
	// Installation names a scope that an integration can have. The operation also admits the tokens of installations
	// that have this scope, for the organization, the spaces and the sites of the installation. If Installation is
	// empty, the operation refuses the tokens of installations.
	Installation string
	// Members are the members of the body that integrations and installations may send; nil means all members.
	Members []string
	// Integration also admits the token of an integration, for the integration itself and its installations.
	Integration bool
	// Insights also admits tokens that read a site's insights.
	Insights bool
	// InsightsLinks also admits the sessions of share links that show insights. The operation must read only the site's
	// insights, and only the part that Caller.View shows.
	InsightsLinks bool
	// Session also admits sessions of single sign-on to an operation without an object. Operations with an object
	// always admit such sessions to the objects of their organization.
	Session bool
	// Nobody also admits callers without a token, for a site that accepts their events.
	Nobody bool
	// OrGone means that the operation also succeeds if its object does not exist.
	OrGone bool
	// Widens means that the operation can let more people read a site. See [Scope.WideningReaders].
	Widens bool
}

// Public is the scope of operations that need no token.
func Public() Scope { return Scope{set: true, Public: true} }

// WithPublishableKey is the scope of operations that need no token, and have a publishable key as {key} in their path.
func WithPublishableKey() Scope { return Scope{set: true, Public: true, Key: true} }

// AnyUser is the scope of operations that every user may call.
func AnyUser() Scope { return Scope{set: true} }

// Having is the scope of operations that need a right on the object in the path.
func Having(right Rights, object *Object) Scope {
	return Scope{set: true, Object: object, Right: right}
}

// HavingNamed is the scope of operations that need a right on an object that the body names.
func HavingNamed(right Rights, object *NamedObject) Scope {
	return Scope{set: true, Named: object, Right: right}
}

// OrSiteKey also admits the site's own key.
func (s Scope) OrSiteKey() Scope {
	s.SiteKey = true
	return s
}

// OrFrontEnd also admits front-end tokens.
func (s Scope) OrFrontEnd() Scope {
	s.FrontEnd = true
	return s
}

// OrReaders also admits the readers of a published site. An operation without an object must itself decide what readers
// may see.
func (s Scope) OrReaders() Scope {
	s.Readers = true
	return s
}

// OrInstallation also admits the tokens of installations that have a scope of schema.IntegrationScopes.
// schema.ScopeInstallation admits the tokens of all installations for themselves.
//
// `members` are the members of the body that an installation may send. An operation that changes an object lists them
// here, because only people may set the other members.
func (s Scope) OrInstallation(scope string, members ...string) Scope {
	s.Installation, s.Members = scope, members
	return s
}

// OrIntegration also admits the tokens of integrations.
func (s Scope) OrIntegration() Scope {
	s.Integration = true
	return s
}

// OrSession also admits sessions of single sign-on to an operation without an object. The operation must not reveal
// other organizations.
func (s Scope) OrSession() Scope {
	s.Session = true
	return s
}

// OrInsightsTokens also admits tokens that read a site's insights.
func (s Scope) OrInsightsTokens() Scope {
	s.Insights = true
	return s
}

// OrInsightsLinks also admits the sessions of share links that show insights.
func (s Scope) OrInsightsLinks() Scope {
	s.InsightsLinks = true
	return s
}

// OrNobody also admits callers without a token, to a site that accepts events from them.
func (s Scope) OrNobody() Scope {
	s.Nobody = true
	return s
}

// OrAlreadyGone makes an operation succeed if the object of its scope does not exist. Operations that delete this
// object use it.
func (s Scope) OrAlreadyGone() Scope {
	s.OrGone = true
	return s
}

// WideningReaders is for operations that can let more people read a site, or that return credentials for reading it. A
// site shows a space to its readers regardless of their rights on the space. So the caller needs the right to read
// every space that the site shows. If the request type has a method Widens, the caller needs this right only for
// requests for which Widens returns true.
func (s Scope) WideningReaders() Scope {
	s.Widens = true
	return s
}

// String returns the description of the scope for the documentation.
func (s Scope) String() string {
	switch {
	case s.Key:
		return "publishable key"
	case s.Public:
		return "public"
	case s.Named != nil:
		return fmt.Sprintf("%s in the body:%s", s.Named.name, rightNames[s.Right])
	}
	name := "user"
	if s.Object != nil {
		name = fmt.Sprintf("%s:%s", s.Object.name, rightNames[s.Right])
	}
	if s.Widens {
		name += " (and space:access on all that the site shows, if more people can read the site then)"
	}
	for _, other := range []struct {
		admitted bool
		name     string
	}{
		{s.SiteKey, "site key"}, {s.FrontEnd, "front end"}, {s.Readers, "site's reader"},
		{s.Insights, "token of the site's insights"}, {s.InsightsLinks, "share link of insights"},
		{s.Session, "session"},
		{s.Nobody, "anybody, if the site is published and has anonymousEvents"},
	} {
		if other.admitted {
			name += " or " + other.name
		}
	}
	if s.Integration {
		name += " or integration"
	}
	if s.Installation == schema.ScopeInstallation {
		name += " or the installation itself"
	} else if s.Installation != "" {
		name += " or installation with " + s.Installation
	}
	if s.Members != nil {
		name += ", which may send " + strings.Join(s.Members, ", ") + " only"
	}
	return name
}

var rightNames = map[Rights]string{
	RightView: "view", RightAccess: "access", RightComment: "comment", RightEdit: "edit", RightReview: "review",
	RightMerge: "merge", RightCreate: "create", RightAdmin: "admin",
}

// Check validates the scope of an operation at `path`.
func (s Scope) Check(path string) error {
	switch {
	case !s.set:
		return errors.New("scope is missing")
	case s.Key && !strings.Contains(path, "{key}"):
		return errors.New("scope needs {key} in the path")
	case (s.Object != nil || s.Named != nil) && rightNames[s.Right] == "":
		return errors.New("scope names no single right")
	case s.Object != nil && !strings.Contains(path, "{"+s.Object.param+"}"):
		return fmt.Errorf("scope needs {%s} in the path", s.Object.param)
	case s.Object != nil && s.Named != nil:
		return errors.New("scope names two objects")
	case s.SiteKey && s.Object != OnInsights:
		return errors.New("a site key opens a site's insights only")
	case s.FrontEnd && s.Object != nil && s.Object != OnInsights:
		return errors.New("a front end's token opens the insights of sites only")
	case s.Nobody && (s.Object != OnInsights || s.Right != RightView):
		return errors.New("callers without a token have rights on nothing but the insights of a site")
	case (s.Insights || s.InsightsLinks) && (s.Object != OnInsights || !readerRights.Has(s.Right)):
		return errors.New("tokens of insights may only read the insights of a site")
	case s.Session && (s.Object != nil || s.Named != nil):
		return errors.New("sessions reach what is in their organization anyway")
	case s.Widens && (s.Object != OnSite || s.Readers || s.Installation != ""):
		return errors.New("users alone let more people read a site")
	case s.Readers && s.Object != nil && (s.Object.findForReader == nil || !readerRights.Has(s.Right)):
		return errors.New("a site's readers may only read the site and what it shows")
	case s.Installation != "" && s.Installation != schema.ScopeInstallation && !slices.Contains(schema.IntegrationScopeNames(), s.Installation):
		return fmt.Errorf("there is no scope %q for installations", s.Installation)
	case (s.Installation != "" || s.Integration) && (s.Object == nil || s.Object.findForInstallation == nil):
		return errors.New("integrations and installations have rights on what they are for only")
	case s.Members != nil && s.Installation == "":
		return errors.New("members are named for installations, which the scope does not admit")
	case s.Integration && s.Object != OnIntegration && s.Object != OnInstallation:
		return errors.New("the token of an integration opens the integration and its installations only")
	}
	return nil
}
