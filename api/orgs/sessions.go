package orgs

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// sessions has the operations on the active sessions of SAML logins.
type sessions struct{ store *store.Store }

func sessionOperations(h *sessions) []frame.Operation {
	const own, members = "/orgs/{organizationId}/sessions", "/orgs/{organizationId}/members/{userId}/sessions"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: own, ID: "listOwnSessions", Tag: "sso", Doc: "List the caller's own sessions in an organization.",
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.listOwn),
		},
		{
			Method: http.MethodDelete, Path: own + "/{sessionId}", ID: "endOwnSession", Tag: "sso",
			Doc:   "End one of the caller's own sessions. Nodes that have just seen it may accept it for a few seconds more.",
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusNoContent, Handler: frame.Handle(h.endOwn),
		},
		{
			Method: http.MethodGet, Path: members, ID: "listSessionsOfMember", Tag: "sso", Doc: "List the sessions of a member.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.listOfMember),
		},
		{
			Method: http.MethodDelete, Path: members, ID: "endSessionsOfMember", Tag: "sso",
			Doc:   "End all sessions of a member. Nodes that have just seen one may accept it for a few seconds more.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusNoContent, Handler: frame.Handle(h.endOfMember),
		},
	}
}

func (h *sessions) list(
	ctx context.Context, c *access.Caller, userID string, page schema.PageRequest,
) (schema.List[people.Session], error) {
	organization := c.Organization.Organization.ID
	return frame.ListPage(ctx, "sessions "+organization+" "+userID, page,
		func(after string, size int) (postgres.Page[orgs.Session], error) {
			return h.store.Orgs.ListSessions(ctx, organization, userID, after, size)
		},
		func(row orgs.Session) people.Session {
			return people.Session{
				Object: "session", ID: row.ID, Organization: row.OrganizationID, User: row.UserID, CreatedAt: row.CreatedAt.UTC(),
				ExpiresAt:  row.ExpiresAt.UTC(),
				Provider:   people.SessionProvider{ID: row.ProviderID, Label: row.Provider},
				LastUsedAt: schema.UTC(row.LastUsedAt), Current: row.ID == c.Principal.TokenID,
			}
		},
		func(row orgs.Session) string { return row.ID })
}

func (h *sessions) listOwn(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[people.Session], error) {
	return h.list(ctx, c, c.Principal.UserID, *r)
}

func (h *sessions) endOwn(ctx context.Context, c *access.Caller, r *struct {
	ID string `path:"sessionId"`
}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Orgs.EndSession(ctx, c.Organization.Organization.ID, c.Principal.UserID, r.ID)
}

func (h *sessions) listOfMember(ctx context.Context, c *access.Caller, r *struct {
	schema.PageRequest
	UserID string `path:"userId"`
}) (schema.List[people.Session], error) {
	if _, err := h.store.Orgs.Member(ctx, c.Organization.Organization.ID, r.UserID); err != nil {
		return schema.List[people.Session]{}, err
	}
	return h.list(ctx, c, r.UserID, r.PageRequest)
}

func (h *sessions) endOfMember(ctx context.Context, c *access.Caller, r *struct {
	UserID string `path:"userId"`
}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Orgs.EndSessions(ctx, c.Organization.Organization.ID, r.UserID)
}
