package orgs

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// MemberRow is a member of an organization, with the numbers of the member's teams and visible spaces.
type MemberRow struct {
	Membership db.Membership
	User       User
	Teams      int64
	Spaces     int64
}

// Member reads one member of an organization.
func (s *Store) Member(ctx context.Context, organizationID, userID string) (MemberRow, error) {
	row, err := s.db.Queries.Member(ctx, db.MemberParams{OrganizationID: organizationID, UserID: userID})
	if err != nil {
		return MemberRow{}, postgres.Interpret(err, "member")
	}
	rows, err := s.memberRows(ctx, organizationID, []MemberRow{{Membership: row.Membership, User: row.User}})
	if err != nil {
		return MemberRow{}, err
	}
	return rows[0], nil
}

// memberRows adds the numbers of teams and spaces to a page of members.
func (s *Store) memberRows(ctx context.Context, organizationID string, rows []MemberRow) ([]MemberRow, error) {
	if len(rows) == 0 {
		return rows, nil
	}
	index := make(map[string]int, len(rows))
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.User.ID
		index[ids[i]] = i
	}
	numbers, err := s.db.Queries.MemberNumbers(ctx, db.MemberNumbersParams{OrganizationID: organizationID, Users: ids})
	if err != nil {
		return nil, postgres.Interpret(err, "members")
	}
	for _, n := range numbers {
		row := &rows[index[n.UserID]]
		row.Teams, row.Spaces = n.Teams, n.Spaces
	}
	return rows, nil
}

// MemberFilter narrows and sorts a list of members; nil fields do not filter.
type MemberFilter struct {
	// Role is a role's name or "guest".
	Role   *string
	Search *string
	// BySeen sorts by the time of the last activity instead of the time of joining.
	BySeen    bool
	Ascending bool
}

// Cursor returns the cursor of a member in a list with this filter. For a member without any activity, the time of the
// last activity is the beginning of 1970.
func (f MemberFilter) Cursor(row MemberRow) postgres.Cursor[time.Time] {
	at := row.Membership.JoinedAt
	if f.BySeen {
		at = time.Unix(0, 0)
		if row.Membership.LastSeenAt != nil {
			at = *row.Membership.LastSeenAt
		}
	}
	return postgres.Cursor[time.Time]{Key: at, ID: row.User.ID}
}

// ListMembers lists the members of an organization. `after` is nil for the first page.
func (s *Store) ListMembers(
	ctx context.Context, organizationID string, filter MemberFilter, after *postgres.Cursor[time.Time], size int,
) (postgres.Page[MemberRow], error) {
	total, err := s.db.Planned.CountMembers(ctx, db.CountMembersParams{
		OrganizationID: organizationID, Role: filter.Role, Search: filter.Search,
	})
	if err != nil {
		return postgres.Page[MemberRow]{}, postgres.Interpret(err, "members")
	}
	first := postgres.EndOfTime
	if filter.Ascending {
		first = postgres.BeginOfTime
	}
	from := after.OrFirst(first)
	found, err := s.db.Planned.ListMembers(ctx, db.ListMembersParams{
		OrganizationID: organizationID, Role: filter.Role, Search: filter.Search, BySeen: filter.BySeen,
		Ascending: filter.Ascending, AfterTime: from.Key, After: from.ID, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[MemberRow]{}, postgres.Interpret(err, "members")
	}
	rows := make([]MemberRow, len(found))
	for i, row := range found {
		rows[i] = MemberRow{Membership: row.Membership, User: row.User}
	}
	if rows, err = s.memberRows(ctx, organizationID, rows); err != nil {
		return postgres.Page[MemberRow]{}, err
	}
	return postgres.PageOf(rows, size, total), nil
}

// ChangeMemberRole changes the role of a member. It returns an error if the organization would have no admin. If the
// new role is below admin, it also deletes the invites by which the member could get a higher role again.
func (s *Store) ChangeMemberRole(ctx context.Context, organizationID, userID string, role schema.Role) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		// If two admins demote each other concurrently, only one of the changes may succeed. The lock makes the second
		// change wait.
		if _, err := q.LockOrganization(ctx, organizationID); err != nil {
			return postgres.Interpret(err, "organization")
		}
		member, err := q.Member(ctx, db.MemberParams{OrganizationID: organizationID, UserID: userID})
		if err != nil {
			return postgres.Interpret(err, "member")
		}
		if schema.RoleFromNullable(member.Membership.Role) == schema.RoleAdmin && role != schema.RoleAdmin {
			if err := leavesAnAdmin(ctx, q, organizationID, userID); err != nil {
				return err
			}
		}
		_, err = q.SetMemberRole(ctx, db.SetMemberRoleParams{
			OrganizationID: organizationID, UserID: userID, Role: role.Nullable(),
		})
		if err != nil || role == schema.RoleAdmin {
			return postgres.Interpret(err, "member")
		}
		return takeInvitesBack(ctx, q, organizationID, userID)
	})
}

// SeeMember records the time when a member was last seen.
func (s *Store) SeeMember(ctx context.Context, organizationID, userID string, at time.Time) error {
	err := s.db.Queries.SeeMember(ctx, db.SeeMemberParams{OrganizationID: organizationID, UserID: userID, SeenAt: at})
	return postgres.Interpret(err, "member")
}

// Join makes a user a member of an organization that has proved the domain of the user's e-mail address. If the
// organization does not exist or does not admit the user, Join returns not_found.
func (s *Store) Join(ctx context.Context, organizationID, userID string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		joined, err := q.JoinByDomain(ctx, db.JoinByDomainParams{OrganizationID: organizationID, UserID: userID})
		switch {
		case err != nil:
			return postgres.Interpret(err, "membership")
		case !joined.IsMember:
			return schema.NotFound("organization")
		case joined.Added:
			return s.db.Within(ctx, q, postgres.QuotaMembers, organizationID)
		}
		return nil
	})
}

// MembersAmong returns which of the users are members of an organization.
func (s *Store) MembersAmong(ctx context.Context, organizationID string, users []string) (map[string]bool, error) {
	rows, err := s.db.Queries.MembersAmong(ctx, db.MembersAmongParams{
		OrganizationID: organizationID, Users: postgres.Distinct(users),
	})
	if err != nil {
		return nil, postgres.Interpret(err, "members")
	}
	members := make(map[string]bool, len(rows))
	for _, id := range rows {
		members[id] = true
	}
	return members, nil
}
