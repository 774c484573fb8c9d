package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/issues"
)

func (v Presenter) Conversation(row issues.Conversation) schema.Conversation {
	c := schema.Conversation{
		Object: "conversation", ID: row.ID, ExternalID: row.SourceID, Subject: schema.Or(row.Subject, ""), CreatedAt: row.CreatedAt.UTC(), Source: row.Source,
		Impact: schema.Impact(schema.Or(row.Impact, "")), ProcessedAt: schema.UTC(row.ProcessedAt),
		URLs: schema.ConversationURLs{Location: v.API("orgs", row.OrganizationID, "conversations", row.ID)},
	}
	if row.Url != nil && schema.AbsoluteURL(*row.Url) {
		c.URLs.Source = *row.Url
	}
	return c
}

func (v Presenter) Issue(row issues.IssueRow) (schema.IssueInConversation, error) {
	i := row.Issue
	details, err := schema.DecodeJSON[schema.Document](i.Details)
	if err != nil {
		return schema.IssueInConversation{}, err
	}
	return schema.IssueInConversation{
		Issue: schema.ConversationIssue{
			Object: "conversation-issue", ID: i.ID, Title: i.Title, Details: details, Summary: i.Summary,
			Impact: schema.Impact(i.Impact), CreatedAt: i.CreatedAt.UTC(), IngestedAt: i.IngestedAt.UTC(),
			Conversation: i.ConversationID, Cluster: schema.Or(i.ClusterID, ""),
			URLs: schema.LocationURLs{Location: v.API("orgs", i.OrganizationID, "conversations-issues", i.ID)},
		},
		Conversation: v.Conversation(row.Conversation),
	}, nil
}
