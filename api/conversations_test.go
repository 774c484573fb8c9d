package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

func conversationsExamples() {
	const conversation = `{"id":"ticket-1","subject":"Login","parts":[{"type":"message","role":"user","body":"I cannot log in."}]}`
	make := func(h *harness, tenant *storetest.Tenant) map[string]string {
		h.t.Helper()
		org := "/v1/orgs/" + tenant.Organization.ID
		token := tenant.Tokens[schema.RoleAdmin]
		if a := h.do("POST", org+"/conversations", token, conversation); a.status != 204 {
			h.t.Fatalf("ingest: %d %s", a.status, a.body)
		}
		var issues schema.List[schema.IssueInConversation]
		if err := json.Unmarshal(h.do("GET", org+"/conversations-issues?limit=1", token, nil).body, &issues); err != nil {
			h.t.Fatal(err)
		}
		issue := issues.Items[0].Issue
		return map[string]string{"conversationId": issue.Conversation, "issueId": issue.ID, "clusterId": issue.Cluster}
	}
	examples["ingestConversation"] = example{body: conversation}
	examples["updateConversationsIssuesCluster"] = example{body: `{"muted":true}`, make: make}
	for _, id := range []string{"getConversationById", "getConversationIssueById", "getConversationsIssuesCluster"} {
		examples[id] = example{make: make}
	}
}

var (
	impact = one("low", "medium", "high")

	conversationShape = shape{
		"object": one("conversation"), "id": id, "subject?": text(1, 512), "createdAt": anyTime, "processedAt?": timestamp,
		"source": one("email"), "impact?": impact, "urls": object(shape{"location": uri, "source?": text(1, 2048)}),
	}
	issueShape = shape{
		"object": one("conversation-issue"), "id": id, "title": text(1, 120), "details": goodDocument, "summary": text(1, 100_000),
		"impact": impact, "createdAt": anyTime, "ingestedAt": timestamp, "conversation": id, "cluster?": id,
		"urls": object(shape{"location": uri}),
	}
	issueItemShape = shape{"issue": object(issueShape), "conversation": object(conversationShape)}
	partShape      = shape{"type": one("message"), "role": one("user", "assistant", "team-member"), "body": text(0, 200_000)}
	fullShape      = shape{
		"conversation": object(conversationShape), "parts": list(object(partShape)),
		"metadata": object(shape{"url?": text(0, 2048), "attributes?": func(any) error { return nil }, "createdAt?": anyTime}),
	}
	clusterShape = shape{
		"object": one("issues-cluster"), "id": id, "label": text(1, 100), "createdAt": timestamp, "updatedAt": timestamp,
		"icon": text(1, 50), "summary": goodDocument, "muted": boolean, "impact": impact,
		"weeklyPulse": func(v any) error {
			if weeks, ok := v.([]any); !ok || len(weeks) != 13 {
				return fmt.Errorf("%v has not 13 weeks", v)
			}
			return list(count)(v)
		},
		"sources": object(shape{"email?": count}),
		"stats": object(shape{
			"issues": count, "conversations": count, "tasksTotal": one(0.0), "tasksBacklog": one(0.0), "tasksStarted": one(0.0),
			"tasksCompleted": one(0.0), "tasksCancelled": one(0.0),
		}),
		"urls": object(shape{"location": uri, "app": uri}),
	}
)

// goodDocument is a rich document by the strict grammar.
func goodDocument(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var d schema.Document
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	if problems := d.Problems("document"); len(problems) > 0 {
		return fmt.Errorf("%s: %v", raw, problems)
	}
	return nil
}

// anyTime is a UTC time of whenever.
func anyTime(v any) error {
	s, _ := v.(string)
	if at, err := time.Parse(time.RFC3339Nano, s); err != nil || at.Location() != time.UTC {
		return fmt.Errorf("%#v is no UTC time", v)
	}
	return nil
}

// support is a tenant's conversations, as its admin sees them.
type support struct {
	h     *harness
	org   string
	token string
}

func newSupport(h *harness) support {
	return support{h: h, org: "/v1/orgs/" + h.ours.Organization.ID, token: h.ours.Tokens[schema.RoleAdmin]}
}

func (s support) ingest(body any) {
	s.h.t.Helper()
	if a := s.h.do("POST", s.org+"/conversations", s.token, body); a.status != 204 || len(a.body) != 0 {
		s.h.t.Errorf("ingest: %d %s", a.status, a.body)
	}
}

func get[T any](s support, s2 shape, path string) T {
	s.h.t.Helper()
	a := s.h.do("GET", s.org+path, s.token, nil)
	if a.status != 200 {
		s.h.t.Fatalf("%s: %d %s", path, a.status, a.body)
	}
	wantShape(s.h.t, s2, a.body)
	var value T
	if err := json.Unmarshal(a.body, &value); err != nil {
		s.h.t.Fatal(err)
	}
	return value
}

func (s support) clusters(query string) schema.List[schema.IssuesCluster] {
	s.h.t.Helper()
	return get[schema.List[schema.IssuesCluster]](s, listShape(clusterShape), "/conversations-clusters"+query)
}

// said is a conversation with one message of the user.
func said(id, body string) map[string]any {
	return map[string]any{"id": id, "parts": []map[string]any{{"type": "message", "role": "user", "body": body}}}
}

var reports = []map[string]any{
	said("login-1", "I cannot log in after resetting my password."),
	said("login-2", "The password reset mail never arrives, so I can't log in."),
	said("login-3", "Login fails with my new password, reset does not help."),
	said("invoice-1", "The invoice PDF is blank when I download it."),
	said("invoice-2", "Downloading invoices gives an empty PDF."),
	said("dark-1", "How can I turn on the dark theme?"),
}

// described says what the clusters are, without what depends on when they were made.
func described(s support) []string {
	var all []string
	for _, c := range s.clusters("").Items {
		var members []string
		for _, item := range get[schema.List[schema.IssueInConversation]](s, listShape(issueItemShape), "/conversations-issues?cluster="+c.ID).Items {
			members = append(members, item.Issue.Title)
		}
		slices.Sort(members)
		all = append(all, fmt.Sprintf("%s [%s] %s %d issues of %d conversations, sources %v, pulse %v: %q",
			c.Label, c.Icon, c.Impact, c.Stats.Issues, c.Stats.Conversations, c.Sources, c.WeeklyPulse[12], members))
	}
	slices.Sort(all)
	return all
}

var wantClusters = []string{
	`Invoice pdf download [credit-card] medium 2 issues of 2 conversations, sources map[email:2], pulse 2: ["Downloading invoices gives an empty PDF." "The invoice PDF is blank when I download it."]`,
	`Login reset password [key] high 3 issues of 3 conversations, sources map[email:3], pulse 3: ["I cannot log in after resetting my password." "Login fails with my new password, reset does not help." "The password reset mail never arrives, so I can't log in."]`,
	`Turn dark theme [palette] low 1 issues of 1 conversations, sources map[email:1], pulse 1: ["How can I turn on the dark theme?"]`,
}

func TestConversation(t *testing.T) {
	t.Parallel()
	s := newSupport(newHarness(t))
	s.ingest(`{"id":"t/1 é","subject":"Export","extra":true,"parts":[
		{"type":"message","role":"user","body":"<p>The export <b>crashes</b>.</p>"},
		{"type":"message","role":"assistant","body":"Which browser?"},
		{"role":"team-member","body":""}],
		"metadata":{"url":"https://desk.example.com/1","attributes":{"plan":"pro"},"createdAt":"2026-01-02T03:04:05+01:00"}}`)
	listed := get[schema.List[schema.Conversation]](s, listShape(conversationShape), "/conversations")
	if listed.Count != 1 || listed.Items[0].Subject != "Export" || listed.Items[0].Impact != schema.ImpactHigh || listed.Items[0].ProcessedAt == nil {
		t.Fatalf("%+v", listed)
	}
	id := listed.Items[0].ID
	full := get[schema.FullConversation](s, fullShape, "/conversations/"+id)
	at := time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC)
	link := "https://desk.example.com/1"
	want := schema.FullConversation{
		Conversation: listed.Items[0],
		Parts: []schema.ConversationPart{
			{Type: "message", Role: "user", Body: "<p>The export <b>crashes</b>.</p>"},
			{Type: "message", Role: "assistant", Body: "Which browser?"}, {Type: "message", Role: "team-member"},
		},
		Metadata: schema.ConversationMetadata{URL: &link, Attributes: map[string]string{"plan": "pro"}, CreatedAt: &at},
	}
	if diff := cmp.Diff(want, full); diff != "" {
		t.Error(diff)
	}
	if full.Conversation.URLs.Source != link || !full.Conversation.CreatedAt.Equal(at) {
		t.Errorf("%+v", full.Conversation)
	}
	issues := get[schema.List[schema.IssueInConversation]](s, listShape(issueItemShape), "/conversations-issues?conversation="+id)
	if issues.Count != 1 || issues.Items[0].Issue.Summary != "The export crashes ." && issues.Items[0].Issue.Summary != "The export crashes." {
		t.Fatalf("%+v", issues)
	}
	issue := get[schema.IssueInConversation](s, issueItemShape, "/conversations-issues/"+issues.Items[0].Issue.ID)
	if diff := cmp.Diff(issues.Items[0], issue); diff != "" {
		t.Error(diff)
	}

	// The same id again replaces; the ids stay.
	s.ingest(`[{"id":"t/1 é","parts":[{"role":"user","body":"How do I export?"}]},{"id":"other","parts":[]}]`)
	full = get[schema.FullConversation](s, fullShape, "/conversations/"+id)
	if c := full.Conversation; c.Subject != "" || c.Impact != schema.ImpactLow || !c.CreatedAt.Equal(at) || c.URLs.Source != "" || len(full.Parts) != 1 {
		t.Errorf("%+v", full)
	}
	again := get[schema.List[schema.IssueInConversation]](s, listShape(issueItemShape), "/conversations-issues")
	if again.Count != 1 || again.Items[0].Issue.ID != issue.Issue.ID || again.Items[0].Issue.Title != "How do I export?" {
		t.Errorf("%+v", again)
	}
	if got := get[schema.List[schema.Conversation]](s, listShape(conversationShape), "/conversations?source=email&limit=1"); got.Count != 2 || got.Next == nil {
		t.Errorf("%+v", got)
	}
	if got := get[schema.List[schema.Conversation]](s, listShape(conversationShape), "/conversations?source=integration:a:b"); got.Count != 0 {
		t.Errorf("%+v", got)
	}
	// What the user no longer says is no issue any more, and the cluster of it is gone.
	s.ingest(`{"id":"t/1 é","parts":[]}`)
	if got := s.clusters(""); got.Count != 0 {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"/conversations/", "/conversations-issues/", "/conversations-clusters/"} {
		for _, unknown := range []string{"nothing", schema.NewID(), "%00", "a%2Fb"} {
			s.h.wantError(s.h.do("GET", s.org+path+unknown, s.token, nil), 404)
		}
	}
	s.h.wantError(s.h.do("PATCH", s.org+"/conversations-clusters/nothing", s.token, `{"muted":true}`), 404)
}

// TestClustersDoNotDependOnOrder ingests the same conversations in several orders and packings.
func TestClustersDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	for range 3 {
		s := newSupport(newHarness(t))
		shuffled := slices.Clone(reports)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		cut := rand.IntN(len(shuffled))
		s.ingest(shuffled[:cut])
		for _, report := range shuffled[cut:] {
			s.ingest(report)
		}
		if diff := cmp.Diff(wantClusters, described(s)); diff != "" {
			t.Errorf("%v: %s", shuffled, diff)
		}
	}
}

// TestParallelIngests has many clients send the same and other conversations at once: nothing is lost, nothing is twice, and
// when all are answered the clusters are those of all conversations.
func TestParallelIngests(t *testing.T) {
	t.Parallel()
	s := newSupport(newHarness(t))
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := range reports {
				one := reports[(i+worker)%len(reports)]
				other := reports[(i*5+worker)%len(reports)]
				s.ingest([]map[string]any{one, other})
			}
		})
	}
	wait.Wait()
	if diff := cmp.Diff(wantClusters, described(s)); diff != "" {
		t.Error(diff)
	}
	for _, c := range get[schema.List[schema.Conversation]](s, listShape(conversationShape), "/conversations").Items {
		if c.ProcessedAt == nil {
			t.Errorf("%s is not processed", c.ID)
		}
	}
}

// TestClusterStays mutes a cluster; more conversations about it change it but not its id, nor that it is muted.
func TestClusterStays(t *testing.T) {
	t.Parallel()
	s := newSupport(newHarness(t))
	s.ingest(reports[:2])
	before := s.clusters("").Items
	if len(before) != 1 || before[0].Muted {
		t.Fatalf("%+v", before)
	}
	path := "/conversations-clusters/" + before[0].ID
	a := s.h.do("PATCH", s.org+path, s.token, `{"muted":true}`)
	wantShape(t, clusterShape, a.body)
	s.ingest(reports)
	after := get[schema.IssuesCluster](s, clusterShape, path)
	if !after.Muted || after.Stats.Issues != 3 || !after.UpdatedAt.After(before[0].UpdatedAt) || !after.CreatedAt.Equal(before[0].CreatedAt) {
		t.Errorf("%+v", after)
	}
	// What does not change is not touched.
	s.ingest(said("nothing alike", "Kubernetes ingress annotations?"))
	if still := get[schema.IssuesCluster](s, clusterShape, path); !cmp.Equal(after, still) {
		t.Error(cmp.Diff(after, still))
	}
}

func TestWeeklyPulse(t *testing.T) {
	t.Parallel()
	s := newSupport(newHarness(t))
	now := time.Now()
	var all []map[string]any
	for i, days := range []float64{-1, 0.01, 6.9, 7.1, 83.9, 84.1, 90.9, 91.1, 400} {
		c := said(fmt.Sprint("c", i), "I cannot log in with my password.")
		c["metadata"] = map[string]any{"createdAt": now.Add(-time.Duration(days * 24 * float64(time.Hour))).Format(time.RFC3339Nano)}
		all = append(all, c)
	}
	s.ingest(all)
	got := s.clusters("").Items
	if want := [13]int{0: 2, 1: 1, 11: 1, 12: 2}; len(got) != 1 || got[0].WeeklyPulse != want || got[0].Stats.Issues != 9 {
		t.Errorf("%+v", got)
	}
}

// TestClusterOrders lists by every order in both directions, whole and in pages.
func TestClusterOrders(t *testing.T) {
	t.Parallel()
	s := newSupport(newHarness(t))
	for _, report := range reports {
		s.ingest(report)
	}
	s.ingest(said("login-4", "I cannot log in. Also the invoice download is broken. The login page says my password reset failed."))
	key := map[string]func(c schema.IssuesCluster) string{
		"updatedAt":     func(c schema.IssuesCluster) string { return c.UpdatedAt.Format("2006-01-02T15:04:05.000000") },
		"issues":        func(c schema.IssuesCluster) string { return fmt.Sprintf("%05d", c.Stats.Issues) },
		"conversations": func(c schema.IssuesCluster) string { return fmt.Sprintf("%05d", c.Stats.Conversations) },
		"tasksTotal":    func(schema.IssuesCluster) string { return "" },
		"tasksBacklog":  func(schema.IssuesCluster) string { return "" },
		"tasksStarted":  func(schema.IssuesCluster) string { return "" },
	}
	for _, orderBy := range schema.ClusterOrders() {
		for _, order := range []string{"asc", "desc"} {
			query := "?orderBy=" + orderBy + "&order=" + order
			var keys, ids []string
			whole := s.clusters(query)
			for _, c := range whole.Items {
				keys, ids = append(keys, key[orderBy](c)+c.ID), append(ids, c.ID)
			}
			if order == "desc" {
				slices.Reverse(keys)
			}
			if !slices.IsSorted(keys) || len(keys) < 3 {
				t.Errorf("%s: %q", query, keys)
			}
			var paged []string
			for page := ""; ; {
				got := s.clusters(query + "&limit=1&page=" + page)
				if got.Count != whole.Count {
					t.Errorf("%s: count %d", query, got.Count)
				}
				paged = append(paged, got.Items[0].ID)
				if got.Next == nil {
					break
				}
				page = got.Next.Page
			}
			if !slices.Equal(ids, paged) {
				t.Errorf("%s: %q in pages, %q whole", query, paged, ids)
			}
		}
	}
	for _, orderBy := range []string{"issues", "updatedAt"} {
		forged := schema.PageToken(fmt.Sprintf("clusters %s %s desc", s.h.ours.Organization.ID, orderBy), "x", "y")
		s.h.wantError(s.h.do("GET", s.org+"/conversations-clusters?orderBy="+orderBy+"&page="+forged, s.token, nil), 400)
	}
}

func TestBadConversations(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	part := `"parts":[{"role":"user","body":"x"}]`
	long := strings.Repeat("é", 513)
	s.ingest(reports[0])
	cluster := "/conversations-clusters/" + s.clusters("").Items[0].ID
	before := h.rows()
	for _, test := range []struct{ method, path, body, field string }{
		{"POST", "/conversations", `{}`, "id"},
		{"POST", "/conversations", `null`, "id"},
		{"POST", "/conversations", `5`, ""},
		{"POST", "/conversations", `[5]`, "[0]"},
		{"POST", "/conversations", `[null]`, "[0].id"},
		{"POST", "/conversations", `{"id":"",` + part + `}`, "id"},
		{"POST", "/conversations", `{"id":5,` + part + `}`, "id"},
		{"POST", "/conversations", `{"id":"` + long + `",` + part + `}`, "id"},
		{"POST", "/conversations", `{"id":"a"}`, "parts"},
		{"POST", "/conversations", `{"id":"a","parts":[{"role":"bot","body":"x"}]}`, "parts[0].role"},
		{"POST", "/conversations", `{"id":"a","parts":[{"type":"call","role":"user","body":"x"}]}`, "parts[0].type"},
		{"POST", "/conversations", `{"id":"a","parts":[{"role":"user"}]}`, "parts[0].body"},
		{"POST", "/conversations", `{"id":"a","parts":[{"role":"user","body":"a\u0000"}]}`, "parts[0].body"},
		{"POST", "/conversations", `{"id":"a","subject":"` + long + `",` + part + `}`, "subject"},
		{"POST", "/conversations", `{"id":"a","metadata":{"createdAt":"yesterday"},` + part + `}`, "metadata.createdAt"},
		{"POST", "/conversations", `{"id":"a","metadata":{"createdAt":"0000-01-01T00:00:00Z"},` + part + `}`, "metadata.createdAt"},
		{"POST", "/conversations", `{"id":"a","metadata":{"attributes":{"x":5}},` + part + `}`, "metadata.attributes.x"},
		{"POST", "/conversations", `[{"id":"a",` + part + `},{"id":"b"}]`, "[1].parts"},
		{"PATCH", cluster, `{}`, "muted"},
		{"PATCH", cluster, `{"muted":"yes"}`, "muted"},
		{"GET", "/conversations-clusters?order=up", "", "order"},
		{"GET", "/conversations-clusters?orderBy=label", "", "orderBy"},
		{"GET", "/conversations-clusters?page=x", "", "page"},
	} {
		var body any = test.body
		if test.method == "GET" {
			body = nil
		}
		e := h.wantError(h.do(test.method, s.org+test.path, s.token, body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s %s: %+v", test.path, test.body, e)
		}
	}
	if after := h.rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}
