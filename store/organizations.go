package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// Membership is an organization as one of its members sees it.
type Membership struct {
	Organization Organization
	Role         schema.Role
}

// NewOrganization is what an organization is made of.
type NewOrganization struct {
	Title        string
	EmailDomains []string
}

// CreateOrganization adds an organization whose creator is its first admin.
func (s *Store) CreateOrganization(ctx context.Context, userID string, org NewOrganization) (Membership, error) {
	var m Membership
	err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		m, err = insertOrganization(ctx, q, userID, org)
		return err
	})
	return m, err
}

func insertOrganization(ctx context.Context, q *db.Queries, userID string, org NewOrganization) (Membership, error) {
	domains := org.EmailDomains
	if domains == nil {
		domains = []string{}
	}
	row, err := q.InsertOrganization(ctx, db.InsertOrganizationParams{
		ID: schema.NewID(), Title: org.Title, EmailDomains: domains,
	})
	if err != nil {
		return Membership{}, interpret(err, "organization")
	}
	err = q.UpsertMembership(ctx, db.UpsertMembershipParams{
		UserID: userID, OrganizationID: row.ID, Role: schema.RoleAdmin.Nullable(),
	})
	return Membership{Organization: row, Role: schema.RoleAdmin}, interpret(err, "membership")
}

// Organization reads an organization that the user is in; any other is not found.
func (s *Store) Organization(ctx context.Context, userID, organizationID string) (Membership, error) {
	row, err := s.queries.OrganizationForUser(ctx, db.OrganizationForUserParams{
		UserID: userID, OrganizationID: organizationID,
	})
	if err != nil {
		return Membership{}, interpret(err, "organization")
	}
	return Membership{Organization: row.Organization, Role: schema.RoleFromNullable(row.Role)}, nil
}

// ListOrganizations lists the organizations a user is in, in the order they were made, after the id `after`.
func (s *Store) ListOrganizations(ctx context.Context, userID, after string, size int) (Page[Membership], error) {
	total, err := s.queries.CountOrganizationsForUser(ctx, userID)
	if err != nil {
		return Page[Membership]{}, interpret(err, "organizations")
	}
	rows, err := s.queries.ListOrganizationsForUser(ctx, db.ListOrganizationsForUserParams{
		UserID: userID, After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[Membership]{}, interpret(err, "organizations")
	}
	memberships := make([]Membership, len(rows))
	for i, row := range rows {
		memberships[i] = Membership{Organization: row.Organization, Role: schema.RoleFromNullable(row.Role)}
	}
	return pageOf(memberships, size, total), nil
}

// SetMember puts a user into an organization or changes the role there.
func (s *Store) SetMember(ctx context.Context, organizationID, userID string, role schema.Role) error {
	err := s.queries.UpsertMembership(ctx, db.UpsertMembershipParams{
		UserID: userID, OrganizationID: organizationID, Role: role.Nullable(),
	})
	return interpret(err, "membership")
}

// pageSize asks for one row more than the page, see pageOf.
func pageSize(size int) int32 { return int32(min(size, schema.MaxLimit)) + 1 } //nolint:gosec // Bounded here.
