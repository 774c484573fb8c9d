package apps_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

// said builds a conversation with a single user message.
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

// described returns the clusters as texts. It omits properties that depend on the order of creation, such as labels.
func described(s apitest.Support) []string {
	var all []string
	for _, c := range s.Clusters("").Items {
		var members []string
		for _, item := range apitest.Get[schema.List[schema.IssueInConversation]](s, shape.ListOf(apitest.IssueItemShape), "/conversations-issues?cluster="+c.ID).Items {
			members = append(members, item.Issue.Title)
		}
		slices.Sort(members)
		all = append(all, fmt.Sprintf("[%s] %s %d issues of %d conversations, sources %v, pulse %v: %q",
			c.Icon, c.Impact, c.Stats.Issues, c.Stats.Conversations, c.Sources, c.WeeklyPulse[12], members))
	}
	slices.Sort(all)
	return all
}

var wantClusters = []string{
	`[file-arrow-down] medium 2 issues of 2 conversations, sources map[email:2], pulse 2: ["Downloading invoices gives an empty PDF" "The invoice PDF is blank when I download it"]`,
	`[key] high 3 issues of 3 conversations, sources map[email:3], pulse 3: ["I cannot log in after resetting my password" "Login fails with my new password, reset does not help" "The password reset mail never arrives, so I can't log in"]`,
	`[palette] low 1 issues of 1 conversations, sources map[email:1], pulse 1: ["How can I turn on the dark theme?"]`,
}

func TestConversation(t *testing.T) {
	t.Parallel()
	s := apitest.NewSupport(apitest.New(t))
	s.Ingest(`{"id":"t/1 é","subject":"Export","extra":true,"parts":[
		{"type":"message","role":"user","body":"<p>The export <b>crashes</b>.</p>"},
		{"type":"message","role":"assistant","body":"Which browser?"},
		{"role":"team-member","body":""}],
		"metadata":{"url":"https://desk.example.com/1","attributes":{"plan":"pro"},"createdAt":"2026-01-02T03:04:05+01:00"}}`)
	listed := apitest.Get[schema.List[schema.Conversation]](s, shape.ListOf(apitest.ConversationShape), "/conversations")
	if listed.Count != 1 || listed.Items[0].Subject != "Export" || listed.Items[0].Impact != schema.ImpactHigh || listed.Items[0].ProcessedAt == nil {
		t.Fatalf("%+v", listed)
	}
	id := listed.Items[0].ID
	full := apitest.Get[schema.FullConversation](s, apitest.FullShape, "/conversations/"+id)
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
	issues := apitest.Get[schema.List[schema.IssueInConversation]](s, shape.ListOf(apitest.IssueItemShape), "/conversations-issues?conversation="+id)
	if issues.Count != 1 || issues.Items[0].Issue.Summary != "The export crashes ." && issues.Items[0].Issue.Summary != "The export crashes." {
		t.Fatalf("%+v", issues)
	}
	issue := apitest.Get[schema.IssueInConversation](s, apitest.IssueItemShape, "/conversations-issues/"+issues.Items[0].Issue.ID)
	if diff := cmp.Diff(issues.Items[0], issue); diff != "" {
		t.Error(diff)
	}

	// Ingesting the same id again replaces the conversation and keeps its ids.
	s.Ingest(`[{"id":"t/1 é","parts":[{"role":"user","body":"How do I export?"}]},{"id":"other","parts":[]}]`)
	full = apitest.Get[schema.FullConversation](s, apitest.FullShape, "/conversations/"+id)
	if c := full.Conversation; c.Subject != "" || c.Impact != schema.ImpactLow || !c.CreatedAt.Equal(at) || c.URLs.Source != "" || len(full.Parts) != 1 {
		t.Errorf("%+v", full)
	}
	again := apitest.Get[schema.List[schema.IssueInConversation]](s, shape.ListOf(apitest.IssueItemShape), "/conversations-issues")
	if again.Count != 1 || again.Items[0].Issue.ID != issue.Issue.ID || again.Items[0].Issue.Title != "How do I export?" {
		t.Errorf("%+v", again)
	}
	if got := apitest.Get[schema.List[schema.Conversation]](s, shape.ListOf(apitest.ConversationShape), "/conversations?source=email&limit=1"); got.Count != 2 || got.Next == nil {
		t.Errorf("%+v", got)
	}
	if got := apitest.Get[schema.List[schema.Conversation]](s, shape.ListOf(apitest.ConversationShape), "/conversations?source=integration:a:b"); got.Count != 0 {
		t.Errorf("%+v", got)
	}
	// If a new version of the conversation has no issue, the issue and its cluster are deleted.
	s.Ingest(`{"id":"t/1 é","parts":[]}`)
	if got := s.Clusters(""); got.Count != 0 {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"/conversations/", "/conversations-issues/", "/conversations-clusters/"} {
		for _, unknown := range []string{"nothing", schema.NewID(), "%00", "a%2Fb"} {
			s.H.WantError(s.H.Do("GET", s.Org+path+unknown, s.Token, nil), 404)
		}
	}
	s.H.WantError(s.H.Do("PATCH", s.Org+"/conversations-clusters/nothing", s.Token, `{"muted":true}`), 404)
}

// TestClustersDoNotDependOnOrder ingests the same conversations in several orders and batches. The clusters are always
// the same.
func TestClustersDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	for range 3 {
		s := apitest.NewSupport(apitest.New(t))
		shuffled := slices.Clone(reports)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		cut := rand.IntN(len(shuffled))
		s.Ingest(shuffled[:cut])
		for _, report := range shuffled[cut:] {
			s.Ingest(report)
		}
		if diff := cmp.Diff(wantClusters, described(s)); diff != "" {
			t.Errorf("%v: %s", shuffled, diff)
		}
	}
}

// TestParallelIngests ingests conversations from several clients concurrently, some of them several times. No
// conversation is lost or duplicated, and all their issues get into clusters.
func TestParallelIngests(t *testing.T) {
	t.Parallel()
	s := apitest.NewSupport(apitest.New(t))
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := range reports {
				one := reports[(i+worker)%len(reports)]
				other := reports[(i*5+worker)%len(reports)]
				s.Send([]map[string]any{one, other})
			}
		})
	}
	wait.Wait()
	s.H.RunJobs()
	if diff := cmp.Diff(wantClusters, described(s)); diff != "" {
		t.Error(diff)
	}
	for _, c := range apitest.Get[schema.List[schema.Conversation]](s, shape.ListOf(apitest.ConversationShape), "/conversations").Items {
		if c.ProcessedAt == nil {
			t.Errorf("%s is not processed", c.ID)
		}
	}
}

// TestClusterStays mutes a cluster. When further issues get into the cluster, its id stays the same, and it stays
// muted.
func TestClusterStays(t *testing.T) {
	t.Parallel()
	s := apitest.NewSupport(apitest.New(t))
	s.Ingest(reports[:2])
	before := s.Clusters("").Items
	if len(before) != 1 || before[0].Muted {
		t.Fatalf("%+v", before)
	}
	path := "/conversations-clusters/" + before[0].ID
	a := s.H.Do("PATCH", s.Org+path, s.Token, `{"muted":true}`)
	shape.Want(t, apitest.ClusterShape, a.Body)
	s.Ingest(reports)
	after := apitest.Get[schema.IssuesCluster](s, apitest.ClusterShape, path)
	if !after.Muted || after.Stats.Issues != 3 || !after.UpdatedAt.After(before[0].UpdatedAt) || !after.CreatedAt.Equal(before[0].CreatedAt) {
		t.Errorf("%+v", after)
	}
	// If a cluster gets no new issue, an ingest does not change it.
	s.Ingest(said("nothing alike", "Kubernetes ingress annotations?"))
	if still := apitest.Get[schema.IssuesCluster](s, apitest.ClusterShape, path); !cmp.Equal(after, still) {
		t.Error(cmp.Diff(after, still))
	}
}

func TestWeeklyPulse(t *testing.T) {
	t.Parallel()
	s := apitest.NewSupport(apitest.New(t))
	now := time.Now()
	var all []map[string]any
	for i, days := range []float64{-0.01, 0.01, 6.9, 7.1, 83.9, 84.1, 90.9, 91.1, 400} {
		c := said(fmt.Sprint("c", i), "I cannot log in with my password.")
		c["metadata"] = map[string]any{"createdAt": now.Add(-time.Duration(days * 24 * float64(time.Hour))).Format(time.RFC3339Nano)}
		all = append(all, c)
	}
	s.Ingest(all)
	got := s.Clusters("").Items
	if want := [13]int{0: 2, 1: 1, 11: 1, 12: 3}; len(got) != 1 || got[0].WeeklyPulse != want || got[0].Stats.Issues != 9 {
		t.Errorf("%+v", got)
	}
}

// TestClusterOrders lists clusters in every order and in both directions, on a single page and on several pages.
func TestClusterOrders(t *testing.T) {
	t.Parallel()
	s := apitest.NewSupport(apitest.New(t))
	for _, report := range reports {
		s.Ingest(report)
	}
	s.Ingest(said("login-4", "I cannot log in. Also the invoice download is broken. The login page says my password reset failed."))
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
			whole := s.Clusters(query)
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
				got := s.Clusters(query + "&limit=1&page=" + page)
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
		forged := schema.PageToken(fmt.Sprintf("clusters %s %s desc", s.H.Ours.Organization.ID, orderBy), "x", "y")
		s.H.WantError(s.H.Do("GET", s.Org+"/conversations-clusters?orderBy="+orderBy+"&page="+forged, s.Token, nil), 400)
	}
}

func TestBadConversations(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	part := `"parts":[{"role":"user","body":"x"}]`
	long := strings.Repeat("é", 513)
	s.Ingest(reports[0])
	cluster := "/conversations-clusters/" + s.Clusters("").Items[0].ID
	before := h.Rows()
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
		{"POST", "/conversations", `{"id":"a","metadata":{"createdAt":"2999-01-01T00:00:00Z"},` + part + `}`, "metadata.createdAt"},
		{"POST", "/conversations", `[{"id":"b",` + part + `},{"id":"a","metadata":{"createdAt":"2999-01-01T00:00:00Z"},` + part + `}]`, "[1].metadata.createdAt"},
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
		e := h.WantError(h.Do(test.method, s.Org+test.path, s.Token, body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != test.field {
			t.Errorf("%s %s: %+v", test.path, test.body, e)
		}
	}
	if after := h.Rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}

// TestClusterLeads reads a conversation by the id that its source gave it, and the history of its cluster. It also
// opens change requests for the cluster.
func TestClusterLeads(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	s.Ingest(reports[:2])
	full := apitest.Get[schema.FullConversation](s, apitest.FullShape, "/conversations/login-1")
	if full.Conversation.ExternalID != "login-1" {
		t.Errorf("%+v", full.Conversation)
	}
	same := apitest.Get[schema.FullConversation](s, apitest.FullShape, "/conversations/"+full.Conversation.ID)
	if diff := cmp.Diff(full, same); diff != "" {
		t.Error(diff)
	}
	cluster := s.Clusters("").Items[0]
	if cluster.Theme == nil || cluster.Theme.ID != "login" || cluster.Language != "en" {
		t.Errorf("%+v", cluster)
	}
	path := "/conversations-clusters/" + cluster.ID
	history := apitest.Get[schema.List[schema.ClusterEvent]](s, shape.ListOf(apitest.ClusterEventShape), path+"/history")
	if history.Count != 2 || history.Items[0].Kind != schema.ClusterJoined || history.Items[0].Issue == "" {
		t.Errorf("%+v", history)
	}
	h.WantError(h.Do("GET", s.Org+"/conversations-clusters/nothing/history", s.Token, nil), 404)
	requests := "/v1/spaces/" + h.Ours.Space.ID + "/change-requests"
	h.WantError(h.Do("POST", requests, s.Token, `{"conversationsIssuesCluster":"nothing"}`), 400)
	if a := h.Do("POST", requests, s.Token, `{"subject":"Fix","conversationsIssuesCluster":"`+cluster.ID+`"}`); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	filtered := h.Do("GET", requests+"?status=draft&conversationsIssuesCluster="+cluster.ID, s.Token, nil)
	if !strings.Contains(string(filtered.Body), `"conversationsIssuesCluster":"`+cluster.ID+`"`) {
		t.Errorf("%d %s", filtered.Status, filtered.Body)
	}
	got := apitest.Get[schema.IssuesCluster](s, apitest.ClusterShape, path)
	if len(got.ChangeRequests) != 1 || got.ChangeRequests[0].Status != "draft" || got.ChangeRequests[0].Space != h.Ours.Space.ID {
		t.Errorf("%+v", got.ChangeRequests)
	}
	if a := h.Do("PATCH", s.Org+path, s.Token, `{"muted":true}`); a.Status != 200 {
		t.Fatal(a.Status)
	}
	h.WantError(h.Do("POST", requests, s.Token, `{"conversationsIssuesCluster":"`+cluster.ID+`"}`), 409)
}
