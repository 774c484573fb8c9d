package apps_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

var eventShape = shape.Of{
	"id": shape.ID, "integrationId": shape.Text(1, 100), "installationId": shape.ID, "createdAt": shape.Timestamp, "status": shape.One("success", "failed"),
	"payload": shape.Object(shape.Of{
		"eventId": shape.ID, "type": shape.String, "installationId": shape.ID, "spaceId?": shape.ID, "siteId?": shape.ID, "status?": shape.String,
		"previous?": func(any) error { return nil },
	}),
}

// received is a request that a tunnel received.
type received struct {
	event       schema.IntegrationEventPayload
	environment schema.IntegrationEnvironment
	raw         string
}

// workstation is the server to which a tunnel leads. It answers requests with the statuses in order, and then with 200.
type workstation struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	got      []received
}

func newWorkstation(t *testing.T) *workstation {
	w := &workstation{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		var got received
		got.raw = r.FormValue("environment")
		if r.Method != http.MethodPost || r.URL.Path != "/v1" || json.Unmarshal([]byte(r.FormValue("event")), &got.event) != nil || json.Unmarshal([]byte(got.raw), &got.environment) != nil {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Form)
		}
		w.got = append(w.got, got)
		status := 200
		if len(w.statuses) > 0 {
			status, w.statuses = w.statuses[0], w.statuses[1:]
		}
		out.WriteHeader(status)
		_, _ = io.WriteString(out, "OK")
	}))
	t.Cleanup(w.Close)
	return w
}

// types returns the types of the received events, in order.
func (w *workstation) types() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var types []string
	for _, got := range w.got {
		types = append(types, got.event.Type)
	}
	return strings.Join(types, " ")
}

// local returns an option that allows the server to call servers of the test.
func local(t *testing.T) func(*frame.Config, *api.Deps) {
	policy := outboundtest.Policy(t, outboundtest.Loopback)
	return func(_ *frame.Config, d *api.Deps) { d.Outbound = policy }
}

// TestIntegrationEvents: the events of an installation are listed, the newest first. Each event has the state of the
// installation before the event.
func TestIntegrationEvents(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	installed := h.Installed(h.Ours, "busy")
	path := "/v1/integrations/busy/installations/" + installed["installationId"]
	h.Want(200, "PATCH", path, admin, `{"configuration":{"key":"a"}}`)
	h.Want(201, "POST", path+"/spaces", admin, map[string]string{"space": h.Ours.Space.ID})
	h.Want(200, "PATCH", path+"/spaces/"+h.Ours.Space.ID, admin, `{"configuration":{"color":"red"}}`)
	h.Want(201, "POST", path+"/sites", admin, map[string]string{"siteId": h.Ours.Site.ID})
	h.Want(204, "DELETE", path+"/spaces/"+h.Ours.Space.ID, admin, nil)
	h.Want(204, "DELETE", path, admin, nil)
	list := shape.Want(t, shape.ListOf(eventShape), h.Do("GET", "/v1/integrations/busy/events", admin, nil).Body)
	var got []string
	for _, item := range list["items"].([]any) {
		payload := item.(map[string]any)["payload"].(map[string]any)
		delete(payload, "eventId")
		delete(payload, "installationId")
		text, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.NewReplacer(h.Ours.Space.ID, "SPACE", h.Ours.Site.ID, "SITE").Replace(string(text)))
	}
	want := []string{
		`{"previous":{"configuration":{"key":"a"}},"type":"installation_deleted"}`,
		`{"previous":{"configuration":{"color":"red"}},"spaceId":"SPACE","type":"space_installation_deleted"}`,
		`{"siteId":"SITE","status":"active","type":"site_installation_setup"}`,
		`{"previous":{"configuration":{},"status":"active"},"spaceId":"SPACE","status":"active","type":"space_installation_setup"}`,
		`{"spaceId":"SPACE","status":"active","type":"space_installation_setup"}`,
		`{"previous":{"configuration":{},"status":"active"},"status":"active","type":"installation_setup"}`,
		`{"status":"active","type":"installation_setup"}`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || list["count"] != 7.0 {
		t.Errorf("count %v\n%s\nwant\n%s", list["count"], strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if ids := h.IDs("/v1/integrations/busy/events", admin); len(ids) != 7 {
		t.Errorf("%q", ids)
	}
	traced := h.Want(200, "GET", "/v1/integrations/busy/events/"+installed["eventId"], admin, nil)
	if logs := traced["trace"].(map[string]any)["logs"].([]any); len(logs) != 1 || !strings.Contains(logs[0].(map[string]any)["message"].(string), "do not run on this server") {
		t.Errorf("%v", logs)
	}
	h.WantError(h.Do("GET", "/v1/integrations/busy/events/nothing", admin, nil), http.StatusNotFound)
	h.WantError(h.Do("GET", "/v1/integrations/busy/events", h.Ours.Tokens[schema.RoleCreate], nil), http.StatusForbidden)
}

// TestOldEventsGo: only an integration's last thousand events are stored.
func TestOldEventsGo(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	installed := h.Installed(h.Ours, "loud")
	h.Exec(`insert into integration_events (id, integration, installation_id, payload, status)
		select '0' || lpad(g::text, 8, '0'), 'loud', 'x', '{"eventId":"","type":"","installationId":""}', 'success' from generate_series(1, 1500) g`)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	h.Want(200, "PATCH", "/v1/integrations/loud/installations/"+installed["installationId"], admin, `{"externalIds":["a"]}`)
	if got := h.Want(200, "GET", "/v1/integrations/loud/events?limit=1", admin, nil); got["count"] != 1000.0 {
		t.Errorf("%v", got)
	}
}

// TestSigningSecretEndsWithTheOwner: when an integration is unpublished, its name is free. If another organization
// publishes an integration under this name, it gets another signing secret.
func TestSigningSecretEndsWithTheOwner(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, local(t))
	w := newWorkstation(t)
	secret := func(tenant *storetest.Tenant) string {
		t.Helper()
		admin := tenant.Tokens[schema.RoleAdmin]
		path := "/v1/integrations/free/installations/" + h.Installed(tenant, "free")["installationId"]
		h.Want(204, "PUT", "/v1/integrations/free/dev", admin, map[string]any{"tunnelUrl": w.URL})
		h.Want(200, "PATCH", path, admin, `{"externalIds":["a"]}`)
		jobstest.Drain(t, h.Store)
		h.Want(204, "DELETE", "/v1/integrations/free", admin, nil)
		return w.got[len(w.got)-1].environment.SigningSecrets.Integration
	}
	first, others, again := secret(h.Ours), secret(h.Theirs), secret(h.Ours)
	if first == others || first != again || len(w.got) != 3 {
		t.Errorf("%q, then %q, then %q after %d events", first, others, again, len(w.got))
	}
}

// TestDevelopmentMode sends events to a workstation that fails at first. The workstation gets each event with the
// environment of the script, without the integration's secrets. The environment has tokens of the integration and of
// the installation.
func TestDevelopmentMode(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, local(t))
	admin, theirs := h.Ours.Tokens[schema.RoleAdmin], h.Theirs.Tokens[schema.RoleAdmin]
	body := apitest.PublishBody(h.Ours.Organization.ID)
	body["visibility"], body["scopes"], body["secrets"] = "public", []string{schema.ScopeSpaceMetadataRead}, map[string]string{"KEY": "s3cr3t-value"}
	h.Want(200, "POST", "/v1/integrations/live", admin, body)
	w := newWorkstation(t)
	h.Want(204, "PUT", "/v1/integrations/live/dev", admin, map[string]any{"tunnelUrl": w.URL})
	install := func(token, organization string) string {
		return h.Want(201, "POST", "/v1/integrations/live/installations", token, map[string]string{"organization": organization})["id"].(string)
	}
	id := install(admin, h.Ours.Organization.ID)
	if got := h.Want(200, "GET", "/v1/integrations/live/events", admin, nil); got["count"] != 0.0 {
		t.Errorf("an event that is not sent yet is listed: %v", got)
	}
	w.statuses = []int{502, 500}
	if failed := jobstest.RunAll(t, h.Store); len(failed) != 0 {
		t.Fatalf("%+v", failed)
	}
	if got := w.types(); got != "installation_setup installation_setup installation_setup" {
		t.Fatal(got)
	}
	last := w.got[2]
	env := last.environment
	if last.event.EventID != w.got[0].event.EventID || last.event.InstallationID != id || last.event.Status != "active" ||
		env.APIEndpoint != "https://docs.example.com/base" || env.Integration.Name != "live" || env.Installation.ID != id || env.SigningSecrets.Integration == "" {
		t.Errorf("%+v", last)
	}
	if strings.Contains(last.raw, "s3cr3t") || !strings.Contains(last.raw, `"secrets":{}`) {
		t.Error("a secret goes to the tunnel")
	}
	traced := h.Want(200, "GET", "/v1/integrations/live/events/"+last.event.EventID, env.APITokens.Integration, nil)
	logs := traced["trace"].(map[string]any)["logs"].([]any)
	if traced["event"].(map[string]any)["status"] != "success" || len(logs) != 3 || logs[0].(map[string]any)["message"] != "Not sent: the tunnel answered 502." {
		t.Errorf("%v", traced)
	}
	h.Want(200, "GET", "/v1/spaces/"+h.Ours.Space.ID, env.APITokens.Installation, nil)
	own := h.Want(200, "GET", "/v1/integrations/live/installations", env.APITokens.Integration, nil)
	if own["count"] != 1.0 {
		t.Errorf("%v", own)
	}
	h.WantError(h.Do("GET", "/v1/spaces/"+h.Ours.Space.ID, env.APITokens.Integration, nil), http.StatusForbidden)
	// Events of installations in other organizations are sent only with `all`. Otherwise they are only recorded.
	other := install(theirs, h.Theirs.Organization.ID)
	h.Want(204, "PUT", "/v1/integrations/live/dev", admin, map[string]any{"tunnelUrl": w.URL + "/mine", "all": true})
	h.Want(204, "PUT", "/v1/integrations/live/dev", admin, map[string]any{"tunnelUrl": w.URL, "all": true})
	w.statuses = []int{406}
	h.Want(204, "DELETE", "/v1/integrations/live/installations/"+other, theirs, nil)
	jobstest.Drain(t, h.Store)
	if got := w.types(); got != "installation_setup installation_setup installation_setup installation_deleted" || w.got[3].environment.Installation != nil {
		t.Error(got)
	}
	// If the tunnel answers 400, a retry would get the same answer, so the job fails at once and records the reason.
	w.statuses = []int{400, 200}
	h.Want(200, "PATCH", "/v1/integrations/live/installations/"+id, admin, `{"externalIds":["a"]}`)
	failed := jobstest.RunAll(t, h.Store)
	if len(failed) != 1 || failed[0].Reason != "the tunnel answered 400" {
		t.Errorf("%+v", failed)
	}
	latest := func() map[string]any {
		return h.Want(200, "GET", "/v1/integrations/live/events?limit=1", admin, nil)["items"].([]any)[0].(map[string]any)
	}
	if got := latest(); got["status"] != "failed" {
		t.Errorf("%v", got)
	}
	// After development mode ends, the queued events are not sent.
	before := len(w.got)
	h.Want(200, "PATCH", "/v1/integrations/live/installations/"+id, admin, `{"externalIds":["b"]}`)
	h.Want(204, "DELETE", "/v1/integrations/live/dev", admin, nil)
	jobstest.Drain(t, h.Store)
	h.Want(200, "PATCH", "/v1/integrations/live/installations/"+id, admin, `{"externalIds":["c"]}`)
	if len(w.got) != before || latest()["status"] != "success" {
		t.Errorf("%d events were sent after the end: %v", len(w.got)-before, latest())
	}
}

// TestTunnelsDoNotWaitForEachOther: the events of one integration are sent in order. Events of different integrations
// are sent at the same time.
func TestTunnelsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, local(t))
	admin, w := h.Ours.Tokens[schema.RoleAdmin], newWorkstation(t)
	for _, name := range []string{"one", "two"} {
		path := "/v1/integrations/" + name + "/installations/" + h.Installed(h.Ours, name)["installationId"]
		h.Want(204, "PUT", "/v1/integrations/"+name+"/dev", admin, map[string]any{"tunnelUrl": w.URL})
		for range 2 {
			h.Want(200, "PATCH", path, admin, `{"externalIds":["a"]}`)
		}
	}
	if err := h.Store.Queue.GiveTurns(t.Context(), []schema.JobKind{
		schema.SendIntegrationEvent{}.JobKind(),
	}); err != nil {
		t.Fatal(err)
	}
	var ready, behind int
	const count = `select count(*) filter (where state = 'available'), count(*) filter (where state = 'pending')
		from river_job where kind = 'send_integration_event'`
	if err := h.DB.QueryRow(t.Context(), count).Scan(&ready, &behind); err != nil || ready != 2 || behind != 2 {
		t.Errorf("%d events may be sent now, and %d wait: %v", ready, behind, err)
	}
}

// TestEventIsSentAgainAfterACrash: the process ends after the workstation has received the event, and before the runner
// has recorded the delivery. The workstation gets the event again, with the same id.
func TestEventIsSentAgainAfterACrash(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, local(t))
	admin, w := h.Ours.Tokens[schema.RoleAdmin], newWorkstation(t)
	installed := h.Installed(h.Ours, "crash")
	h.Want(204, "PUT", "/v1/integrations/crash/dev", admin, map[string]any{"tunnelUrl": w.URL})
	h.Want(200, "PATCH", "/v1/integrations/crash/installations/"+installed["installationId"], admin, `{"externalIds":["a"]}`)
	h.Exec("alter table integration_events add constraint crash check (status is null or id = '" + installed["eventId"] + "')")
	ended := jobstest.RunAll(t, h.Store)
	if len(ended) != 1 {
		t.Fatalf("%+v", ended)
	}
	h.Exec("alter table integration_events drop constraint crash")
	if _, err := h.Store.Queue.Retry(t.Context(), h.Ours.Organization.ID, ended[0].ID); err != nil {
		t.Fatal(err)
	}
	jobstest.Drain(t, h.Store)
	event := h.Want(200, "GET", "/v1/integrations/crash/events?limit=1", admin, nil)["items"].([]any)[0].(map[string]any)
	if event["status"] != "success" || len(w.got) < 2 || w.got[0].event.EventID != w.got[len(w.got)-1].event.EventID {
		t.Errorf("%v, sent %d times", event, len(w.got))
	}
}

// TestBusyTunnels: if a tunnel answers 429 or 408, it gets the event again.
func TestBusyTunnels(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, local(t))
	admin, w := h.Ours.Tokens[schema.RoleAdmin], newWorkstation(t)
	path := "/v1/integrations/busy/installations/" + h.Installed(h.Ours, "busy")["installationId"]
	h.Want(204, "PUT", "/v1/integrations/busy/dev", admin, map[string]any{"tunnelUrl": w.URL})
	w.statuses = []int{429, 408}
	h.Want(200, "PATCH", path, admin, `{"externalIds":["a"]}`)
	if failed := jobstest.RunAll(t, h.Store); len(failed) != 0 || len(w.got) != 3 {
		t.Errorf("sent %d times: %+v", len(w.got), failed)
	}
}

func TestBadTunnels(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.Installed(h.Ours, "safe")
	before := h.Rows()
	for _, address := range []string{"http://127.0.0.1:1", "http://localhost", "https://169.254.169.254/", "ftp://example.com", "https://me:secret@example.com", "x", "", "https://" + strings.Repeat("a", 300)} {
		e := h.WantError(h.Do("PUT", "/v1/integrations/safe/dev", h.Ours.Tokens[schema.RoleAdmin], map[string]any{"tunnelUrl": address}), http.StatusBadRequest)
		if e.Details[0].Field != "tunnelUrl" {
			t.Errorf("%s: %+v", address, e)
		}
	}
	h.WantError(h.Do("PUT", "/v1/integrations/nothing/dev", h.Ours.Tokens[schema.RoleAdmin], `{"tunnelUrl":"https://example.com"}`), http.StatusNotFound)
	if after := h.Rows(); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Error("something was stored")
	}
}
