package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) Cluster(row store.ClusterRow) (schema.IssuesCluster, error) {
	c := row.Cluster
	summary, err := schema.DecodeJSON[schema.Document](c.Summary)
	if err != nil {
		return schema.IssuesCluster{}, err
	}
	sources, err := schema.DecodeJSON[map[string]int64](c.Sources)
	if err != nil {
		return schema.IssuesCluster{}, err
	}
	path := []string{"orgs", c.OrganizationID, "conversations-clusters", c.ID}
	return schema.IssuesCluster{
		Object: "issues-cluster", ID: c.ID, Label: c.Label, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(), Icon: c.Icon,
		Summary: summary, Muted: c.Muted, Impact: schema.Impact(c.Impact), WeeklyPulse: row.Pulse,
		Sources: sources, Stats: schema.ClusterStats{Issues: c.Issues, Conversations: c.Conversations},
		URLs: schema.ClusterURLs{Location: v.API(path...), App: v.App(path...)},
	}, nil
}
