package orgs

import (
	"context"
	"net/http"
	"net/mail"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
)

// invites has the operations that invite people to an organization and accept invites.
type invites struct {
	store *store.Store
	view  view.Presenter
}

func inviteOperations(h *invites) []frame.Operation {
	const many, one = "/orgs/{organizationId}/link-invites", "/orgs/{organizationId}/link-invites/{inviteId}"
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/invites", ID: "inviteUsersToOrganization", Tag: "invites",
			Doc:   "Invite people by their e-mail addresses; they become members when they accept.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.invite),
		},
		{
			// The caller is not a member yet, so the scope cannot demand a right on the organization.
			Method: http.MethodPost, Path: "/orgs/{organizationId}/invites/{inviteId}", ID: "joinOrganizationWithInvite",
			Tag: "invites", Doc: "Accept an e-mail invite addressed to the caller, or use a link invite.", Scope: access.AnyUser(), Status: http.StatusOK, Handler: frame.Handle(h.join),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/invites", ID: "listOrganizationInvites", Tag: "invites",
			Doc:   "List those who are invited by e-mail and have not accepted.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.listPending),
		},
		{
			Method: http.MethodDelete, Path: "/orgs/{organizationId}/invites/{inviteId}", ID: "deleteOrganizationInvite", Tag: "invites",
			Doc:   "End an invite by e-mail that is not accepted yet.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusNoContent, Handler: frame.Handle(h.endPending),
		},
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/invites/{inviteId}/resend", ID: "resendOrganizationInvite", Tag: "invites",
			Doc:   "Send an invite that nobody has accepted by mail once more, with a new link and a new end.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.mailAgain),
		},
		{
			Method: http.MethodGet, Path: "/invites/accept", ID: "showInvitePage", Tag: "invites",
			Doc:   "Show the page to which the link in an invite's mail leads. Nothing is accepted by that: scanners follow links, too.",
			Scope: access.Public(), Status: http.StatusOK, Handler: frame.Handle(h.showPage),
		},
		{
			Method: http.MethodPost, Path: "/invites/accept", ID: "acceptInvitePage", Tag: "invites",
			Doc:   "Accept an invite by the link in its mail. Whoever has no account yet gets the first token of a new one.",
			Scope: access.Public(), Status: http.StatusOK, BodyLimit: invitePageLimit, Accepts: frame.MediaForm, Handler: frame.Handle(h.acceptPage),
		},
		{
			Method: http.MethodGet, Path: "/user/invites", ID: "listInvitesForAuthenticatedUser", Tag: "invites",
			Doc: "List the invites by e-mail that the caller has not accepted.", Scope: access.AnyUser(), Status: http.StatusOK,
			Handler: frame.Handle(h.listOwn),
		},
		{
			Method: http.MethodDelete, Path: "/user/invites/{organizationId}", ID: "declineOrganizationInvite", Tag: "invites",
			Doc: "Decline an organization's invite by e-mail.", Scope: access.AnyUser(), Status: http.StatusNoContent,
			Handler: frame.Handle(h.decline),
		},
		{
			Method: http.MethodGet, Path: many, ID: "listOrganizationInviteLinks", Tag: "invites",
			Doc:   "List the link invites to an organization.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createOrganizationInvite", Tag: "invites",
			Doc:   "Create a link invite.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getOrganizationInviteLink", Tag: "invites", Doc: "Read a link invite.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateOrganizationInviteById", Tag: "invites",
			Doc:   "Change the access that a link invite grants.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteOrganizationInviteById", Tag: "invites",
			Doc: "Delete a link invite.", Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusNoContent,
			Handler: frame.Handle(h.delete),
		},
	}
}

// maxEmail is the largest length of a mail address in bytes.
const maxEmail = 254

// mailHost matches the part of an address after the @. This part must be a domain with a dot, and its last label must
// begin with a letter.
var mailHost = regexp.MustCompile(`^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+` +
	`\p{L}[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}]$`)

// isEmail reports whether a text is a single address at a domain, without a person's name. Addresses at localhost and
// at IP addresses are refused, because the operator's mail server could deliver them to itself.
func isEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || len(text) > maxEmail {
		return false
	}
	host := strings.ToLower(text[strings.LastIndexByte(text, '@')+1:])
	return mailHost.MatchString(host) && !strings.HasSuffix(host, ".localhost")
}

// emailInvite is an entry of the list of people to invite. It is an address, or an object with an address and a role.
type emailInvite struct {
	email  string
	role   schema.Opt[string]
	object bool
}

// UnmarshalJSONFrom reads an address or an object.
func (e *emailInvite) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == jsontext.KindString {
		return json.UnmarshalDecode(d, &e.email)
	}
	var object struct {
		Email string             `json:"email"`
		Role  schema.Opt[string] `json:"role"`
	}
	if err := json.UnmarshalDecode(d, &object); err != nil {
		return err
	}
	e.email, e.role, e.object = object.Email, object.Role, true
	return nil
}

// OpenAPISchema describes an address or an object.
func (emailInvite) OpenAPISchema() map[string]any {
	address := jsonschema.Dict{"type": "string", "format": "email", "maxLength": maxEmail}
	role := jsonschema.Dict{"type": []any{"string", "null"}, "enum": append(jsonschema.AnyOf(schema.RoleNames()), nil)}
	return jsonschema.Dict{"anyOf": []any{address, jsonschema.Dict{
		"type": "object", "required": []any{"email"}, "properties": jsonschema.Dict{"email": address, "role": role},
	}}}
}

// Problems checks the address and the role. A problem with the address names `field`, or the member `email` if the
// invite is an object with an address.
func (e emailInvite) Problems(field string) []schema.Detail {
	var c rules.Checker
	at := field
	if e.object && e.email != "" {
		at = field + ".email"
	}
	if !isEmail(e.email) {
		c.Add(at, "must be an e-mail address")
	}
	c.Enum(field+".role", e.role.Value, schema.RoleNames())
	return c.Details
}

type inviteUsersRequest struct {
	Body struct {
		Emails []emailInvite      `json:"emails" rules:"required,len=..1000"`
		Role   schema.Opt[string] `json:"role" rules:"enum=role"`
		SSO    *bool              `json:"sso" rules:"default=false"`
	} `body:"json"`
}

// invite invites each person. A person gets the role in the person's entry of the list `emails`. Without it, the person
// gets the role in the request, and without that the organization's default role.
func (h *invites) invite(ctx context.Context, c *access.Caller, r *inviteUsersRequest) (people.Invited, error) {
	organization := c.Organization.Organization
	role := r.Body.Role.Or(organization.DefaultRole)
	list := make([]orgs.PersonToInvite, len(r.Body.Emails))
	for i, e := range r.Body.Emails {
		list[i] = orgs.PersonToInvite{Email: e.email, Role: e.role.Or(role)}
	}
	return h.store.Orgs.InviteByEmail(ctx, organization.ID, c.Principal.UserID, list, schema.Or(r.Body.SSO, false))
}
