package insights_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// readOnly has the operations that read-only tokens and sessions of share links may call. Operations for share links
// must show only the part of the insights in Caller.View.
var readOnly = map[string][]string{
	"token": {
		"aggregateSiteEvents", "getSiteAnnotation", "getSiteEventsFunnel", "getSiteEventsRetention",
		"getSiteEventsTransitions", "getSiteInsightsAccess", "getSiteInsightsSettings", "getSiteLiveInsights",
		"listSiteAnnotations", "listSiteInsightsPages", "listSiteVisitorSegments", "querySiteInsights",
	},
	"link": {
		"aggregateSiteEvents", "getSiteEventsFunnel", "getSiteEventsRetention", "getSiteEventsTransitions",
		"getSiteInsightsAccess", "getSiteLiveInsights", "listSiteVisitorSegments", "querySiteInsights",
	},
}

// openLink opens a share link of insights and returns the session.
func openLink(h *apitest.Harness, body any) schema.InsightsSession {
	h.T.Helper()
	return apitest.AskWith[schema.InsightsSession](h, "", "POST", "/insights/open", body, http.StatusOK)
}

// TestReadOnlyTokensReadOnly calls every operation with tokens that read insights. Only the operations in readOnly
// accept them.
func TestReadOnlyTokensReadOnly(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	token, _ := h.InsightsToken(h.Ours)
	foreign, _ := h.InsightsToken(h.Theirs)
	secret, _ := h.InsightsShareLink(h.Ours)
	foreignSecret, _ := h.InsightsShareLink(h.Theirs)
	kinds := map[string]struct{ ours, theirs string }{
		"token": {token, foreign},
		"link":  {openLink(h, `{"secret":"`+secret+`"}`).Token, openLink(h, `{"secret":"`+foreignSecret+`"}`).Token},
	}
	allowed := map[string][]string{}
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public {
			return // The operation reads no token.
		}
		for kind, of := range kinds {
			switch a := h.Try(op, h.Ours, of.ours); {
			case a.Status < 300:
				allowed[kind] = append(allowed[kind], op.ID)
				h.WantError(h.Try(op, h.Ours, of.theirs), http.StatusNotFound)
			case a.Status != http.StatusForbidden:
				t.Errorf("%s with a %s: %d %s, want 403", op.ID, kind, a.Status, a.Body)
			}
		}
	})
	for kind := range kinds {
		slices.Sort(allowed[kind])
		if all && !slices.Equal(allowed[kind], readOnly[kind]) {
			t.Errorf("a %s calls %q, want %q", kind, allowed[kind], readOnly[kind])
		}
	}
}

// TestInsightsTokenLife creates a read-only token, uses it, and revokes it. Only the answer to the creation has the
// token itself.
func TestInsightsTokenLife(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights"
	made := apitest.Ask[schema.InsightsToken](h, schema.RoleAdmin, "POST", base+"/tokens",
		`{"name":"Board","expiresIn":3600}`, 201)
	if !strings.HasPrefix(made.Token, schema.TokenPrefix) || made.ExpiresAt == nil ||
		time.Until(*made.ExpiresAt) > time.Hour {
		t.Errorf("%+v", made)
	}
	access := apitest.AskWith[schema.InsightsAccess](h, made.Token, "GET", base+"/access", nil, 200)
	if access.Site.ID != h.Ours.Site.ID || access.Site.Title != h.Ours.Site.Title || access.Part != nil ||
		access.ExpiresAt == nil {
		t.Errorf("%+v", access)
	}
	one := base + "/tokens/" + made.ID
	got := apitest.Ask[schema.InsightsToken](h, schema.RoleAdmin, "GET", one, nil, 200)
	if got.Token != "" || got.Name != "Board" {
		t.Errorf("%+v", got)
	}
	list := apitest.Ask[schema.List[schema.InsightsToken]](h, schema.RoleAdmin, "GET", base+"/tokens", nil, 200)
	if len(list.Items) != 1 || list.Count != 1 || list.Items[0].Token != "" {
		t.Errorf("%+v", list)
	}
	h.WantError(h.Do("POST", base+"/tokens", h.Ours.Tokens[schema.RoleEdit], `{"name":"x"}`), 403)
	h.Want(204, "DELETE", one, h.Ours.Tokens[schema.RoleAdmin], nil)
	h.WantError(h.Do("GET", one, h.Ours.Tokens[schema.RoleAdmin], nil), 404)
	h.Want(204, "DELETE", one, h.Ours.Tokens[schema.RoleAdmin], nil)
	h.Serve(nil) // This node has not cached the token.
	h.WantError(h.Do("GET", base+"/access", made.Token, nil), 401)
}

// TestSavedSegmentLife creates, reads, changes and deletes segments of a site and personal segments.
func TestSavedSegmentLife(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights/saved-segments"
	ask := func(role schema.Role, method, path string, body any, status int) schema.SavedSegment {
		t.Helper()
		return apitest.Ask[schema.SavedSegment](h, role, method, path, body, status)
	}
	const where = `"where":[{"column":"visitorGeoCountry","values":["DE"]}]`
	site := ask(schema.RoleEdit, "POST", base, `{"name":"Germany",`+where+`}`, 201)
	mine := ask(schema.RoleRead, "POST", base, `{"name":"Germany","scope":"personal",`+where+`}`, 201)
	if site.Scope != "site" || mine.Scope != "personal" || string(site.Where) != where[8:] ||
		site.CreatedBy != h.Ours.Users[schema.RoleEdit].ID {
		t.Errorf("%+v %+v", site, mine)
	}
	names := func(role schema.Role) (ids []string) {
		for _, s := range apitest.Ask[schema.List[schema.SavedSegment]](h, role, "GET", base, nil, 200).Items {
			ids = append(ids, s.ID)
		}
		return ids
	}
	if got := names(schema.RoleRead); !slices.Equal(got, []string{site.ID, mine.ID}) {
		t.Errorf("their creator sees %q", got)
	}
	if got := names(schema.RoleAdmin); !slices.Equal(got, []string{site.ID}) {
		t.Errorf("an admin sees %q", got)
	}
	h.WantError(h.Do("GET", base+"/"+mine.ID, h.Ours.Tokens[schema.RoleAdmin], nil), 404)
	h.WantError(h.Do("PATCH", base+"/"+mine.ID, h.Ours.Tokens[schema.RoleAdmin], `{"name":"x"}`), 404)
	h.Want(204, "DELETE", base+"/"+mine.ID, h.Ours.Tokens[schema.RoleAdmin], nil)
	h.WantError(h.Do("POST", base, h.Ours.Tokens[schema.RoleEdit], `{"name":"Germany",`+where+`}`), 409)
	h.WantError(h.Do("POST", base, h.Ours.Tokens[schema.RoleRead], `{"name":"x",`+where+`}`), 403)
	h.WantError(h.Do("PATCH", base+"/"+site.ID, h.Ours.Tokens[schema.RoleRead], `{"name":"x"}`), 403)
	h.WantError(h.Do("DELETE", base+"/"+site.ID, h.Ours.Tokens[schema.RoleRead], nil), 403)
	for body, field := range map[string]string{
		`{"name":"x"}`: "where", `{"name":"x","where":null}`: "where", `{"name":"x","where":[]}`: "where",
		`{"name":"x","where":{}}`:                                                               "where",
		`{"name":"x","where":[{"column":"none","values":[1]}]}`:                                 "where[0].column",
		`{"name":"x","where":[{"column":"eventsCount","operator":"greaterThan","values":[1]}]}`: "where[0].column",
		`{"name":"x","scope":"world",` + where + `}`:                                            "scope",
	} {
		e := h.WantError(h.Do("POST", base, h.Ours.Tokens[schema.RoleEdit], body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: %+v, want a detail on %q", body, e, field)
		}
	}
	changed := ask(schema.RoleEdit, "PATCH", base+"/"+site.ID, `{"where":[{"column":"url","values":["p"]}]}`, 200)
	if changed.Name != "Germany" || !strings.Contains(string(changed.Where), "url") {
		t.Errorf("%+v", changed)
	}
	h.Want(204, "DELETE", base+"/"+site.ID, h.Ours.Tokens[schema.RoleEdit], nil)
	h.WantError(h.Do("GET", base+"/"+site.ID, h.Ours.Tokens[schema.RoleEdit], nil), 404)
	if got := names(schema.RoleRead); !slices.Equal(got, []string{mine.ID}) {
		t.Errorf("left: %q", got)
	}
}

// TestInsightsShareLinkLife creates a share link, opens it with its password, and ends its session in each possible
// way.
func TestInsightsShareLinkLife(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	insights := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights"
	base, live := insights+"/share-links", insights+"/live"
	segment := h.SavedSegment(h.Ours)
	ask := func(method, path string, body any, status int) schema.InsightsShareLink {
		t.Helper()
		return apitest.Ask[schema.InsightsShareLink](h, schema.RoleEdit, method, path, body, status)
	}
	made := ask("POST", base, `{"name":"Board","password":"correct horse","segments":["`+segment+`"],
		"ranges":["last7Days"],"timezone":"Europe/Berlin","expiresIn":7200}`, 201)
	one := base + "/" + made.ID
	if got := ask("GET", one, nil, 200); made.Secret == "" || got.Secret != "" || !got.Password ||
		got.Timezone != "Europe/Berlin" || got.CreatedBy != h.Ours.Users[schema.RoleEdit].ID {
		t.Errorf("%+v %+v", made, got)
	}
	good := `{"secret":"` + made.Secret + `","password":"correct horse"}`
	session := openLink(h, good)
	if session.Site != h.Ours.Site.ID || time.Until(session.ExpiresAt) > time.Hour {
		t.Errorf("%+v", session)
	}
	access := apitest.AskWith[schema.InsightsAccess](h, session.Token, "GET", insights+"/access", nil, 200)
	if access.Part == nil || string(access.Part.Ranges) != `["last7Days"]` || access.Site.Title != h.Ours.Site.Title {
		t.Errorf("%+v", access)
	}
	for body, status := range map[string]int{
		`{"secret":"` + made.Secret + `"}`: 401, `{"secret":"oct_none","password":"correct horse"}`: 401,
		`{"secret":"` + made.Secret + `","password":"wrong"}`: 401,
		`{"secret":"` + made.Secret + `","passwort":"x"}`:     400, `{}`: 400,
	} {
		h.WantError(h.Do("POST", "/insights/open", "", body), status)
	}
	for _, token := range []string{
		session.Token[:len(session.Token)-1], session.Token + "0", schema.InsightsSessionPrefix,
	} {
		h.WantError(h.Do("GET", live, token, nil), 401)
	}
	ends := func(how string) {
		t.Helper()
		if a := h.Do("GET", live, session.Token, nil); a.Status != 401 {
			t.Errorf("after %s: %d %s", how, a.Status, a.Body)
		}
	}
	if a := h.Do("GET", live, session.Token, nil); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	ask("PATCH", one, `{"password":"another horse"}`, 200)
	ends("a new password")
	h.WantError(h.Do("POST", "/insights/open", "", good), 401)
	ask("PATCH", one, `{"password":null,"expiresIn":null,"ranges":[]}`, 200)
	session = openLink(h, `{"secret":"`+made.Secret+`"}`)
	h.Exec("update insights_share_links set expires_at = now() - interval '1 second' where id = $1", made.ID)
	ends("the link's expiry")
	h.WantError(h.Do("POST", "/insights/open", "", `{"secret":"`+made.Secret+`"}`), 401)
	ask("PATCH", one, `{"expiresIn":3600}`, 200)
	session = openLink(h, `{"secret":"`+made.Secret+`"}`)
	h.Want(204, "DELETE", one, h.Ours.Tokens[schema.RoleEdit], nil)
	ends("the link's deletion")
	h.WantError(h.Do("POST", base, h.Ours.Tokens[schema.RoleComment], `{"name":"x"}`), 403)
	personal := apitest.Ask[schema.SavedSegment](h, schema.RoleEdit, "POST", insights+"/saved-segments",
		`{"name":"Mine","scope":"personal","where":[{"column":"url","values":["p"]}]}`, 201).ID
	for body, field := range map[string]string{
		`{"name":"x","where":[{"column":"none","values":[1]}]}`:          "where[0].column",
		`{"name":"x","where":"DE"}`:                                      "where",
		`{"name":"x","ranges":["never"]}`:                                "ranges[0]",
		`{"name":"x","ranges":"last7Days"}`:                              "ranges",
		`{"name":"x","timezone":"Mars"}`:                                 "timezone",
		`{"name":"x","segments":["none"]}`:                               "segments[0]",
		`{"name":"x","segments":["` + segment + `","` + personal + `"]}`: "segments[1]",
		`{"name":"x","password":"short"}`:                                "password",
		`{"name":"x","expiresIn":1}`:                                     "expiresIn",
	} {
		e := h.WantError(h.Do("POST", base, h.Ours.Tokens[schema.RoleEdit], body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: %+v, want a detail on %q", body, e, field)
		}
	}
	if log := h.Log.String(); strings.Contains(log, made.Secret) || strings.Contains(log, "correct horse") {
		t.Error("the log has a secret")
	}
}

// TestPasswordGuessesAreLimited sends many wrong passwords of a share link from one address. After that, even the right
// password is refused.
func TestPasswordGuessesAreLimited(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights/share-links"
	link := apitest.Ask[schema.InsightsShareLink](h, schema.RoleEdit, "POST", base,
		`{"name":"Board","password":"correct horse"}`, 201)
	open := func(password string) int {
		return h.Do("POST", "/insights/open", "", `{"secret":"`+link.Secret+`","password":"`+password+`"}`).Status
	}
	for range 10 { // Right passwords are not counted.
		if got := open("correct horse"); got != 200 {
			t.Fatalf("the right password: %d", got)
		}
	}
	for i := range 5 {
		if got := open("wrong"); got != 401 {
			t.Errorf("guess %d: %d, want 401", i+1, got)
		}
	}
	for _, password := range []string{"wrong", "correct horse"} {
		if got := open(password); got != 429 {
			t.Errorf("%q after five guesses: %d, want 429", password, got)
		}
	}
}
