package api

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestQuotas creates until each quota is reached. The refusal names the setting and the limit, and leaves nothing behind; what is
// there can still be changed.
func TestQuotas(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	limits := store.Quotas{
		Organizations: 3, Members: 9, Teams: 2, InviteLinks: 2, Collections: 2, Spaces: 3, Sites: 3, Integrations: 2, OpenAPISpecs: 2,
		Conversations: 2, ChangeRequests: 2, Comments: 2, Replies: 2, FileBytes: 100,
	}
	request := changeRequest(h, h.ours)
	bounded, err := store.New(store.Config{URL: h.url, MaxConns: 4, Quotas: limits})
	if err != nil {
		t.Fatal(err)
	}
	if err := bounded.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bounded.Stop)
	link := h.linkInvite(h.ours, `{"role":"read"}`).ID
	comment := h.want(200, "POST", "/v1/spaces/"+h.ours.Space.ID+"/comments", h.ours.Tokens[schema.RoleAdmin], `{"body":{"markdown":"x"}}`)["id"].(string)
	h.st = bounded
	h.serve(nil)
	admin, org, space := h.ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.ours.Organization.ID, "/v1/spaces/"+h.ours.Space.ID
	draft := "/v1/spaces/" + request.SpaceID + "/change-requests/" + request.ID
	post := func(path, body string) func(int) answer {
		return func(i int) answer { return h.do("POST", path, admin, strings.ReplaceAll(body, "{i}", fmt.Sprint(i))) }
	}
	// What is there before counts: each case says how many more come in.
	cases := map[string]struct {
		more   int
		create []func(i int) answer
	}{
		"ORGANIZATIONS": {2, []func(int) answer{post("/v1/orgs", `{"title":"Another"}`)}},
		"MEMBERS": {2, []func(int) answer{
			func(int) answer {
				user, err := h.st.CreateUser(t.Context(), store.NewUser{DisplayName: "Guest"})
				if err != nil {
					t.Fatal(err)
				}
				return h.do("POST", org+"/invites/"+link, storetest.Token(t, h.st, store.NewToken{User: user.ID}), nil)
			},
			post(org+"/invites", `{"emails":["quota{i}@example.com"]}`),
		}},
		"TEAMS":        {2, []func(int) answer{func(int) answer { return h.do("PUT", org+"/teams", admin, `{"title":"Team"}`) }}},
		"INVITE_LINKS": {1, []func(int) answer{post(org+"/link-invites", `{"role":"read"}`)}},
		"COLLECTIONS":  {2, []func(int) answer{post(org+"/collections", `{}`)}},
		"SPACES":       {2, []func(int) answer{post(org+"/spaces", `{}`)}},
		"SITES":        {2, []func(int) answer{post(org+"/sites", `{}`)}},
		"INTEGRATIONS": {2, []func(int) answer{func(i int) answer {
			return h.do("POST", fmt.Sprintf("/v1/integrations/quota-%d", i), admin, publishBody(h.ours.Organization.ID))
		}}},
		"OPENAPI_SPECS": {2, []func(int) answer{
			post(org+"/openapi", `{"slug":"a{i}","source":{"url":"https://example.com/a"}}`),
			func(i int) answer {
				return h.do("PUT", fmt.Sprintf("%s/openapi/b%d", org, i), admin, `{"source":{"url":"https://example.com/a"}}`)
			},
		}},
		"CONVERSATIONS":   {2, []func(int) answer{post(org+"/conversations", `{"id":"c{i}","parts":[]}`)}},
		"CHANGE_REQUESTS": {1, []func(int) answer{post(space+"/change-requests", `{}`)}},
		"COMMENTS":        {1, []func(int) answer{post(space+"/comments", `{"body":{"markdown":"x"}}`)}},
		"REPLIES":         {2, []func(int) answer{post(space+"/comments/"+comment+"/replies", `{"body":{"markdown":"x"}}`)}},
		"FILE_BYTES": {2, []func(int) answer{
			post(draft+"/content", `{"changes":[{"operation":"insert_files","files":[{"name":"a.txt","base64":"`+strings.Repeat("YWFh", 13)+`YWE{i}"}]}]}`),
		}},
	}
	fields := reflect.TypeFor[store.Quotas]()
	for i := range fields.NumField() {
		setting, limit := fields.Field(i).Tag.Get("env"), reflect.ValueOf(limits).Field(i).Int()
		t.Run(setting, func(t *testing.T) {
			h := *h
			h.t = t
			c, ok := cases[setting]
			if !ok {
				t.Fatal("no case reaches this quota")
			}
			for i := range c.more {
				if a := c.create[0](i); a.status >= 300 {
					t.Fatalf("number %d: %d %s", i, a.status, a.body)
				}
			}
			for _, create := range c.create {
				before := h.rows()
				a := create(7)
				after := h.rows()
				// Whoever follows a link has an account before.
				delete(before, "users")
				delete(before, "tokens")
				delete(after, "users")
				delete(after, "tokens")
				if diff := cmp.Diff(before, after); diff != "" {
					t.Error(diff)
				}
				e := h.wantError(a, 403)
				if !strings.Contains(e.Message, "OCTAVO_QUOTA_"+setting+")") || !strings.Contains(e.Message, fmt.Sprintf("quota of %d ", limit)) {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	// At the limit, what is there can still be changed.
	h.want(200, "PUT", org+"/openapi/a0", admin, `{"source":{"url":"https://example.com/b"}}`)
	h.want(200, "POST", "/v1/integrations/quota-0", admin, publishBody(h.ours.Organization.ID))
	h.want(204, "POST", org+"/conversations", admin, `{"id":"c0","parts":[],"subject":"Again"}`)
	h.want(200, "POST", org+"/invites/"+link, h.ours.Tokens[schema.RoleGuest], nil)
	h.want(404, "POST", space+"/comments/nothing/replies", admin, `{"body":{"markdown":"x"}}`)
}
