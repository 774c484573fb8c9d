package orgs_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/saml/samltest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestWhatInvitesGaveIsTakenBack gives people access by every kind of invite and every role. For each kind, a list
// shows an admin the access, and operations change and revoke it.
func TestWhatInvitesGaveIsTakenBack(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	ownDomain(h, "acme.example")
	collection := h.Collection(h.Ours, nil)
	inside := h.Want(201, "POST", s.Org+"/spaces", s.Token, map[string]any{"parent": collection})["id"].(string)
	open := h.Want(201, "POST", s.Org+"/spaces", s.Token, `{}`)["id"].(string)
	space := h.Ours.Space.ID
	h.CloseCollection(collection)
	h.CloseSpace(space)
	toSpace, toCollection := "/v1/spaces/"+space+"/permissions", "/v1/collections/"+collection+"/permissions"

	person := func(h *apitest.Harness, domain string) (id, token string) {
		h.T.Helper()
		user, err := h.Store.Orgs.CreateUser(
			h.T.Context(),
			orgs.NewUser{DisplayName: "Ann", Email: schema.NewID() + "@" + domain},
		)
		if err != nil {
			h.T.Fatal(err)
		}
		return user.ID, storetest.Token(h.T, h.Store, store.NewToken{User: user.ID})
	}
	// follow creates a link invite, lets a new user accept it, and deletes it.
	follow := func(h *apitest.Harness, body map[string]any) (id, token string) {
		h.T.Helper()
		id, token = person(h, "example.com")
		link := h.Want(201, "POST", s.Org+"/link-invites", s.Token, body)["id"].(string)
		h.Want(200, "POST", s.Org+"/invites/"+link, token, nil)
		h.Want(204, "DELETE", s.Org+"/link-invites/"+link, s.Token, nil)
		return id, token
	}
	// given creates a guest of the organization, and grants a role on content to the guest or to a team of the guest.
	given := func(h *apitest.Harness, permissions, subject string, role schema.Role) (id, token, about string) {
		h.T.Helper()
		id, token = follow(h, map[string]any{"role": schema.RoleGuest})
		about = id
		if subject == "teams" {
			about = h.Team(h.Ours, id)
		}
		h.Want(204, "POST", permissions, s.Token, map[string]any{"role": role, subject: []string{about}})
		return id, token, about
	}
	for _, kind := range []struct {
		name string
		// list is the path of the list that shows the access. Operations on paths below it change and revoke the
		// access.
		list string
		// reads is a space that a person with this access can read.
		reads string
		// in creates a person and gives the person access by this kind of invite. `about` is the id of the person or
		// the team in the list.
		in func(h *apitest.Harness, role schema.Role) (id, token, about string)
	}{
		{"a link to the organization", s.Org + "/members", open, func(h *apitest.Harness, role schema.Role) (string,
			string, string) {
			id, token := follow(h, map[string]any{"role": role})
			return id, token, id
		}},
		{"a link to a space", toSpace + "/users", space, func(h *apitest.Harness, level schema.Role) (string, string,
			string) {
			id, token := follow(h, map[string]any{"level": level, "space": space})
			return id, token, id
		}},
		{"a link to a collection", toCollection + "/users", inside, func(h *apitest.Harness,
			level schema.Role) (string, string, string) {
			id, token := follow(h, map[string]any{"level": level, "collection": collection})
			return id, token, id
		}},
		{"an e-mail", s.Org + "/members", open, func(h *apitest.Harness, role schema.Role) (string, string, string) {
			email := schema.NewID() + "@example.com"
			invited := h.Want(200, "POST", s.Org+"/invites", s.Token, map[string]any{"emails": []string{email},
				"role": role})
			id := invited["users"].([]any)[0].(string)
			h.Accept(id)
			return id, storetest.Token(h.T, h.Store, store.NewToken{User: id}), id
		}},
		{"a domain", s.Org + "/members", open, func(h *apitest.Harness, role schema.Role) (string, string, string) {
			id, token := person(h, "acme.example")
			h.Want(200, "PATCH", s.Org, s.Token, map[string]any{"defaultRole": role})
			h.Want(204, "POST", s.Org+"/join", token, nil)
			return id, token, id
		}},
		{"single sign-on", s.Org + "/members", open, func(h *apitest.Harness, role schema.Role) (string, string,
			string) {
			provider := apitest.NewSAML(h, h.Ours, func(p *orgs.NewSAMLProvider) {
				p.DefaultRole = role.Nullable()
			})
			token := tokenOf(h.T, provider.LogIn(samltest.Person{NameID: "ann",
				Email: schema.NewID() + "@acme.example"}))
			id := h.Want(200, "GET", "/v1/user", token, nil)["id"].(string)
			return id, token, id
		}},
		{"inviteToSpace", toSpace + "/users", space, func(h *apitest.Harness, role schema.Role) (string, string,
			string) {
			return given(h, toSpace, "users", role)
		}},
		{"inviteToSpace of a team", toSpace + "/teams", space, func(h *apitest.Harness, role schema.Role) (string,
			string, string) {
			return given(h, toSpace, "teams", role)
		}},
		{"inviteToCollection", toCollection + "/users", inside, func(h *apitest.Harness, role schema.Role) (string,
			string, string) {
			return given(h, toCollection, "users", role)
		}},
		{"inviteToCollection of a team", toCollection + "/teams", inside, func(h *apitest.Harness,
			role schema.Role) (string, string, string) {
			return given(h, toCollection, "teams", role)
		}},
	} {
		for _, role := range append(schema.Roles(), schema.RoleGuest) {
			t.Run(fmt.Sprintf("%s/%q", kind.name, role), func(t *testing.T) {
				h := h.In(t)
				id, token, about := kind.in(h, role)
				b := takenBack{h: h, admin: s.Token, list: kind.list, about: about, token: token, space: kind.reads}
				membership := kind.list == s.Org+"/members"
				// A guest is in the list of members, but not in a list of permissions on content.
				b.check("given", role, membership || role != schema.RoleGuest)
				if membership || role != schema.RoleGuest {
					b.change("comment")
					b.check("changed", schema.RoleComment, true)
				}
				for range 2 {
					h.Want(204, "DELETE", kind.list+"/"+about, s.Token, nil)
				}
				b.check("taken back", schema.RoleGuest, false)
				if _, member := h.Role(id); member == membership {
					t.Errorf("member: %t", member)
				}
			})
		}
	}
	t.Run("the team of a SAML provider", func(t *testing.T) {
		h := h.In(t)
		team := h.Team(h.Ours)
		h.Want(204, "POST", toSpace, s.Token, map[string]any{"role": "review", "teams": []string{team}})
		provider := apitest.NewSAML(h, h.Ours, func(p *orgs.NewSAMLProvider) { p.DefaultTeam = &team })
		token := tokenOf(h.T, provider.LogIn(samltest.Person{NameID: "bo", Email: schema.NewID() + "@acme.example"}))
		id := h.Want(200, "GET", "/v1/user", token, nil)["id"].(string)
		b := takenBack{h: h, admin: s.Token, list: toSpace + "/aggregate", about: id, token: token, space: space}
		b.check("given", schema.RoleReview, true)
		members := s.Org + "/teams/" + team + "/members"
		if got := h.Want(200, "GET", members, s.Token, nil); got["count"] != 1.0 {
			t.Errorf("%v", got)
		}
		h.Want(204, "PUT", members, s.Token, map[string]any{"remove": []string{id}})
		b.check("taken back", schema.RoleGuest, false)
	})
}

// takenBack checks the access of one person: in the list that an admin sees, and on a space.
type takenBack struct {
	h                  *apitest.Harness
	admin, list, about string
	token, space       string
}

func (b takenBack) change(role string) {
	b.h.T.Helper()
	a := b.h.Do("PATCH", b.list+"/"+b.about, b.admin, fmt.Sprintf(`{"role":%q}`, role))
	if a.Status != 200 && a.Status != 204 {
		b.h.T.Fatalf("%d %s", a.Status, a.Body)
	}
}

// check checks whether the list shows the person with this role, as `there` says. It also checks that the person has
// the role's rights on the space. Without a role, the person must not find the space.
func (b takenBack) check(when string, role schema.Role, there bool) {
	b.h.T.Helper()
	found := false
	for _, item := range b.h.Want(200, "GET", b.list+"?limit=1000", b.admin, nil)["items"].([]any) {
		entry := item.(map[string]any)
		about, isUser := entry["user"].(map[string]any)
		if !isUser {
			about = entry["team"].(map[string]any)
		}
		if about["id"] != b.about {
			continue
		}
		found = true
		shown, isPermission := entry["permission"]
		if !isPermission {
			shown = entry["role"]
		}
		if name, _ := shown.(string); schema.Role(name) != role {
			b.h.T.Errorf("%s: the list shows %v, want %q", when, shown, role)
		}
	}
	if found != there {
		b.h.T.Errorf("%s: in the list: %t", when, found)
	}
	a := b.h.Do("GET", "/v1/spaces/"+b.space, b.token, nil)
	if role == schema.RoleGuest {
		if a.Status != 404 && a.Status != 401 { // 401 is possible because the session of a former member has ended.
			b.h.T.Errorf("%s: the space answers %d", when, a.Status)
		}
		return
	}
	var space schema.Space
	if err := json.Unmarshal(a.Body, &space); err != nil || a.Status != 200 {
		b.h.T.Fatalf("%s: the space answers %d %s", when, a.Status, a.Body)
	}
	p := space.Permissions
	for right, got := range map[schema.Role]bool{
		schema.RoleRead: p.Access, schema.RoleComment: p.Comment, schema.RoleEdit: p.Edit, schema.RoleReview: p.Review,
		schema.RoleAdmin: p.Admin,
	} {
		if got != role.AtLeast(right) {
			b.h.T.Errorf("%s: the space gives %+v, want %q", when, p, role)
		}
	}
}
