package api_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestQuotas creates objects until each quota is reached. The refusal names the setting and the limit, and stores
// nothing. Existing objects can still be changed.
func TestQuotas(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	limits := postgres.Quotas{
		Organizations: 4, Members: 10, Teams: 2, InviteLinks: 2, InviteMails: 3, UserMails: 5, Collections: 2,
		Spaces: 3, Sites: 3, Integrations: 2, OpenAPISpecs: 2,
		Conversations: 2, Webhooks: 2, PublishableKeys: 2, Annotations: 2, SavedSegments: 2,
		InsightsTokens: 2, InsightsShareLinks: 2, ChangeRequests: 2, Comments: 2, Replies: 2, FileBytes: 100,
	}
	request := h.ChangeRequest(h.Ours)
	bounded, err := store.New(postgres.Config{
		URL: h.URL, MaxConns: 4, Quotas: limits,
	}, store.Config{Invites: orgs.Config{InvitesByMail: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := bounded.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bounded.Stop)
	link := h.LinkInvite(h.Ours, `{"role":"read"}`).ID
	invited := h.Want(200, "POST", "/v1/orgs/"+h.Ours.Organization.ID+"/invites", h.Ours.Tokens[schema.RoleAdmin], `{"emails":["pending@example.com"]}`)["users"].([]any)[0].(string)
	other := h.Want(201, "POST", "/v1/orgs", h.Ours.Tokens[schema.RoleAdmin], `{"title":"Other"}`)["id"].(string)
	elsewhere := h.Want(200, "POST", "/v1/orgs/"+other+"/invites", h.Ours.Tokens[schema.RoleAdmin],
		`{"emails":["other@example.com"]}`)["users"].([]any)[0].(string)
	comment := h.Want(200, "POST", "/v1/spaces/"+h.Ours.Space.ID+"/comments", h.Ours.Tokens[schema.RoleAdmin], `{"body":{"markdown":"x"}}`)["id"].(string)
	h.Store = bounded
	h.Serve(nil)
	admin, org, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID, "/v1/spaces/"+h.Ours.Space.ID
	draft := "/v1/spaces/" + request.SpaceID + "/change-requests/" + request.ID
	insights := org + "/sites/" + h.Ours.Site.ID + "/insights"
	post := func(path, body string) func(int) apitest.Answer {
		return func(i int) apitest.Answer {
			return h.Do("POST", path, admin, strings.ReplaceAll(body, "{i}", fmt.Sprint(i)))
		}
	}
	// The quota includes the objects that exist already. `more` is the number of further objects that the quota allows.
	cases := map[string]struct {
		more   int
		create []func(i int) apitest.Answer
	}{
		"ORGANIZATIONS": {2, []func(int) apitest.Answer{post("/v1/orgs", `{"title":"Another"}`)}},
		"MEMBERS": {2, []func(int) apitest.Answer{
			func(int) apitest.Answer {
				user, err := h.Store.Orgs.CreateUser(t.Context(), orgs.NewUser{DisplayName: "Guest"})
				if err != nil {
					t.Fatal(err)
				}
				return h.Do("POST", org+"/invites/"+link, storetest.Token(t, h.Store, store.NewToken{User: user.ID}), nil)
			},
			post(org+"/invites", `{"emails":["quota{i}@example.com"]}`),
		}},
		"TEAMS": {2, []func(int) apitest.Answer{func(n int) apitest.Answer {
			return h.Do("PUT", org+"/teams", admin, map[string]any{"title": fmt.Sprint("Team ", n)})
		}}},
		"INVITE_LINKS": {1, []func(int) apitest.Answer{post(org+"/link-invites", `{"role":"read"}`)}},
		"INVITE_MAILS": {2, []func(int) apitest.Answer{post(org+"/invites/"+invited+"/resend", "")}},
		"USER_MAILS":   {1, []func(int) apitest.Answer{post("/v1/orgs/"+other+"/invites/"+elsewhere+"/resend", "")}},
		"COLLECTIONS":  {2, []func(int) apitest.Answer{post(org+"/collections", `{}`)}},
		"SPACES":       {2, []func(int) apitest.Answer{post(org+"/spaces", `{}`)}},
		"SITES":        {2, []func(int) apitest.Answer{post(org+"/sites", `{}`)}},
		"INTEGRATIONS": {2, []func(int) apitest.Answer{func(i int) apitest.Answer {
			return h.Do("POST", fmt.Sprintf("/v1/integrations/quota-%d", i), admin, apitest.PublishBody(h.Ours.Organization.ID))
		}}},
		"OPENAPI_SPECS": {2, []func(int) apitest.Answer{
			post(org+"/openapi", `{"slug":"a{i}","source":{"url":"https://example.com/a"}}`),
			func(i int) apitest.Answer {
				return h.Do("PUT", fmt.Sprintf("%s/openapi/b%d", org, i), admin, `{"source":{"url":"https://example.com/a"}}`)
			},
		}},
		"CONVERSATIONS": {2, []func(int) apitest.Answer{post(org+"/conversations", `{"id":"c{i}","parts":[]}`)}},
		"WEBHOOKS":      {2, []func(int) apitest.Answer{post(org+"/webhooks", `{"url":"https://example.com/{i}"}`)}},
		"PUBLISHABLE_KEYS": {2, []func(int) apitest.Answer{
			post(org+"/sites/"+h.Ours.Site.ID+"/insights/keys", `{"name":"{i}","hosts":["docs.example.com"]}`),
		}},
		"ANNOTATIONS": {2, []func(int) apitest.Answer{post(insights+"/annotations", `{"text":"{i}"}`)}},
		"SAVED_SEGMENTS": {2, []func(int) apitest.Answer{
			post(insights+"/saved-segments", `{"name":"{i}","where":[{"column":"url","values":["p"]}]}`),
		}},
		"INSIGHTS_TOKENS":      {2, []func(int) apitest.Answer{post(insights+"/tokens", `{"name":"{i}"}`)}},
		"INSIGHTS_SHARE_LINKS": {2, []func(int) apitest.Answer{post(insights+"/share-links", `{"name":"{i}"}`)}},
		"CHANGE_REQUESTS":      {1, []func(int) apitest.Answer{post(space+"/change-requests", `{}`)}},
		"COMMENTS":             {1, []func(int) apitest.Answer{post(space+"/comments", `{"body":{"markdown":"x"}}`)}},
		"REPLIES": {2, []func(int) apitest.Answer{
			post(space+"/comments/"+comment+"/replies", `{"body":{"markdown":"x"}}`)}},
		"FILE_BYTES": {2, []func(int) apitest.Answer{
			post(draft+"/content", `{"changes":[{"operation":"insert_files","files":[{"name":"a.txt","base64":"`+strings.Repeat("YWFh", 13)+`YWE{i}"}]}]}`),
		}},
	}
	fields := reflect.TypeFor[postgres.Quotas]()
	for i := range fields.NumField() {
		setting, limit := fields.Field(i).Tag.Get("env"), reflect.ValueOf(limits).Field(i).Int()
		if setting == "ALL_MAILS" {
			continue // This quota delays mails: see orgs.TestMailsOfAllAreBounded.
		}
		t.Run(setting, func(t *testing.T) {
			h := *h
			h.T = t
			c, ok := cases[setting]
			if !ok {
				t.Fatal("no case reaches this quota")
			}
			for i := range c.more {
				if a := c.create[0](i); a.Status >= 300 {
					t.Fatalf("number %d: %d %s", i, a.Status, a.Body)
				}
			}
			for _, create := range c.create {
				before := h.Rows()
				a := create(7)
				after := h.Rows()
				// A case may create users with tokens before its request, so leave out these tables.
				delete(before, "users")
				delete(before, "tokens")
				delete(after, "users")
				delete(after, "tokens")
				if diff := cmp.Diff(before, after); diff != "" {
					t.Error(diff)
				}
				e := h.WantError(a, 403)
				if !strings.Contains(e.Message, "OCTAVO_QUOTA_"+setting+")") || !strings.Contains(e.Message, fmt.Sprintf("quota of %d ", limit)) {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	// When the quota is reached, existing objects can still be changed.
	h.Want(200, "PUT", org+"/openapi/a0", admin, `{"source":{"url":"https://example.com/b"}}`)
	h.Want(200, "POST", "/v1/integrations/quota-0", admin, apitest.PublishBody(h.Ours.Organization.ID))
	h.Want(204, "POST", org+"/conversations", admin, `{"id":"c0","parts":[],"subject":"Again"}`)
	h.Want(200, "POST", org+"/invites/"+link, h.Ours.Tokens[schema.RoleGuest], nil)
	h.Want(404, "POST", space+"/comments/nothing/replies", admin, `{"body":{"markdown":"x"}}`)
}
