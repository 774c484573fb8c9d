package orgs

import (
	"context"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

func (h *invites) listPending(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[people.EmailInvite], error) {
	organization := c.Organization.Organization.ID
	return frame.ListPage(ctx, "invites "+organization, *r,
		func(after string, size int) (postgres.Page[orgs.EmailInvite], error) {
			return h.store.Orgs.ListEmailInvites(ctx, organization, after, size)
		},
		h.view.PendingInvite, func(row orgs.EmailInvite) string { return row.UserID })
}

func (h *invites) endPending(ctx context.Context, c *access.Caller, r *linkInviteRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Orgs.EndEmailInvite(ctx, c.Organization.Organization.ID, r.ID)
}

func (h *invites) mailAgain(
	ctx context.Context, c *access.Caller, r *linkInviteRequest,
) (people.EmailInvite, error) {
	row, err := h.store.Orgs.MailInviteAgain(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return people.EmailInvite{}, err
	}
	return h.view.PendingInvite(row), nil
}

func (h *invites) listOwn(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[people.EmailInvite], error) {
	return frame.ListPage(ctx, "invites of "+c.Principal.UserID, *r,
		func(after string, size int) (postgres.Page[orgs.InviteOfUser], error) {
			return h.store.Orgs.ListInvitesOfUser(ctx, c.Principal.UserID, after, size)
		},
		func(row orgs.InviteOfUser) people.EmailInvite {
			invite := h.view.OwnInvite(row.EmailInvite)
			invite.Organization = &people.InvitingOrganization{ID: row.EmailInvite.OrganizationID, Title: row.Title}
			return invite
		},
		func(row orgs.InviteOfUser) string { return row.EmailInvite.OrganizationID })
}

func (h *invites) decline(ctx context.Context, c *access.Caller, r *struct {
	OrganizationID string `path:"organizationId"`
}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Orgs.EndEmailInvite(ctx, r.OrganizationID, c.Principal.UserID)
}
