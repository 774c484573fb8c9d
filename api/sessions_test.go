package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/saml/samltest"
	"github.com/octavo-docs/octavo/schema"
)

// TestSessionsReachTheirOrganization calls every operation with a single sign-on session of our tenant. The user is an
// admin of both tenants. In our tenant the session may do the same as the user's token. For objects of the other tenant
// the answer is 404.
func TestSessionsReachTheirOrganization(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSAML(h, h.Ours, nil)
	user := h.Theirs.Users[schema.RoleAdmin].ID
	h.Exec("insert into memberships (user_id, organization_id, role) values ($1, $2, 'admin')", user, h.Ours.Organization.ID)
	s.Known("anna", user)
	session := func() string {
		page := string(s.LogIn(samltest.Person{NameID: "anna"}).Body)
		_, rest, _ := strings.Cut(page, `value="`)
		token, _, _ := strings.Cut(rest, `"`)
		return token
	}
	token := session()
	refused, reached := 0, 0
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public {
			return
		}
		if op.Scope.Object == nil && op.Scope.Named == nil && !op.Scope.Session {
			refused++
			h.WantError(h.Try(op, h.Ours, token), http.StatusForbidden)
			return
		}
		reached++
		if a := h.Try(op, h.Ours, token); op.ID == "transferCollection" {
			h.WantError(a, http.StatusNotFound) // The body refers to another organization.
		} else if a.Status != op.Status && a.Status != http.StatusCreated {
			t.Errorf("in its organization: %d %s, want %d", a.Status, a.Body, op.Status)
		}
		if h.Do(http.MethodGet, "/v1/user", token, nil).Status == http.StatusUnauthorized {
			token = session() // The operation has ended the session.
		}
		if op.Scope.Session {
			return
		}
		foreign, unknown := h.Try(op, h.Theirs, token), h.Try(op, apitest.Ghost(), token)
		if foreign.Status < 300 && op.Scope.OrGone && unknown.Status == foreign.Status {
			return
		}
		h.WantError(foreign, http.StatusNotFound)
		if string(foreign.Body) != string(unknown.Body) {
			t.Errorf("foreign %s, unknown %s", foreign.Body, unknown.Body)
		}
	})
	if all && (refused == 0 || reached < 200) {
		t.Errorf("%d operations reached, %d refused", reached, refused)
	}
}

// TestAdminsDecideBySession: with a single sign-on session, admins may change an installation's scopes and its
// selection, as after any other login.
func TestAdminsDecideBySession(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSAML(h, h.Ours, nil)
	s.Known("anna", h.Ours.Users[schema.RoleAdmin].ID)
	_, rest, _ := strings.Cut(string(s.LogIn(samltest.Person{NameID: "anna"}).Body), `value="`)
	token, _, _ := strings.Cut(rest, `"`)
	path := "/v1/integrations/tool/installations/" + h.Installed(h.Ours, "tool", schema.ScopeOpenAPIRead)["installationId"]
	body := `{"scopes":[],"space_selection":"selected","site_selection":"selected","status":"paused"}`
	changed := h.Want(http.StatusOK, http.MethodPatch, path, token, body)
	if changed["status"] != "paused" || changed["space_selection"] != "selected" || len(changed["scopes"].([]any)) != 0 {
		t.Errorf("%v", changed)
	}
}
