package jobs

import (
	"context"
	"fmt"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/conversations"
	"github.com/octavo-docs/octavo/store/issues"
)

func clusterConversations(ctx context.Context, d Deps, args schema.ClusterConversations) error {
	var encoder Encoder
	if d.Encoder != nil {
		var err error
		if encoder, err = d.Encoder(); err != nil {
			return err
		}
	}
	err := d.Store.Issues.AnalyzeConversations(ctx, args.Organization, func() issues.Analysis {
		return issueAnalysis{conversations.NewMethod(), encoder}
	})
	if err != nil || d.Refiner == nil {
		return err
	}
	return d.Store.Issues.AskForRefining(ctx, args.Organization)
}

// Encoder converts texts to vectors. The vectors of texts with similar meanings are close to each other.
type Encoder interface{ Encode(text string) []float32 }

// issueAnalysis implements issues.Analysis with the built-in method, and writes summaries for people. `encoder` is nil
// if the node has no model.
type issueAnalysis struct {
	method  *conversations.Method
	encoder Encoder
}

func (a issueAnalysis) Meaning(text string) []byte {
	if a.encoder == nil {
		return nil
	}
	return conversations.NewMeaning(a.encoder.Encode(text))
}

func (a issueAnalysis) Assign(
	clusters []issues.KnownCluster, list []issues.AnalyzedIssue,
) ([]issues.IssueGroup, error) {
	known := make([]conversations.Known, len(clusters))
	for i, c := range clusters {
		profile, err := schema.DecodeJSON[conversations.Profile](c.Profile)
		if err != nil {
			return nil, err
		}
		known[i] = conversations.Known{ID: c.ID, Language: c.Language, Profile: profile, Rests: c.Rests}
	}
	items := make([]conversations.Item, len(list))
	for i, issue := range list {
		items[i] = item(issue)
	}
	found := a.method.Assign(known, items)
	groups := make([]issues.IssueGroup, len(found))
	for i, group := range found {
		groups[i] = issues.IssueGroup{Clusters: group.Clusters, Issues: group.Items}
	}
	return groups, nil
}

func item(issue issues.AnalyzedIssue) conversations.Item {
	return conversations.Item{Key: issue.Key, Language: issue.Language, Terms: issue.Words, Meaning: issue.Meaning, Cluster: issue.Cluster}
}

func (a issueAnalysis) Describe(cluster issues.ClusterMembers) (issues.ClusterDescription, error) {
	sample := make([]conversations.Sampled, len(cluster.Sample))
	for i, issue := range cluster.Sample {
		sample[i] = conversations.Sampled{Item: item(issue), Title: issue.Title}
	}
	d := a.method.Describe(sample, cluster.Label)
	impact := conversations.ImpactOf(cluster.Issues, cluster.High, cluster.Medium)
	described := issues.ClusterDescription{
		Label: d.Label, Icon: d.Icon, Impact: string(impact), Language: d.Language, Theme: d.Theme,
	}
	var err error
	if described.Summary, err = schema.EncodeJSON(clusterSummary(cluster, impact, d.Typical)); err != nil {
		return described, err
	}
	described.Profile, err = schema.EncodeJSON(d.Profile)
	return described, err
}

// clusterSummary returns the summary of a cluster. It begins with the text of a language model, if there is one. Then
// it has the number of issues, their impact, and the titles of the most typical issues in the users' own words.
func clusterSummary(cluster issues.ClusterMembers, impact schema.Impact, typical []string) schema.Document {
	count := fmt.Sprintf("%d issues", cluster.Issues)
	if cluster.Issues == 1 {
		count = "One issue"
	}
	lead := schema.Block("paragraph", schema.Text(fmt.Sprintf("%s of %s impact. In the users’ words:", count, impact)))
	examples := schema.Block("list-unordered")
	for _, title := range typical {
		examples.Nodes = append(examples.Nodes, schema.Block("list-item", schema.Block("paragraph", schema.Text(title))))
	}
	if cluster.Overview == "" {
		return schema.NewDocument(lead, examples)
	}
	return schema.NewDocument(schema.Block("paragraph", schema.Text(cluster.Overview)), lead, examples)
}
