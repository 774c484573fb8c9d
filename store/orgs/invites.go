package orgs

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// LinkInvite is a row of the table link_invites.
type LinkInvite = db.LinkInvite

// NewLinkInvite has the values of a new invite link. Role is the role that the invite grants in the organization. If
// SpaceID or CollectionID is set, Role is for this space or collection. A nil Role means a guest.
type NewLinkInvite struct {
	OrganizationID string
	UserID         string
	Role           *string
	SpaceID        *string
	CollectionID   *string
}

// CreateLinkInvite adds an invite link. The link ends when its user is no admin of the organization any more.
func (s *Store) CreateLinkInvite(ctx context.Context, invite NewLinkInvite) (LinkInvite, error) {
	var row LinkInvite
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		row, err = q.InsertLinkInvite(ctx, db.InsertLinkInviteParams{
			ID: schema.NewID(), OrganizationID: invite.OrganizationID, Role: invite.Role, SpaceID: invite.SpaceID,
			CollectionID: invite.CollectionID, CreatedBy: invite.UserID, Lasts: s.inviteLasts(),
		})
		if err != nil {
			return postgres.Interpret(err, "admin of the organization")
		}
		return s.db.Within(ctx, q, postgres.QuotaInviteLinks, invite.OrganizationID)
	})
	return row, err
}

// LinkInvite reads an invite link of an organization.
func (s *Store) LinkInvite(ctx context.Context, organizationID, id string) (LinkInvite, error) {
	row, err := s.db.Queries.LinkInviteByID(ctx, db.LinkInviteByIDParams{ID: id, OrganizationID: organizationID})
	return row, postgres.Interpret(err, "invite")
}

// UpdateLinkInvite changes the role that an invite link grants. Users who have already followed the link keep their
// role. The link then belongs to the user who changed it.
func (s *Store) UpdateLinkInvite(
	ctx context.Context, organizationID, id, userID string, role *string,
) (LinkInvite, error) {
	row, err := s.db.Queries.UpdateLinkInvite(ctx, db.UpdateLinkInviteParams{
		ID: id, OrganizationID: organizationID, ByUser: userID, Role: role,
	})
	return row, postgres.Interpret(err, "invite")
}

// DeleteLinkInvite deletes an invite link, if it exists.
func (s *Store) DeleteLinkInvite(ctx context.Context, organizationID, id string) error {
	err := s.db.Queries.DeleteLinkInvite(ctx, db.DeleteLinkInviteParams{ID: id, OrganizationID: organizationID})
	return postgres.Interpret(err, "invite")
}

// ListLinkInvites lists the invite links to the organization itself, without links to its content, in the order of
// their creation. The list begins after the id `after`.
func (s *Store) ListLinkInvites(
	ctx context.Context, organizationID, after string, size int,
) (postgres.Page[LinkInvite], error) {
	total, err := s.db.Queries.CountLinkInvites(ctx, organizationID)
	if err != nil {
		return postgres.Page[LinkInvite]{}, postgres.Interpret(err, "invites")
	}
	rows, err := s.db.Queries.ListLinkInvites(ctx, db.ListLinkInvitesParams{
		OrganizationID: organizationID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[LinkInvite]{}, postgres.Interpret(err, "invites")
	}
	return postgres.PageOf(rows, size, total), nil
}

// inviteLasts returns the time for which new invites are valid. Null means that they never expire.
func (s *Store) inviteLasts() pgtype.Interval {
	if s.config.InviteLifetime <= 0 {
		return pgtype.Interval{}
	}
	return postgres.Interval(s.config.InviteLifetime)
}

// stillGood returns an error if an invite has expired. `end` is nil if it never expires.
func stillGood(end *time.Time) error {
	if end != nil && !end.After(time.Now()) {
		return schema.Forbidden("the invite ended on " + end.UTC().Format(time.DateOnly) + ": ask for a new one")
	}
	return nil
}

// AcceptInvite grants a user the role of an invite. It never lowers a role. The id of an e-mail invite is the invited
// user's id, so other users cannot accept it. Every user can accept an invite link by its id.
func (s *Store) AcceptInvite(ctx context.Context, userID, organizationID, id string) error {
	if id == userID {
		return s.acceptEmailInvite(ctx, userID, organizationID)
	}
	return s.followLinkInvite(ctx, userID, organizationID, id)
}

// followLinkInvite accepts an invite link. If the link is for a space or collection, followLinkInvite also makes a user
// from outside the organization a guest of the organization.
func (s *Store) followLinkInvite(ctx context.Context, userID, organizationID, id string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		// An admin may be taking the user's role or membership away, with the user's own links. The lock lets one of
		// the two happen first, so the user cannot take the role back.
		if _, err := lockInvitee(ctx, q, userID, organizationID); err != nil {
			return err
		}
		invite, err := q.LinkInviteByID(ctx, db.LinkInviteByIDParams{ID: id, OrganizationID: organizationID})
		if err != nil {
			return postgres.Interpret(err, "invite")
		}
		open, err := q.LinksAreOpen(ctx, organizationID)
		if err != nil {
			return postgres.Interpret(err, "invite")
		}
		if !open {
			return schema.Forbidden("the organization has turned its invite links off")
		}
		if err := stillGood(invite.ExpiresAt); err != nil {
			return err
		}
		role := invite.Role
		if invite.SpaceID != nil || invite.CollectionID != nil {
			role = nil
		}
		added, err := raiseMembership(ctx, q, userID, organizationID, role, false)
		if err == nil && added {
			err = s.db.Within(ctx, q, postgres.QuotaMembers, organizationID)
		}
		if err != nil || role != nil || invite.Role == nil {
			return err
		}
		return postgres.Interpret(q.RaiseGrant(ctx, db.RaiseGrantParams{
			OrganizationID: organizationID, CollectionID: invite.CollectionID, SpaceID: invite.SpaceID, UserID: userID,
			Role: *invite.Role,
		}), "grant")
	})
}

// raiseMembership makes a user a member with at least this role. added is true if the user was not a member before. sso
// is stored only for a new member.
func raiseMembership(
	ctx context.Context, q *db.Queries, userID, organizationID string, role *string, sso bool,
) (added bool, err error) {
	n, err := q.InsertMembershipOnce(ctx, db.InsertMembershipOnceParams{
		UserID: userID, OrganizationID: organizationID, Role: role, Sso: sso,
	})
	if err != nil || n > 0 {
		return n > 0, postgres.Interpret(err, "membership")
	}
	held, err := q.LockMembership(ctx, db.LockMembershipParams{UserID: userID, OrganizationID: organizationID})
	if err != nil {
		return false, postgres.Interpret(err, "membership")
	}
	if schema.RoleFromNullable(held).AtLeast(schema.RoleFromNullable(role)) {
		return false, nil
	}
	err = q.UpsertMembership(ctx, db.UpsertMembershipParams{UserID: userID, OrganizationID: organizationID, Role: role})
	return false, postgres.Interpret(err, "membership")
}
