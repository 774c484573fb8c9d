package orgs_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestMembers lists, reads and changes the members of an organization.
func TestMembers(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	users := h.Ours.Users
	shape.Want(t, shape.ListOf(apitest.MemberShape), h.Do("GET", org+"/members", admin, nil).Body)
	down := h.IDs(org+"/members", admin)
	up := h.IDs(org+"/members?order=asc", admin)
	if len(down) != 7 || down[len(down)-1] != up[0] || up[0] != users[schema.RoleAdmin].ID {
		t.Errorf("%v, %v", down, up)
	}
	if a := h.Do("POST", org+"/ping", h.Ours.Tokens[schema.RoleEdit], nil); a.Status != 200 || string(a.Body) != "{}" {
		t.Errorf("ping: %d %s", a.Status, a.Body)
	}
	for query, want := range map[string][]string{
		"?role=guest": {users[schema.RoleGuest].ID}, "?role=admin": {users[schema.RoleAdmin].ID},
		"?search=OURS-edit": {users[schema.RoleEdit].ID}, "?search=ours-comment%40example": {users[schema.RoleComment].ID},
		"?search=%25": {}, "?sort=lastSeenAt&role=edit": {users[schema.RoleEdit].ID},
	} {
		if got := h.IDs(org+"/members"+query, admin); !cmp.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if got := h.IDs(org+"/members?sort=lastSeenAt", admin); got[0] != users[schema.RoleEdit].ID {
		t.Errorf("who was seen last does not come first: %v", got)
	}
	member := org + "/members/" + users[schema.RoleEdit].ID
	seen := shape.Want(t, apitest.MemberShape, h.Do("GET", member, admin, nil).Body)
	if seen["lastSeenAt"] == nil || seen["role"] != "edit" || seen["spaces"] != 1.0 || seen["teams"] != 0.0 {
		t.Errorf("%v", seen)
	}
	if got := h.Want(200, "PATCH", member, admin, `{"role":"review"}`); got["role"] != "review" {
		t.Errorf("%v", got)
	}
	if got := h.Want(200, "PATCH", member, admin, `{}`); got["role"] != "review" {
		t.Errorf("%v", got)
	}
	if got := shape.Want(t, apitest.MemberShape, h.Do("PATCH", member, admin, `{"role":null}`).Body); got["role"] != nil || got["spaces"] != 0.0 {
		t.Errorf("%v", got)
	}
	h.Want(404, "GET", "/v1/spaces/"+h.Ours.Space.ID, h.Ours.Tokens[schema.RoleEdit], nil)
	for _, path := range []string{org + "/members/" + h.Theirs.Users[schema.RoleEdit].ID, org + "/members/nobody", org + "/members/%00"} {
		h.Want(404, "GET", path, admin, nil)
		h.Want(404, "PATCH", path, admin, `{"role":"read"}`)
	}
	h.Want(409, "PATCH", org+"/members/"+users[schema.RoleAdmin].ID, admin, `{"role":"create"}`)
	for _, query := range []string{"?role=owner", "?order=up", "?sort=name", "?search=%ff"} {
		h.Want(400, "GET", org+"/members"+query, admin, nil)
	}
}

// TestLastAdmin lets two admins take each other's role away at the same time. At least one of the two stays an admin.
func TestLastAdmin(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	org := h.Ours.Organization.ID
	admins := []string{h.Ours.Users[schema.RoleAdmin].ID, h.Member(h.Ours, schema.RoleAdmin)}
	for range 10 {
		var group sync.WaitGroup
		for _, admin := range admins {
			group.Go(func() {
				err := h.Store.Orgs.ChangeMemberRole(t.Context(), org, admin, schema.RoleRead)
				if err != nil && !schema.IsCode(err, schema.CodeConflict) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		left := 0
		for _, admin := range admins {
			row, err := h.Store.Orgs.Member(t.Context(), org, admin)
			if err != nil {
				t.Fatal(err)
			}
			if schema.RoleFromNullable(row.Membership.Role) == schema.RoleAdmin {
				left++
			}
			if err := h.Store.Orgs.ChangeMemberRole(t.Context(), org, admin, schema.RoleAdmin); err != nil {
				t.Fatal(err)
			}
		}
		if left != 1 {
			t.Fatalf("%d admins are left", left)
		}
	}
}

func TestJoinByDomain(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	stranger, token := storetest.User(t, h.Store, "stranger")
	h.Want(404, "POST", org+"/join", token, nil)
	h.Want(404, "POST", "/v1/orgs/nowhere/join", token, nil)
	h.Want(200, "PATCH", org, admin, `{"emailDomains":["Example.COM"],"defaultRole":"comment"}`)
	h.Want(404, "POST", org+"/join", token, nil)
	if err := h.Store.Orgs.ProveDomain(
		t.Context(), h.Ours.Organization.ID, "example.com", postgres.ProvedByOperator,
	); err != nil {
		t.Fatal(err)
	}
	h.Want(204, "POST", org+"/join", token, nil)
	h.Want(204, "POST", org+"/join", token, nil)
	if got := h.Want(200, "GET", org+"/members/"+stranger.ID, admin, nil); got["role"] != "comment" {
		t.Errorf("%v", got)
	}
	h.Want(204, "POST", org+"/join", admin, nil)
	if got := h.Want(200, "GET", org, admin, nil); got["permissions"].(map[string]any)["admin"] != true {
		t.Error("joining again lowered an admin")
	}
}

func TestTeams(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	edit, guest := h.Ours.Users[schema.RoleEdit].ID, h.Ours.Users[schema.RoleGuest].ID
	mail := strings.ToUpper(*h.Ours.Users[schema.RoleGuest].Email)
	a := h.Do("PUT", org+"/teams", admin, map[string]any{"title": "Writers", "members": []string{edit, edit}})
	team := shape.Want(t, apitest.TeamShape, a.Body)
	id := team["id"].(string)
	if a.Status != 201 || a.Header.Get("Location") != "https://docs.example.com/base/v1"+org[3:]+"/teams/"+id || team["members"] != 1.0 {
		t.Errorf("%d %v %v", a.Status, a.Header, team)
	}
	if diff := cmp.Diff(team, shape.Want(t, apitest.TeamShape, h.Do("GET", org+"/teams/"+id, admin, nil).Body)); diff != "" {
		t.Error(diff)
	}
	path := org + "/teams/" + id + "/members"
	h.Want(403, "PUT", path, h.Ours.Tokens[schema.RoleEdit], map[string]any{"add": []string{guest}})
	h.Want(204, "PUT", path, admin, map[string]any{"memberships": map[string]any{edit: map[string]any{"role": "owner"}}})
	// An owner of a team may change the team, and may even stop being its owner.
	h.Want(204, "PUT", path, h.Ours.Tokens[schema.RoleEdit], map[string]any{"add": []string{guest}})
	if got := h.Want(200, "GET", org+"/teams/"+id, h.Ours.Tokens[schema.RoleEdit], nil); got["members"] != 2.0 || got["permissions"].(map[string]any)["admin"] != true {
		t.Errorf("%v", got)
	}
	for query, want := range map[string][]string{
		"": {id}, "?owner=" + edit: {id}, "?owner=" + guest: {}, "?title=write": {id}, "?title=readers": {},
	} {
		if got := h.IDs(org+"/teams"+query, admin); !cmp.Equal(got, want) {
			t.Errorf("%s: %v", query, got)
		}
	}
	for field, body := range map[string]map[string]any{
		"add[0]":             {"add": []string{h.Theirs.Users[schema.RoleEdit].ID}},
		"add[1]":             {"add": []string{edit, "theirs-edit@example.com"}},
		"memberships.nobody": {"memberships": map[string]any{"nobody": map[string]any{"role": "owner"}}},
		"memberships." + mail: {"memberships": map[string]any{mail: map[string]any{"role": "owner"},
			guest: map[string]any{"role": "member"}}},
		"memberships." + edit + ".role": {"memberships": map[string]any{edit: map[string]any{"role": "boss"}}},
	} {
		e := h.WantError(h.Do("PUT", path, admin, body), http.StatusBadRequest)
		if len(e.Details) != 1 || e.Details[0].Field != field {
			t.Errorf("%s: %+v", field, e)
		}
	}
	for field, body := range map[string]map[string]any{
		"members[0]": {"title": "x", "members": []string{"nobody"}}, "title": {"title": "Writers"},
	} {
		e := h.WantError(h.Do("PUT", org+"/teams", admin, body), http.StatusBadRequest)
		if len(e.Details) != 1 || e.Details[0].Field != field {
			t.Errorf("%s: %+v", field, e)
		}
	}
	h.Want(400, "PUT", org+"/teams", admin, `{"title":""}`)
	h.Want(
		201,
		"PUT",
		"/v1/orgs/"+h.Theirs.Organization.ID+"/teams",
		h.Theirs.Tokens[schema.RoleAdmin],
		`{"title":"Writers"}`,
	)
	h.Want(204, "PUT", path, h.Ours.Tokens[schema.RoleEdit], map[string]any{"remove": []string{edit, guest}})
	h.Want(403, "PUT", path, h.Ours.Tokens[schema.RoleEdit], `{}`)
	h.Want(404, "PUT", org+"/teams/"+h.Team(h.Theirs)+"/members", admin, `{}`)
	h.Want(404, "GET", org+"/teams/"+h.Team(h.Theirs), admin, nil)
}

// TestTeamMembers names members by their ids and by their e-mail addresses in all operations on teams. It also lists a
// team's members.
func TestTeamMembers(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	user := func(role schema.Role) string { return h.Ours.Users[role].ID }
	mail := func(role schema.Role) string { return strings.ToUpper(*h.Ours.Users[role].Email) }
	made := h.Want(201, "PUT", org+"/teams", admin, map[string]any{
		"title": "Writers", "members": []string{mail(schema.RoleEdit), user(schema.RoleEdit), user(schema.RoleRead)},
	})
	path := org + "/teams/" + made["id"].(string) + "/members"
	want := func(roles map[string]string) {
		t.Helper()
		got := map[string]string{}
		for page := "?limit=1"; ; {
			list := shape.Want(
				t,
				shape.ListOf(apitest.TeamMemberShape),
				h.Do("GET", path+page, h.Ours.Tokens[schema.RoleRead], nil).Body,
			)
			if list["count"] != float64(len(roles)) {
				t.Errorf("count %v of %d", list["count"], len(roles))
			}
			for _, item := range list["items"].([]any) {
				member := item.(map[string]any)["organization"].(map[string]any)
				id := member["id"].(string)
				got[id] = item.(map[string]any)["team"].(map[string]any)["role"].(string)
				if diff := cmp.Diff(h.Want(200, "GET", org+"/members/"+id, admin, nil), member); diff != "" {
					t.Error(diff)
				}
			}
			next, more := list["next"].(map[string]any)
			if !more {
				break
			}
			page = "?limit=1&page=" + next["page"].(string)
		}
		if diff := cmp.Diff(roles, got); diff != "" {
			t.Error(diff)
		}
	}
	want(map[string]string{user(schema.RoleEdit): "member", user(schema.RoleRead): "member"})
	h.Want(204, "PUT", path, admin, map[string]any{
		"add": []string{mail(schema.RoleComment), user(schema.RoleGuest), mail(schema.RoleReview)},
		"memberships": map[string]any{
			mail(schema.RoleRead):   map[string]any{"role": "owner"},
			user(schema.RoleCreate): map[string]any{"role": "member"},
		},
		"remove": []string{mail(schema.RoleEdit), mail(schema.RoleReview), "nobody", "nobody@example.com"},
	})
	want(map[string]string{
		user(schema.RoleRead): "owner", user(schema.RoleComment): "member", user(schema.RoleGuest): "member",
		user(schema.RoleCreate): "member",
	})
	h.Want(403, "GET", path, h.Ours.Tokens[schema.RoleGuest], nil)
	h.Want(404, "GET", org+"/teams/"+h.Team(h.Theirs)+"/members", admin, nil)
	h.Want(204, "DELETE", org+"/members/"+user(schema.RoleRead), admin, nil)
	h.Want(404, "GET", path, h.Ours.Tokens[schema.RoleRead], nil)
}

// TestTeamTitlesTogether creates teams with the same title at the same time. Only one team is created.
func TestTeamTitlesTogether(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	org := "/v1/orgs/" + h.Ours.Organization.ID
	var wait sync.WaitGroup
	var made atomic.Int32
	for range 8 {
		wait.Go(func() {
			a := h.Do("PUT", org+"/teams", h.Ours.Tokens[schema.RoleAdmin], `{"title":"Writers"}`)
			if a.Status == 201 {
				made.Add(1)
			} else if a.Status != 400 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	wait.Wait()
	if ids := h.IDs(org+"/teams", h.Ours.Tokens[schema.RoleAdmin]); made.Load() != 1 || len(ids) != 1 {
		t.Errorf("%d were made, %q are there", made.Load(), ids)
	}
}

// TestUsersAreSeenByTheirOwn: a user sees another user only if both are members of one organization.
func TestUsersAreSeenByTheirOwn(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	ours, theirs := h.Ours.Users[schema.RoleRead], h.Theirs.Users[schema.RoleRead]
	guest := h.Ours.Tokens[schema.RoleGuest]
	if got := shape.Want(t, shape.User, h.Do("GET", "/v1/users/"+ours.ID, guest, nil).Body); got["id"] != ours.ID {
		t.Errorf("%v", got)
	}
	loner, token := storetest.User(t, h.Store, "loner")
	h.Want(200, "GET", "/v1/users/"+loner.ID, token, nil)
	for _, id := range []string{theirs.ID, loner.ID, "nobody", "%00"} {
		h.Want(404, "GET", "/v1/users/"+id, guest, nil)
	}
	// Callers who may list the members see the members' e-mail addresses. Each user sees the user's own address.
	members := "/v1/orgs/" + h.Ours.Organization.ID + "/members"
	for role, token := range h.Ours.Tokens {
		lists := h.Do("GET", members, token, nil).Status == 200
		got := h.Want(200, "GET", "/v1/users/"+ours.ID, token, nil)["email"]
		if (got != nil) != (lists || role == schema.RoleRead) {
			t.Errorf("%s lists the members: %t, and sees %v", role, lists, got)
		}
		if own := h.Want(200, "GET", "/v1/users/"+h.Ours.Users[role].ID, token, nil); own["email"] == nil {
			t.Errorf("%s has no own address: %v", role, own)
		}
	}
	// A guest of one organization may be a member of another. The guest then sees the e-mail addresses of the other
	// organization's members.
	h.Exec("insert into memberships (organization_id, user_id, role) values ($1, $2, 'read'), ($1, $3, null)",
		h.Theirs.Organization.ID, h.Ours.Users[schema.RoleGuest].ID, ours.ID)
	if got := h.Want(200, "GET", "/v1/users/"+ours.ID, guest, nil)["email"]; got == nil {
		t.Error("a member sees no address")
	}
}

// TestOrganizationSettings changes every setting of an organization, and resets every setting that can be reset.
func TestOrganizationSettings(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	reader := h.Ours.Users[schema.RoleRead].ID
	want := map[string]any{
		"title": "Renamed", "emailDomains": []any{"a.test"}, "hostname": "docs-1", "defaultRole": "read",
		"defaultContent": map[string]any{"type": "site", "site": h.Ours.Site.ID}, "sso": true, "ai": true, "inviteLinks": true,
		"mergeRules": map[string]any{"type": "rules", "rules": []any{
			map[string]any{"rule": "require_specific_reviewers", "users": []any{reader}},
			map[string]any{"rule": "require_at_least_one_review"},
		}},
	}
	body := map[string]any{"logo": "https://cdn.test/logo.png"}
	for name, value := range want {
		body[name] = value
	}
	h.Want(200, "PATCH", org, admin, body)
	a := h.Do("GET", org, admin, nil)
	got := shape.Want(t, shape.Organization, a.Body)
	for name, value := range want {
		if diff := cmp.Diff(value, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got["urls"].(map[string]any)["logo"] != body["logo"] {
		t.Errorf("%v", got["urls"])
	}
	if same := h.Want(200, "PATCH", org, admin, `{}`); !cmp.Equal(same, got) {
		t.Error(cmp.Diff(got, same))
	}
	sub := shape.Want(t, apitest.SubdomainShape, h.Do("GET", "/v1/subdomains/docs-1", h.Theirs.Tokens[schema.RoleGuest], nil).Body)
	if sub["target"].(map[string]any)["organization"] != h.Ours.Organization.ID {
		t.Errorf("%v", sub)
	}
	h.Want(404, "GET", "/v1/subdomains/docs-2", admin, nil)
	h.Want(404, "GET", "/v1/subdomains/A", admin, nil)
	h.Want(409, "PATCH", "/v1/orgs/"+h.Theirs.Organization.ID, h.Theirs.Tokens[schema.RoleAdmin], `{"hostname":"docs-1"}`)
	cleared := h.Want(200, "PATCH", org, admin, `{"defaultRole":null,"defaultContent":null,"logo":null,"mergeRules":{"type":"none"}}`)
	if cleared["defaultRole"] != nil || cleared["defaultContent"] != nil || cleared["urls"].(map[string]any)["logo"] != nil ||
		cleared["mergeRules"].(map[string]any)["type"] != "none" {
		t.Errorf("%v", cleared)
	}
	for body, field := range map[string]string{
		`{"hostname":"a"}`: "hostname", `{"hostname":"-abc"}`: "hostname", `{"hostname":"Abc"}`: "hostname", `{"hostname":"` + strings.Repeat("a", 33) + `"}`: "hostname",
		`{"title":"a"}`: "title", `{"defaultRole":"guest"}`: "defaultRole", `{"logo":"ftp://x"}`: "logo", `{"sso":"yes"}`: "sso",
		`{"defaultContent":{"type":"space","site":"x"}}`: "defaultContent.type", `{"defaultContent":{"type":"site"}}`: "defaultContent.site",
		`{"defaultContent":{"type":"site","site":"` + h.Theirs.Site.ID + `"}}`: "defaultContent.site",
		`{"mergeRules":{"type":"inherit"}}`:                                    "mergeRules.type", `{"mergeRules":{"type":"rules"}}`: "mergeRules.rules",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"x"}]}}`:                                                              "mergeRules.rules[0].rule",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"allow_bypass"}]}}`:                                                   "mergeRules.rules[0].users",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"custom"}]}}`:                                                         "mergeRules.rules[0].expression",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"custom","expression":"true"},{"rule":"custom","expression":"a."}]}}`: "mergeRules.rules[1].expression",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"require_agent_review"}]}}`:                                           "mergeRules.rules[0].rule",
		`{"emailDomains":["@x"]}`: "emailDomains[0]", `{"emailDomains":["a.test","b"]}`: "emailDomains[1]",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"allow_bypass","users":["nobody"]}]}}`: "mergeRules.rules[0].users[0]",
	} {
		e := h.WantError(h.Do("PATCH", org, admin, body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: want a detail on %s, got %+v", body, field, e)
		}
	}
}

// TestSpaceSettings changes every setting of a space, and deletes the space.
func TestSpaceSettings(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, path := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	want := map[string]any{
		"title": "Guide", "editMode": "locked", "language": "de", "defaultLevel": "edit", "emoji": "🚀",
		"mergeRules": map[string]any{"type": "rules", "rules": []any{map[string]any{"rule": "allow_bypass", "users": []any{}}}},
	}
	h.Want(200, "PATCH", path, admin, want)
	got := shape.Want(t, shape.Space, h.Do("GET", path, admin, nil).Body)
	for name, value := range want {
		if diff := cmp.Diff(value, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	icon := h.Want(200, "PATCH", path, admin, `{"icon":"https://cdn.test/i.png"}`)
	if icon["urls"].(map[string]any)["icon"] != "https://cdn.test/i.png" || icon["emoji"] != "🚀" {
		t.Errorf("%v", icon)
	}
	plain := h.Want(200, "PATCH", path, admin, `{"icon":null,"emoji":null,"defaultLevel":null,"mergeRules":{"type":"inherit"}}`)
	if plain["urls"].(map[string]any)["icon"] != nil || plain["emoji"] != "1f4d6" || plain["defaultLevel"] != nil ||
		plain["mergeRules"].(map[string]any)["type"] != "inherit" {
		t.Errorf("%v", plain)
	}
	for body, field := range map[string]string{
		`{"emoji":"x","icon":"https://cdn.test/i.png"}`: "icon", `{"icon":"i"}`: "icon", `{"emoji":""}`: "emoji", `{"editMode":"dead"}`: "editMode",
		`{"title":"` + strings.Repeat("x", 51) + `"}`: "title", `{"defaultLevel":"guest"}`: "defaultLevel", `{"language":"tlh"}`: "language",
		`{"mergeRules":{"type":"x"}}`: "mergeRules.type",
	} {
		e := h.WantError(h.Do("PATCH", path, admin, body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: want a detail on %s, got %+v", body, field, e)
		}
	}
	h.Want(403, "DELETE", path, h.Ours.SiteKey, nil)
	h.Want(204, "DELETE", path, h.Theirs.Tokens[schema.RoleAdmin], nil)
	h.Want(200, "GET", path, admin, nil)
	h.Want(204, "DELETE", path, admin, nil)
	h.Want(404, "GET", path, admin, nil)
	site := h.Want(200, "GET", "/v1/orgs/"+h.Ours.Organization.ID+"/sites/"+h.Ours.Site.ID, admin, nil)
	if site["siteSpaces"] != 0.0 {
		t.Errorf("%v", site)
	}
}
