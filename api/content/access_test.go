package content_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestAccessRule checks the rule for access case by case.
func TestAccessRule(t *testing.T) {
	t.Parallel()
	const guest, none = schema.RoleGuest, schema.RoleGuest
	for _, test := range []struct {
		why   string
		role  schema.Role
		level schema.Level
		grant schema.Role
		want  schema.Role
	}{
		{"content inherits the role", "edit", "inherit", none, "edit"},
		{"a level raises", "read", "create", none, "create"},
		{"a level lowers", "create", "read", none, "read"},
		{"no level takes away", "create", "", none, none},
		{"a grant raises the role", "read", "inherit", "review", "review"},
		{"a grant raises the level", "create", "read", "edit", "edit"},
		{"a grant opens what is closed", "create", "", "comment", "comment"},
		{"a grant does not lower the role", "create", "inherit", "read", "create"},
		{"a grant does not lower the level", "read", "create", "edit", "create"},
		{"a guest has what was granted", guest, "inherit", "edit", "edit"},
		{"a guest gets nothing of a level", guest, "admin", none, none},
		{"a guest gets nothing more of a level", guest, "create", "read", "read"},
		{"an admin stays one", "admin", "read", none, "admin"},
		{"an admin stays one where nobody may", "admin", "", none, "admin"},
		{"an admin stays one with a lower grant", "admin", "inherit", "read", "admin"},
		{"a grant makes an admin", guest, "", "admin", "admin"},
	} {
		want := access.Rights(0)
		if test.want != none {
			want = access.RightsOf(access.Access{Role: test.want})
		}
		if got := access.RightsOf(access.Access{Role: test.role, Level: &test.level, Grant: test.grant}); got != want {
			t.Errorf("%s: %b, want %b", test.why, got, want)
		}
	}
}

// TestAccessRuleIsOne checks that the rule in Go and the rule in SQL give the same results in all possible cases.
func TestAccessRuleIsOne(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), storetest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	all := append(schema.Roles(), schema.RoleGuest)
	levels := []schema.Level{schema.LevelInherit, ""}
	for _, role := range schema.Roles() {
		levels = append(levels, schema.Level(role))
		var rank int
		if err := conn.QueryRow(t.Context(), "select role_rank($1)", string(role)).Scan(&rank); err != nil || rank != role.Rank() {
			t.Errorf("rank of %s: %d, want %d, %v", role, rank, role.Rank(), err)
		}
	}
	for _, role := range all {
		for _, level := range levels {
			for _, grant := range all {
				var rank int
				err := conn.QueryRow(t.Context(), "select access_rank($1, nullif($2, ''), $3)", role.Nullable(), string(level), grant.Rank()).Scan(&rank)
				if err != nil {
					t.Fatal(err)
				}
				effective, any := access.EffectiveRole(access.Access{Role: role, Level: &level, Grant: grant})
				if want := effective.Rank(); rank != want || any != (rank > 0) {
					t.Errorf("role %q, level %q, grant %q: SQL %d, here %d", role, level, grant, rank, want)
				}
			}
		}
	}
}

// sameIDs compares lists. It ignores their order.
func sameIDs(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// TestCollectionResource creates, reads, changes and deletes collections. It checks every member of the responses.
func TestCollectionResource(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], h.Ours.Organization.ID
	base := "/v1/orgs/" + org + "/collections"
	a := h.Do("POST", base, admin, nil)
	top := shape.Want(t, apitest.CollectionShape, a.Body)
	location := "https://docs.example.com/base/v1/collections/" + top["id"].(string)
	if a.Status != 201 || a.Header.Get("Location") != location || top["title"] != "Untitled" || top["defaultLevel"] != "inherit" {
		t.Errorf("%d %v %v", a.Status, a.Header, top)
	}
	path := "/v1/collections/" + top["id"].(string)
	inner := h.Want(201, "POST", base, admin, map[string]any{"title": "Inner", "parent": top["id"]})
	if inner["parent"] != top["id"] {
		t.Errorf("parent %v", inner["parent"])
	}
	changed := h.Want(200, "PATCH", path, admin, `{"title":"Guides","description":"All of them","defaultLevel":"read","other":1}`)
	if diff := cmp.Diff(changed, shape.Want(t, apitest.CollectionShape, h.Do("GET", path, admin, nil).Body)); diff != "" {
		t.Error(diff)
	}
	if changed["title"] != "Guides" || changed["description"] != "All of them" || changed["defaultLevel"] != "read" {
		t.Error(changed)
	}
	if same := h.Want(200, "PATCH", path, admin, `{}`); !cmp.Equal(same, changed) {
		t.Error(cmp.Diff(changed, same))
	}
	if closed := h.Want(200, "PATCH", path, admin, `{"defaultLevel":null,"description":""}`); closed["defaultLevel"] != nil || closed["description"] != nil {
		t.Error(closed)
	}
	shape.Want(t, shape.ListOf(apitest.CollectionShape), h.Do("GET", base, admin, nil).Body)
	// Collections with different parents may be listed in any order.
	if got, want := h.IDs(base, admin), []string{top["id"].(string), inner["id"].(string)}; !sameIDs(got, want) {
		t.Errorf("all: %v, want %v", got, want)
	}
	if got, want := h.IDs(base+"?nested=false", admin), []string{top["id"].(string)}; !cmp.Equal(got, want) {
		t.Errorf("at the top: %v, want %v", got, want)
	}
	h.Want(204, "DELETE", path, admin, nil)
	h.Want(204, "DELETE", path, admin, nil)
	h.Want(404, "GET", path, admin, nil)
	if left := h.Want(200, "GET", "/v1/collections/"+inner["id"].(string), admin, nil); left["parent"] != nil || left["defaultLevel"] != nil {
		t.Errorf("what was in the collection did not keep its access: %v", left)
	}
}

// TestGrantsOpenContent grants access in every possible way. It checks what members then see.
func TestGrantsOpenContent(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, guest, reader := h.Ours.Tokens[schema.RoleAdmin], h.Ours.Tokens[schema.RoleGuest], h.Ours.Tokens[schema.RoleRead]
	guestID, readerID := h.Ours.Users[schema.RoleGuest].ID, h.Ours.Users[schema.RoleRead].ID
	org := "/v1/orgs/" + h.Ours.Organization.ID
	outer := h.Collection(h.Ours, nil)
	inner := h.Collection(h.Ours, &outer)
	space := h.Want(201, "POST", org+"/spaces", admin, map[string]any{"parent": inner})["id"].(string)
	permissions := "/v1/collections/" + outer + "/permissions"
	h.Want(200, "PATCH", "/v1/collections/"+inner, admin, `{"defaultLevel":null}`)
	h.Want(404, "GET", "/v1/spaces/"+space, reader, nil)
	h.Want(404, "GET", "/v1/collections/"+inner, guest, nil)
	sees := func(token string, collections, spaces []string) {
		t.Helper()
		if got := h.IDs(org+"/collections", token); !sameIDs(got, collections) {
			t.Errorf("collections %v, want %v", got, collections)
		}
		if got := h.IDs(org+"/spaces", token); !cmp.Equal(got, spaces) {
			t.Errorf("spaces %v, want %v", got, spaces)
		}
		if slices.Contains(collections, inner) {
			if got := h.IDs("/v1/collections/"+inner+"/spaces", token); !cmp.Equal(got, []string{space}) {
				t.Errorf("spaces in the collection %v", got)
			}
		}
	}
	sees(guest, []string{}, []string{})
	sees(reader, []string{outer}, []string{h.Ours.Space.ID})
	team := h.Team(h.Ours, guestID)
	// A user gets a role, and a team gets a role. A member of the team has the higher of the two roles.
	h.Want(204, "POST", permissions, admin, map[string]any{"role": "edit", "users": []string{readerID, readerID}, "teams": []string{team}})
	h.Want(204, "POST", permissions, admin, map[string]any{"role": "comment", "users": []string{guestID}})
	sees(guest, []string{outer, inner}, []string{space})
	sees(reader, []string{outer, inner}, []string{h.Ours.Space.ID, space})
	for _, token := range []string{guest, reader} {
		if p := h.Want(200, "GET", "/v1/spaces/"+space, token, nil)["permissions"].(map[string]any); p["edit"] != true || p["review"] != false {
			t.Errorf("%v", p)
		}
	}
	users := shape.Want(t, shape.ListOf(apitest.UserPermissionShape), h.Do("GET", permissions+"/users", admin, nil).Body)
	if got := roles(users); !cmp.Equal(got, map[string]any{guestID: "comment", readerID: "edit"}) {
		t.Errorf("%v", got)
	}
	teams := shape.Want(t, shape.ListOf(apitest.TeamPermissionShape), h.Do("GET", permissions+"/teams", admin, nil).Body)
	given := teams["items"].([]any)[0].(map[string]any)
	if given["permission"] != "edit" || given["team"].(map[string]any)["spaces"] != 1.0 || teams["count"] != 1.0 {
		t.Errorf("%v", teams)
	}
	aggregate := func(collection, query string) map[string]any {
		a := h.Do("GET", "/v1/collections/"+collection+"/permissions/aggregate"+query, admin, nil)
		return roles(shape.Want(t, shape.ListOf(apitest.UserPermissionShape), a.Body))
	}
	want := map[string]any{}
	for role, user := range h.Ours.Users {
		want[user.ID] = string(role)
	}
	want[guestID], want[readerID] = "edit", "edit"
	if got := aggregate(outer, ""); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	closed := map[string]any{guestID: "edit", readerID: "edit", h.Ours.Users[schema.RoleAdmin].ID: "admin"}
	if got := aggregate(inner, "?limit=1000"); !cmp.Equal(got, closed) {
		t.Error(cmp.Diff(closed, got))
	}
	delete(closed, h.Ours.Users[schema.RoleAdmin].ID)
	if got := aggregate(inner, "?role=edit"); !cmp.Equal(got, closed) {
		t.Error(cmp.Diff(closed, got))
	}
	// The grants are first reduced and then revoked, in every possible way.
	h.Want(204, "PATCH", permissions+"/teams/"+team, admin, `{"role":"read"}`)
	if got := aggregate(inner, "?role=comment"); !cmp.Equal(got, map[string]any{guestID: "comment"}) {
		t.Error(got)
	}
	h.Want(204, "PATCH", permissions+"/users/"+guestID, admin, `{}`)
	h.Want(204, "PATCH", permissions+"/users/"+guestID, admin, `{"role":null}`)
	h.Want(404, "PATCH", permissions+"/users/"+guestID, admin, `{"role":"read"}`)
	sees(guest, []string{outer, inner}, []string{space})
	h.Want(204, "DELETE", permissions+"/teams/"+team, admin, nil)
	h.Want(204, "DELETE", permissions+"/teams/"+team, admin, nil)
	h.Want(404, "PATCH", permissions+"/teams/"+team, admin, `{"role":"read"}`)
	sees(guest, []string{}, []string{})
	h.Want(204, "POST", permissions, admin, map[string]any{"role": nil, "users": []string{readerID}})
	h.Want(204, "DELETE", permissions+"/users/"+readerID, admin, nil)
	sees(reader, []string{outer}, []string{h.Ours.Space.ID})
}

func roles(list map[string]any) map[string]any {
	byUser := map[string]any{}
	for _, item := range list["items"].([]any) {
		item := item.(map[string]any)
		byUser[item["user"].(map[string]any)["id"].(string)] = item["permission"]
	}
	return byUser
}

// TestGrantsStayInTheTenant names people and teams outside of the organization in grants. It checks that no one gets
// access.
func TestGrantsStayInTheTenant(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	reader, stranger, theirTeam := h.Ours.Users[schema.RoleRead].ID, h.Theirs.Users[schema.RoleRead].ID, h.Team(h.Theirs)
	for _, one := range []string{"/v1/collections/" + h.Collection(h.Ours, nil), "/v1/spaces/" + h.Ours.Space.ID} {
		path := one + "/permissions"
		for _, body := range []map[string]any{
			{"role": "read", "users": []string{reader, stranger}}, {"role": "read", "teams": []string{theirTeam}},
			{"role": "read", "users": []string{reader, "nobody"}}, {"role": nil, "users": []string{stranger}},
			{"role": "read", "users": []string{reader}, "teams": []string{"none"}},
		} {
			h.Want(404, "POST", path, admin, body)
		}
		for _, list := range []string{"/users", "/teams"} {
			if got := h.Want(200, "GET", path+list, admin, nil); got["count"] != 0.0 {
				t.Errorf("%v", got)
			}
		}
		editor := []string{h.Ours.Users[schema.RoleEdit].ID}
		h.Want(204, "POST", path, admin, map[string]any{"role": "read", "users": editor, "teams": []string{}})
		for _, body := range []string{
			`{}`, `{"role":"read"}`, `{"users":["x"]}`, `{"role":"read","users":[]}`,
			`{"role":"read","users":[],"teams":[]}`, `{"role":"guest","users":["x"]}`,
		} {
			h.Want(400, "POST", path, admin, body)
		}
		for _, list := range []string{"/users", "/teams", "/aggregate"} {
			h.Want(404, "GET", path+list, h.Theirs.Tokens[schema.RoleAdmin], nil)
			h.Want(400, "GET", path+list+"?page=x", admin, nil)
		}
		h.Want(400, "GET", path+"/aggregate?role=king", admin, nil)
	}
	h.Want(404, "GET", "/v1/collections/nothing/permissions/aggregate", admin, nil)
	h.Want(404, "GET", "/v1/spaces/nothing/permissions/aggregate", admin, nil)
}

// TestTransferCollection transfers a collection and everything in it to another organization.
func TestTransferCollection(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, reader := h.Ours.Tokens[schema.RoleAdmin], h.Ours.Users[schema.RoleRead].ID
	org := "/v1/orgs/" + h.Ours.Organization.ID
	outer := h.Collection(h.Ours, nil)
	inner := h.Collection(h.Ours, &outer)
	space := h.Want(201, "POST", org+"/spaces", admin, map[string]any{"parent": inner})["id"].(string)
	request, err := h.Store.CreateChangeRequest(t.Context(), store.NewChangeRequest{SpaceID: space, UserID: h.Ours.Users[schema.RoleAdmin].ID})
	if err != nil {
		t.Fatal(err)
	}
	h.Grant(h.Ours, outer, store.Subjects{Users: []string{reader}, Teams: []string{h.Team(h.Ours, reader)}}, "edit")
	invites := []string{}
	for name, id := range map[string]string{"collection": inner, "space": space} {
		made := h.Want(201, "POST", org+"/link-invites", admin, map[string]any{"level": "edit", name: id})
		invites = append(invites, made["id"].(string))
	}
	translation := h.Want(201, "POST", org+"/translations", admin, map[string]any{
		"source": map[string]any{"space": space, "language": "en"}, "language": "fr",
	})["id"].(string)
	target := h.Organization(h.Ours)
	transfer := func(collection, to string, status int) map[string]any {
		t.Helper()
		return h.Want(status, "POST", "/v1/collections/"+collection+"/transfer", admin, map[string]any{"organization": to})
	}
	transfer(outer, h.Ours.Organization.ID, 409)
	transfer(inner, target, 412)
	transfer(outer, h.Theirs.Organization.ID, 404)
	transfer(outer, "nowhere", 404)
	transfer("nothing", target, 404)
	if err := h.Store.Orgs.SetMember(
		t.Context(), h.Theirs.Organization.ID, h.Ours.Users[schema.RoleAdmin].ID, schema.RoleRead,
	); err != nil {
		t.Fatal(err)
	}
	transfer(outer, h.Theirs.Organization.ID, 403)
	site := h.Want(201, "POST", org+"/sites", admin, map[string]any{"spaces": []string{space}})["id"].(string)
	transfer(outer, target, 412)
	h.Want(204, "DELETE", org+"/sites/"+site, admin, nil)
	got := transfer(outer, target, 200)
	if got["organization"] != target || got["permissions"].(map[string]any)["admin"] != true {
		t.Errorf("%v", got)
	}
	for path, want := range map[string]string{"/v1/collections/" + inner: target, "/v1/spaces/" + space: target} {
		if got := h.Want(200, "GET", path, admin, nil); got["organization"] != want {
			t.Errorf("%s: %v", path, got["organization"])
		}
		h.Want(404, "GET", path, h.Ours.Tokens[schema.RoleRead], nil)
	}
	moved, err := h.Store.ChangeRequest(t.Context(), space, request.ID)
	if err != nil || moved.OrganizationID != target {
		t.Errorf("the change request is of %s, %v", moved.OrganizationID, err)
	}
	if got := h.IDs(org+"/collections", admin); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
	h.Want(404, "GET", org+"/translations/"+translation, admin, nil)
	h.Want(200, "GET", "/v1/orgs/"+target+"/translations/"+translation, admin, nil)
	for _, invite := range invites {
		for _, organization := range []string{org, "/v1/orgs/" + target} {
			h.Want(404, "POST", organization+"/invites/"+invite, h.Ours.Tokens[schema.RoleRead], nil)
			h.Want(404, "GET", organization+"/link-invites/"+invite, admin, nil)
		}
	}
	users := h.Want(200, "GET", "/v1/collections/"+outer+"/permissions/users", admin, nil)
	if got := roles(users); !cmp.Equal(got, map[string]any{h.Ours.Users[schema.RoleAdmin].ID: "admin"}) {
		t.Errorf("grants came along: %v", got)
	}
}

// TestTransferTakesContentAlong transfers a collection with a space. It then reads, searches and writes the content of
// the space.
func TestTransferTakesContentAlong(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, target, collection := h.Ours.Tokens[schema.RoleAdmin], h.Organization(h.Ours), h.Collection(h.Ours, nil)
	h.Exec("update spaces set parent_id = $2 where id = $1", h.Ours.Space.ID, collection)
	h.Want(204, "DELETE", "/v1/orgs/"+h.Ours.Organization.ID+"/sites/"+h.Ours.Site.ID+"/site-spaces/"+h.SiteSpace(h.Ours), admin, nil)
	page, file := `{"operation":"insert_page","title":"Wombats","document":{"markdown":"They dig."}}`, `{"operation":"insert_files","files":[{"name":"a.txt","base64":"aGVsbG8="}]}`
	merged := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleAdmin, merged.ID, page, file)
	h.MergeNow(merged.ID)
	h.RunJobs()
	open := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleAdmin, open.ID, `{"operation":"insert_page","title":"More","document":{"markdown":"They bite, too."}}`)
	h.Exec("update change_requests set cluster_id = 'left-behind' where id = $1", open.ID)
	invite, err := h.Store.Orgs.CreateLinkInvite(t.Context(), orgs.NewLinkInvite{
		OrganizationID: h.Ours.Organization.ID, UserID: h.Ours.Users[schema.RoleAdmin].ID, CollectionID: &collection,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Want(200, "POST", "/v1/collections/"+collection+"/transfer", admin, map[string]any{"organization": target})
	if _, known := h.Want(200, "GET", h.RequestPath(open.ID), admin, nil)["conversationsIssuesCluster"]; known {
		t.Error("the change request names a cluster of another organization")
	}
	h.MergeNow(open.ID)
	space := "/v1/spaces/" + h.Ours.Space.ID
	for path, text := range map[string]string{"wombats": "They dig.", "more": "They bite, too."} {
		got := h.Want(200, "GET", space+"/content/path/"+path+"?format=markdown", admin, nil)
		if markdown, _ := got["markdown"].(string); !strings.Contains(markdown, text) {
			t.Errorf("%s: %v", path, got)
		}
	}
	revision := apitest.Decode[schema.Revision](h, h.Do("GET", space+"/content", admin, nil))
	address := strings.TrimPrefix(revision.Files[0].DownloadURL, "https://docs.example.com/base")
	if a := h.Do("GET", address, "", nil); a.Status != 200 || string(a.Body) != "hello" {
		t.Errorf("%s: %d %s", address, a.Status, a.Body)
	}
	h.RunJobs()
	for organization, want := range map[string]float64{target: 1, h.Ours.Organization.ID: 0} {
		for _, word := range []string{"dig", "bite"} {
			if got := h.Want(200, "GET", "/v1/orgs/"+organization+"/search?query="+word, admin, nil)["count"]; got != want {
				t.Errorf("%s: %s is found in %v spaces, want %v", organization, word, got, want)
			}
		}
	}
	back := "/v1/collections/" + collection + "/transfer"
	h.Want(200, "POST", back, admin, map[string]any{"organization": h.Ours.Organization.ID})
	h.Want(404, "GET", "/v1/orgs/"+h.Ours.Organization.ID+"/link-invites/"+invite.ID, admin, nil)
}

// TestTransferKnowsEveryTable finds every table that has a column for the organization of a space's data. The transfer
// of a collection must update all of these tables.
func TestTransferKnowsEveryTable(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), storetest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), `select distinct k.conrelid::regclass::text
		from pg_constraint k join pg_attribute o on o.attrelid = k.conrelid and o.attname = 'organization_id'
		where k.contype = 'f' and k.confrelid in ('spaces'::regclass, 'collections'::regclass) order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"change_requests", "collections", "grants", "link_invites", "spaces", "translations"}
	if diff := cmp.Diff(known, tables); diff != "" {
		t.Errorf("store.TransferCollection must take them along, or away: %s", diff)
	}
}

// TestMoveCollection covers every possible response to a move.
func TestMoveCollection(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	a, b, c := h.Collection(h.Ours, nil), h.Collection(h.Ours, nil), h.Collection(h.Ours, nil)
	inner := h.Collection(h.Ours, &a)
	foreign := h.Collection(h.Theirs, nil)
	point := func(kind, id string) map[string]any { return map[string]any{"type": kind, kind: id} }
	position := func(members ...any) map[string]any {
		p := map[string]any{}
		for i := 0; i < len(members); i += 2 {
			p[members[i].(string)] = members[i+1]
		}
		return map[string]any{"position": p}
	}
	move := func(collection string, body any, status int) map[string]any {
		t.Helper()
		return h.Want(status, "POST", "/v1/collections/"+collection+"/move", admin, body)
	}
	top := func(want ...string) {
		t.Helper()
		if got := h.IDs("/v1/orgs/"+h.Ours.Organization.ID+"/collections?nested=false", admin); !cmp.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
	}
	space := h.Ours.Space.ID // the space is the first item at the top level
	move(c, position("before", point("space", space)), 200)
	top(c, a, b)
	move(c, position("before", point("space", space)), 409)
	move(c, position("after", point("collection", b)), 200)
	top(a, b, c)
	move(c, `{"parent":null}`, 409)
	move(c, position("after", point("collection", a), "before", point("collection", b)), 200)
	top(a, c, b)
	move(b, position("after", point("space", space), "before", point("collection", a)), 200)
	top(b, a, c)
	for name, body := range map[string]any{
		"empty": `{}`, "no type": `{"position":{"before":{"space":"x"}}}`, "odd type": `{"position":{"before":{"type":"page","page":"x"}}}`,
		"no id": `{"position":{"before":{"type":"space"}}}`, "unknown": position("before", point("space", "nothing")),
		"itself": position("before", point("collection", b)), "elsewhere": position("after", point("collection", inner)),
		"foreign": position("after", point("space", h.Theirs.Space.ID)), "wrong type": position("after", point("space", a)),
		"apart": position("after", point("space", space), "before", point("collection", c)), "into itself": map[string]any{"parent": b},
	} {
		if e := move(b, body, 400); e["error"].(map[string]any)["details"] == nil {
			t.Errorf("%s: no details", name)
		}
	}
	move(a, map[string]any{"parent": inner}, 400)
	move(a, map[string]any{"parent": foreign}, 404)
	move(a, map[string]any{"parent": "nothing"}, 404)
	move("nothing", map[string]any{"parent": a}, 404)
	if got := move(b, map[string]any{"parent": a, "position": map[string]any{"before": point("collection", inner)}}, 200); got["parent"] != a {
		t.Errorf("%v", got)
	}
	top(a, c)
	deep := c
	for range store.MaxNesting - 1 {
		deep = h.Collection(h.Ours, &deep)
	}
	move(inner, map[string]any{"parent": deep}, 400)
	h.Want(400, "POST", "/v1/orgs/"+h.Ours.Organization.ID+"/collections", admin, map[string]any{"parent": deep})
	// A right on the collection gives no right on its new parent.
	editor := h.Ours.Users[schema.RoleEdit]
	h.Grant(h.Ours, c, store.Subjects{Users: []string{editor.ID}}, schema.RoleAdmin)
	h.Want(403, "POST", "/v1/collections/"+c+"/move", h.Ours.Tokens[schema.RoleEdit], map[string]any{"parent": a})
	h.Want(403, "POST", "/v1/collections/"+deep+"/move", h.Ours.Tokens[schema.RoleEdit], `{"parent":null}`)
}

// TestCreateInParents checks which rights a user needs to create content in each kind of parent.
func TestCreateInParents(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	guest := h.Ours.Tokens[schema.RoleGuest]
	open, closed, foreign := h.Collection(h.Ours, nil), h.Collection(h.Ours, nil), h.Collection(h.Theirs, nil)
	h.Grant(h.Ours, open, store.Subjects{Users: []string{h.Ours.Users[schema.RoleGuest].ID}}, schema.RoleCreate)
	h.Grant(h.Ours, closed, store.Subjects{Users: []string{h.Ours.Users[schema.RoleGuest].ID}}, schema.RoleReview)
	for _, kind := range []string{"spaces", "collections"} {
		path := "/v1/orgs/" + h.Ours.Organization.ID + "/" + kind
		made := h.Want(201, "POST", path, guest, map[string]any{"parent": open})
		if made["parent"] != open || made["permissions"].(map[string]any)["view"] != true {
			t.Errorf("%v", made)
		}
		h.Want(403, "POST", path, guest, map[string]any{"parent": closed})
		h.Want(403, "POST", path, guest, `{}`)
		for _, token := range []string{guest, h.Ours.Tokens[schema.RoleAdmin]} {
			for _, parent := range []string{foreign, "nothing", "a b"} {
				h.Want(400, "POST", path, token, map[string]any{"parent": parent})
			}
		}
	}
}

// TestPagesOfOrderedLists reads the pages of lists that are sorted by more than the id.
func TestPagesOfOrderedLists(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	org := "/v1/orgs/" + h.Ours.Organization.ID
	parent := h.Collection(h.Ours, nil)
	for i := range 7 {
		h.Collection(h.Ours, &parent)
		h.Want(201, "POST", org+"/spaces", admin, map[string]any{"parent": parent})
		h.Member(h.Ours, schema.RoleRead)
		h.Want(201, "PUT", org+"/teams", admin, map[string]any{"title": fmt.Sprint("Writers ", 7-i)})
	}
	h.Want(200, "POST", org+"/ping", h.Ours.Tokens[schema.RoleEdit], nil)
	for _, path := range []string{
		org + "/collections", "/v1/collections/" + parent + "/spaces", org + "/members", org + "/members?order=asc",
		org + "/members?sort=lastSeenAt", org + "/members?sort=lastSeenAt&order=asc", org + "/teams",
	} {
		join := "?"
		if path[len(path)-3:] == "asc" || path[len(path)-2:] == "At" {
			join = "&"
		}
		all := h.IDs(path, admin)
		if len(all) < 7 {
			t.Errorf("%s: %d", path, len(all))
		}
		for _, size := range []int{1, 3, 100} {
			var walked []string
			for page := ""; ; {
				list := h.Want(200, "GET", fmt.Sprintf("%s%slimit=%d&page=%s", path, join, size, page), admin, nil)
				for _, item := range list["items"].([]any) {
					walked = append(walked, item.(map[string]any)["id"].(string))
				}
				if list["count"] != float64(len(all)) {
					t.Errorf("%s: count %v of %d", path, list["count"], len(all))
				}
				next, ok := list["next"].(map[string]any)
				if !ok {
					break
				}
				page = next["page"].(string)
			}
			if !cmp.Equal(walked, all) {
				t.Errorf("%s by %d: %s", path, size, cmp.Diff(all, walked))
			}
		}
	}
	// A page token with changed keys is refused, whatever the keys are.
	collections := fmt.Sprintf("collections %s %t", h.Ours.Organization.ID, true)
	for _, key := range []string{"x", "", "NaN", "1e5", "99999999999999999999999"} {
		for path, token := range map[string]string{
			org + "/collections?page=":         schema.PageToken(collections, key, "1", "x"),
			org + "/collections?limit=2&page=": schema.PageToken(collections, "1", key, "x"),
			// this token has the old format, without the depth
			org + "/collections?nested=true&page=": schema.PageToken(collections, key, "x"),
			org + "/members?page=":                 schema.PageToken(fmt.Sprintf("members %s %q %q %t %t", h.Ours.Organization.ID, "", "", false, false), key, "x"),
		} {
			h.WantError(h.Do("GET", path+token, admin, nil), http.StatusBadRequest)
		}
	}
}
