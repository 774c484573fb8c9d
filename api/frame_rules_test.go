package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// TestPublicOperationsAreLimited exhausts the rate limit of an address on every operation that needs no token, and on
// every page about the API.
func TestPublicOperationsAreLimited(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) {
		c.PublicRateLimit, c.TrustedProxies = 1, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	pages := []string{
		"/v1/openapi.json", "/docs", "/docs/insights", "/docs/docs.js", "/llms.txt", "/o.js", "/o.docs.js",
	}
	for i, path := range pages {
		client, other := fmt.Sprint("2001:db9::", i), fmt.Sprintf("2001:db9:%d::", i+1)
		var last apitest.Answer
		for range 5 {
			last = h.Do(http.MethodGet, path, "", nil, "X-Forwarded-For", client)
		}
		if h.Do(http.MethodGet, path, "", nil, "X-Forwarded-For", other).Status == http.StatusOK {
			h.WantError(last, http.StatusTooManyRequests)
		}
	}
	found := 0
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if !op.Scope.Public {
			return
		}
		found++
		tenant := apitest.Ghost()
		if op.Scope.Key {
			tenant = h.Ours // With other keys, the limits of other tokens apply.
		}
		path, _ := h.Example(op, tenant)
		client, other := fmt.Sprint("2001:db8::", found), fmt.Sprintf("2001:db8:%d::", found)
		var last apitest.Answer
		for range 5 {
			last = h.Do(op.Method, path, "", nil, "X-Forwarded-For", client)
		}
		for _, a := range []apitest.Answer{last, h.Do(op.Method, path, "", nil, "X-Forwarded-For", client+"1")} {
			if op.Handler.Response == reflect.TypeFor[frame.Pixel]() && a.Status == http.StatusTooManyRequests {
				continue // The operation refuses requests with an image.
			}
			h.WantError(a, http.StatusTooManyRequests)
		}
		if a := h.Do(op.Method, path, "", nil, "X-Forwarded-For", other); a.Status == http.StatusTooManyRequests {
			t.Errorf("%s: another address has to wait", op.ID)
		}
	})
	if all && found == 0 {
		t.Error("no public operation")
	}
}

// TestAnswersAreNotKept checks the caching headers of every operation's answer. Without other instructions, no cache
// may store an answer. When a client sends the ETag of its copy, the server checks the client's rights again.
func TestAnswersAreNotKept(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		path, body := h.Example(op, h.Ours)
		a := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], body)
		if a.Header.Get("Content-Type") != "application/json" {
			return
		}
		const keeping = "no-store"
		if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Cache-Control") != keeping || (a.Header.Get("ETag") != "") != op.Conditional {
			t.Errorf("%s: %v", op.ID, a.Header)
		}
		if !op.Conditional {
			return
		}
		for _, known := range []string{a.Header.Get("ETag"), "W/" + a.Header.Get("ETag"), `"other", ` + a.Header.Get("ETag"), "*"} {
			same := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], nil, "If-None-Match", known)
			if same.Status != http.StatusNotModified || len(same.Body) > 0 || same.Header.Get("ETag") != a.Header.Get("ETag") || same.Header.Get("Cache-Control") != keeping {
				t.Errorf("%s, If-None-Match %s: %d %s %v", op.ID, known, same.Status, same.Body, same.Header)
			}
			if op.Scope.Object != nil {
				h.WantError(h.Do(op.Method, path, h.Theirs.Tokens[schema.RoleAdmin], nil, "If-None-Match", known), http.StatusNotFound)
			}
		}
		if other := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], nil, "If-None-Match", `"other"`); other.Status != http.StatusOK || len(other.Body) == 0 {
			t.Errorf("%s: %d %s", op.ID, other.Status, other.Body)
		}
	})
}

// TestRightsComeBeforeTheBody sends invalid JSON to every operation. Callers who may not use the object get an error
// about their rights, and not about the JSON. If the body names the object, the invalid part comes after the name.
func TestRightsComeBeforeTheBody(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	named := 0
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.BodyLimit == 0 || op.Scope.Object == nil && op.Scope.Named == nil {
			return
		}
		path, _ := h.Example(op, apitest.Ghost())
		body := "{"
		if op.Scope.Named != nil {
			named++
			body = fmt.Sprintf(`{"a":[{"%[1]s":"x"}],"%[1]s":"%s",`, op.Scope.Named.Member, h.Ours.Organization.ID)
			for token, status := range map[string]int{h.Ours.Tokens[schema.RoleEdit]: 403, h.Ours.Tokens[schema.RoleGuest]: 403, h.Ours.Tokens[schema.RoleAdmin]: 400} {
				if a := h.Do(op.Method, path, token, body); a.Status != status {
					t.Errorf("%s: %d %s, want %d", op.ID, a.Status, a.Body, status)
				}
			}
		}
		for token, status := range map[string]int{h.Theirs.Tokens[schema.RoleAdmin]: 404, "": 401} {
			if a := h.Do(op.Method, path, token, body); a.Status != status {
				t.Errorf("%s: %d %s", op.ID, a.Status, a.Body)
			}
		}
	})
	if all && named == 0 {
		t.Error("no body names an object")
	}
}

// TestNamedObjects: if a body names the object in an unusual way, for example twice or with escapes, the operation uses
// the object whose rights were checked.
func TestNamedObjects(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	manifest := `"title":"Linear","description":"","script":"export {}"`
	for body, want := range map[string]struct {
		status int
		field  string
	}{
		`{%[2]s}`:                                                      {400, "organization"},
		`{"organization":null,%[2]s}`:                                  {400, "organization"},
		`{"organization":1,%[2]s}`:                                     {400, "organization"},
		`{"organization":"",%[2]s}`:                                    {400, "organization"},
		`{"Organization":"%[1]s",%[2]s}`:                               {400, "organization"},
		`{"organization":"%[1]s","organization":"nobody",%[2]s}`:       {400, "organization"},
		`{"organization":"%[1]s","\u006frganization":"nobody",%[2]s}`:  {400, "organization"},
		`{"\u006frganization":"nobody","organization":"%[1]s",%[2]s}`:  {404, ""},
		`{"x":{"organization":"%[1]s"},"organization":"nobody",%[2]s}`: {404, ""},
		`[]`: {400, ""}, `"%[1]s"`: {400, ""}, `{"a" 1}`: {400, ""}, `{"a":`: {400, "a"}, `{"organization"`: {400, ""}, ``: {400, ""}, `{`: {400, ""},
		`{"title":1,"organization":"%[1]s"}`:                           {400, "title"},
		`{"\u006f\u0072ganization":"%[1]s",%[2]s}`:                     {200, ""},
		`{"x":{"organization":"nobody"},%[2]s,"organization":"%[1]s"}`: {200, ""},
	} {
		a := h.Do("POST", "/v1/integrations/named", admin, strings.NewReplacer("%[1]s", h.Ours.Organization.ID, "%[2]s", manifest).Replace(body))
		if a.Status != want.status {
			t.Errorf("%s: %d %s", body, a.Status, a.Body)
			continue
		}
		if a.Status == 400 {
			if e := h.WantError(a, 400); want.field != "" && (len(e.Details) == 0 || e.Details[0].Field != want.field) {
				t.Errorf("%s: %s", body, a.Body)
			}
		}
	}
}
