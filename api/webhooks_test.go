package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/remote/webhooks/webhookstest"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// reachLoopback allows the server to call loopback addresses, where the test's own servers listen.
func reachLoopback(t *testing.T) func(*frame.Config, *api.Deps) {
	t.Helper()
	policy := outboundtest.Policy(t, outboundtest.Loopback)
	return func(_ *frame.Config, d *api.Deps) { d.Outbound = policy }
}

const baseURL = "https://docs.example.com/base"

// TestEveryWebhookEvent causes an event of each type through the API and checks its delivery. The event has the members
// that the table of webhook events lists for its type, and an address at which the object can be read. It has no text
// that a user wrote.
func TestEveryWebhookEvent(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, reachLoopback(t))
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	user := h.Ours.Users[schema.RoleAdmin].ID
	const written = "what somebody wrote"
	r := webhookstest.New(t)
	made := h.Want(201, "POST", org+"/webhooks", admin, map[string]any{"url": r.URL})
	r.Knows(made["secret"].(string))
	urls, err := schema.NewURLs(baseURL)
	if err != nil {
		t.Fatal(err)
	}
	stop := jobstest.Start(t, h.Store, func(c *jobs.Config) {
		c.Deps.Webhooks, c.Deps.View = jobstest.Webhooks(t, 0), view.Presenter{URLs: urls}
	})

	comments := "/v1/spaces/" + h.Ours.Space.ID + "/comments"
	request := h.ChangeRequest(h.Ours)
	draft := "/v1/spaces/" + request.SpaceID + "/change-requests/" + request.ID
	text := func(text string) map[string]any { return map[string]any{"body": map[string]any{"markdown": text}} }
	comment := h.Want(200, "POST", comments, admin, text(written))["id"].(string)
	inRequest := h.Want(200, "POST", draft+"/comments", admin, text(written))["id"].(string)
	reply := h.Want(200, "POST", draft+"/comments/"+inRequest+"/replies", admin, text(written))["id"].(string)
	replies := draft + "/comments/" + inRequest + "/replies/"
	integration := "/v1/integrations/hooked-" + strings.ToLower(schema.NewID())
	h.Want(200, "POST", integration, admin, apitest.PublishBody(h.Ours.Organization.ID))
	s := apitest.NewSupport(h)
	conversation := func(id string) map[string]any {
		return map[string]any{"id": id, "parts": []map[string]any{{"role": "user", "body": "The export of my invoices as CSV fails with an error on every attempt."}}}
	}
	var review, installation, translation, cluster string
	clusterOf := func(m webhookstest.Received) {
		if m.Type == "cluster.created" {
			cluster, _ = m.Data["id"].(string)
		}
	}
	// run returns the id of the newest run of the translation.
	run := func() string {
		runs := h.Want(200, "GET", org+"/translations/"+translation+"/runs?limit=1", admin, nil)["items"].([]any)
		return runs[0].(map[string]any)["id"].(string)
	}
	seen := map[string]bool{"comment.created": true, "comment.reply.created": true, "change_request.created": true}
	check := func(t *testing.T, m webhookstest.Received, gone bool) {
		t.Helper()
		row := schema.WebhookEventTypes()[slices.IndexFunc(schema.WebhookEventTypes(), func(row schema.WebhookEventType) bool { return row.Name == m.Type })]
		members := slices.Sorted(maps.Keys(m.Data))
		for _, member := range append([]string{"object", "urls"}, row.Data.Members...) {
			name, optional := strings.CutSuffix(member, "?")
			i, found := slices.BinarySearch(members, name)
			if found {
				members = slices.Delete(members, i, i+1)
			} else if !optional {
				t.Errorf("no %s in %s", name, m.Body)
			}
		}
		if len(members) > 0 || m.Data["object"] != row.Data.Object || strings.Contains(string(m.Body), written) {
			t.Errorf("%q are not in the row of %s", members, m.Body)
		}
		if others := shape.OtherMoments(m.Body); len(others) > 0 {
			t.Errorf("moments of another form than answers have: %q in %s", others, m.Body)
		}
		if m.Actor != "" && m.Actor != user {
			t.Errorf("actor %s", m.Actor)
		}
		path, ours := strings.CutPrefix(m.Location, baseURL)
		if a := h.Do(http.MethodGet, path, admin, nil); !ours || (a.Status == 200) == gone {
			t.Errorf("%s answers %d %s", m.Location, a.Status, a.Body)
		}
	}
	for _, step := range []struct {
		want string // want is the type of the event.
		do   func(t *testing.T)
		id   func() string // id returns the object's id.
		gone bool
		also []string // also has the types of other events that the step causes.
	}{
		{want: schema.WebhookPing, do: func(*testing.T) {
			h.Want(201, "POST", org+"/webhooks/"+made["id"].(string)+"/ping", admin, nil)
		}, id: func() string { return made["id"].(string) }},
		{want: "comment.updated", do: func(*testing.T) { h.Want(200, "PUT", comments+"/"+comment, admin, text(written+" and again")) }, id: func() string { return comment }},
		{want: "comment.resolved", do: func(*testing.T) {
			h.Want(200, "PUT", comments+"/"+comment, admin, `{"resolved":true}`)
		}, id: func() string { return comment }},
		{want: "comment.reopened", do: func(*testing.T) {
			h.Want(200, "PUT", comments+"/"+comment, admin, `{"resolved":false}`)
		}, id: func() string { return comment }},
		{want: "comment.deleted", do: func(*testing.T) { h.Want(204, "DELETE", comments+"/"+comment, admin, nil) }, id: func() string { return comment }, gone: true},
		{want: "comment.reply.updated", do: func(*testing.T) { h.Want(200, "PUT", replies+reply, admin, text(written+" and again")) }, id: func() string { return reply }},
		{want: "comment.reply.deleted", do: func(*testing.T) { h.Want(204, "DELETE", replies+reply, admin, nil) }, id: func() string { return reply }, gone: true},
		{want: "change_request.updated", do: func(*testing.T) {
			h.ChangeContent(schema.RoleAdmin, request.ID, `{"operation":"insert_page","title":"`+written+`"}`)
		}, id: func() string { return request.ID }},
		{want: "change_request.reviewed", do: func(*testing.T) {
			review = h.Want(201, "POST", draft+"/reviews", admin, map[string]any{"status": "changes-requested", "comment": text(written)["body"]})["id"].(string)
		}, id: func() string { return review }},
		{want: "change_request.merged", do: func(*testing.T) { h.MergeNow(request.ID) }, id: func() string { return request.ID }, also: []string{"space.content_updated"}},
		{want: "cluster.created", do: func(*testing.T) { s.Send(conversation("a")) }, id: func() string { return cluster }},
		{want: "cluster.updated", do: func(*testing.T) { s.Send(conversation("b")) }, id: func() string { return cluster }},
		{want: "cluster.muted", do: func(*testing.T) {
			h.Want(200, "PATCH", org+"/conversations-clusters/"+cluster, admin, `{"muted":true}`)
		}, id: func() string { return cluster }},
		{want: "cluster.unmuted", do: func(*testing.T) {
			h.Want(200, "PATCH", org+"/conversations-clusters/"+cluster, admin, `{"muted":false}`)
		}, id: func() string { return cluster }},
		{want: "cluster.deleted", do: func(*testing.T) {
			for _, id := range []string{"a", "b"} {
				s.Send(map[string]any{"id": id, "parts": []map[string]any{{"role": "user", "body": "Thank you!"}}})
			}
		}, id: func() string { return cluster }, gone: true},
		{want: "installation.created", do: func(*testing.T) {
			installation = h.Want(201, "POST", integration+"/installations", admin, map[string]any{"organization": h.Ours.Organization.ID})["id"].(string)
		}, id: func() string { return installation }},
		{want: "installation.updated", do: func(*testing.T) {
			h.Want(200, "PATCH", integration+"/installations/"+installation, admin, `{"externalIds":["x"]}`)
		}, id: func() string { return installation }},
		{want: "installation.deleted", do: func(*testing.T) {
			h.Want(204, "DELETE", integration+"/installations/"+installation, admin, nil)
		}, id: func() string { return installation }, gone: true},
		{want: "translation.run.completed", do: func(*testing.T) {
			translation = h.Want(201, "POST", org+"/translations", admin, map[string]any{"source": map[string]any{"space": request.SpaceID, "language": "en"}, "language": "de"})["id"].(string)
			h.Want(204, "POST", org+"/translations/"+translation+"/run", admin, nil)
		}, id: run},
		{want: "translation.run.failed", do: func(*testing.T) {
			stop()
			jobstest.Start(t, h.Store, func(c *jobs.Config) {
				c.Deps.Webhooks, c.Deps.View, c.Deps.Translator = jobstest.Webhooks(t, 0), view.Presenter{URLs: urls}, nil
			})
			h.Want(204, "POST", org+"/translations/"+translation+"/run", admin, nil)
		}, id: run},
	} {
		all := t.Run(step.want, func(t *testing.T) {
			before := len(r.Received())
			step.do(t)
			var got webhookstest.Received
			eventually.True(t, step.want, func() bool {
				got = webhookstest.Received{}
				types := append([]string{step.want}, step.also...)
				for _, m := range r.Received()[before:] {
					if i := slices.Index(types, m.Type); i >= 0 {
						types = slices.Delete(types, i, i+1)
					}
					if m.Type == step.want {
						got = m
					}
				}
				return len(types) == 0
			})
			clusterOf(got)
			if got.Data["id"] != step.id() {
				t.Errorf("%s, want the id %s", got.Body, step.id())
			}
			check(t, got, step.gone)
		})
		seen[step.want] = true
		for _, also := range step.also {
			seen[also] = true
		}
		if !all {
			return
		}
	}
	for _, m := range r.Received() {
		// Check only the event of the original space. The translated space has an event with another id.
		if m.Type == "space.content_updated" && m.Data["id"] == request.SpaceID {
			check(t, m, false)
			if m.Data["revisionType"] != "merge" || m.Data["changeRequest"] != request.ID || m.Actor != user {
				t.Errorf("%s", m.Body)
			}
		}
		if m.Type == "comment.created" && m.Actor != user {
			t.Errorf("%s", m.Body)
		}
	}
	for _, name := range append(schema.WebhookEventNames(), schema.WebhookPing) {
		if !seen[name] {
			t.Errorf("nothing here makes %s happen", name)
		}
		if seen[name] && !slices.Contains(r.Types(), name) {
			t.Errorf("%s was not delivered", name)
		}
	}
}
