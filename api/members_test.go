package api

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestMembers lists, reads and changes the members of an organization.
func TestMembers(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin, org := h.ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.ours.Organization.ID
	users := h.ours.Users
	wantShape(t, listShape(memberShape), h.do("GET", org+"/members", admin, nil).body)
	down := h.ids(org+"/members", admin)
	up := h.ids(org+"/members?order=asc", admin)
	if len(down) != 7 || down[len(down)-1] != up[0] || up[0] != users[schema.RoleAdmin].ID {
		t.Errorf("%v, %v", down, up)
	}
	if a := h.do("POST", org+"/ping", h.ours.Tokens[schema.RoleEdit], nil); a.status != 200 || string(a.body) != "{}" {
		t.Errorf("ping: %d %s", a.status, a.body)
	}
	for query, want := range map[string][]string{
		"?role=guest": {users[schema.RoleGuest].ID}, "?role=admin": {users[schema.RoleAdmin].ID},
		"?search=OURS-edit": {users[schema.RoleEdit].ID}, "?search=ours-comment%40example": {users[schema.RoleComment].ID},
		"?search=%25": {}, "?sort=lastSeenAt&role=edit": {users[schema.RoleEdit].ID},
	} {
		if got := h.ids(org+"/members"+query, admin); !cmp.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if got := h.ids(org+"/members?sort=lastSeenAt", admin); got[0] != users[schema.RoleEdit].ID {
		t.Errorf("who was seen last does not come first: %v", got)
	}
	member := org + "/members/" + users[schema.RoleEdit].ID
	seen := wantShape(t, memberShape, h.do("GET", member, admin, nil).body)
	if seen["lastSeenAt"] == nil || seen["role"] != "edit" || seen["spaces"] != 1.0 || seen["teams"] != 0.0 {
		t.Errorf("%v", seen)
	}
	if got := h.want(200, "PATCH", member, admin, `{"role":"review"}`); got["role"] != "review" {
		t.Errorf("%v", got)
	}
	if got := h.want(200, "PATCH", member, admin, `{}`); got["role"] != "review" {
		t.Errorf("%v", got)
	}
	if got := wantShape(t, memberShape, h.do("PATCH", member, admin, `{"role":null}`).body); got["role"] != nil || got["spaces"] != 0.0 {
		t.Errorf("%v", got)
	}
	h.want(404, "GET", "/v1/spaces/"+h.ours.Space.ID, h.ours.Tokens[schema.RoleEdit], nil)
	for _, path := range []string{org + "/members/" + h.theirs.Users[schema.RoleEdit].ID, org + "/members/nobody", org + "/members/%00"} {
		h.want(404, "GET", path, admin, nil)
		h.want(404, "PATCH", path, admin, `{"role":"read"}`)
	}
	h.want(409, "PATCH", org+"/members/"+users[schema.RoleAdmin].ID, admin, `{"role":"create"}`)
	for _, query := range []string{"?role=owner", "?order=up", "?sort=name", "?search=%ff"} {
		h.want(400, "GET", org+"/members"+query, admin, nil)
	}
}

// TestLastAdmin lets two admins lower each other at once, many times: one admin is always left.
func TestLastAdmin(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	org := h.ours.Organization.ID
	admins := []string{h.ours.Users[schema.RoleAdmin].ID, h.member(h.ours, schema.RoleAdmin)}
	for range 10 {
		var group sync.WaitGroup
		for _, admin := range admins {
			group.Go(func() {
				err := h.st.ChangeMemberRole(t.Context(), org, admin, schema.RoleRead)
				if err != nil && !schema.IsCode(err, schema.CodeConflict) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		left := 0
		for _, admin := range admins {
			row, err := h.st.Member(t.Context(), org, admin)
			if err != nil {
				t.Fatal(err)
			}
			if schema.RoleFromNullable(row.Membership.Role) == schema.RoleAdmin {
				left++
			}
			if err := h.st.ChangeMemberRole(t.Context(), org, admin, schema.RoleAdmin); err != nil {
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
	h := newHarness(t)
	admin, org := h.ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.ours.Organization.ID
	stranger, token := storetest.User(t, h.st, "stranger")
	h.want(404, "POST", org+"/join", token, nil)
	h.want(404, "POST", "/v1/orgs/nowhere/join", token, nil)
	h.want(200, "PATCH", org, admin, `{"emailDomains":["Example.COM"],"defaultRole":"comment"}`)
	h.want(404, "POST", org+"/join", token, nil)
	if err := h.st.ProveDomain(t.Context(), h.ours.Organization.ID, "example.com", store.ProvedByOperator); err != nil {
		t.Fatal(err)
	}
	h.want(204, "POST", org+"/join", token, nil)
	h.want(204, "POST", org+"/join", token, nil)
	if got := h.want(200, "GET", org+"/members/"+stranger.ID, admin, nil); got["role"] != "comment" {
		t.Errorf("%v", got)
	}
	h.want(204, "POST", org+"/join", admin, nil)
	if got := h.want(200, "GET", org, admin, nil); got["permissions"].(map[string]any)["admin"] != true {
		t.Error("joining again lowered an admin")
	}
}

func TestTeams(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin, org := h.ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.ours.Organization.ID
	edit, guest := h.ours.Users[schema.RoleEdit].ID, h.ours.Users[schema.RoleGuest].ID
	a := h.do("PUT", org+"/teams", admin, map[string]any{"title": "Writers", "members": []string{edit, edit}})
	team := wantShape(t, teamShape, a.body)
	id := team["id"].(string)
	if a.status != 201 || a.header.Get("Location") != "https://docs.example.com/base/v1"+org[3:]+"/teams/"+id || team["members"] != 1.0 {
		t.Errorf("%d %v %v", a.status, a.header, team)
	}
	if diff := cmp.Diff(team, wantShape(t, teamShape, h.do("GET", org+"/teams/"+id, admin, nil).body)); diff != "" {
		t.Error(diff)
	}
	path := org + "/teams/" + id + "/members"
	h.want(403, "PUT", path, h.ours.Tokens[schema.RoleEdit], map[string]any{"add": []string{guest}})
	h.want(204, "PUT", path, admin, map[string]any{"memberships": map[string]any{edit: map[string]any{"role": "owner"}}})
	// Its owner may now change it, and lose it.
	h.want(204, "PUT", path, h.ours.Tokens[schema.RoleEdit], map[string]any{"add": []string{guest}})
	if got := h.want(200, "GET", org+"/teams/"+id, h.ours.Tokens[schema.RoleEdit], nil); got["members"] != 2.0 || got["permissions"].(map[string]any)["admin"] != true {
		t.Errorf("%v", got)
	}
	for query, want := range map[string][]string{
		"": {id}, "?owner=" + edit: {id}, "?owner=" + guest: {}, "?title=write": {id}, "?title=readers": {},
	} {
		if got := h.ids(org+"/teams"+query, admin); !cmp.Equal(got, want) {
			t.Errorf("%s: %v", query, got)
		}
	}
	for field, body := range map[string]map[string]any{
		"add": {"add": []string{h.theirs.Users[schema.RoleEdit].ID}}, "memberships": {"memberships": map[string]any{"nobody": map[string]any{"role": "owner"}}},
		"memberships." + edit + ".role": {"memberships": map[string]any{edit: map[string]any{"role": "boss"}}},
	} {
		e := h.wantError(h.do("PUT", path, admin, body), http.StatusBadRequest)
		if len(e.Details) != 1 || e.Details[0].Field != field {
			t.Errorf("%s: %+v", field, e)
		}
	}
	h.want(400, "PUT", org+"/teams", admin, map[string]any{"title": "x", "members": []string{"nobody"}})
	h.want(400, "PUT", org+"/teams", admin, `{"title":""}`)
	h.want(204, "PUT", path, h.ours.Tokens[schema.RoleEdit], map[string]any{"remove": []string{edit, guest}})
	h.want(403, "PUT", path, h.ours.Tokens[schema.RoleEdit], `{}`)
	h.want(404, "PUT", org+"/teams/"+h.team(h.theirs)+"/members", admin, `{}`)
	h.want(404, "GET", org+"/teams/"+h.team(h.theirs), admin, nil)
}

// TestUsersAreSeenByTheirOwn reads users by whom they share an organization with.
func TestUsersAreSeenByTheirOwn(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ours, theirs := h.ours.Users[schema.RoleRead], h.theirs.Users[schema.RoleRead]
	guest := h.ours.Tokens[schema.RoleGuest]
	if got := wantShape(t, userShape, h.do("GET", "/v1/users/"+ours.ID, guest, nil).body); got["id"] != ours.ID {
		t.Errorf("%v", got)
	}
	loner, token := storetest.User(t, h.st, "loner")
	h.want(200, "GET", "/v1/users/"+loner.ID, token, nil)
	for _, id := range []string{theirs.ID, loner.ID, "nobody", "%00"} {
		h.want(404, "GET", "/v1/users/"+id, guest, nil)
	}
}

// TestOrganizationSettings changes every setting of an organization, and takes back those that can be.
func TestOrganizationSettings(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin, org := h.ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.ours.Organization.ID
	reader := h.ours.Users[schema.RoleRead].ID
	want := map[string]any{
		"title": "Renamed", "emailDomains": []any{"a.test"}, "hostname": "docs-1", "defaultRole": "read",
		"defaultContent": map[string]any{"type": "site", "site": h.ours.Site.ID}, "sso": true, "ai": true, "inviteLinks": true,
		"mergeRules": map[string]any{"type": "rules", "rules": []any{
			map[string]any{"rule": "require_specific_reviewers", "users": []any{reader}},
			map[string]any{"rule": "require_at_least_one_review"},
		}},
	}
	body := map[string]any{"logo": "https://cdn.test/logo.png"}
	for name, value := range want {
		body[name] = value
	}
	h.want(200, "PATCH", org, admin, body)
	a := h.do("GET", org, admin, nil)
	got := wantShape(t, organizationShape, a.body)
	for name, value := range want {
		if diff := cmp.Diff(value, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got["urls"].(map[string]any)["logo"] != body["logo"] {
		t.Errorf("%v", got["urls"])
	}
	if same := h.want(200, "PATCH", org, admin, `{}`); !cmp.Equal(same, got) {
		t.Error(cmp.Diff(got, same))
	}
	sub := wantShape(t, subdomainShape, h.do("GET", "/v1/subdomains/docs-1", h.theirs.Tokens[schema.RoleGuest], nil).body)
	if sub["target"].(map[string]any)["organization"] != h.ours.Organization.ID {
		t.Errorf("%v", sub)
	}
	h.want(404, "GET", "/v1/subdomains/docs-2", admin, nil)
	h.want(404, "GET", "/v1/subdomains/A", admin, nil)
	h.want(409, "PATCH", "/v1/orgs/"+h.theirs.Organization.ID, h.theirs.Tokens[schema.RoleAdmin], `{"hostname":"docs-1"}`)
	cleared := h.want(200, "PATCH", org, admin, `{"defaultRole":null,"defaultContent":null,"logo":null,"mergeRules":{"type":"none"}}`)
	if cleared["defaultRole"] != nil || cleared["defaultContent"] != nil || cleared["urls"].(map[string]any)["logo"] != nil ||
		cleared["mergeRules"].(map[string]any)["type"] != "none" {
		t.Errorf("%v", cleared)
	}
	for body, field := range map[string]string{
		`{"hostname":"a"}`: "hostname", `{"hostname":"-abc"}`: "hostname", `{"hostname":"Abc"}`: "hostname", `{"hostname":"` + strings.Repeat("a", 33) + `"}`: "hostname",
		`{"title":"a"}`: "title", `{"defaultRole":"guest"}`: "defaultRole", `{"logo":"ftp://x"}`: "logo", `{"sso":"yes"}`: "sso",
		`{"defaultContent":{"type":"space","site":"x"}}`: "defaultContent.type", `{"defaultContent":{"type":"site"}}`: "defaultContent.site",
		`{"defaultContent":{"type":"site","site":"` + h.theirs.Site.ID + `"}}`: "defaultContent.site",
		`{"mergeRules":{"type":"inherit"}}`:                                    "mergeRules.type", `{"mergeRules":{"type":"rules"}}`: "mergeRules.rules",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"x"}]}}`:                          "mergeRules.rules[0].rule",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"allow_bypass"}]}}`:               "mergeRules.rules[0].users",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"custom","expression":"true"}]}}`: "mergeRules.rules[0].rule",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"require_agent_review"}]}}`:       "mergeRules.rules[0].rule",
		`{"emailDomains":["@x"]}`: "emailDomains[0]", `{"emailDomains":["a.test","b"]}`: "emailDomains[1]",
		`{"mergeRules":{"type":"rules","rules":[{"rule":"allow_bypass","users":["nobody"]}]}}`: "mergeRules.rules[0].users[0]",
	} {
		e := h.wantError(h.do("PATCH", org, admin, body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: want a detail on %s, got %+v", body, field, e)
		}
	}
}

// TestSpaceSettings changes every setting of a space, and deletes it.
func TestSpaceSettings(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin, path := h.ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.ours.Space.ID
	want := map[string]any{
		"title": "Guide", "editMode": "locked", "language": "de", "defaultLevel": "edit", "emoji": "🚀",
		"mergeRules": map[string]any{"type": "rules", "rules": []any{map[string]any{"rule": "allow_bypass", "users": []any{}}}},
	}
	h.want(200, "PATCH", path, admin, want)
	got := wantShape(t, spaceShape, h.do("GET", path, admin, nil).body)
	for name, value := range want {
		if diff := cmp.Diff(value, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	icon := h.want(200, "PATCH", path, admin, `{"icon":"https://cdn.test/i.png"}`)
	if icon["urls"].(map[string]any)["icon"] != "https://cdn.test/i.png" || icon["emoji"] != "🚀" {
		t.Errorf("%v", icon)
	}
	plain := h.want(200, "PATCH", path, admin, `{"icon":null,"emoji":null,"defaultLevel":null,"mergeRules":{"type":"inherit"}}`)
	if plain["urls"].(map[string]any)["icon"] != nil || plain["emoji"] != "1f4d6" || plain["defaultLevel"] != nil ||
		plain["mergeRules"].(map[string]any)["type"] != "inherit" {
		t.Errorf("%v", plain)
	}
	for body, field := range map[string]string{
		`{"emoji":"x","icon":"https://cdn.test/i.png"}`: "icon", `{"icon":"i"}`: "icon", `{"emoji":""}`: "emoji", `{"editMode":"dead"}`: "editMode",
		`{"title":"` + strings.Repeat("x", 51) + `"}`: "title", `{"defaultLevel":"guest"}`: "defaultLevel", `{"language":"tlh"}`: "language",
		`{"mergeRules":{"type":"x"}}`: "mergeRules.type",
	} {
		e := h.wantError(h.do("PATCH", path, admin, body), http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: want a detail on %s, got %+v", body, field, e)
		}
	}
	h.want(403, "DELETE", path, h.ours.SiteKey, nil)
	h.want(204, "DELETE", path, h.theirs.Tokens[schema.RoleAdmin], nil)
	h.want(200, "GET", path, admin, nil)
	h.want(204, "DELETE", path, admin, nil)
	h.want(404, "GET", path, admin, nil)
	site := h.want(200, "GET", "/v1/orgs/"+h.ours.Organization.ID+"/sites/"+h.ours.Site.ID, admin, nil)
	if site["siteSpaces"] != 0.0 {
		t.Errorf("%v", site)
	}
}
