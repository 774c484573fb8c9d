package orgs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/remote/webhooks/webhookstest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

var (
	webhookShape = shape.Of{
		"object": shape.One("webhook"), "id": shape.ID, "url": shape.Text(8, 2048), "description": shape.Text(0, 1000), "events": shape.List(shape.Text(1, 100)),
		"active": shape.Boolean, "status": shape.One("active", "paused", "disabled"), "disabledAt?": shape.Timestamp, "disabledReason?": shape.Text(1, 1000),
		"failures": shape.Count, "failingSince?": shape.Timestamp, "heldUntil?": shape.Text(20, 40), "formerSecretUntil?": shape.Text(20, 40),
		"createdAt": shape.Timestamp, "updatedAt": shape.Timestamp, "urls": shape.Object(shape.Of{"location": shape.URI}),
	}
	deliveryShape = shape.Of{
		"object": shape.One("webhook-delivery"), "id": shape.ID, "webhook": shape.ID, "state": shape.One("pending", "delivered", "failed"),
		"attempts": shape.Count, "redelivers?": shape.ID, "nextAttemptAt?": shape.Text(20, 40), "createdAt": shape.Timestamp, "finishedAt?": shape.Timestamp,
		"reason?": shape.Text(1, 1000), "urls": shape.Object(shape.Of{"location": shape.URI}),
		"lastAttempt?": shape.Object(shape.Of{
			"at": shape.Timestamp, "statusCode?": shape.Count, "duration": shape.Count, "response?": shape.Text(1, 1024),
		}),
		"event": shape.Object(shape.Of{
			"id": shape.ID, "type": shape.Text(1, 100), "createdAt": shape.Timestamp, "organization": shape.ID,
			"actor?": shape.Object(shape.Of{"object": shape.One("user"), "id": shape.ID}),
			"data":   func(any) error { return nil },
		}),
	}
)

// TestWebhookResource creates, reads, lists, changes and deletes a webhook. Only the answers to its creation and to a
// rotation have its secret.
func TestWebhookResource(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	withSecret := shape.Of{"secret": shape.Text(50, 50)}
	for name, check := range webhookShape {
		withSecret[name] = check
	}
	a := h.Do("POST", s.Org+"/webhooks", s.Token, `{"url":"https://receiver.example.com/hook?a=b","description":null,"events":null,"extra":1}`)
	made := shape.Want(t, withSecret, a.Body)
	secret, id := made["secret"].(string), made["id"].(string)
	if a.Status != 201 || a.Header.Get("Location") != "https://docs.example.com/base"+s.Org+"/webhooks/"+id || !strings.HasPrefix(secret, "whsec_") || made["active"] != true || made["status"] != "active" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	one := "/webhooks/" + id
	patch := func(body string) schema.Webhook {
		t.Helper()
		a := h.Do("PATCH", s.Org+one, s.Token, body)
		shape.Want(t, webhookShape, a.Body)
		var changed schema.Webhook
		if err := json.Unmarshal(a.Body, &changed); err != nil || a.Status != 200 {
			t.Fatalf("%s: %d %s", body, a.Status, a.Body)
		}
		if got := apitest.Get[schema.Webhook](s, webhookShape, one); !cmp.Equal(got, changed) {
			t.Errorf("%s", cmp.Diff(got, changed))
		}
		return changed
	}
	if got := patch(`{"events":["comment.created","cluster.muted"],"description":"Chat"}`); !slices.Equal(got.Events, []string{"comment.created", "cluster.muted"}) || got.Description != "Chat" {
		t.Errorf("%+v", got)
	}
	if got := patch(`{"active":false}`); got.Active || got.Status != schema.WebhookPaused || got.Description != "Chat" || len(got.Events) != 2 {
		t.Errorf("%+v", got)
	}
	if got := patch(`{"active":true,"events":[],"description":null,"url":"http://receiver.example.com:8080/"}`); !got.Active || len(got.Events) != 0 || got.Description != "" || got.URL != "http://receiver.example.com:8080/" {
		t.Errorf("%+v", got)
	}
	a = h.Do("POST", s.Org+one+"/rotate-secret", s.Token, nil)
	if rotated := shape.Want(t, withSecret, a.Body); a.Status != 200 || rotated["secret"] == secret || rotated["formerSecretUntil"] == nil {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for _, path := range []string{"/webhooks", one} {
		if a := h.Do("GET", s.Org+path, s.Token, nil); strings.Contains(string(a.Body), "whsec_") || strings.Contains(string(a.Body), secret) {
			t.Errorf("%s shows a secret: %s", path, a.Body)
		}
	}
	var stored string
	const secrets = "select encode(secret, 'base64') || encode(former_secret, 'base64') from webhooks where id = $1"
	if err := h.DB.QueryRow(t.Context(), secrets, id).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stored, strings.TrimPrefix(secret, "whsec_")[:20]) || strings.Contains(h.Log.String(), secret) {
		t.Error("the secret is stored or logged as it is")
	}
	second := h.Want(201, "POST", s.Org+"/webhooks", s.Token, `{"url":"https://receiver.example.com/","active":false}`)
	if second["status"] != "paused" {
		t.Errorf("%v", second)
	}
	if got := h.IDs(s.Org+"/webhooks", s.Token); !slices.Equal(got, []string{id, second["id"].(string)}) {
		t.Errorf("%q", got)
	}
	h.WantError(h.Do("POST", s.Org+"/webhooks/"+second["id"].(string)+"/ping", s.Token, nil), 409)
	for range 2 {
		h.Want(204, "DELETE", s.Org+one, s.Token, nil)
	}
	for _, gone := range []string{one, one + "/deliveries"} {
		h.WantError(h.Do("GET", s.Org+gone, s.Token, nil), 404)
	}
}

// TestBadWebhooks sends invalid requests about webhooks. The errors name the wrong member, and nothing is stored.
func TestBadWebhooks(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	made := h.Want(201, "POST", s.Org+"/webhooks", s.Token, `{"url":"https://receiver.example.com/"}`)
	one := "/webhooks/" + made["id"].(string)
	before := h.Rows()
	type bad struct{ method, path, body, field string }
	all := []bad{
		{"POST", "/webhooks", `{}`, "url"},
		{"POST", "/webhooks", `{"url":"https://receiver.example.com/","events":["comment.created","everything"]}`, "events[1]"},
		{"POST", "/webhooks", `{"url":"https://receiver.example.com/","events":["webhook.ping"]}`, "events[0]"},
		{"POST", "/webhooks", `{"url":"https://receiver.example.com/","description":"` + strings.Repeat("x", 1001) + `"}`, "description"},
		{"POST", "/webhooks", `{"url":"https://receiver.example.com/","active":"yes"}`, "active"},
		{"PATCH", one, `{"url":null}`, "url"},
		{"PATCH", one, `{"active":null}`, "active"},
		{"PATCH", one, `{"events":"all"}`, "events"},
		{"GET", one + "/deliveries?state=lost", ``, "state"},
		{"GET", one + "/deliveries?page=x", ``, "page"},
	}
	for _, address := range []string{
		"", "receiver", "ftp://receiver.example.com/", "https://user:pass@receiver.example.com/", "https://receiver.example.com/#a",
		"http://127.0.0.1/", "http://localhost:9000/", "http://[::1]/", "http://169.254.169.254/latest", "http://10.0.0.1/", "http://0x7f.1/",
		"http://receiver.example.com:22/", "https://" + strings.Repeat("x", 2048),
	} {
		all = append(all, bad{"POST", "/webhooks", fmt.Sprintf(`{"url":%q}`, address), "url"}, bad{"PATCH", one, fmt.Sprintf(`{"url":%q}`, address), "url"})
	}
	for _, test := range all {
		var body any = test.body
		if test.method == "GET" {
			body = nil
		}
		e := h.WantError(h.Do(test.method, s.Org+test.path, s.Token, body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s %s %s: %+v", test.method, test.path, test.body, e)
		}
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Error(diff)
	}
	theirs := "/v1/orgs/" + h.Theirs.Organization.ID
	for _, path := range []string{one, one + "/deliveries"} {
		h.WantError(h.Do("GET", theirs+path, h.Theirs.Tokens[schema.RoleAdmin], nil), 404)
	}
	for _, path := range []string{one + "/ping", one + "/rotate-secret", one + "/deliveries/nothing/redeliver"} {
		h.WantError(h.Do("POST", theirs+path, h.Theirs.Tokens[schema.RoleAdmin], nil), 404)
	}
	h.WantError(h.Do("POST", s.Org+one+"/deliveries/nothing/redeliver", s.Token, nil), 404)
}

// TestWebhookDeliveries lists the deliveries of a webhook, in pages and with filters, and sends deliveries again.
func TestWebhookDeliveries(t *testing.T) {
	t.Parallel()
	policy := outboundtest.Policy(t, outboundtest.Loopback)
	h := apitest.New(t, func(_ *frame.Config, d *api.Deps) { d.Outbound = policy })
	s := apitest.NewSupport(h)
	r := webhookstest.New(t)
	made := h.Want(201, "POST", s.Org+"/webhooks", s.Token, map[string]any{"url": r.URL + "/hook?token=abc"})
	r.Knows(made["secret"].(string))
	one := "/webhooks/" + made["id"].(string)
	r.Answers(func(n int, _ webhookstest.Received, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = w.Write([]byte("thanks"))
	})
	jobstest.Start(t, h.Store, func(c *jobs.Config) { c.Deps.Webhooks = jobstest.Webhooks(t, 0) })
	list := func(query string) []schema.WebhookDelivery {
		t.Helper()
		return apitest.Get[schema.List[schema.WebhookDelivery]](s, shape.ListOf(deliveryShape), one+"/deliveries"+query).Items
	}
	var pings []string
	for i := range 4 {
		a := h.Do("POST", s.Org+one+"/ping", s.Token, nil)
		ping := shape.Want(t, deliveryShape, a.Body)
		if a.Status != 201 || ping["state"] != "pending" && ping["state"] != "delivered" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		pings = append(pings, ping["id"].(string))
		eventually.True(t, "the ping to be sent", func() bool {
			return apitest.Get[schema.WebhookDelivery](s, deliveryShape, one+"/deliveries/"+pings[i]).LastAttempt != nil
		})
	}
	failed := list("?state=pending")
	if len(failed) != 1 || failed[0].ID != pings[1] || *failed[0].LastAttempt.StatusCode != 502 || failed[0].Attempts != 1 || failed[0].NextAttemptAt == nil ||
		!strings.HasSuffix(failed[0].Reason, " answered 502") || strings.Contains(failed[0].Reason, "abc") || failed[0].LastAttempt.Response != "thanks" {
		t.Errorf("%+v", failed)
	}
	if got := list("?state=delivered&type=webhook.ping"); len(got) != 3 || got[0].ID != pings[3] || got[0].FinishedAt == nil || got[0].Reason != "" || got[0].NextAttemptAt != nil {
		t.Errorf("%+v", got)
	}
	if got := list("?type=comment.created"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	newest := slices.Clone(pings)
	slices.Reverse(newest)
	if got := h.IDs(s.Org+one+"/deliveries", s.Token); !slices.Equal(got, newest) {
		t.Errorf("%q, want %q", got, newest)
	}
	// If a delivery waits for its next attempt, redelivering sends it at once.
	a := h.Do("POST", s.Org+one+"/deliveries/"+pings[1]+"/redeliver", s.Token, nil)
	if again := shape.Want(t, deliveryShape, a.Body); a.Status != 200 || again["id"] != pings[1] {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	eventually.True(t, "the failed delivery to be sent", func() bool { return len(list("?state=delivered")) == 4 })
	// If a delivery was successful, redelivering sends its event as a new delivery.
	a = h.Do("POST", s.Org+one+"/deliveries/"+pings[0]+"/redeliver", s.Token, nil)
	again := shape.Want(t, deliveryShape, a.Body)
	if a.Status != 200 || again["id"] == pings[0] || again["redelivers"] != pings[0] {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	eventually.True(t, "the delivery to be sent again", func() bool { return len(list("?state=delivered")) == 5 })
	all := r.Received()
	if first, last := all[0], all[len(all)-1]; first.ID != last.ID || string(first.Body) != string(last.Body) {
		t.Errorf("%s\n%s", first.Body, last.Body)
	}
}
