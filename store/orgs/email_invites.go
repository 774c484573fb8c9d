package orgs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// PersonToInvite is a person who will be invited by e-mail. A nil Role means a guest.
type PersonToInvite struct {
	Email string
	Role  *string
}

// EmailInvite is a row of the table email_invites.
type EmailInvite = db.EmailInvite

// InviteByEmail invites people to an organization. If one invite fails, nobody is invited. A person becomes a member by
// accepting the invite. InviteByEmail creates an account for a person who has none. This account has no API token. A
// new invite replaces the person's pending invite. A person who is already a member stays unchanged. If mails are
// enabled, a job sends the invites. If `sso` is true, the people must log in through a SAML provider of the
// organization. If the organization has no such provider, nobody is invited.
func (s *Store) InviteByEmail(
	ctx context.Context, organizationID, invitedBy string, list []PersonToInvite, sso bool,
) (people.Invited, error) {
	invited := people.Invited{Users: []string{}, FailedSSOEmails: []string{}}
	if sso {
		logins, err := s.SSOLogins(ctx, organizationID)
		if err != nil {
			return invited, err
		}
		if len(logins) == 0 {
			for _, person := range list {
				invited.FailedSSOEmails = append(invited.FailedSSOEmails, person.Email)
			}
			return invited, nil
		}
	}
	accounts, invites := invitations(list)
	if len(invites.Emails) == 0 {
		return invited, nil
	}
	if err := s.addMails(ctx, &invites, sso); err != nil {
		return invited, err
	}
	invites.OrganizationID, invites.CreatedBy, invites.Sso = organizationID, invitedBy, sso
	invites.Lasts = s.inviteLasts()
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if err := q.InsertUsersOnce(ctx, accounts); err != nil {
			return postgres.Interpret(err, "user")
		}
		users, err := q.InviteUsers(ctx, invites)
		if err != nil {
			return postgres.Interpret(err, "invite")
		}
		invited.Users = append(invited.Users, users...)
		if err := s.db.Within(ctx, q, postgres.QuotaMembers, organizationID); err != nil {
			return err
		}
		return s.askForMails(ctx, q, organizationID, len(users))
	})
	if err != nil || len(invited.Users) == 0 {
		return invited, err
	}
	mail := s.newInviteMail()
	invited.Invited, invited.Mail = len(invited.Users), &mail
	return invited, nil
}

// invitations returns the rows of the tables users and email_invites for a list of people. The rows are sorted by
// address, so that two concurrent calls with the same people do not deadlock. If an address is in the list twice, the
// first entry is used.
func invitations(list []PersonToInvite) (accounts db.InsertUsersOnceParams, invites db.InviteUsersParams) {
	ordered := slices.Clone(list)
	slices.SortStableFunc(ordered, func(a, b PersonToInvite) int {
		return strings.Compare(strings.ToLower(a.Email), strings.ToLower(b.Email))
	})
	for i, person := range ordered {
		if i > 0 && strings.EqualFold(ordered[i-1].Email, person.Email) {
			continue
		}
		name, _, _ := strings.Cut(person.Email, "@")
		accounts.Ids, accounts.Names = append(accounts.Ids, schema.NewID()), append(accounts.Names, name)
		invites.Emails, invites.Roles = append(invites.Emails, person.Email), append(
			invites.Roles, postgres.Deref(person.Role),
		)
	}
	accounts.Emails = invites.Emails
	return accounts, invites
}

// acceptEmailInvite makes the invited user a member. If the user has already accepted, it changes nothing.
func (s *Store) acceptEmailInvite(ctx context.Context, userID, organizationID string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := lockInvitee(ctx, q, userID, organizationID); err != nil {
			return err
		}
		invite, err := q.TakeEmailInvite(ctx, db.TakeEmailInviteParams{OrganizationID: organizationID, UserID: userID})
		if err := postgres.Interpret(err, "invite"); schema.IsCode(err, schema.CodeNotFound) {
			// Another request may have accepted the invite since.
			if member, failed := lockInvitee(ctx, q, userID, organizationID); member || failed != nil {
				return failed
			}
			return err
		} else if err != nil {
			return err
		}
		if err := stillGood(invite.ExpiresAt); err != nil {
			return err
		}
		_, err = raiseMembership(ctx, q, userID, organizationID, invite.Role, invite.Sso)
		return err
	})
}

// lockInvitee locks the membership that an invite may raise, and reports whether it exists. A removal and a change of
// role lock it before they delete invites. Invites are taken in the same order, so that no deadlock occurs.
func lockInvitee(ctx context.Context, q *db.Queries, userID, organizationID string) (member bool, err error) {
	_, err = q.LockMembership(ctx, db.LockMembershipParams{UserID: userID, OrganizationID: organizationID})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, postgres.Interpret(err, "membership")
}

// EndEmailInvite deletes an invite that is not accepted yet, if it exists.
func (s *Store) EndEmailInvite(ctx context.Context, organizationID, userID string) error {
	err := s.db.Queries.DeleteEmailInvite(ctx, db.DeleteEmailInviteParams{
		OrganizationID: organizationID, UserID: userID,
	})
	return postgres.Interpret(err, "invite")
}

// ListEmailInvites lists the pending invites of an organization, after the id `after`.
func (s *Store) ListEmailInvites(
	ctx context.Context, organizationID, after string, size int,
) (postgres.Page[EmailInvite], error) {
	total, err := s.db.Queries.CountEmailInvites(ctx, organizationID)
	if err != nil {
		return postgres.Page[EmailInvite]{}, postgres.Interpret(err, "invites")
	}
	rows, err := s.db.Queries.ListEmailInvites(ctx, db.ListEmailInvitesParams{
		OrganizationID: organizationID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[EmailInvite]{}, postgres.Interpret(err, "invites")
	}
	return postgres.PageOf(rows, size, total), nil
}

// InviteOfUser is an invite as the invited user sees it.
type InviteOfUser = db.ListInvitesOfUserRow

// ListInvitesOfUser lists a user's invites by e-mail, sorted by the organization's id, after the id `after`.
func (s *Store) ListInvitesOfUser(
	ctx context.Context, userID, after string, size int,
) (postgres.Page[InviteOfUser], error) {
	total, err := s.db.Queries.CountInvitesOfUser(ctx, userID)
	if err != nil {
		return postgres.Page[InviteOfUser]{}, postgres.Interpret(err, "invites")
	}
	rows, err := s.db.Queries.ListInvitesOfUser(ctx, db.ListInvitesOfUserParams{
		UserID: userID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[InviteOfUser]{}, postgres.Interpret(err, "invites")
	}
	return postgres.PageOf(rows, size, total), nil
}

// DeleteEndedInvites deletes expired invites by e-mail, and the counts of sent mails of past days.
func (s *Store) DeleteEndedInvites(ctx context.Context) error {
	if err := s.db.Queries.DeleteEndedEmailInvites(ctx); err != nil {
		return postgres.Interpret(err, "invites")
	}
	return postgres.Interpret(s.db.Queries.DeleteOldMailCounts(ctx), "mails")
}
