package apitest

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// The shapes of the objects that show what people may access (facts §1.21 and §7.2).
var (
	CollectionShape = shape.Of{
		"object": shape.One("collection"), "id": shape.ID, "title": shape.Text(0, 50), "description?": shape.Text(1, 100), "organization": shape.ID, "parent?": shape.ID,
		"defaultLevel": shape.One(append(shape.Role, nil, "inherit")...), "urls": shape.Object(shape.Of{"location": shape.URI, "app": shape.URI}),
		"permissions": shape.Booleans("view admin viewInviteLinks create"),
	}
	TeamShape = shape.Of{
		"object": shape.One("team"), "id": shape.ID, "title": shape.Text(1, 64), "members": shape.Count, "spaces": shape.Count, "createdAt": shape.Timestamp,
		"permissions": shape.Booleans("admin view"),
	}
	TeamMemberShape = shape.Of{
		"organization": shape.Object(MemberShape), "team": shape.Object(shape.Of{"role": shape.One("owner", "member")}),
		"permissions": shape.Booleans("view"),
	}
	MemberShape = shape.Of{
		"object": shape.One("member"), "id": shape.ID, "role": shape.One(append(shape.Role, nil)...), "user": shape.Object(shape.User), "disabled": shape.One(false),
		"joinedAt": shape.Timestamp, "sso": shape.Boolean, "spaces": shape.Count, "teams": shape.Count, "lastSeenAt?": shape.Timestamp,
	}
	UserPermissionShape = shape.Of{"permission": shape.One(shape.Role...), "user": shape.Object(shape.User)}
	TeamPermissionShape = shape.Of{"permission": shape.One(shape.Role...), "team": shape.Object(TeamShape)}
	SubdomainShape      = shape.Of{
		"object": shape.One("subdomain"), "subdomain": shape.Text(3, 32), "isActive": shape.One(true),
		"target": shape.Object(shape.Of{"type": shape.One("organization"), "organization": shape.ID}),
	}
)

type made = map[string]string

// Collection creates a collection in a parent, or at the top level if `parent` is nil.
func (h *Harness) Collection(tenant *storetest.Tenant, parent *string) string {
	h.T.Helper()
	row, err := h.Store.CreateCollection(h.T.Context(), store.NewCollection{
		OrganizationID: tenant.Organization.ID, ParentID: parent, Title: "Collection",
	})
	return Created(h.T, row.ID, err)
}

func (h *Harness) Team(tenant *storetest.Tenant, members ...string) string {
	h.T.Helper()
	row, err := h.Store.Orgs.CreateTeam(h.T.Context(), tenant.Organization.ID, "Team "+schema.NewID(), members)
	return Created(h.T, row.ID, err)
}

// Member creates a user, makes it a member of the tenant's organization with this role, and returns its id.
func (h *Harness) Member(tenant *storetest.Tenant, role schema.Role) string {
	h.T.Helper()
	user, _ := storetest.User(h.T, h.Store, schema.NewID())
	return Created(h.T, user.ID, h.Store.Orgs.SetMember(h.T.Context(), tenant.Organization.ID, user.ID, role))
}

// Organization creates another organization with the tenant's admin as its admin.
func (h *Harness) Organization(tenant *storetest.Tenant) string {
	h.T.Helper()
	m, err := h.Store.Orgs.Create(h.T.Context(), tenant.Users[schema.RoleAdmin].ID,
		orgs.NewOrganization{Title: "Another"})
	return Created(h.T, m.Organization.ID, err)
}

// Grant gives some users or teams a role on a collection.
func (h *Harness) Grant(tenant *storetest.Tenant, collection string, to store.Subjects, role schema.Role) {
	h.T.Helper()
	h.grant(store.GrantTarget{OrganizationID: tenant.Organization.ID, CollectionID: &collection}, to, role)
}

// GrantSpace gives some users or teams a role on a space.
func (h *Harness) GrantSpace(tenant *storetest.Tenant, space string, to store.Subjects, role schema.Role) {
	h.T.Helper()
	h.grant(store.GrantTarget{OrganizationID: tenant.Organization.ID, SpaceID: &space}, to, role)
}

func (h *Harness) grant(target store.GrantTarget, to store.Subjects, role schema.Role) {
	h.T.Helper()
	if err := h.Store.Grant(h.T.Context(), target, to, role); err != nil {
		h.T.Fatal(err)
	}
}

func (h *Harness) LinkInvite(tenant *storetest.Tenant, body string) people.LinkInvite {
	h.T.Helper()
	a := h.Do("POST", "/v1/orgs/"+tenant.Organization.ID+"/link-invites", tenant.Tokens[schema.RoleAdmin], body)
	if a.Status != http.StatusCreated {
		h.T.Fatalf("%d %s", a.Status, a.Body)
	}
	var invite people.LinkInvite
	if err := json.Unmarshal(a.Body, &invite); err != nil {
		h.T.Fatal(err)
	}
	return invite
}

// Role returns a user's role in our organization; `ok` is false if the user is not a member.
func (h *Harness) Role(userID string) (role schema.Role, ok bool) {
	h.T.Helper()
	m, err := h.Store.Orgs.Organization(h.T.Context(), userID, h.Ours.Organization.ID)
	return m.Role, err == nil
}

func (s Support) Invite(body string) people.Invited {
	s.H.T.Helper()
	a := s.H.Do("POST", s.Org+"/invites", s.Token, body)
	if a.Status != 200 {
		s.H.T.Fatalf("%d %s", a.Status, a.Body)
	}
	shape.Want(s.H.T, shape.Of{"users": shape.List(shape.ID), "invited": shape.Count, "failedSSOEmails": shape.List(shape.Text(3, 254)), "mail?": InviteMailShape}, a.Body)
	var invited people.Invited
	if err := json.Unmarshal(a.Body, &invited); err != nil {
		s.H.T.Fatal(err)
	}
	return invited
}

// InviteLink returns the secret of the invite link in the mail to an invited user. The mail must not have been sent
// yet.
func (h *Harness) InviteLink(tenant *storetest.Tenant, userID string) string {
	h.T.Helper()
	for after := ""; ; {
		m, err := h.Store.Orgs.NextInviteMail(h.T.Context(), tenant.Organization.ID, after)
		if err != nil {
			h.T.Fatal(err)
		}
		if m.UserID == userID {
			return m.Secret
		}
		after = m.UserID
	}
}

// Accept accepts the e-mail invite to our organization as the invited user.
func (h *Harness) Accept(userID string) {
	h.T.Helper()
	token := storetest.Token(h.T, h.Store, store.NewToken{User: userID})
	if a := h.Do("POST", "/v1/orgs/"+h.Ours.Organization.ID+"/invites/"+userID, token, nil); a.Status != 200 || string(a.Body) != "{}" {
		h.T.Fatalf("%d %s", a.Status, a.Body)
	}
}

// FailedJob creates a failed job of the tenant's organization and returns its id.
func (h *Harness) FailedJob(tenant *storetest.Tenant) string {
	h.T.Helper()
	space := storetest.Spaces(h.T, h.Store, tenant.Organization.ID, nil, 1)[0]
	err := pgx.BeginFunc(h.T.Context(), h.DB, func(tx pgx.Tx) error {
		job := schema.IndexSpace{Organization: tenant.Organization.ID, Space: space}
		return postgres.Enqueue(h.T.Context(), db.New(tx), job)
	})
	var id string
	if err == nil {
		err = h.DB.QueryRow(h.T.Context(), `update river_job set state = 'discarded', finalized_at = now(),
			attempt = max_attempts,
			errors = array['{"error":"the tests want it so"}'::jsonb] where metadata ->> 'space' = $1 returning id::text`, space).Scan(&id)
	}
	return Created(h.T, id, err)
}

// InviteMailShape is the shape of the object that shows whether an invite's mail was sent.
var InviteMailShape = shape.Object(shape.Of{"state": shape.One("off", "waiting", "sent", "failed"), "reason?": shape.Text(1, 500), "sentAt?": shape.Timestamp})
