package orgs

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// RemoveMember removes a user from an organization, with the user's grants, teams and pending review requests there.
// It also deletes the invites by which the user could join again. Removing a user who is not a member succeeds. An
// organization keeps at least one admin.
func (s *Store) RemoveMember(ctx context.Context, organizationID, userID string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		// If two admins remove or demote each other concurrently, only one may succeed.
		if _, err := q.LockOrganization(ctx, organizationID); err != nil {
			return postgres.Interpret(err, "organization")
		}
		held, err := q.LockMembership(ctx, db.LockMembershipParams{UserID: userID, OrganizationID: organizationID})
		if err := postgres.Interpret(err, "member"); schema.IsCode(err, schema.CodeNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		if schema.RoleFromNullable(held) == schema.RoleAdmin {
			if err := leavesAnAdmin(ctx, q, organizationID, userID); err != nil {
				return err
			}
		}
		if err := takeInvitesBack(ctx, q, organizationID, userID); err != nil {
			return err
		}
		for _, end := range []func() error{
			func() error {
				return q.DeleteReviewRequestsOfMember(ctx, db.DeleteReviewRequestsOfMemberParams{
					OrganizationID: organizationID, UserID: userID,
				})
			},
			func() error {
				return q.DeleteMembership(ctx, db.DeleteMembershipParams{
					OrganizationID: organizationID, UserID: userID,
				})
			},
		} {
			if err := end(); err != nil {
				return postgres.Interpret(err, "member")
			}
		}
		return nil
	})
}

// takeInvitesBack deletes the links and invites that a member has made, and a pending invite to the member. The
// transaction has changed or locked the membership before, so no further invite of the member can follow.
func takeInvitesBack(ctx context.Context, q *db.Queries, organizationID, userID string) error {
	err := q.DeleteLinksOfMember(ctx, db.DeleteLinksOfMemberParams{OrganizationID: organizationID, UserID: userID})
	if err == nil {
		err = q.DeleteInvitesOfMember(ctx, db.DeleteInvitesOfMemberParams{
			OrganizationID: organizationID, Member: userID,
		})
	}
	return postgres.Interpret(err, "invites")
}

// leavesAnAdmin refuses to leave a locked organization without an admin.
func leavesAnAdmin(ctx context.Context, q *db.Queries, organizationID, userID string) error {
	other, err := q.OtherAdmin(ctx, db.OtherAdminParams{OrganizationID: organizationID, UserID: userID})
	if err != nil {
		return postgres.Interpret(err, "member")
	}
	if !other {
		return schema.Conflict("the organization would be left without an admin")
	}
	return nil
}

// DeleteTeam removes a team with its grants, if it exists. Its members stay in the organization.
func (s *Store) DeleteTeam(ctx context.Context, organizationID, id string) error {
	return postgres.Interpret(s.db.Queries.DeleteTeam(ctx, db.DeleteTeamParams{
		ID: id, OrganizationID: organizationID,
	}), "team")
}

// Delete ends an organization immediately. It then has no members. The keys of its sites, its invites, domains, SAML
// providers and integrations are deleted, and its hostname is free. Purge deletes its content later. The events of its
// sites stay in the insights store, but nobody can query them without the site.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := q.LockOrganization(ctx, id); err != nil {
			return postgres.Interpret(err, "organization")
		}
		for _, end := range []func(context.Context, string) error{
			q.MarkOrganizationDeleted, q.DeleteWebhooks, q.DeleteSiteTokens, q.DeletePublishableKeysOfSites,
			q.DeleteInsightsShareLinksOfSites,
			q.DeleteLinkInvites, q.DeleteEmailInvites, q.DeleteDomainProofs, q.DeleteSAMLProviders,
			q.DeleteIntegrations, q.DeleteInstallations, q.DeleteMemberships,
		} {
			if err := end(ctx, id); err != nil {
				return postgres.Interpret(err, "organization")
			}
		}
		return nil
	})
}

// Purge deletes the content of deleted organizations until nothing is left or ctx ends. Each statement deletes a
// limited number of rows. The next run continues, including rows that another node had locked.
func (s *Store) Purge(ctx context.Context) error {
	for {
		id, err := s.db.Queries.DeletedOrganization(ctx)
		if err := postgres.Interpret(err, "organization"); schema.IsCode(err, schema.CodeNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		err = s.purge(ctx, id)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // The error only reports that the time is over.
		}
		if err != nil {
			return err
		}
	}
}

func (s *Store) purge(ctx context.Context, id string) error {
	q := s.db.Queries
	// All other rows are few, and are deleted with the organization's row. Sites are deleted before their spaces, so
	// that no site has to choose another default.
	err := postgres.PurgeAll([]func() (int64, error){
		func() (int64, error) {
			return q.PurgeSites(ctx, db.PurgeSitesParams{OrganizationID: id, Size: postgres.PurgeLarge})
		},
		func() (int64, error) {
			return q.PurgeComments(ctx, db.PurgeCommentsParams{OrganizationID: id, Size: postgres.PurgeRows})
		},
		func() (int64, error) {
			return q.PurgeChangeRequests(ctx, db.PurgeChangeRequestsParams{
				OrganizationID: id, Size: postgres.PurgeRows,
			})
		},
		func() (int64, error) {
			return q.PurgeJobs(ctx, db.PurgeJobsParams{OrganizationID: id, Size: postgres.PurgeRows})
		},
		func() (int64, error) {
			return q.PurgeSpaces(ctx, db.PurgeSpacesParams{OrganizationID: id, Size: postgres.PurgeLarge})
		},
		func() (int64, error) {
			return q.PurgeConversations(ctx, db.PurgeConversationsParams{OrganizationID: id, Size: postgres.PurgeRows})
		},
		func() (int64, error) {
			return q.PurgeWebhookEvents(ctx, db.PurgeWebhookEventsParams{OrganizationID: id, Size: postgres.PurgeRows})
		},
		func() (int64, error) {
			return q.ForgetAuditEntries(ctx, db.ForgetAuditEntriesParams{
				OrganizationID: &id, Most: postgres.PurgeRows,
			})
		},
	})
	if err != nil {
		return postgres.Interpret(err, "organization")
	}
	return postgres.Interpret(q.PurgeOrganization(ctx, id), "organization")
}
