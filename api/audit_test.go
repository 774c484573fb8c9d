package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// unaudited has the operations other than GET that write no audit entry, with the reason.
var unaudited = map[string]string{
	"trackEventsInSiteById":              "Events are no change of what somebody edits.",
	"aggregateSiteEvents":                "It only reads.",
	"getSiteEventsFunnel":                "It only reads.",
	"getSiteEventsRetention":             "It only reads.",
	"getSiteEventsTransitions":           "It only reads.",
	"resolvePublishedContentByUrl":       "It only reads.",
	"eraseSiteEventKey":                  "The erasures of this test are not the store's.",
	"eraseSiteVisitor":                   "The erasures of this test are not the store's.",
	"searchSiteContent":                  "It only reads.",
	"updateOrganizationMemberLastSeenAt": "When a member was here last is no change.",
	"retryJob":                           "It changes a job, whose state the list of jobs has.",
	"pingWebhook":                        "It sends something, which the list of deliveries has.",
	"redeliverWebhookDelivery":           "It sends something, which the list of deliveries has.",
}

// unshown has tables in which an example may change columns without an audit entry. For each table, it has the reason
// or the names of these columns.
var unshown = map[string]string{
	"browser_sessions":   "It is exempt.",
	"front_end_changes":  "It is exempt.",
	"integration_events": "It is exempt.",
	"webhook_deliveries": "It is exempt.",
	"webhook_events":     "It is exempt.",
	"change_requests":    "The time of the last change.",
	"openapi_specs":      "The times of the last change and of the last processing.",
	"translations":       "The time of the last change.",
}

// auditRow is a row of the audit table.
type auditRow struct {
	Organization, Operation, ActorType, ActorID, TokenID, TokenKind, RequestID, Address *string
	Type, Action                                                                        string
	ID, Text                                                                            *string
}

func auditRows(h *apitest.Harness, after int64) (rows []auditRow, last int64) {
	h.T.Helper()
	found, err := h.DB.Query(h.T.Context(), `select id, organization_id, operation, actor_type, actor_id, token_id,
		token_kind, request_id, address, object_type, action, object_id,
		concat_ws(' ', site_id, space_id, before, after) from audit_log where id > $1 order by id`, after)
	if err != nil {
		h.T.Fatal(err)
	}
	defer found.Close()
	last = after
	for found.Next() {
		var r auditRow
		if err := found.Scan(&last, &r.Organization, &r.Operation, &r.ActorType, &r.ActorID, &r.TokenID, &r.TokenKind, &r.RequestID, &r.Address,
			&r.Type, &r.Action, &r.ID, &r.Text); err != nil {
			h.T.Fatal(err)
		}
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil {
		h.T.Fatal(err)
	}
	return rows, last
}

// TestEveryWriteIsAudited calls every operation other than GET with its example. Each audit entry of a successful call
// names the operation, the caller, the token, the caller's address and the request. The id of the entry's object is in
// the call or in its answer. A refused call writes no entry.
func TestEveryWriteIsAudited(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Users[schema.RoleAdmin].ID
	_, last := auditRows(h, 0)
	used, audited := map[string]bool{}, 0
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Method == http.MethodGet || op.Scope.Public { // Without a token, the caller has no name.
			return
		}
		path, body := h.Example(op, h.Ours)
		_, last = auditRows(h, last) // These entries are about the objects that the example needs.
		if a := h.Do(op.Method, path, "", body); a.Status >= 400 {
			if rows, _ := auditRows(h, last); len(rows) > 0 {
				t.Errorf("a refused call (%d) leaves %+v", a.Status, rows[0])
			}
		}
		_, last = auditRows(h, last)
		before := h.Rows()
		request := "audit-of-" + op.ID
		answer := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], body, "X-Request-Id", request)
		if answer.Status >= 300 {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		var rows []auditRow
		rows, last = auditRows(h, last)
		// Any operation may create a key of these kinds, when it is the first to use it.
		rows = slices.DeleteFunc(rows, func(r auditRow) bool { return r.Type == "site-token-key" || r.Type == "installation-key" })
		if reason := unaudited[op.ID]; reason != "" {
			used[op.ID] = true
			if len(rows) > 0 {
				t.Errorf("it is exempt (%s), but leaves %+v", reason, rows[0])
			}
			return
		}
		if len(rows) == 0 {
			// The example sets values that the object already has, so the call changes nothing.
			for table, now := range h.Rows() {
				if now != before[table] && unshown[table] == "" {
					t.Errorf("%s has changed, without an entry", table)
				}
			}
			return
		}
		audited++
		sent, _ := body.(string)
		known := path + " " + sent + " " + string(answer.Body) + answer.Header.Get("Location") + " " + admin
		about := false
		for _, r := range rows {
			if schema.Or(r.Operation, "") != op.ID || schema.Or(r.RequestID, "") != request || schema.Or(r.ActorID, "") != admin ||
				schema.Or(r.ActorType, "") != "user" || schema.Or(r.TokenID, "") == "" || schema.Or(r.TokenKind, "") != "user" ||
				schema.Or(r.Address, "") != "127.0.0.1" {
				t.Errorf("an entry about %s %v has %v", r.Type, schema.Or(r.ID, ""), r)
			}
			about = about || r.ID != nil && strings.Contains(known, *r.ID)
			for _, id := range strings.Fields(schema.Or(r.Text, "")) {
				about = about || strings.Contains(known, strings.Trim(id, `",:{}`))
			}
		}
		if !about {
			t.Errorf("no entry is about an object of the call: %+v", rows)
		}
	})
	if all && audited < 80 {
		t.Errorf("only %d operations leave entries", audited)
	}
	for id := range unaudited {
		if all && !used[id] {
			t.Errorf("%s is exempt and no operation", id)
		}
	}
}

// TestAuditLogList reads the audit log through the API.
func TestAuditLogList(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	log := org + "/audit-log"
	site := org + "/sites/" + h.Ours.Site.ID
	for _, title := range []string{"One", "Two", "Three", "Four"} {
		h.Want(200, "PATCH", site, admin, map[string]any{"title": title})
	}
	team := h.Want(201, "PUT", org+"/teams", admin, `{"title":"Writers"}`)["id"].(string)
	ids := h.IDs(log, admin)
	h.Want(200, "PATCH", site, admin, `{"title":"Five"}`)
	if again := h.IDs(log, admin); len(again) != len(ids)+1 {
		t.Errorf("%d entries, then %d", len(ids), len(again))
	}
	newest := h.Want(200, "GET", log+"?limit=1", admin, nil)["items"].([]any)[0].(map[string]any)
	target := newest["target"].(map[string]any)
	if newest["object"] != "audit-entry" || newest["action"] != "update" || newest["operation"] != "updateSiteById" ||
		target["type"] != "site" || target["id"] != h.Ours.Site.ID || target["organization"] != h.Ours.Organization.ID ||
		newest["before"].(map[string]any)["title"] != "Four" || newest["after"].(map[string]any)["title"] != "Five" ||
		newest["actor"].(map[string]any)["displayName"] != "ours-admin" || newest["address"] != "127.0.0.1" {
		t.Errorf("%v", newest)
	}
	if one := h.Want(200, "GET", log+"/"+newest["id"].(string), admin, nil); one["at"] != newest["at"] {
		t.Errorf("%v", one)
	}
	at, err := time.Parse(time.RFC3339Nano, newest["at"].(string))
	if err != nil {
		t.Fatal(err)
	}
	stamp := func(at time.Time) string { return url.QueryEscape(at.Format(time.RFC3339Nano)) }
	for query, want := range map[string]int{
		"operation=updateSiteById": 5,
		"objectType=site&objectId=" + h.Ours.Site.ID + "&operation=updateSiteById": 5,
		"objectId=" + team: 1,
		"objectType=team":  1,
		"actor=nobody":     0,
		"actor=" + h.Ours.Users[schema.RoleAdmin].ID: 6,
		"from=" + stamp(at):                          1,
		"from=" + stamp(at.Add(time.Microsecond)):    0,
		"to=" + stamp(at):                            len(ids),
		"operation=updateSiteById&to=" + stamp(at):   4,
	} {
		if got := h.IDs(log+"?"+query, admin); len(got) != want {
			t.Errorf("%s: %d entries, want %d", query, len(got), want)
		}
	}
	for query, field := range map[string]string{"objectType=cake": "objectType", "from=yesterday": "from", "to=1": "to", "page=x": "page"} {
		if e := h.WantError(h.Do("GET", log+"?"+query, admin, nil), 400); len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: %+v", query, e)
		}
	}
	h.Want(404, "GET", log+"/0", admin, nil)
	h.Want(403, "GET", log, h.Ours.Tokens[schema.RoleCreate], nil)
	theirs := h.Theirs.Tokens[schema.RoleAdmin]
	h.Want(404, "GET", log, theirs, nil)
	h.Want(404, "GET", "/v1/orgs/"+h.Theirs.Organization.ID+"/audit-log/"+newest["id"].(string), theirs, nil)
	for _, item := range h.Want(200, "GET", "/v1/orgs/"+h.Theirs.Organization.ID+"/audit-log?limit=1000", theirs, nil)["items"].([]any) {
		if got := item.(map[string]any)["target"].(map[string]any)["organization"]; got != h.Theirs.Organization.ID {
			t.Errorf("an entry of %v", got)
		}
	}
}

// TestAuditLogHasNoSecrets sends requests that contain secrets or create them, and searches the whole audit log for
// these secrets.
func TestAuditLogHasNoSecrets(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, org := h.Ours.Tokens[schema.RoleAdmin], "/v1/orgs/"+h.Ours.Organization.ID
	site := org + "/sites/" + h.Ours.Site.ID
	const planted = "planted-5ecret"
	secrets := []string{planted, h.Ours.SiteKey}
	for _, token := range h.Ours.Tokens {
		secrets = append(secrets, token)
	}
	publish := apitest.PublishBody(h.Ours.Organization.ID)
	publish["secrets"], publish["script"] = map[string]string{"TOKEN": planted}, "export {} // "+planted
	h.Want(200, "POST", "/v1/integrations/planted", admin, publish)
	h.Want(204, "POST", "/v1/spaces/"+h.Ours.Space.ID+"/git/import", admin,
		map[string]any{"url": "https://somebody:" + planted + "@git.example/a.git", "ref": "refs/heads/main"})
	h.Want(201, "POST", site+"/share-links", admin, `{"name":"Partners"}`)
	h.Want(200, "PATCH", site+"/publishing/auth", admin, `{"backend":"custom","fallbackURL":"https://login.example.com/"}`)
	secrets = append(secrets, keysOf(h)...)
	var text string
	err := h.DB.QueryRow(t.Context(), "select string_agg(l::text, E'\\n') from audit_log l").Scan(&text)
	if err != nil || !strings.Contains(text, "planted") {
		t.Fatal(err, len(text))
	}
	for _, secret := range secrets {
		if secret == "" {
			t.Fatal("a secret is empty")
		}
		if at := strings.Index(text, secret); at >= 0 {
			t.Errorf("the log has %s: %s", secret, text[max(0, at-300):min(len(text), at+100)])
		}
	}
}

// keysOf returns the keys, hashes and sealed secrets in the database, in each encoding in which the log might have
// them.
func keysOf(h *apitest.Harness) (keys []string) {
	h.T.Helper()
	rows, err := h.DB.Query(h.T.Context(), `select key from share_links union all select encode(hash, 'hex') from tokens
		union all select encode(value, 'hex') from secrets union all select encode(key, 'hex') from site_visitor_auth
		union all select encode(key, 'base64') from site_visitor_auth`)
	if err != nil {
		h.T.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			h.T.Fatal(err)
		}
		keys = append(keys, key)
	}
	if len(keys) < 5 || rows.Err() != nil {
		h.T.Fatal(keys, rows.Err())
	}
	return keys
}

// TestAuditOfJobs runs the jobs that a request enqueues. The audit entries of the jobs' changes have the job's kind as
// the operation and the job's id as the actor.
func TestAuditOfJobs(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	support := apitest.NewSupport(h)
	_, last := auditRows(h, 0)
	support.Ingest(`{"id":"c1","parts":[{"type":"message","role":"user","body":"The export of large reports to PDF fails with an error."}]}`)
	h.RunJobs()
	rows, _ := auditRows(h, last)
	byJob := 0
	for _, r := range rows {
		if schema.Or(r.ActorType, "") == "job" {
			byJob++
			if schema.Or(r.Operation, "") == "" || schema.Or(r.ActorID, "") == "" || r.TokenID != nil {
				t.Errorf("%+v", r)
			}
		}
	}
	if byJob == 0 {
		text, _ := json.Marshal(rows)
		t.Errorf("no job has left an entry: %s", text)
	}
}
