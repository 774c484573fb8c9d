package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// allInOne is an analysis that puts all issues into one cluster, the one that already has most of them.
func allInOne(issues []store.AnalyzedIssue) ([]store.IssueGroup, error) {
	g := store.IssueGroup{Label: "All", Icon: "bug", Impact: "low", Summary: []byte(`{}`)}
	for i, issue := range issues {
		g.Issues = append(g.Issues, i)
		if issue.Cluster != "" {
			g.Cluster = issue.Cluster
		}
	}
	if len(issues) == 0 {
		return nil, nil
	}
	return []store.IssueGroup{g}, nil
}

func conversation(id string, titles ...string) store.NewConversation {
	c := store.NewConversation{SourceID: id, Parts: []byte(`[]`), Metadata: []byte(`{}`)}
	for _, title := range titles {
		c.Issues = append(c.Issues, store.NewIssue{Title: title, Details: []byte(`{}`), Impact: "low", Words: []string{title}})
	}
	return c
}

// ingest stores conversations of one source.
func ingest(t *testing.T, st *store.Store, org, source string, list ...store.NewConversation) {
	t.Helper()
	if err := st.IngestConversations(t.Context(), org, source, time.Now(), list); err != nil {
		t.Error(err)
	}
}

// TestSourcesAreApart ingests the same id from two sources.
func TestSourcesAreApart(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	org := storetest.NewTenant(t, st, "acme").Organization.ID
	desk := "integration:desk:main"
	for range 2 {
		for _, source := range []string{"email", desk} {
			ingest(t, st, org, source, conversation("1", "a"), conversation("1", "b", "c"))
			if err := st.AnalyzeConversations(t.Context(), org, 100, allInOne); err != nil {
				t.Fatal(err)
			}
		}
	}
	page, err := st.ListConversations(t.Context(), org, &desk, "", 10)
	if err != nil || page.Total != 1 || page.Rows[0].Source != desk || page.Rows[0].ProcessedAt == nil {
		t.Fatalf("%+v %v", page, err)
	}
	issues, err := st.ListConversationIssues(t.Context(), org, store.IssueFilter{Conversation: &page.Rows[0].ID}, "", 10)
	if err != nil || issues.Total != 2 || issues.Rows[0].Issue.Title != "b" {
		t.Errorf("%+v %v", issues, err)
	}
	clusters, err := st.ListClusters(t.Context(), org, store.ClusterOrder{By: "issues"}, time.Now(), nil, 10)
	if err != nil || clusters.Total != 1 || clusters.Rows[0].Cluster.Issues != 4 || clusters.Rows[0].Cluster.Conversations != 2 {
		t.Fatalf("%+v %v", clusters, err)
	}
	if got := string(clusters.Rows[0].Cluster.Sources); got != `{"email": 1, "integration:desk:main": 1}` {
		t.Errorf("sources %s", got)
	}
}

// TestAnalysisSeesWhatComesMeanwhile replaces and adds conversations while an analysis runs. They ask for another one, which
// takes them in.
func TestAnalysisSeesWhatComesMeanwhile(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), connect(t, url)
	org := storetest.NewTenant(t, st, "acme").Organization.ID
	// One change after the other, because a replaced conversation alone must cause another analysis.
	meanwhile := [][]store.NewConversation{{conversation("1", "new", "newer"), conversation("2")}, {conversation("3", "third")}, nil}
	var seen []string
	ingest(t, st, org, "email", conversation("1", "old"), conversation("2", "goes"))
	for _, changes := range meanwhile {
		if _, err := conn.Exec(t.Context(), "update river_job set state = 'running' where state = 'available'"); err != nil {
			t.Fatal(err)
		}
		err := st.AnalyzeConversations(t.Context(), org, 100, func(issues []store.AnalyzedIssue) ([]store.IssueGroup, error) {
			seen = nil
			for _, issue := range issues {
				seen = append(seen, issue.Title)
			}
			slices.Sort(seen)
			if changes != nil {
				ingest(t, st, org, "email", changes...)
			}
			if err := st.AnalyzeConversations(t.Context(), org, 100, allInOne); !schema.IsCode(err, schema.CodeConflict) {
				t.Errorf("a second analysis: %v", err)
			}
			return allInOne(issues)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(collect(t, conn, "select kind from river_job where state = 'pending'")); (got == 1) != (changes != nil) {
			t.Errorf("%d analyses are asked for after %+v", got, changes)
		}
		// The job is done, and the next one's turn comes.
		if _, err := conn.Exec(t.Context(), "update river_job set state = 'completed', finalized_at = now() where state = 'running'"); err != nil {
			t.Fatal(err)
		}
		if err := st.PromoteJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(seen, []string{"new", "newer", "third"}) {
		t.Errorf("the last one saw %q", seen)
	}
	page, err := st.ListConversations(t.Context(), org, nil, "", 10)
	if err != nil || page.Total != 3 {
		t.Fatalf("%+v %v", page, err)
	}
	for _, c := range page.Rows {
		if c.ProcessedAt == nil {
			t.Errorf("%s is not processed", c.SourceID)
		}
	}
	clusters, err := st.ListClusters(t.Context(), org, store.ClusterOrder{By: "updatedAt"}, time.Now(), nil, 10)
	if err != nil || clusters.Total != 1 || clusters.Rows[0].Cluster.Issues != 3 || clusters.Rows[0].Cluster.Conversations != 2 {
		t.Errorf("%+v %v", clusters, err)
	}
}

// TestFailedAnalysisIsDoneLater lets an analysis fail once. Nothing of it is stored, and the next call does the work.
func TestFailedAnalysisIsDoneLater(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	org := storetest.NewTenant(t, st, "acme").Organization.ID
	ingest(t, st, org, "email", conversation("1", "a"))
	err := st.AnalyzeConversations(t.Context(), org, 100, func(issues []store.AnalyzedIssue) ([]store.IssueGroup, error) {
		return nil, fmt.Errorf("no")
	})
	if err == nil {
		t.Error("no error")
	}
	if err := st.AnalyzeConversations(t.Context(), org, 100, allInOne); err != nil {
		t.Error(err)
	}
	clusters, err := st.ListClusters(t.Context(), org, store.ClusterOrder{By: "tasksTotal", Ascending: true}, time.Now(), nil, 10)
	if err != nil || clusters.Total != 1 {
		t.Errorf("%+v %v", clusters, err)
	}
}

// TestOldIssuesAreReleased has more issues than an analysis accepts. The oldest issues belong to no cluster.
func TestOldIssuesAreReleased(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	org := storetest.NewTenant(t, st, "acme").Organization.ID
	now := time.Now()
	for i := range 5 {
		at := now.Add(time.Duration(i) * time.Minute)
		c := conversation(fmt.Sprint(i), fmt.Sprint("issue ", i))
		c.CreatedAt = &at
		ingest(t, st, org, "email", c)
		if err := st.AnalyzeConversations(t.Context(), org, 3, allInOne); err != nil {
			t.Fatal(err)
		}
	}
	page, err := st.ListConversationIssues(t.Context(), org, store.IssueFilter{}, "", 10)
	if err != nil || page.Total != 5 {
		t.Fatalf("%+v %v", page, err)
	}
	for i, row := range page.Rows {
		if in := row.Issue.ClusterID != nil; in != (i >= 2) {
			t.Errorf("%s is in a cluster: %t", row.Issue.Title, in)
		}
		if row.Conversation.ProcessedAt == nil {
			t.Errorf("%s is not processed", row.Conversation.SourceID)
		}
	}
}
