package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/conversations"
	"github.com/octavo-docs/octavo/store/issues"
)

func (v Presenter) Cluster(row issues.ClusterRow) (schema.IssuesCluster, error) {
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
	requests := make([]schema.ClusterRequest, len(row.Requests))
	for i, r := range row.Requests {
		requests[i] = schema.ClusterRequest{ID: r.ID, Space: r.SpaceID, Number: r.Number, Status: r.Status}
	}
	var theme *schema.ClusterTheme
	if subject, ok := conversations.SubjectByID(schema.Or(c.Theme, "")); ok {
		theme = &schema.ClusterTheme{ID: subject.ID, Title: subject.Title}
	}
	return schema.IssuesCluster{
		Object: "issues-cluster", ID: c.ID, Label: c.Label, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(), Icon: c.Icon,
		Summary: summary, Muted: c.Muted, Impact: schema.Impact(c.Impact), WeeklyPulse: row.Pulse,
		Sources: sources, Stats: schema.ClusterStats{Issues: c.Issues, Conversations: c.Conversations},
		URLs:  schema.ClusterURLs{Location: v.API(path...), App: v.App(path...)},
		Theme: theme, Language: c.Language, ChangeRequests: requests,
	}, nil
}

// ClusterEvent returns the API form of an entry in a cluster's history.
func (v Presenter) ClusterEvent(row issues.ClusterEvent) schema.ClusterEvent {
	return schema.ClusterEvent{
		Object: "issues-cluster-event", ID: row.ID, Kind: row.Kind, CreatedAt: row.CreatedAt.UTC(), Title: row.Title, Reason: row.Reason,
		Issue: schema.Or(row.IssueID, ""), Conversation: schema.Or(row.ConversationID, ""),
	}
}
