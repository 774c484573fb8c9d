package jobs

import (
	"context"
	"fmt"

	"github.com/octavo-docs/octavo/ingest/conversations"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func clusterConversations(ctx context.Context, d Deps, args schema.ClusterConversations) error {
	return d.Store.AnalyzeConversations(ctx, args.Organization, conversations.MaxIssues, analyzeIssues)
}

// analyzeIssues is the store.Analysis of this installation: the built-in method plus human-readable summaries.
func analyzeIssues(issues []store.AnalyzedIssue) ([]store.IssueGroup, error) {
	items := make([]conversations.Item, len(issues))
	before := make(map[string]string, len(issues))
	for i, issue := range issues {
		items[i] = conversations.Item{
			Key: issue.Key, Title: issue.Title, Impact: schema.Impact(issue.Impact), Words: issue.Words,
		}
		before[issue.ID] = issue.Cluster
	}
	found := conversations.Cluster(items)
	members := make([][]string, len(found))
	for i, group := range found {
		for _, member := range group.Members {
			members[i] = append(members[i], issues[member].ID)
		}
	}
	clusters := conversations.Match(members, before)
	groups := make([]store.IssueGroup, len(found))
	for i, group := range found {
		summary, err := schema.EncodeJSON(clusterSummary(items, group))
		if err != nil {
			return nil, err
		}
		groups[i] = store.IssueGroup{
			Cluster: clusters[i], Label: group.Label, Icon: group.Icon, Impact: string(group.Impact), Summary: summary,
			Issues: group.Members,
		}
	}
	return groups, nil
}

// clusterSummary states a cluster's size and impact and quotes its most typical issues in the users' own words.
func clusterSummary(items []conversations.Item, group conversations.Group) schema.Document {
	count := fmt.Sprintf("%d issues", len(group.Members))
	if len(group.Members) == 1 {
		count = "One issue"
	}
	lead := schema.Block("paragraph", schema.Text(fmt.Sprintf("%s of %s impact. In the users’ words:", count, group.Impact)))
	examples := schema.Block("list-unordered")
	for _, member := range group.Typical {
		examples.Nodes = append(examples.Nodes,
			schema.Block("list-item", schema.Block("paragraph", schema.Text(items[member].Title))))
	}
	return schema.NewDocument(lead, examples)
}
