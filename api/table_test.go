package api_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestDatabaseTextStaysInside breaks the database of a running server. It checks that no answer shows an error text of
// the database.
func TestDatabaseTextStaysInside(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	paths, bodies := map[string]string{}, map[string]any{}
	for i := range h.Table {
		op := &h.Table[i]
		paths[op.ID], bodies[op.ID] = h.Example(op, h.Ours)
	}
	for table := range h.Rows() {
		h.Exec("alter table " + table + " rename to " + table + "_lost")
	}
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		a := h.Do(op.Method, paths[op.ID], h.Ours.Tokens[schema.RoleAdmin], bodies[op.ID])
		// The example of a public operation may succeed without a table. The example of getEmbedByUrl needs only the
		// caller's token, which the node may have cached.
		if !op.Scope.Public && (op.ID != "getEmbedByUrl" || a.Status >= 400) {
			h.WantError(a, http.StatusInternalServerError)
		} else if a.Status < 400 {
			return // The answer has no error text to search.
		}
		for _, word := range []string{"relation", "SQLSTATE", "42P01", "pgx", "postgres", "sites", "does not exist", "select"} {
			if strings.Contains(strings.ToLower(string(a.Body)), strings.ToLower(word)) {
				t.Errorf("%s: %s", op.ID, a.Body)
			}
		}
	})
	if all && !strings.Contains(h.Log.String(), "42P01") {
		t.Error("the log does not have the cause")
	}
	for _, secret := range []string{h.Ours.Tokens[schema.RoleAdmin], h.Ours.SiteKey} {
		if strings.Contains(h.Log.String(), secret) {
			t.Error("the log has a token")
		}
	}
}

// TestEveryOperationRefusesStrangers calls every operation without a valid token. The answer is 401, and its body is an
// error object of the contract.
func TestEveryOperationRefusesStrangers(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	past := time.Now().Add(-time.Minute)
	expired := storetest.Token(t, h.Store, store.NewToken{User: h.Ours.Users[schema.RoleAdmin].ID, ExpiresAt: &past})
	secret, row, err := h.Store.CreateToken(t.Context(), store.NewToken{User: h.Ours.Users[schema.RoleAdmin].ID})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Store.RevokeToken(t.Context(), row.ID); err != nil {
		t.Fatal(err)
	}
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public {
			return
		}
		path, body := h.Example(op, h.Ours)
		for name, header := range map[string]string{
			"absent": "", "empty": "Bearer ", "no scheme": secret, "other scheme": "Basic " + secret,
			"unknown": "Bearer oct_nothing", "expired": "Bearer " + expired, "revoked": "Bearer " + secret,
		} {
			a := h.Do(op.Method, path, "", body, "Authorization", header)
			if e := h.WantError(a, http.StatusUnauthorized); strings.Contains(e.Message, "revoked") {
				t.Errorf("%s, %s token: the answer tells strangers about the token: %s", op.ID, name, a.Body)
			}
		}
	})
}

// TestEveryOperationHidesOtherTenants calls every operation on an object of another tenant. The answer is the same as
// for an object that does not exist.
func TestEveryOperationHidesOtherTenants(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	nobody := apitest.Ghost()
	odd := &storetest.Tenant{
		Organization: orgs.Organization{ID: "%00%ff"}, Site: sites.Site{ID: "a%2Fb"},
		Space: store.Space{ID: "%C3%A4'--"},
	}
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Object == nil {
			return
		}
		for token, secret := range map[string]string{"admin": h.Ours.Tokens[schema.RoleAdmin], "site key": h.Ours.SiteKey} {
			foreign := h.Try(op, h.Theirs, secret)
			unknown := h.Try(op, nobody, secret)
			malformed := h.Try(op, odd, secret)
			want := http.StatusNotFound
			if op.Scope.OrGone {
				want = http.StatusNoContent
			}
			if token == "site key" && !op.Scope.SiteKey {
				want = http.StatusForbidden
			}
			if foreign.Status != want {
				t.Errorf("%s with %s: %d %s, want %d", op.ID, token, foreign.Status, foreign.Body, want)
			}
			if foreign.Status != unknown.Status || !bytes.Equal(foreign.Body, unknown.Body) {
				t.Errorf("%s with %s: foreign %d %s, unknown %d %s", op.ID, token, foreign.Status, foreign.Body, unknown.Status, unknown.Body)
			}
			if foreign.Status != malformed.Status || !bytes.Equal(foreign.Body, malformed.Body) {
				t.Errorf("%s with %s: foreign %s, malformed %s", op.ID, token, foreign.Body, malformed.Body)
			}
		}
	})
	if h.Intake.Bodies != nil {
		t.Error("events of another tenant reached the intake")
	}
}

// TestMixedTenantsAreHidden requests another tenant's site below the caller's own organization, and vice versa.
func TestMixedTenantsAreHidden(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for _, mix := range []storetest.Tenant{
		{Organization: h.Ours.Organization, Site: h.Theirs.Site}, {Organization: h.Theirs.Organization, Site: h.Ours.Site},
	} {
		apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
			if op.Scope.Object != access.OnSite && op.Scope.Object != access.OnInsights {
				return
			}
			a := h.Try(op, &mix, h.Ours.Tokens[schema.RoleAdmin])
			if op.Scope.OrGone && a.Status == http.StatusNoContent {
				return
			}
			h.WantError(a, http.StatusNotFound)
			if op.Scope.SiteKey {
				h.WantError(h.Try(op, &mix, h.Ours.SiteKey), http.StatusNotFound)
			}
		})
	}
}

// TestPermissionMatrix calls every operation with a user of each role. The answer depends on whether the role has the
// right that the operation's row requires.
func TestPermissionMatrix(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		for _, role := range append(schema.Roles(), schema.RoleGuest) {
			a := h.Try(op, h.Ours, h.Ours.Tokens[role])
			rights := access.RightsOf(access.Access{Role: role})
			if op.Scope.Object == access.OnSpace || op.Scope.Object == access.OnChangeRequest || op.Scope.Object == access.OnCollection {
				level := schema.LevelInherit
				rights = access.RightsOf(access.Access{Role: role, Level: &level})
			}
			switch {
			case rights.Has(op.Scope.Right | apitest.Examples[op.ID].Needs):
				if a.Status != op.Status {
					t.Errorf("%s as %q: %d %s, want %d", op.ID, role, a.Status, a.Body, op.Status)
				}
			case !rights.Has(access.RightView) && op.Scope.OrGone:
				if a.Status != http.StatusNoContent {
					t.Errorf("%s as %q: %d %s, want what is not there", op.ID, role, a.Status, a.Body)
				}
			case !rights.Has(access.RightView):
				h.WantError(a, http.StatusNotFound)
			default:
				h.WantError(a, http.StatusForbidden)
			}
		}
	})
}

// TestUnknownMembers sends an unknown member to every operation with a JSON body. Strict operations refuse it, and
// other operations ignore it.
func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.BodyLimit == 0 || queries[op.ID] {
			return // An example would create objects.
		}
		path, example := h.Example(op, h.Ours)
		body, isText := example.(string)
		if !isText || len(body) < 3 || body[0] != '{' {
			return
		}
		a := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], `{"nobodyKnows":1,`+body[1:])
		if e := string(a.Body); op.Strict &&
			(a.Status != http.StatusBadRequest || !strings.Contains(e, "nobodyKnows is not a known member")) {
			t.Errorf("%s: %d %s", op.ID, a.Status, e)
		} else if !op.Strict && strings.Contains(e, "nobodyKnows") {
			t.Errorf("%s: %d %s", op.ID, a.Status, e)
		}
	})
}

// queries has the operations that refuse an unknown member and suggest a member with a similar name.
var queries = map[string]bool{
	"aggregateSiteEvents": true, "getSiteEventsFunnel": true, "getSiteEventsRetention": true,
	"getSiteEventsTransitions": true,
}

func TestSiteKeyOpensEventsOnly(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public {
			return
		}
		a := h.Try(op, h.Ours, h.Ours.SiteKey)
		if op.ID == "trackEventsInSiteById" {
			if a.Status != http.StatusNoContent || len(a.Body) != 0 {
				t.Errorf("events: %d %s", a.Status, a.Body)
			}
			return
		}
		h.WantError(a, http.StatusForbidden)
	})
}

// TestUnknownKindsOfTokenOpenNothing stores tokens of a kind that this version does not know, with and without a user.
// A newer version might have stored them. The tokens give no access to any operation or to any site's events.
func TestUnknownKindsOfTokenOpenNothing(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.Exec("alter table tokens drop constraint tokens_kind_check, drop constraint tokens_check, drop constraint tokens_check1")
	admin := h.Ours.Users[schema.RoleAdmin].ID
	secrets := map[string]*string{"oct_token-of-nobody": nil, "oct_token-of-a-user": &admin}
	for name, user := range secrets {
		hash := schema.HashToken([]byte(name))
		h.Exec("insert into tokens (id, hash, kind, name, user_id) values ($1, $2, 'newer', '', $3)", name, hash[:], user)
	}
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public {
			return
		}
		for _, tenant := range []*storetest.Tenant{h.Ours, h.Theirs} {
			for name := range secrets {
				if a := h.Try(op, tenant, name); a.Status != http.StatusForbidden {
					t.Errorf("%s with %s: %d %s", op.ID, name, a.Status, a.Body)
				}
			}
		}
	})
	if h.Intake.Bodies != nil {
		t.Error("events reached the intake")
	}
}

func TestMethodNotAllowedNamesTheOthers(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	allowed := map[string][]string{}
	for i := range h.Table {
		op := &h.Table[i]
		allowed[op.Path] = append(allowed[op.Path], op.Method)
		if op.Method == http.MethodGet {
			allowed[op.Path] = append(allowed[op.Path], http.MethodHead)
		}
	}
	// A path parameter matches any text. So a path that ends in .gif also matches the route of the path without .gif.
	for path := range allowed {
		if form, ending := strings.CutSuffix(path, ".gif"); ending {
			allowed[path] = append(allowed[path], allowed[form]...)
		}
	}
	nobody := apitest.Ghost() // The route decides, so the path needs no object.
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		path, _ := h.Example(op, nobody)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
			if slices.Contains(allowed[op.Path], method) {
				continue
			}
			a := h.Do(method, path, h.Ours.Tokens[schema.RoleAdmin], nil)
			h.WantError(a, http.StatusMethodNotAllowed)
			got := strings.Split(a.Header.Get("Allow"), ", ")
			for _, want := range allowed[op.Path] {
				if !slices.Contains(got, want) {
					t.Errorf("%s %s: Allow %q lacks %s", method, op.Path, got, want)
				}
			}
		}
		if a := h.Do(http.MethodOptions, path, "", nil); a.Status != http.StatusNoContent || a.Header.Get("Allow") == "" {
			t.Errorf("OPTIONS %s: %d, Allow %q", op.Path, a.Status, a.Header.Get("Allow"))
		}
	})
}

func TestEveryBodyIsBounded(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.BodyLimit == 0 {
			return
		}
		path, body := h.Example(op, h.Ours)
		token := h.Ours.Tokens[schema.RoleAdmin]
		large := append(bytes.Repeat([]byte(" "), op.BodyLimit), []byte("{}")...)
		h.WantError(h.Do(op.Method, path, token, large), http.StatusRequestEntityTooLarge)
		for name, compress := range apitest.Encoders {
			a := h.Do(op.Method, path, token, compress(t, large), "Content-Encoding", name, "Content-Type", op.Accepts[0])
			if a.Status != http.StatusRequestEntityTooLarge {
				t.Errorf("%s: %s of %d bytes: %d %s", op.ID, name, len(large), a.Status, a.Body)
			}
		}
		for _, contentType := range []string{"text/plain", frame.MediaForm[0], "application/json", op.Accepts[0] + "; charset=latin1", ";"} {
			if slices.Contains(op.Accepts, contentType) {
				continue
			}
			a := h.Do(op.Method, path, token, body, "Content-Type", contentType)
			if op.Accepts[0] == frame.MediaAny[0] {
				if a.Status != op.Status {
					t.Errorf("%s with Content-Type %q: %d %s", op.ID, contentType, a.Status, a.Body)
				}
				continue
			}
			h.WantError(a, http.StatusUnsupportedMediaType)
		}
		h.WantError(h.Do(op.Method, path, token, body, "Content-Encoding", "rot13"), http.StatusUnsupportedMediaType)
		h.WantError(h.Do(op.Method, path, token, "not gzip", "Content-Encoding", "gzip", "Content-Type", op.Accepts[0]), http.StatusBadRequest)
		for _, contentType := range []string{"", op.Accepts[0] + ";charset=UTF-8"} {
			if a := h.Try(op, h.Ours, token, "Content-Type", contentType); a.Status != op.Status {
				t.Errorf("%s with Content-Type %q: %d %s", op.ID, contentType, a.Status, a.Body)
			}
		}
	})
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Method != http.MethodGet {
			return
		}
		path, _ := h.Example(op, h.Ours)
		for _, coding := range []string{"identity", "gzip"} {
			token := h.Ours.Tokens[schema.RoleAdmin]
			get := h.Do(http.MethodGet, path, token, nil, "Accept-Encoding", coding)
			head := h.Do(http.MethodHead, path, token, nil, "Accept-Encoding", coding)
			same := func(header string) bool { return head.Header.Get(header) == get.Header.Get(header) }
			if head.Status != get.Status || len(head.Body) != 0 || !same("Content-Encoding") ||
				len(get.Body) > 0 && !same("Content-Length") {
				t.Errorf("%s, %s: HEAD %d %q %v, GET %d", op.ID, coding, head.Status, head.Body, head.Header,
					get.Status)
			}
		}
	})
}

func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	for _, path := range []string{"/v1", "/v1/", "/v1/nothing", "/orgs", "/v1/orgs/", "/v1/user/", "/v1/../v1/user"} {
		h.WantError(h.Do(http.MethodGet, path, h.Ours.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
	}
}
