package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (l Presenter) Cluster(row store.ClusterRow) schema.IssuesCluster {
	c := row.Cluster
	path := []string{"orgs", c.OrganizationID, "conversations-clusters", c.ID}
	return schema.IssuesCluster{
		Object: "issues-cluster", ID: c.ID, Label: c.Label, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(), Icon: c.Icon,
		Summary: Decoded[schema.Document](c.Summary), Muted: c.Muted, Impact: schema.Impact(c.Impact), WeeklyPulse: row.Pulse,
		Sources: Decoded[map[string]int64](c.Sources), Stats: schema.ClusterStats{Issues: c.Issues, Conversations: c.Conversations},
		URLs: schema.ClusterURLs{Location: l.API(path...), App: l.App(path...)},
	}
}
