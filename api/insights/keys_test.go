package insights_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

func keysPath(h *apitest.Harness) string {
	return sitePath(h.Ours.Organization.ID, h.Ours.Site.ID) + "/insights/keys"
}

// TestPublishableKeyLife creates a key, reads it by all operations, changes it, rotates it and deletes it.
func TestPublishableKeyLife(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := keysPath(h)
	key := func(method, path string, body any, status int) schema.PublishableKey {
		t.Helper()
		return apitest.Ask[schema.PublishableKey](h, schema.RoleAdmin, method, path, body, status)
	}
	made := key("POST", base, `{"name":"Pages","hosts":["Docs.Example.com","docs.example.com","*.Example.org"]}`, 201)
	if made.DailyCap != 1_000_000 || !made.RespectGPC || made.Generation != 1 || made.PreviousUntil != nil ||
		!slices.Equal(made.Hosts, []string{"docs.example.com", "*.example.org"}) || !strings.HasPrefix(made.Key,
		"opk_") {
		t.Fatalf("%+v", made)
	}
	one := base + "/" + made.ID
	if got := key("GET", one, nil, 200); got.Key != made.Key || got.Name != "Pages" {
		t.Errorf("%+v", got)
	}
	list := apitest.Ask[schema.List[schema.PublishableKey]](h, schema.RoleAdmin, "GET", base, nil, 200)
	if list.Count != 1 || len(list.Items) != 1 || list.Items[0].Key != made.Key {
		t.Errorf("%+v", list)
	}
	changed := key("PATCH", one, `{"name":"All","hosts":["localhost"],"dailyCap":5,"respectGPC":false}`, 200)
	if changed.Key != made.Key || changed.Name != "All" || changed.DailyCap != 5 || changed.RespectGPC ||
		changed.Hosts[0] != "localhost" {
		t.Errorf("%+v", changed)
	}
	if got := key("PATCH", one, `{}`, 200); got.Name != "All" || got.DailyCap != 5 || got.RespectGPC ||
		got.Hosts[0] != "localhost" {
		t.Errorf("%+v", got)
	}

	before := time.Now()
	rotated := key("POST", one+"/rotate", nil, 200)
	if rotated.Key == made.Key || rotated.Generation != 2 || rotated.PreviousUntil == nil {
		t.Fatalf("%+v", rotated)
	}
	if left := rotated.PreviousUntil.Sub(before); left < 7*24*time.Hour-time.Second ||
		left > 7*24*time.Hour+time.Minute {
		t.Errorf("the previous text works for %v", left)
	}
	if got := key("POST", one+"/rotate", `{"overlap":0}`, 200); got.Generation != 3 || got.PreviousUntil != nil {
		t.Errorf("%+v", got)
	}
	if got := key("POST", one+"/rotate", `{"overlap":2592000}`, 200); got.Generation != 4 ||
		time.Until(*got.PreviousUntil) < 29*24*time.Hour {
		t.Errorf("%+v", got)
	}
	h.Exec("update publishable_keys set generation = 65535")
	h.Want(http.StatusConflict, "POST", one+"/rotate", h.Ours.Tokens[schema.RoleAdmin], nil)
	for range 2 {
		h.Want(http.StatusNoContent, "DELETE", one, h.Ours.Tokens[schema.RoleAdmin], nil)
	}
	for _, call := range [][2]string{{"GET", one}, {"PATCH", one}, {"POST", one + "/rotate"}} {
		var body any
		if call[0] == "PATCH" {
			body = `{"name":"x"}`
		}
		h.WantError(h.Do(call[0], call[1], h.Ours.Tokens[schema.RoleAdmin], body), http.StatusNotFound)
	}
}

// TestPublishableKeyRights: only admins of the organization can see and change the keys of a site.
func TestPublishableKeyRights(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base := keysPath(h)
	id, text := h.PublishableKey(h.Ours, "docs.example.com")
	foreign, _ := h.PublishableKey(h.Theirs, "docs.example.com")
	for _, token := range []string{h.Ours.Tokens[schema.RoleCreate], h.Ours.SiteKey} {
		for _, call := range [][3]string{
			{"GET", base, ""}, {"POST", base, `{"name":"x","hosts":["a.example"]}`}, {"GET", base + "/" + id, ""},
			{"PATCH", base + "/" + id, `{"name":"x"}`}, {"POST", base + "/" + id + "/rotate", `{}`}, {"DELETE", base + "/" + id, ""},
		} {
			var body any
			if call[2] != "" {
				body = call[2]
			}
			h.WantError(h.Do(call[0], call[1], token, body), http.StatusForbidden)
		}
	}
	admin := h.Ours.Tokens[schema.RoleAdmin]
	h.WantError(h.Do("GET", base+"/"+foreign, admin, nil), http.StatusNotFound)
	h.WantError(h.Do("PATCH", base+"/"+foreign, admin, `{"name":"x"}`), http.StatusNotFound)
	h.WantError(h.Do("POST", base+"/"+foreign+"/rotate", admin, `{}`), http.StatusNotFound)
	h.Want(http.StatusNoContent, "DELETE", base+"/"+foreign, admin, nil)
	theirs := sitePath(h.Theirs.Organization.ID, h.Theirs.Site.ID) + "/insights/keys/" + foreign
	if got := h.Want(http.StatusOK, "GET", theirs, h.Theirs.Tokens[schema.RoleAdmin], nil); got["generation"] != 1.0 ||
		got["name"] != "Pages" {
		t.Errorf("%v", got)
	}
	// A key is not accepted as a token.
	for _, path := range []string{base, h.EventsPath()} {
		h.WantError(h.Do("GET", base, text, nil), http.StatusUnauthorized)
		h.WantError(h.Do("POST", path, text, `{"events":[]}`), http.StatusUnauthorized)
	}
}

// TestPublishableKeyBounds: hosts and numbers are checked. Unknown members are refused.
func TestPublishableKeyBounds(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	base, admin := keysPath(h), h.Ours.Tokens[schema.RoleAdmin]
	id, _ := h.PublishableKey(h.Ours, "docs.example.com")
	for _, host := range []string{
		"https://docs.example.com", "docs.example.com:443", "docs.example.com/", "docs.example.com.", "*", "*.com", "a@docs.example.com",
		"b\u00fccher.example", "docs..example.com", "", "docs.*.com", "*docs.example.com", strings.Repeat("a.", 127) + "a",
	} {
		body := map[string]any{"name": "x", "hosts": []string{"a.example", host}}
		if e := h.WantError(h.Do("POST", base, admin, body), http.StatusBadRequest); e.Details[0].Field != "hosts[1]" {
			t.Errorf("%s: %+v", host, e)
		}
		h.WantError(h.Do("PATCH", base+"/"+id, admin, map[string]any{"hosts": []string{host}}), http.StatusBadRequest)
	}
	many := slices.Repeat([]string{"docs.example.com"}, 51)
	for member, body := range map[string]map[string]any{
		"hosts":      {"hosts": many},
		"dailyCap":   {"dailyCap": 0},
		"name":       {"name": ""},
		"respectGPC": {"respectGPC": nil},
		"respectGpc": {"respectGpc": false},
		"generation": {"generation": 3},
	} {
		e := h.WantError(h.Do("PATCH", base+"/"+id, admin, body), http.StatusBadRequest)
		if !strings.Contains(e.Message, member) {
			t.Errorf("%s: %+v", member, e)
		}
	}
	for _, overlap := range []any{-1, 2_592_001, "7"} {
		h.WantError(h.Do("POST", base+"/"+id+"/rotate", admin, map[string]any{"overlap": overlap}),
			http.StatusBadRequest)
	}
	for _, hosts := range [][]string{
		{"localhost", "127.0.0.1", "XN--BCHER-KVA.example", "*.docs.example.com"}, many[:50],
	} {
		h.Want(http.StatusCreated, "POST", base, admin, map[string]any{"name": "x", "hosts": hosts,
			"dailyCap": 1_000_000_000})
	}
}
