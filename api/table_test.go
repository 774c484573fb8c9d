package api

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestEveryOperationRefusesStrangers loops over the table: 401 without a good token, in the one shape.
func TestEveryOperationRefusesStrangers(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	past := time.Now().Add(-time.Minute)
	expired := storetest.Token(t, h.st, store.NewToken{User: h.ours.Users[schema.RoleAdmin].ID, ExpiresAt: &past})
	secret, row, err := h.st.CreateToken(t.Context(), store.NewToken{User: h.ours.Users[schema.RoleAdmin].ID})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.st.RevokeToken(t.Context(), row.ID); err != nil {
		t.Fatal(err)
	}
	for i := range h.table {
		op := &h.table[i]
		if op.Scope.public {
			continue
		}
		path, body := h.example(op, h.ours)
		for name, header := range map[string]string{
			"absent": "", "empty": "Bearer ", "no scheme": secret, "other scheme": "Basic " + secret,
			"unknown": "Bearer oct_nothing", "expired": "Bearer " + expired, "revoked": "Bearer " + secret,
		} {
			a := h.do(op.Method, path, "", body, "Authorization", header)
			if e := h.wantError(a, http.StatusUnauthorized); strings.Contains(e.Message, "revoked") {
				t.Errorf("%s, %s token: the answer tells strangers about the token: %s", op.ID, name, a.body)
			}
		}
	}
}

// TestEveryOperationHidesOtherTenants loops over the table: a foreign object and one that does not exist get equal answers.
func TestEveryOperationHidesOtherTenants(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	nobody := ghost()
	odd := &storetest.Tenant{
		Organization: store.Organization{ID: "%00%ff"}, Site: store.Site{ID: "a%2Fb"}, Space: store.Space{ID: "%C3%A4'--"},
	}
	for i := range h.table {
		op := &h.table[i]
		if op.Scope.object == nil {
			continue
		}
		for token, secret := range map[string]string{"admin": h.ours.Tokens[schema.RoleAdmin], "site key": h.ours.SiteKey} {
			foreign := h.try(op, h.theirs, secret)
			unknown := h.try(op, nobody, secret)
			malformed := h.try(op, odd, secret)
			want := http.StatusNotFound
			if op.Scope.orGone {
				want = http.StatusNoContent
			}
			if token == "site key" && !op.Scope.siteKey {
				want = http.StatusForbidden
			}
			if foreign.status != want {
				t.Errorf("%s with %s: %d %s, want %d", op.ID, token, foreign.status, foreign.body, want)
			}
			if foreign.status != unknown.status || !bytes.Equal(foreign.body, unknown.body) {
				t.Errorf("%s with %s: foreign %d %s, unknown %d %s", op.ID, token, foreign.status, foreign.body, unknown.status, unknown.body)
			}
			if foreign.status != malformed.status || !bytes.Equal(foreign.body, malformed.body) {
				t.Errorf("%s with %s: foreign %s, malformed %s", op.ID, token, foreign.body, malformed.body)
			}
		}
	}
	if h.intake.bodies != nil {
		t.Error("events of another tenant reached the intake")
	}
}

// TestMixedTenantsAreHidden asks for another tenant's site below the caller's own organization, and the other way round.
func TestMixedTenantsAreHidden(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, mix := range []storetest.Tenant{
		{Organization: h.ours.Organization, Site: h.theirs.Site}, {Organization: h.theirs.Organization, Site: h.ours.Site},
	} {
		for i := range h.table {
			op := &h.table[i]
			if op.Scope.object != onSite && op.Scope.object != onInsights {
				continue
			}
			a := h.try(op, &mix, h.ours.Tokens[schema.RoleAdmin])
			if op.Scope.orGone && a.status == http.StatusNoContent {
				continue
			}
			h.wantError(a, http.StatusNotFound)
			if op.Scope.siteKey {
				h.wantError(h.try(op, &mix, h.ours.SiteKey), http.StatusNotFound)
			}
		}
	}
}

// TestPermissionMatrix loops over roles and operations: the answer follows from the right that the row names.
func TestPermissionMatrix(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for i := range h.table {
		op := &h.table[i]
		for _, role := range append(schema.Roles(), schema.RoleGuest) {
			a := h.try(op, h.ours, h.ours.Tokens[role])
			rights := RightsOf(Access{Role: role})
			if op.Scope.object == onSpace || op.Scope.object == onChangeRequest || op.Scope.object == onCollection {
				level := schema.LevelInherit
				rights = RightsOf(Access{Role: role, Level: &level})
			}
			switch {
			case rights.Has(op.Scope.right | examples[op.ID].needs):
				if a.status != op.Status {
					t.Errorf("%s as %q: %d %s, want %d", op.ID, role, a.status, a.body, op.Status)
				}
			case !rights.Has(RightView) && op.Scope.orGone:
				if a.status != http.StatusNoContent {
					t.Errorf("%s as %q: %d %s, want what is not there", op.ID, role, a.status, a.body)
				}
			case !rights.Has(RightView):
				h.wantError(a, http.StatusNotFound)
			default:
				h.wantError(a, http.StatusForbidden)
			}
		}
	}
}

func TestSiteKeyOpensEventsOnly(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for i := range h.table {
		op := &h.table[i]
		if op.Scope.public {
			continue
		}
		a := h.try(op, h.ours, h.ours.SiteKey)
		if op.ID == "trackEventsInSiteById" {
			if a.status != http.StatusNoContent || len(a.body) != 0 {
				t.Errorf("events: %d %s", a.status, a.body)
			}
			continue
		}
		if op.Scope.public {
			continue
		}
		h.wantError(a, http.StatusForbidden)
	}
}

// TestUnknownKindsOfTokenOpenNothing has a token of a kind that this version does not know, as a newer one may have made it,
// for nobody and for a user: it opens no operation, and the events of no tenant's site.
func TestUnknownKindsOfTokenOpenNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.exec("alter table tokens drop constraint tokens_kind_check, drop constraint tokens_check, drop constraint tokens_check1")
	admin := h.ours.Users[schema.RoleAdmin].ID
	for name, user := range map[string]*string{"oct_token-of-nobody": nil, "oct_token-of-a-user": &admin} {
		hash := schema.HashToken([]byte(name))
		h.exec("insert into tokens (id, hash, kind, name, user_id) values ($1, $2, 'integration', '', $3)", name, hash[:], user)
		for i := range h.table {
			op := &h.table[i]
			if op.Scope.public {
				continue
			}
			for _, tenant := range []*storetest.Tenant{h.ours, h.theirs} {
				if a := h.try(op, tenant, name); a.status != http.StatusForbidden {
					t.Errorf("%s with %s: %d %s", op.ID, name, a.status, a.body)
				}
			}
		}
	}
	if h.intake.bodies != nil {
		t.Error("events reached the intake")
	}
}

func TestMethodNotAllowedNamesTheOthers(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	allowed := map[string][]string{}
	for i := range h.table {
		op := &h.table[i]
		allowed[op.Path] = append(allowed[op.Path], op.Method)
		if op.Method == http.MethodGet {
			allowed[op.Path] = append(allowed[op.Path], http.MethodHead)
		}
	}
	for i := range h.table {
		op := &h.table[i]
		path, _ := h.example(op, h.ours)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
			if slices.Contains(allowed[op.Path], method) {
				continue
			}
			a := h.do(method, path, h.ours.Tokens[schema.RoleAdmin], nil)
			h.wantError(a, http.StatusMethodNotAllowed)
			got := strings.Split(a.header.Get("Allow"), ", ")
			for _, want := range allowed[op.Path] {
				if !slices.Contains(got, want) {
					t.Errorf("%s %s: Allow %q lacks %s", method, op.Path, got, want)
				}
			}
		}
		if a := h.do(http.MethodOptions, path, "", nil); a.status != http.StatusNoContent || a.header.Get("Allow") == "" {
			t.Errorf("OPTIONS %s: %d, Allow %q", op.Path, a.status, a.header.Get("Allow"))
		}
	}
}

func TestEveryBodyIsBounded(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for i := range h.table {
		op := &h.table[i]
		if op.BodyLimit == 0 {
			continue
		}
		path, body := h.example(op, h.ours)
		token := h.ours.Tokens[schema.RoleAdmin]
		large := append(bytes.Repeat([]byte(" "), op.BodyLimit), []byte("{}")...)
		h.wantError(h.do(op.Method, path, token, large), http.StatusRequestEntityTooLarge)
		for name, compress := range encoders {
			a := h.do(op.Method, path, token, compress(t, large), "Content-Encoding", name)
			if a.status != http.StatusRequestEntityTooLarge {
				t.Errorf("%s: %s of %d bytes: %d %s", op.ID, name, len(large), a.status, a.body)
			}
		}
		for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", ";"} {
			h.wantError(h.do(op.Method, path, token, body, "Content-Type", contentType), http.StatusUnsupportedMediaType)
		}
		h.wantError(h.do(op.Method, path, token, body, "Content-Encoding", "rot13"), http.StatusUnsupportedMediaType)
		h.wantError(h.do(op.Method, path, token, "not gzip", "Content-Encoding", "gzip"), http.StatusBadRequest)
		for _, contentType := range []string{"", "application/json;charset=UTF-8"} {
			if a := h.try(op, h.ours, token, "Content-Type", contentType); a.status != op.Status {
				t.Errorf("%s with Content-Type %q: %d %s", op.ID, contentType, a.status, a.body)
			}
		}
	}
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for i := range h.table {
		op := &h.table[i]
		if op.Method != http.MethodGet {
			continue
		}
		path, _ := h.example(op, h.ours)
		get := h.do(http.MethodGet, path, h.ours.Tokens[schema.RoleAdmin], nil)
		head := h.do(http.MethodHead, path, h.ours.Tokens[schema.RoleAdmin], nil)
		if head.status != get.status || len(head.body) != 0 || head.header.Get("Content-Length") != get.header.Get("Content-Length") {
			t.Errorf("%s: HEAD %d %q, GET %d", op.ID, head.status, head.body, get.status)
		}
	}
}

func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/nothing", "/orgs", "/v1/orgs/", "/v1/user/", "/v1/../v1/user"} {
		h.wantError(h.do(http.MethodGet, path, h.ours.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
	}
}
