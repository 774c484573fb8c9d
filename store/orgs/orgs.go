package orgs

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Organization is a row of the table organizations.
type Organization = db.Organization

// Membership is an organization, with the role of one of its members.
type Membership struct {
	Organization Organization
	Role         schema.Role
}

// NewOrganization has the values of a new organization.
type NewOrganization struct {
	Title        string
	EmailDomains []string
}

// Create adds an organization whose creator is its first admin.
func (s *Store) Create(ctx context.Context, userID string, org NewOrganization) (Membership, error) {
	var m Membership
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		if m, err = Insert(ctx, q, userID, org); err != nil {
			return err
		}
		return s.db.Within(ctx, q, postgres.QuotaOrganizations, userID)
	})
	return m, err
}

func Insert(ctx context.Context, q *db.Queries, userID string, org NewOrganization) (Membership, error) {
	domains := org.EmailDomains
	if domains == nil {
		domains = []string{}
	}
	row, err := q.InsertOrganization(ctx, db.InsertOrganizationParams{
		ID: schema.NewID(), Title: org.Title, EmailDomains: domains,
	})
	if err != nil {
		return Membership{}, postgres.Interpret(err, "organization")
	}
	err = q.UpsertMembership(ctx, db.UpsertMembershipParams{
		UserID: userID, OrganizationID: row.ID, Role: schema.RoleAdmin.Nullable(),
	})
	if err != nil {
		return Membership{}, postgres.Interpret(err, "membership")
	}
	return Membership{Organization: row, Role: schema.RoleAdmin}, nil
}

// Organization reads an organization. It returns not_found if the user is not a member.
func (s *Store) Organization(ctx context.Context, userID, organizationID string) (Membership, error) {
	row, err := s.db.Queries.OrganizationForUser(ctx, db.OrganizationForUserParams{
		UserID: userID, OrganizationID: organizationID,
	})
	if err != nil {
		return Membership{}, postgres.Interpret(err, "organization")
	}
	return Membership{Organization: row.Organization, Role: schema.RoleFromNullable(row.Role)}, nil
}

// List lists the organizations of a user in the order of their creation. The list begins after the id `after`.
func (s *Store) List(
	ctx context.Context, userID, after string, size int,
) (postgres.Page[Membership], error) {
	total, err := s.db.Queries.CountOrganizationsForUser(ctx, userID)
	if err != nil {
		return postgres.Page[Membership]{}, postgres.Interpret(err, "organizations")
	}
	rows, err := s.db.Queries.ListOrganizationsForUser(ctx, db.ListOrganizationsForUserParams{
		UserID: userID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Membership]{}, postgres.Interpret(err, "organizations")
	}
	memberships := make([]Membership, len(rows))
	for i, row := range rows {
		memberships[i] = Membership{Organization: row.Organization, Role: schema.RoleFromNullable(row.Role)}
	}
	return postgres.PageOf(memberships, size, total), nil
}

// Change has the new values of an organization. Nil and unset fields leave the value unchanged.
type Change struct {
	Title        *string
	EmailDomains []string
	Hostname     *string
	DefaultRole  schema.Opt[string]
	// DefaultSite is the id of a site of the organization.
	DefaultSite schema.Opt[string]
	Logo        schema.Opt[string]
	// MergeRules is JSON.
	MergeRules  []byte
	SSO         *bool
	AI          *bool
	InviteLinks *bool
}

// Update changes an organization's settings. It returns a conflict if another organization has the hostname.
func (s *Store) Update(ctx context.Context, id string, change Change) (Organization, error) {
	var row Organization
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if site := change.DefaultSite.Value; site != nil {
			known, err := q.SiteInOrganization(ctx, db.SiteInOrganizationParams{ID: *site, OrganizationID: id})
			if err != nil {
				return postgres.Interpret(err, "site")
			}
			if !known {
				return schema.Invalid("defaultContent.site", "names no site of this organization")
			}
		}
		if change.EmailDomains != nil {
			err := q.DropDomainProofs(ctx, db.DropDomainProofsParams{OrganizationID: id, Domains: change.EmailDomains})
			if err != nil {
				return postgres.Interpret(err, "email domains")
			}
		}
		var err error
		row, err = q.UpdateOrganization(ctx, db.UpdateOrganizationParams{
			ID: id, Title: change.Title, EmailDomains: change.EmailDomains, Hostname: change.Hostname,
			SetDefaultRole: change.DefaultRole.Set, DefaultRole: change.DefaultRole.Value,
			SetDefaultSite: change.DefaultSite.Set, DefaultSite: change.DefaultSite.Value,
			SetLogo: change.Logo.Set, Logo: change.Logo.Value, MergeRules: change.MergeRules,
			Sso: change.SSO, Ai: change.AI, InviteLinks: change.InviteLinks,
		})
		return postgres.Interpret(err, "organization with this hostname")
	})
	return row, err
}

// BySubdomain returns the id of the organization with this hostname.
func (s *Store) BySubdomain(ctx context.Context, hostname string) (string, error) {
	id, err := s.db.Queries.OrganizationBySubdomain(ctx, hostname)
	return id, postgres.Interpret(err, "subdomain")
}

// SetMember makes a user a member of an organization with a role, or changes the role of a member.
func (s *Store) SetMember(ctx context.Context, organizationID, userID string, role schema.Role) error {
	err := s.db.Queries.UpsertMembership(ctx, db.UpsertMembershipParams{
		UserID: userID, OrganizationID: organizationID, Role: role.Nullable(),
	})
	return postgres.Interpret(err, "membership")
}
