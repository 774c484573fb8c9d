package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

func TestUserResource(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := h.do("GET", "/v1/user", h.ours.Tokens[schema.RoleRead], nil)
	got := wantShape(t, userShape, a.body)
	user := h.ours.Users[schema.RoleRead]
	want := map[string]any{
		"object": "user", "id": user.ID, "displayName": "ours-read", "email": "ours-read@example.com",
		"urls": map[string]any{"location": "https://docs.example.com/base/v1/users/" + user.ID},
	}
	if diff := cmp.Diff(want, got); diff != "" || a.status != 200 {
		t.Errorf("%d %s", a.status, diff)
	}
}

// TestCreateReadList creates one of each resource in several ways, and finds the same thing by its address and in its list.
func TestCreateReadList(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	org := "/v1/orgs/" + h.ours.Organization.ID
	long := strings.Repeat("é", 128)
	for _, test := range []struct {
		name, path string
		body       any
		shape      shape
		want       map[string]any
		// lists says that the collection's path also lists.
		read string
	}{
		{"organization", "/v1/orgs", `{"title":"Acme"}`, organizationShape,
			map[string]any{"title": "Acme", "emailDomains": []any{}}, "/v1/orgs/"},
		{"organization with all", "/v1/orgs", `{"title":" a b ","emailDomains":["acme.test"],"extra":{"ignored":[1]},
			"onboardingPreferences":{"source":null,"audience":"public","interests":["api-docs"]}}`, organizationShape,
			map[string]any{"title": " a b ", "emailDomains": []any{"acme.test"}}, "/v1/orgs/"},
		{"site without a body", org + "/sites", nil, siteShape,
			map[string]any{"title": "Untitled site", "type": "basic", "visibility": "public", "siteSpaces": 0.0, "published": false}, org + "/sites/"},
		{"site of nulls", org + "/sites", `{"title":null,"type":null,"visibility":null,"spaces":null}`, siteShape,
			map[string]any{"title": "Untitled site", "siteSpaces": 0.0}, org + "/sites/"},
		{"site with all", org + "/sites", map[string]any{
			"title": long, "type": "ultimate", "visibility": "share-link", "spaces": []string{h.ours.Space.ID},
		}, siteShape, map[string]any{"title": long, "type": "ultimate", "visibility": "share-link", "siteSpaces": 1.0}, org + "/sites/"},
		{"space without a body", org + "/spaces", nil, spaceShape,
			map[string]any{"title": "Untitled", "organization": h.ours.Organization.ID, "editMode": "live", "defaultLevel": "inherit"}, "/v1/spaces/"},
		{"space with all", org + "/spaces", `{"title":"Guide","emoji":"🚀","language":"pt-br","editMode":"locked","empty":true}`, spaceShape,
			map[string]any{"title": "Guide", "emoji": "🚀", "language": "pt-br", "editMode": "locked"}, "/v1/spaces/"},
	} {
		a := h.do("POST", test.path, admin, test.body)
		if a.status != http.StatusCreated {
			t.Errorf("%s: %d %s", test.name, a.status, a.body)
			continue
		}
		made := wantShape(t, test.shape, a.body)
		for member, want := range test.want {
			if diff := cmp.Diff(want, made[member]); diff != "" {
				t.Errorf("%s: %s: %s", test.name, member, diff)
			}
		}
		location := made["urls"].(map[string]any)["location"].(string)
		if a.header.Get("Location") != location {
			t.Errorf("%s: Location %q, urls.location %q", test.name, a.header.Get("Location"), location)
		}
		path, _ := strings.CutPrefix(location, "https://docs.example.com/base")
		if path != test.read+made["id"].(string) {
			t.Errorf("%s: location %s", test.name, location)
		}
		read := h.do("GET", path, admin, nil)
		if diff := cmp.Diff(made, wantShape(t, test.shape, read.body)); diff != "" || read.status != 200 {
			t.Errorf("%s: read %d %s", test.name, read.status, diff)
		}
		listed := wantShape(t, listShape(test.shape), h.do("GET", test.path+"?limit=1000", admin, nil).body)
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

// TestPermissionsFollowTheRole compares the booleans with the one function that enforces them.
func TestPermissionsFollowTheRole(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, role := range schema.Roles() {
		rights := RightsOf(Access{Role: role})
		for path, want := range map[string]any{
			"/v1/orgs/" + h.ours.Organization.ID: organizationPermissions(rights),
			"/v1/spaces/" + h.ours.Space.ID:      spacePermissions(rights),
		} {
			var got struct {
				Permissions json.RawMessage `json:"permissions"`
			}
			if err := json.Unmarshal(h.do("GET", path, h.ours.Tokens[role], nil).body, &got); err != nil {
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
		got := RightsOf(Access{Role: test.role, Level: test.level})
		want := Rights(0)
		if test.any {
			want = RightsOf(Access{Role: test.want})
		}
		if got != want {
			t.Errorf("%+v: %b, want %b", test, got, want)
		}
	}
}

// TestHiddenSpace takes the members' access to a space away: it is then gone for all but admins.
func TestHiddenSpace(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.exec("update spaces set default_level = null where id = $1", h.ours.Space.ID)
	list := "/v1/orgs/" + h.ours.Organization.ID + "/spaces"
	for role, status := range map[schema.Role]int{schema.RoleAdmin: 200, schema.RoleCreate: 404, schema.RoleGuest: 404} {
		if a := h.do("GET", "/v1/spaces/"+h.ours.Space.ID, h.ours.Tokens[role], nil); a.status != status {
			t.Errorf("%q: %d", role, a.status)
		}
	}
	for role, want := range map[schema.Role]float64{schema.RoleAdmin: 1, schema.RoleCreate: 0} {
		if got := wantShape(t, listShape(spaceShape), h.do("GET", list, h.ours.Tokens[role], nil).body); got["count"] != want {
			t.Errorf("%q lists %v", role, got["count"])
		}
	}
}

func TestSiteFilters(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin, path := h.ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.ours.Organization.ID+"/sites"
	for _, body := range []string{`{"title":"100%_Done","type":"premium"}`, `{"title":"Über uns","type":"ultimate"}`} {
		if a := h.do("POST", path, admin, body); a.status != 201 {
			t.Fatal(string(a.body))
		}
	}
	h.exec("update sites set published = true where title = 'Über uns'")
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
		"?space=" + h.ours.Space.ID:      {"Docs"},
		"?space=" + h.theirs.Space.ID:    {},
		"?type=basic&published=true":     {},
		"?limit=0":                       {},
		"?unknown=1&title=100":           {"100%_Done"},
		"?title=docs&space=%27%20or%201": {},
	} {
		a := h.do("GET", path+query, admin, nil)
		got := wantShape(t, listShape(siteShape), a.body)
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

// TestBadInput has every member of every body and query with what is wrong about it. Nothing may be stored by any of them.
func TestBadInput(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	admin := h.ours.Tokens[schema.RoleAdmin]
	org := "/v1/orgs/" + h.ours.Organization.ID
	// The paths first: some of them are of objects that are made for them.
	empty := map[string]bool{}
	for _, op := range TheTable().Operations {
		if op.BodyLimit > 0 && !optionalBody(op) {
			path, _ := h.example(&op, h.ours)
			empty[op.Method+" "+path] = true
		}
	}
	collection := h.collection(h.ours, nil)
	before := h.rows()
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
		{"PATCH", "/v1/spaces/" + h.ours.Space.ID, `{"title":""}`, "title"},
		{"POST", org + "/sites", `{"type":"huge"}`, "type"},
		{"POST", org + "/sites", `{"type":1}`, "type"},
		{"POST", org + "/sites", `{"title":""}`, "title"},
		{"POST", org + "/sites", `{"title":"x"}`, "title"},
		{"POST", org + "/sites", `{"title":{}}`, "title"},
		{"POST", org + "/sites", `{"title":"` + strings.Repeat("é", 129) + `"}`, "title"},
		{"POST", org + "/sites", `{"visibility":"private"}`, "visibility"},
		{"POST", org + "/sites", `{"visibility":[]}`, "visibility"},
		{"POST", org + "/sites", `{"spaces":"` + h.ours.Space.ID + `"}`, "spaces"},
		{"POST", org + "/sites", `{"spaces":[null]}`, "spaces[0]"},
		{"POST", org + "/sites", `{"spaces":["` + h.ours.Space.ID + `","` + h.ours.Space.ID + `"]}`, "spaces[1]"},
		{"POST", org + "/sites", `{"spaces":["` + h.ours.Space.ID + `","` + h.theirs.Space.ID + `"]}`, "spaces[1]"},
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
		a := h.do(test.method, test.path, admin, test.body)
		e := h.wantError(a, http.StatusBadRequest)
		if len(e.Details) == 0 || e.Details[0].Field != test.field || e.Details[0].Problem == "" {
			t.Errorf("%s %s %v: want a detail on %q, got %s", test.method, test.path, test.body, test.field, a.body)
		}
	}
	for call := range empty {
		method, path, _ := strings.Cut(call, " ")
		h.wantError(h.do(method, path, admin, ""), http.StatusBadRequest)
	}
	if after := h.rows(); !cmp.Equal(before, after) {
		t.Errorf("rows were stored: %s", cmp.Diff(before, after))
	}
}

func optionalBody(op Operation) bool {
	for i := range op.Handler.Request.NumField() {
		if strings.HasSuffix(op.Handler.Request.Field(i).Tag.Get("body"), ",optional") {
			return true
		}
	}
	return false
}

// TestOrganizationsAreTheCallersOwn lists as a user of one, of none and of another organization.
func TestOrganizationsAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	_, loner := storetest.User(t, h.st, "loner")
	for token, want := range map[string][]string{
		h.ours.Tokens[schema.RoleGuest]: {h.ours.Organization.ID}, h.theirs.Tokens[schema.RoleRead]: {h.theirs.Organization.ID}, loner: {},
	} {
		got := wantShape(t, listShape(organizationShape), h.do("GET", "/v1/orgs", token, nil).body)
		ids := []string{}
		for _, item := range got["items"].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Error(diff)
		}
	}
}
