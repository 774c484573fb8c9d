package orgs

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// members has the operations on the members of an organization.
type members struct {
	store *store.Store
	view  view.Presenter
}

func memberOperations(h *members) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/members", ID: "listMembersInOrganizationById", Tag: "organizations",
			Doc: "List the members of an organization.", Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK,
			Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/members/{userId}", ID: "getMemberInOrganizationById",
			Tag: "organizations", Doc: "Read a member of an organization.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: "/orgs/{organizationId}/members/{userId}", ID: "updateMemberInOrganizationById",
			Tag: "organizations", Doc: "Change the role of a member; an organization keeps at least one admin.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: "/orgs/{organizationId}/members/{userId}", ID: "removeMemberFromOrganizationById",
			Tag: "organizations", Doc: "Remove a member, as an admin, or leave; an organization keeps at least one admin.",
			// Every member may leave, so the scope only demands the view right.
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusNoContent, Handler: frame.Handle(h.remove),
		},
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/ping", ID: "updateOrganizationMemberLastSeenAt",
			Tag: "organizations", Doc: "Note that the caller was seen in an organization.",
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.ping),
		},
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/join", ID: "joinOrganization", Tag: "organizations",
			Doc: "Join an organization that is open to the domain of the caller's e-mail address.", Scope: access.AnyUser(),
			Status: http.StatusNoContent, Handler: frame.Handle(h.join),
		},
	}
}

type listMembersRequest struct {
	schema.PageRequest
	Order  *string `query:"order" rules:"enum=order,default=desc"`
	Role   *string `query:"role" rules:"enum=memberRole"`
	Search *string `query:"search" rules:"len=..255"`
	Sort   *string `query:"sort" rules:"enum=memberSort,default=joinedAt"`
}

func (h *members) list(
	ctx context.Context, c *access.Caller, r *listMembersRequest,
) (schema.List[people.Member], error) {
	organization := c.Organization.Organization.ID
	filter := orgs.MemberFilter{
		Role: r.Role, Search: r.Search, BySeen: schema.Or(r.Sort, "joinedAt") == "lastSeenAt", Ascending: schema.Or(r.Order, "desc") == "asc",
	}
	name := fmt.Sprintf("members %s %q %q %t %t", organization, schema.Or(r.Role, ""), schema.Or(r.Search, ""), filter.BySeen, filter.Ascending)
	return frame.ListKeyed(ctx, name, r.PageRequest, 2,
		func(after []string, size int) (postgres.Page[orgs.MemberRow], error) {
			place, err := postgres.ParseCursor[time.Time](after)
			if err != nil {
				return postgres.Page[orgs.MemberRow]{}, err
			}
			return h.store.Orgs.ListMembers(ctx, organization, filter, place, size)
		},
		h.view.Member, func(row orgs.MemberRow) []string { return filter.Cursor(row).Keys() })
}

type memberRequest struct {
	UserID string `path:"userId"`
}

func (h *members) get(ctx context.Context, c *access.Caller, r *memberRequest) (people.Member, error) {
	row, err := h.store.Orgs.Member(ctx, c.Organization.Organization.ID, r.UserID)
	if err != nil {
		return people.Member{}, err
	}
	return h.view.Member(row), nil
}

type updateMemberRequest struct {
	memberRequest
	Body struct {
		Role schema.Opt[string] `json:"role" rules:"enum=role"`
	} `body:"json"`
}

func (h *members) update(ctx context.Context, c *access.Caller, r *updateMemberRequest) (people.Member, error) {
	if r.Body.Role.Set {
		role := schema.RoleFromNullable(r.Body.Role.Value)
		if err := h.store.Orgs.ChangeMemberRole(ctx, c.Organization.Organization.ID, r.UserID, role); err != nil {
			return people.Member{}, err
		}
	}
	return h.get(ctx, c, &r.memberRequest)
}

func (h *members) remove(ctx context.Context, c *access.Caller, r *memberRequest) (frame.NoContent, error) {
	if r.UserID != c.Principal.UserID {
		if err := c.Require(access.RightAdmin, "organization"); err != nil {
			return frame.NoContent{}, err
		}
	}
	return frame.NoContent{}, h.store.Orgs.RemoveMember(ctx, c.Organization.Organization.ID, r.UserID)
}

func (h *members) ping(ctx context.Context, c *access.Caller, _ *struct{}) (people.Ping, error) {
	return people.Ping{}, h.store.Orgs.SeeMember(ctx, c.Organization.Organization.ID, c.Principal.UserID, c.Now)
}

func (h *members) join(ctx context.Context, c *access.Caller, r *struct {
	OrganizationID string `path:"organizationId"`
}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Orgs.Join(ctx, r.OrganizationID, c.Principal.UserID)
}
