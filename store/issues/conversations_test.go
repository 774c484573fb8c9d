package issues_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/hooks"
	"github.com/octavo-docs/octavo/store/issues"
	"github.com/octavo-docs/octavo/store/storetest"
)

// allInOne is an analysis that puts all issues into one cluster, the first existing one.
type allInOne struct {
	// seen is called with the issues of every round. It may be nil.
	seen func([]issues.AnalyzedIssue) error
}

func (a allInOne) Assign(clusters []issues.KnownCluster, list []issues.AnalyzedIssue) ([]issues.IssueGroup, error) {
	if a.seen != nil {
		if err := a.seen(list); err != nil {
			return nil, err
		}
	}
	g := issues.IssueGroup{}
	if len(clusters) > 0 {
		g.Clusters = []int{0}
	}
	for i := range list {
		g.Issues = append(g.Issues, i)
	}
	return []issues.IssueGroup{g}, nil
}

func (allInOne) Meaning(string) []byte { return nil }

func (allInOne) Describe(cluster issues.ClusterMembers) (issues.ClusterDescription, error) {
	label := cluster.Label
	if label == "" {
		label = "All"
	}
	return issues.ClusterDescription{
		Label: label, Icon: "bug", Impact: "low", Summary: []byte(`{}`), Profile: []byte(`{}`),
	}, nil
}

func together() issues.Analysis { return allInOne{} }

// ingest stores conversations of one source.
func ingest(t *testing.T, st *store.Store, org, source string, list ...issues.NewConversation) {
	t.Helper()
	if err := st.Issues.IngestConversations(t.Context(), org, source, time.Now(), list); err != nil {
		t.Error(err)
	}
}

// TestSourcesAreApart ingests conversations with the same id from two sources.
func TestSourcesAreApart(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	org := storetest.NewTenant(t, st, "acme").Organization.ID
	desk := "integration:desk:main"
	for range 2 {
		for _, source := range []string{"email", desk} {
			ingest(t, st, org, source, storetest.Conversation("1", "a"), storetest.Conversation("1", "b", "c"))
			if err := st.Issues.AnalyzeConversations(t.Context(), org, together); err != nil {
				t.Fatal(err)
			}
		}
	}
	page, err := st.Issues.ListConversations(t.Context(), org, &desk, "", 10)
	if err != nil || page.Total != 1 || page.Rows[0].Source != desk || page.Rows[0].ProcessedAt == nil {
		t.Fatalf("%+v %v", page, err)
	}
	filter := issues.IssueFilter{Conversation: &page.Rows[0].ID}
	listed, err := st.Issues.ListConversationIssues(t.Context(), org, filter, "", 10)
	if err != nil || listed.Total != 2 || listed.Rows[0].Issue.Title != "b" {
		t.Errorf("%+v %v", listed, err)
	}
	clusters, err := st.Issues.ListClusters(t.Context(), org, issues.ClusterOrder{By: "issues"}, time.Now(), nil, 10)
	if err != nil || clusters.Total != 1 || clusters.Rows[0].Cluster.Issues != 4 || clusters.Rows[0].Cluster.Conversations != 2 {
		t.Fatalf("%+v %v", clusters, err)
	}
	if got := string(clusters.Rows[0].Cluster.Sources); got != `{"email": 1, "integration:desk:main": 1}` {
		t.Errorf("sources %s", got)
	}
}

// TestAnalysisSeesWhatComesMeanwhile replaces and adds conversations while a round of an analysis runs. The next
// round includes them, and replaced issues leave the clusters of their old words.
func TestAnalysisSeesWhatComesMeanwhile(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	org := storetest.NewTenant(t, st, "acme").Organization.ID
	ingest(t, st, org, "email", storetest.Conversation("1", "old"), storetest.Conversation("2", "goes"))
	var rounds [][]string
	err := st.Issues.AnalyzeConversations(t.Context(), org, func() issues.Analysis {
		return allInOne{func(issues []issues.AnalyzedIssue) error {
			var seen []string
			for _, issue := range issues {
				seen = append(seen, issue.Words...)
			}
			slices.Sort(seen)
			if rounds = append(rounds, seen); len(rounds) == 1 {
				ingest(
					t, st, org, "email", storetest.Conversation("1", "new", "newer"), storetest.Conversation("2"),
					storetest.Conversation("3", "third"),
				)
				if err := st.Issues.AnalyzeConversations(
					t.Context(), org, together,
				); !schema.IsCode(err, schema.CodeConflict) {
					t.Errorf("a second analysis: %v", err)
				}
			}
			return nil
		}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"goes", "old"}, {"new", "newer", "third"}}, rounds); diff != "" {
		t.Error(diff)
	}
	page, err := st.Issues.ListConversations(t.Context(), org, nil, "", 10)
	if err != nil || page.Total != 3 {
		t.Fatalf("%+v %v", page, err)
	}
	for _, c := range page.Rows {
		if c.ProcessedAt == nil {
			t.Errorf("%s is not processed", c.SourceID)
		}
	}
	clusters, err := st.Issues.ListClusters(t.Context(), org, issues.ClusterOrder{By: "updatedAt"}, time.Now(), nil, 10)
	if err != nil || clusters.Total != 1 || clusters.Rows[0].Cluster.Issues != 3 || clusters.Rows[0].Cluster.Conversations != 2 {
		t.Errorf("%+v %v", clusters, err)
	}
}

// TestFailedAnalysisIsDoneLater uses an analysis that fails once. The failed call stores nothing, and the next call
// does the work.
func TestFailedAnalysisIsDoneLater(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	org := storetest.NewTenant(t, st, "acme").Organization.ID
	ingest(t, st, org, "email", storetest.Conversation("1", "a"))
	err := st.Issues.AnalyzeConversations(t.Context(), org, func() issues.Analysis {
		return allInOne{func([]issues.AnalyzedIssue) error { return fmt.Errorf("no") }}
	})
	if err == nil {
		t.Error("no error")
	}
	if err := st.Issues.AnalyzeConversations(t.Context(), org, together); err != nil {
		t.Error(err)
	}
	clusters, err := st.Issues.ListClusters(t.Context(), org, issues.ClusterOrder{
		By: "tasksTotal", Ascending: true,
	}, time.Now(), nil, 10)
	if err != nil || clusters.Total != 1 {
		t.Errorf("%+v %v", clusters, err)
	}
}

// inGroups is an analysis with the groups that a test sets.
type inGroups struct {
	allInOne
	groups []issues.IssueGroup
}

func (a inGroups) Assign([]issues.KnownCluster, []issues.AnalyzedIssue) ([]issues.IssueGroup, error) {
	return a.groups, nil
}

// TestHistoryOfClusters founds, joins, replaces and merges. Every issue's moves are in the history of the cluster that it is in.
func TestHistoryOfClusters(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant, webhook := storetest.Hooked(t, st, "cluster.deleted")
	org := tenant.Organization.ID
	analyze := func(groups ...issues.IssueGroup) {
		t.Helper()
		if err := st.Issues.AnalyzeConversations(
			t.Context(), org, func() issues.Analysis { return inGroups{groups: groups} },
		); err != nil {
			t.Fatal(err)
		}
	}
	history := func(cluster string) (kinds []string) {
		t.Helper()
		page, err := st.Issues.ListClusterEvents(t.Context(), org, cluster, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Rows {
			kinds = append(kinds, e.Kind+" "+e.Title)
			if e.Reason == "" {
				t.Errorf("%+v has no reason", e)
			}
		}
		return kinds
	}
	ingest(t, st, org, "email", storetest.Conversation("1", "a"), storetest.Conversation("2", "b"))
	analyze(issues.IssueGroup{Issues: []int{0}}, issues.IssueGroup{Issues: []int{1}})
	list := func() []issues.ClusterRow {
		t.Helper()
		page, err := st.Issues.ListClusters(t.Context(), org, issues.ClusterOrder{
			By: "tasksTotal", Ascending: true,
		}, time.Now(), nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		return page.Rows
	}
	before := list()
	if len(before) != 2 {
		t.Fatalf("%+v", before)
	}
	first, second := before[0].Cluster.ID, before[1].Cluster.ID
	if diff := cmp.Diff([]string{"joined a"}, history(first)); diff != "" {
		t.Error(diff)
	}
	// An issue with equal words joins its twin, whatever the analysis returns. If the same conversation is ingested
	// again, nothing changes.
	ingest(t, st, org, "email", storetest.Conversation("3", "a"), storetest.Conversation("1", "a"))
	analyze()
	if diff := cmp.Diff([]string{"joined a", "joined a"}, history(first)); diff != "" {
		t.Error(diff)
	}
	// Conversation 3 now has other words. Its issue is the only issue of the analysis, and joins the second cluster.
	ingest(t, st, org, "email", storetest.Conversation("3", "c"))
	analyze(issues.IssueGroup{Clusters: []int{1}, Issues: []int{0}})
	if diff := cmp.Diff([]string{"joined a", "joined a", "left a"}, history(first)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"joined b", "joined c"}, history(second)); diff != "" {
		t.Error(diff)
	}
	ingest(t, st, org, "email", storetest.Conversation("4", "d"))
	analyze(issues.IssueGroup{Clusters: []int{0, 1}, Issues: []int{0}})
	after := list()
	if len(after) != 1 || after[0].Cluster.ID != first || after[0].Cluster.Issues != 4 {
		t.Fatalf("%+v", after)
	}
	want := []string{"joined a", "joined a", "joined b", "joined b", "joined c", "joined c", "joined d", "left a", "merged All"}
	got := history(first)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A cluster is deleted if its conversations have lost its issues.
	ingest(
		t, st, org, "email", storetest.Conversation("1"), storetest.Conversation("2"), storetest.Conversation("3"),
		storetest.Conversation("4"),
	)
	analyze()
	if left := list(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	// Webhooks receive the cluster into which the second cluster was merged. The first cluster was not merged.
	deliveries, err := st.Hooks.ListWebhookDeliveries(
		t.Context(), org, webhook.ID, hooks.WebhookDeliveryFilter{}, "", 10,
	)
	if err != nil || len(deliveries.Rows) != 2 {
		t.Fatalf("%+v %v", deliveries.Rows, err)
	}
	for _, d := range deliveries.Rows {
		data, err := schema.DecodeJSON[map[string]any](d.WebhookEvent.Data)
		into, merged := data["mergedInto"]
		if err != nil || merged != (data["id"] == second) || merged && into != first {
			t.Errorf("a cluster went: %s %v", d.WebhookEvent.Data, err)
		}
	}
}

// TestAnalysisIsCut cancels one analysis between its two rounds. It cancels another analysis in the second round. The
// first round's results stay. The next call does the remaining work, and every issue joins its cluster once.
func TestAnalysisIsCut(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	org := storetest.NewTenant(t, st, "acme").Organization.ID
	const all, first = 1200, 1000
	for part := range all / 100 {
		var list []issues.NewConversation
		for i := range 100 {
			id := fmt.Sprintf("%04d", part*100+i)
			list = append(list, storetest.Conversation(id, id))
		}
		ingest(t, st, org, "email", list...)
	}
	processed := func() (n int) {
		t.Helper()
		for after := ""; ; {
			page, err := st.Issues.ListConversations(t.Context(), org, nil, after, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range page.Rows {
				if c.ProcessedAt != nil {
					n++
				}
				after = c.ID
			}
			if len(page.Rows) == 0 {
				return n
			}
		}
	}
	// analyze retries until Postgres has ended an aborted transaction, which briefly holds the analysis lock.
	analyze := func(ctx context.Context, analysis func() issues.Analysis) (err error) {
		t.Helper()
		eventually.True(t, "the lock of the analysis", func() bool {
			err = st.Issues.AnalyzeConversations(ctx, org, analysis)
			return !schema.IsCode(err, schema.CodeConflict)
		})
		return err
	}
	for _, within := range []bool{false, true} {
		ctx, cut := context.WithCancel(t.Context())
		rounds := 0
		err := analyze(ctx, func() issues.Analysis {
			if rounds++; !within && rounds == 2 {
				cut()
			}
			return allInOne{func([]issues.AnalyzedIssue) error {
				if within {
					cut()
				}
				return nil
			}}
		})
		cut()
		if err == nil || processed() != first {
			t.Fatalf("after a cut: %v, %d of %d conversations are processed", err, processed(), first)
		}
	}
	if err := analyze(t.Context(), together); err != nil {
		t.Fatal(err)
	}
	clusters, err := st.Issues.ListClusters(t.Context(), org, issues.ClusterOrder{By: "issues"}, time.Now(), nil, 10)
	if err != nil || clusters.Total != 1 || clusters.Rows[0].Cluster.Issues != all || clusters.Rows[0].Cluster.Conversations != all || processed() != all {
		t.Fatalf("%+v %v", clusters, err)
	}
	joined := map[string]int{}
	for after := ""; ; {
		page, err := st.Issues.ListClusterEvents(t.Context(), org, clusters.Rows[0].Cluster.ID, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Rows {
			joined[e.Title]++
			after = e.ID
		}
		if len(page.Rows) == 0 {
			break
		}
	}
	for title, times := range joined {
		if times != 1 {
			t.Errorf("%s joined %d times", title, times)
		}
	}
	if len(joined) != all {
		t.Errorf("%d issues joined, not %d", len(joined), all)
	}
}
