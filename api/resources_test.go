package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

func TestUserResource(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	a := h.Do("GET", "/v1/user", h.Ours.Tokens[schema.RoleRead], nil)
	got := shape.Want(t, shape.User, a.Body)
	user := h.Ours.Users[schema.RoleRead]
	want := map[string]any{
		"object": "user", "id": user.ID, "displayName": "ours-read", "email": "ours-read@example.com",
		"urls": map[string]any{"location": "https://docs.example.com/base/v1/users/" + user.ID},
	}
	if diff := cmp.Diff(want, got); diff != "" || a.Status != 200 {
		t.Errorf("%d %s", a.Status, diff)
	}
}

// TestCreateReadList creates a resource of each kind in several ways. It then finds the resource by its address and in
// its list.
func TestCreateReadList(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	org := "/v1/orgs/" + h.Ours.Organization.ID
	long := strings.Repeat("é", 128)
	for _, test := range []struct {
		name, path string
		body       any
		shape      shape.Of
		want       map[string]any
		// read is the path of the resources, without the id.
		read string
	}{
		{"organization", "/v1/orgs", `{"title":"Acme"}`, shape.Organization,
			map[string]any{"title": "Acme", "emailDomains": []any{}}, "/v1/orgs/"},
		{"organization with all", "/v1/orgs", `{"title":" a b ","emailDomains":["acme.test"],"extra":{"ignored":[1]},
			"onboardingPreferences":{"source":null,"audience":"public","interests":["api-docs"]}}`, shape.Organization,
			map[string]any{"title": " a b ", "emailDomains": []any{"acme.test"}}, "/v1/orgs/"},
		{"site without a body", org + "/sites", nil, shape.Site,
			map[string]any{"title": "Untitled site", "type": "basic", "visibility": "public", "siteSpaces": 0.0, "published": false}, org + "/sites/"},
		{"site of nulls", org + "/sites", `{"title":null,"type":null,"visibility":null,"spaces":null}`, shape.Site,
			map[string]any{"title": "Untitled site", "siteSpaces": 0.0}, org + "/sites/"},
		{"site with all", org + "/sites", map[string]any{
			"title": long, "type": "ultimate", "visibility": "share-link", "spaces": []string{h.Ours.Space.ID},
		}, shape.Site, map[string]any{"title": long, "type": "ultimate", "visibility": "share-link", "siteSpaces": 1.0}, org + "/sites/"},
		{"space without a body", org + "/spaces", nil, shape.Space,
			map[string]any{"title": "Untitled", "organization": h.Ours.Organization.ID, "editMode": "live", "defaultLevel": "inherit"}, "/v1/spaces/"},
		{"space with all", org + "/spaces", `{"title":"Guide","emoji":"🚀","language":"pt-br","editMode":"locked","empty":true}`, shape.Space,
			map[string]any{"title": "Guide", "emoji": "🚀", "language": "pt-br", "editMode": "locked"}, "/v1/spaces/"},
	} {
		a := h.Do("POST", test.path, admin, test.body)
		if a.Status != http.StatusCreated {
			t.Errorf("%s: %d %s", test.name, a.Status, a.Body)
			continue
		}
		made := shape.Want(t, test.shape, a.Body)
		for member, want := range test.want {
			if diff := cmp.Diff(want, made[member]); diff != "" {
				t.Errorf("%s: %s: %s", test.name, member, diff)
			}
		}
		location := made["urls"].(map[string]any)["location"].(string)
		if a.Header.Get("Location") != location {
			t.Errorf("%s: Location %q, urls.location %q", test.name, a.Header.Get("Location"), location)
		}
		path, _ := strings.CutPrefix(location, "https://docs.example.com/base")
		if path != test.read+made["id"].(string) {
			t.Errorf("%s: location %s", test.name, location)
		}
		read := h.Do("GET", path, admin, nil)
		if diff := cmp.Diff(made, shape.Want(t, test.shape, read.Body)); diff != "" || read.Status != 200 {
			t.Errorf("%s: read %d %s", test.name, read.Status, diff)
		}
		listed := shape.Want(t, shape.ListOf(test.shape), h.Do("GET", test.path+"?limit=1000", admin, nil).Body)
		found := false
		for _, item := range listed["items"].([]any) {
			found = found || cmp.Equal(item, any(made))
		}
		if !found {
			t.Errorf("%s: the list does not have it as it was made", test.name)
		}
		if listed["count"] != float64(len(listed["items"].([]any))) {
			t.Errorf("%s: count %v of %d", test.name, listed["count"], len(listed["items"].([]any)))
		}
	}
}

// TestPermissionsFollowTheRole checks that an answer's permission booleans are what package view returns for the
// caller's role.
func TestPermissionsFollowTheRole(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for _, role := range schema.Roles() {
		rights := access.RightsOf(access.Access{Role: role})
		content := postgres.ContentAccess{Role: role, Level: schema.LevelInherit}
		for path, want := range map[string]any{
			"/v1/orgs/" + h.Ours.Organization.ID: view.OrganizationPermissions(rights),
			"/v1/spaces/" + h.Ours.Space.ID:      view.SpacePermissions(content),
		} {
			var got struct {
				Permissions json.RawMessage `json:"permissions"`
			}
			if err := json.Unmarshal(h.Do("GET", path, h.Ours.Tokens[role], nil).Body, &got); err != nil {
				t.Fatal(err)
			}
			if encoded, _ := json.Marshal(want); string(encoded) != string(got.Permissions) {
				t.Errorf("%s as %s: %s, want %s", path, role, got.Permissions, encoded)
			}
		}
	}
}

func TestContentLevelDecides(t *testing.T) {
	t.Parallel()
	level := func(l schema.Level) *schema.Level { return &l }
	for _, test := range []struct {
		role  schema.Role
		level *schema.Level
		want  schema.Role
		any   bool
	}{
		{schema.RoleEdit, nil, schema.RoleEdit, true},
		{schema.RoleGuest, nil, schema.RoleGuest, true},
		{schema.RoleEdit, level(schema.LevelInherit), schema.RoleEdit, true},
		{schema.RoleEdit, level("read"), schema.RoleRead, true},
		{schema.RoleRead, level("create"), schema.RoleCreate, true},
		{schema.RoleAdmin, level("read"), schema.RoleAdmin, true},
		{schema.RoleAdmin, level(""), schema.RoleAdmin, true},
		{schema.RoleCreate, level(""), "", false},
		{schema.RoleGuest, level(schema.LevelInherit), "", false},
		{schema.RoleGuest, level("admin"), "", false},
	} {
		got := access.RightsOf(access.Access{Role: test.role, Level: test.level})
		want := access.Rights(0)
		if test.any {
			want = access.RightsOf(access.Access{Role: test.want})
		}
		if got != want {
			t.Errorf("%+v: %b, want %b", test, got, want)
		}
	}
}

// TestHiddenSpace removes the members' access to a space. The space then exists only for admins, and all others get
// 404.
func TestHiddenSpace(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.CloseSpace(h.Ours.Space.ID)
	list := "/v1/orgs/" + h.Ours.Organization.ID + "/spaces"
	for role, status := range map[schema.Role]int{schema.RoleAdmin: 200, schema.RoleCreate: 404, schema.RoleGuest: 404} {
		if a := h.Do("GET", "/v1/spaces/"+h.Ours.Space.ID, h.Ours.Tokens[role], nil); a.Status != status {
			t.Errorf("%q: %d", role, a.Status)
		}
	}
	for role, want := range map[schema.Role]float64{schema.RoleAdmin: 1, schema.RoleCreate: 0} {
		if got := shape.Want(t, shape.ListOf(shape.Space), h.Do("GET", list, h.Ours.Tokens[role], nil).Body); got["count"] != want {
			t.Errorf("%q lists %v", role, got["count"])
		}
	}
}

func TestSiteFilters(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, path := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID+"/sites"
	for _, body := range []string{`{"title":"100%_Done","type":"premium"}`, `{"title":"Über uns","type":"ultimate"}`} {
		if a := h.Do("POST", path, admin, body); a.Status != 201 {
			t.Fatal(string(a.Body))
		}
	}
	h.Exec("update sites set published = true where title = 'Über uns'")
	for query, want := range map[string][]string{
		"":                               {"Docs", "100%_Done", "Über uns"},
		"?title=über":                    {"Über uns"},
		"?title=%25_":                    {"100%_Done"},
		"?title=nothing":                 {},
		"?published=true":                {"Über uns"},
		"?published=false":               {"Docs", "100%_Done"},
		"?type=premium":                  {"100%_Done"},
		"?type=premium&type=ultimate":    {"100%_Done", "Über uns"},
		"?type=premium,ultimate":         {"100%_Done", "Über uns"},
		"?space=" + h.Ours.Space.ID:      {"Docs"},
		"?space=" + h.Theirs.Space.ID:    {},
		"?type=basic&published=true":     {},
		"?limit=0":                       {},
		"?unknown=1&title=100":           {"100%_Done"},
		"?title=docs&space=%27%20or%201": {},
	} {
		a := h.Do("GET", path+query, admin, nil)
		got := shape.Want(t, shape.ListOf(shape.Site), a.Body)
		titles := []string{}
		for _, item := range got["items"].([]any) {
			titles = append(titles, item.(map[string]any)["title"].(string))
		}
		if diff := cmp.Diff(want, titles); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		if query != "?limit=0" && got["count"] != float64(len(want)) {
			t.Errorf("%s: count %v", query, got["count"])
		}
	}
}

// TestBadInput sends bad values in bodies and queries. The server refuses each request and stores nothing.
func TestBadInput(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	org := "/v1/orgs/" + h.Ours.Organization.ID
	// Get the paths before the test counts rows, because some examples create objects.
	empty := map[string]bool{}
	for _, op := range api.Table().Operations {
		if op.BodyLimit > 0 && !optionalBody(op) {
			path, _ := h.Example(&op, h.Ours)
			empty[op.Method+" "+path] = true
		}
	}
	collection := h.Collection(h.Ours, nil)
	before := h.Rows()
	for _, test := range []struct {
		method, path string
		body         any
		field        string
	}{
		{"POST", "/v1/orgs", `{}`, "title"},
		{"POST", "/v1/orgs", `{"title":null}`, "title"},
		{"POST", "/v1/orgs", `{"Title":"case matters"}`, "title"},
		{"POST", "/v1/orgs", `{"title":"a"}`, "title"},
		{"POST", "/v1/orgs", `{"title":"    "}`, "title"},
		{"POST", "/v1/orgs", `{"title":"a\u0000b"}`, "title"},
		{"POST", "/v1/orgs", `{"title":"` + strings.Repeat("x", 256) + `"}`, "title"},
		{"POST", "/v1/orgs", `{"title":5}`, "title"},
		{"POST", "/v1/orgs", `{"title":["Acme"]}`, "title"},
		{"POST", "/v1/orgs", `{"title":"Acme","title":"Acme"}`, "title"},
		{"POST", "/v1/orgs", `{"title":"Acme","emailDomains":"acme.test"}`, "emailDomains"},
		{"POST", "/v1/orgs", `{"title":"Acme","emailDomains":["ok.test",3]}`, "emailDomains[1]"},
		{"POST", "/v1/orgs", `{"title":"Acme","emailDomains":[""]}`, "emailDomains[0]"},
		{"POST", "/v1/orgs", map[string]any{"title": "Acme", "emailDomains": make([]string, 101)}, "emailDomains"},
		{"POST", "/v1/orgs", `{"title":"Acme","onboardingPreferences":7}`, "onboardingPreferences"},
		{"POST", "/v1/orgs", `{"title":"Acme","onboardingPreferences":{"source":"x"}}`, "onboardingPreferences.source"},
		{"POST", "/v1/orgs", `{"title":"Acme","onboardingPreferences":{"audience":true}}`, "onboardingPreferences.audience"},
		{"POST", "/v1/orgs", `{"title":"Acme","onboardingPreferences":{"interests":["api-docs","x"]}}`, "onboardingPreferences.interests[1]"},
		{"POST", "/v1/orgs", `[]`, ""},
		{"POST", "/v1/orgs", `"x"`, ""},
		{"POST", "/v1/orgs", `{"title":"Acme"`, ""},
		{"POST", "/v1/orgs", `{"title":"Acme"}}`, ""},
		{"POST", "/v1/orgs", `{"title":"Acme\ud800"}`, "title"},
		{"POST", org + "/collections", `{"title":""}`, "title"},
		{"POST", org + "/spaces", `{"title":""}`, "title"},
		{"PATCH", "/v1/collections/" + collection, `{"title":""}`, "title"},
		{"PATCH", "/v1/spaces/" + h.Ours.Space.ID, `{"title":""}`, "title"},
		{"POST", org + "/sites", `{"type":"huge"}`, "type"},
		{"POST", org + "/sites", `{"type":1}`, "type"},
		{"POST", org + "/sites", `{"title":""}`, "title"},
		{"POST", org + "/sites", `{"title":"x"}`, "title"},
		{"POST", org + "/sites", `{"title":{}}`, "title"},
		{"POST", org + "/sites", `{"title":"` + strings.Repeat("é", 129) + `"}`, "title"},
		{"POST", org + "/sites", `{"visibility":"private"}`, "visibility"},
		{"POST", org + "/sites", `{"visibility":[]}`, "visibility"},
		{"POST", org + "/sites", `{"spaces":"` + h.Ours.Space.ID + `"}`, "spaces"},
		{"POST", org + "/sites", `{"spaces":[null]}`, "spaces[0]"},
		{"POST", org + "/sites", `{"spaces":["` + h.Ours.Space.ID + `","` + h.Ours.Space.ID + `"]}`, "spaces[1]"},
		{"POST", org + "/sites", `{"spaces":["` + h.Ours.Space.ID + `","` + h.Theirs.Space.ID + `"]}`, "spaces[1]"},
		{"POST", org + "/sites", map[string]any{"spaces": make([]string, 1001)}, "spaces"},
		{"POST", org + "/spaces", `{"title":"` + strings.Repeat("x", 51) + `"}`, "title"},
		{"POST", org + "/spaces", `{"title":1.5}`, "title"},
		{"POST", org + "/spaces", `{"emoji":"` + strings.Repeat("x", 51) + `"}`, "emoji"},
		{"POST", org + "/spaces", `{"emoji":false}`, "emoji"},
		{"POST", org + "/spaces", `{"language":"tlh"}`, "language"},
		{"POST", org + "/spaces", `{"language":{}}`, "language"},
		{"POST", org + "/spaces", `{"editMode":"dead"}`, "editMode"},
		{"POST", org + "/spaces", `{"editMode":0}`, "editMode"},
		{"POST", org + "/spaces", `{"parent":"nowhere"}`, "parent"},
		{"POST", org + "/spaces", `{"parent":[]}`, "parent"},
		{"POST", org + "/spaces", `{"empty":false}`, "empty"},
		{"POST", org + "/spaces", `{"empty":"yes"}`, "empty"},
		{"POST", org + "/spaces", `{"template":{"id":"x"}}`, "template.id"},
		{"POST", org + "/spaces", `{"template":"x"}`, "template"},
		{"POST", org + "/spaces", `{"computedSource":{"type":"x"}}`, "computedSource"},
		{"GET", "/v1/orgs?limit=-1", nil, "limit"},
		{"GET", "/v1/orgs?limit=1001", nil, "limit"},
		{"GET", "/v1/orgs?limit=1.5", nil, "limit"},
		{"GET", "/v1/orgs?limit=%2B5", nil, "limit"},
		{"GET", "/v1/orgs?limit=", nil, "limit"},
		{"GET", "/v1/orgs?limit=99999999999999999999", nil, "limit"},
		{"GET", "/v1/orgs?limit=1&limit=2", nil, "limit"},
		{"GET", "/v1/orgs?page=x", nil, "page"},
		{"GET", "/v1/orgs?page=%00", nil, "page"},
		{"GET", "/v1/orgs?page=" + schema.PageToken("other list", "x"), nil, "page"},
		{"GET", "/v1/orgs?page=" + schema.PageToken("orgs"), nil, "page"},
		{"GET", org + "/sites?published=yes", nil, "published"},
		{"GET", org + "/sites?type=huge", nil, "type"},
		{"GET", org + "/sites?title=%ff", nil, "title"},
		{"GET", org + "/sites?space=%00", nil, "space"},
		{"GET", org + "/spaces?limit=x", nil, "limit"},
	} {
		a := h.Do(test.method, test.path, admin, test.body)
		e := h.WantError(a, http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != test.field || e.Details[0].Problem == "" {
			t.Errorf("%s %s %v: want a detail on %q, got %s", test.method, test.path, test.body, test.field, a.Body)
		}
	}
	for call := range empty {
		method, path, _ := strings.Cut(call, " ")
		h.WantError(h.Do(method, path, admin, ""), http.StatusBadRequest)
	}
	if after := h.Rows(); !cmp.Equal(before, after) {
		t.Errorf("rows were stored: %s", cmp.Diff(before, after))
	}
}

func optionalBody(op frame.Operation) bool {
	for i := range op.Handler.Request.NumField() {
		if strings.HasSuffix(op.Handler.Request.Field(i).Tag.Get("body"), ",optional") {
			return true
		}
	}
	return false
}

// TestOrganizationsAreTheCallersOwn lists organizations as a user with one organization, a user without any, and a user
// of another organization.
func TestOrganizationsAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	_, loner := storetest.User(t, h.Store, "loner")
	for token, want := range map[string][]string{
		h.Ours.Tokens[schema.RoleGuest]: {h.Ours.Organization.ID}, h.Theirs.Tokens[schema.RoleRead]: {h.Theirs.Organization.ID}, loner: {},
	} {
		got := shape.Want(t, shape.ListOf(shape.Organization), h.Do("GET", "/v1/orgs", token, nil).Body)
		ids := []string{}
		for _, item := range got["items"].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Error(diff)
		}
	}
}
