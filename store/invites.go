package store

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// EmailInvite is one person to invite. A nil role is a guest's.
type EmailInvite struct {
	Email string
	Role  *string
}

// InviteByEmail makes people members of an organization, all or nothing. Who has no account gets one; who is a member
// already stays what they are. With sso, people are to log in by the organization's provider, without which nobody is
// invited.
func (s *Store) InviteByEmail(ctx context.Context, organizationID string, list []EmailInvite, sso bool) (schema.Invited, error) {
	invited := schema.Invited{Users: []string{}, FailedSSOEmails: []string{}}
	if sso {
		logins, err := s.SSOLogins(ctx, organizationID)
		if err != nil {
			return invited, err
		}
		if len(logins) == 0 {
			for _, invite := range list {
				invited.FailedSSOEmails = append(invited.FailedSSOEmails, invite.Email)
			}
			return invited, nil
		}
	}
	// In one order everywhere, so that invitations of the same people wait for each other instead of in a circle. Of an
	// address that stands there twice the first counts.
	ordered := slices.Clone(list)
	slices.SortStableFunc(ordered, func(a, b EmailInvite) int {
		return strings.Compare(strings.ToLower(a.Email), strings.ToLower(b.Email))
	})
	err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		for i, invite := range ordered {
			if i > 0 && strings.EqualFold(ordered[i-1].Email, invite.Email) {
				continue
			}
			user, added, err := inviteByEmail(ctx, q, organizationID, invite, sso)
			if err != nil {
				return err
			}
			if added {
				invited.Users = append(invited.Users, user)
			}
		}
		return nil
	})
	invited.Invited = len(invited.Users)
	return invited, err
}

func inviteByEmail(
	ctx context.Context, q *db.Queries, organizationID string, invite EmailInvite, sso bool,
) (id string, added bool, err error) {
	name, _, _ := strings.Cut(invite.Email, "@")
	err = q.InsertUserOnce(ctx, db.InsertUserOnceParams{ID: schema.NewID(), DisplayName: name, Email: &invite.Email})
	if err != nil {
		return "", false, interpret(err, "user")
	}
	user, err := q.UserByEmail(ctx, invite.Email)
	if err != nil {
		return "", false, interpret(err, "user")
	}
	n, err := q.InsertMembershipOnce(ctx, db.InsertMembershipOnceParams{
		UserID: user.ID, OrganizationID: organizationID, Role: invite.Role, Sso: sso,
	})
	return user.ID, n > 0, interpret(err, "membership")
}

// LinkInvite is a row of its table.
type LinkInvite = db.LinkInvite

// NewLinkInvite is what an invite is made of: Role is what it gives in the organization or, with a space or a collection of
// it, there. A nil role is a guest's.
type NewLinkInvite struct {
	OrganizationID string
	UserID         string
	Role           *string
	SpaceID        *string
	CollectionID   *string
}

// CreateLinkInvite adds an invite.
func (s *Store) CreateLinkInvite(ctx context.Context, invite NewLinkInvite) (LinkInvite, error) {
	row, err := s.queries.InsertLinkInvite(ctx, db.InsertLinkInviteParams{
		ID: schema.NewID(), OrganizationID: invite.OrganizationID, Role: invite.Role, SpaceID: invite.SpaceID,
		CollectionID: invite.CollectionID, CreatedBy: &invite.UserID,
	})
	return row, interpret(err, "invite")
}

// LinkInvite reads an invite of an organization.
func (s *Store) LinkInvite(ctx context.Context, organizationID, id string) (LinkInvite, error) {
	row, err := s.queries.LinkInviteByID(ctx, db.LinkInviteByIDParams{ID: id, OrganizationID: organizationID})
	return row, interpret(err, "invite")
}

// UpdateLinkInvite changes what an invite gives from now on; who followed it before keeps what they got.
func (s *Store) UpdateLinkInvite(ctx context.Context, organizationID, id string, role *string) (LinkInvite, error) {
	row, err := s.queries.UpdateLinkInvite(ctx, db.UpdateLinkInviteParams{ID: id, OrganizationID: organizationID, Role: role})
	return row, interpret(err, "invite")
}

// DeleteLinkInvite deletes an invite if it is there.
func (s *Store) DeleteLinkInvite(ctx context.Context, organizationID, id string) error {
	err := s.queries.DeleteLinkInvite(ctx, db.DeleteLinkInviteParams{ID: id, OrganizationID: organizationID})
	return interpret(err, "invite")
}

// ListLinkInvites lists the invites to an organization as a whole in the order they were made, after the id `after`.
func (s *Store) ListLinkInvites(ctx context.Context, organizationID, after string, size int) (Page[LinkInvite], error) {
	total, err := s.queries.CountLinkInvites(ctx, organizationID)
	if err != nil {
		return Page[LinkInvite]{}, interpret(err, "invites")
	}
	rows, err := s.queries.ListLinkInvites(ctx, db.ListLinkInvitesParams{
		OrganizationID: organizationID, After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[LinkInvite]{}, interpret(err, "invites")
	}
	return pageOf(rows, size, total), nil
}

// FollowLinkInvite gives a user what an invite gives. Nobody loses anything by it. An invite to content makes a stranger a
// guest of the organization as well. An invite of an organization that has turned its links off is not found.
func (s *Store) FollowLinkInvite(ctx context.Context, userID, organizationID, id string) error {
	return s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		invite, err := q.LinkInviteByID(ctx, db.LinkInviteByIDParams{ID: id, OrganizationID: organizationID})
		if err != nil {
			return interpret(err, "invite")
		}
		open, err := q.LinksAreOpen(ctx, organizationID)
		if err != nil {
			return interpret(err, "invite")
		}
		if !open {
			return schema.NotFound("invite")
		}
		if invite.SpaceID == nil && invite.CollectionID == nil {
			return raiseMembership(ctx, q, userID, organizationID, invite.Role)
		}
		if err := raiseMembership(ctx, q, userID, organizationID, nil); err != nil || invite.Role == nil {
			return err
		}
		return interpret(q.RaiseGrant(ctx, db.RaiseGrantParams{
			OrganizationID: organizationID, CollectionID: invite.CollectionID, SpaceID: invite.SpaceID, UserID: userID,
			Role: *invite.Role,
		}), "grant")
	})
}

// raiseMembership makes a user a member with at least this role.
func raiseMembership(ctx context.Context, q *db.Queries, userID, organizationID string, role *string) error {
	added, err := q.InsertMembershipOnce(ctx, db.InsertMembershipOnceParams{
		UserID: userID, OrganizationID: organizationID, Role: role,
	})
	if err != nil || added > 0 {
		return interpret(err, "membership")
	}
	held, err := q.LockMembership(ctx, db.LockMembershipParams{UserID: userID, OrganizationID: organizationID})
	if err != nil {
		return interpret(err, "membership")
	}
	if schema.RoleFromNullable(held).AtLeast(schema.RoleFromNullable(role)) {
		return nil
	}
	err = q.UpsertMembership(ctx, db.UpsertMembershipParams{UserID: userID, OrganizationID: organizationID, Role: role})
	return interpret(err, "membership")
}
