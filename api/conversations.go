package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/ingest/conversations"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// conversationResources are the operations on conversations, their issues and the issues' clusters.
type conversationResources struct {
	store *store.Store
	urls  links
}

// conversationsBodyLimit is the BodyLimit of ingesting, which takes many conversations at once.
const conversationsBodyLimit = 4 << 20

func conversationOperations(h *conversationResources) []Operation {
	return []Operation{
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/conversations", ID: "ingestConversation", Tag: "conversations",
			Doc:   "Take in one conversation or several, and find the issues in them; the same id again replaces what was there.",
			Scope: having(RightCreate, onOrganization), Status: http.StatusNoContent,
			BodyLimit: conversationsBodyLimit, Accepts: mediaJSON, Handler: handle(h.ingest),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/conversations", ID: "listConversations", Tag: "conversations",
			Doc:   "List the conversations of an organization.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/conversations/{conversationId}", ID: "getConversationById",
			Tag: "conversations", Doc: "Read a conversation with its messages.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.get),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/conversations-issues", ID: "listConversationsIssues",
			Tag: "conversations", Doc: "List the issues that were found in conversations.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.listIssues),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/conversations-issues/{issueId}", ID: "getConversationIssueById",
			Tag: "conversations", Doc: "Read an issue with its conversation.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.getIssue),
		},
	}
}

// conversationInput is a conversation as a client sends it.
type conversationInput struct {
	ID      *string `json:"id" rules:"required,len=1..255"`
	Subject *string `json:"subject" rules:"len=..512"`
	Parts   []struct {
		Type *string `json:"type" rules:"enum=partType,default=message"`
		Role *string `json:"role" rules:"required,enum=partRole"`
		Body *string `json:"body" rules:"required,len=..200000"`
	} `json:"parts" rules:"required,len=..1000"`
	Metadata *struct {
		URL        *string           `json:"url" rules:"len=..2048,pattern=link"`
		Attributes map[string]string `json:"attributes" rules:"len=..100" keys:"len=..255" each:"len=..2048"`
		CreatedAt  *string           `json:"createdAt" rules:"pattern=dateTime"`
	} `json:"metadata"`
}

type ingestConversationRequest struct {
	Body oneOrMany[conversationInput] `body:"json" rules:"len=..1000"`
}

// ingest stores and then analyzes. When the analysis fails the request does too, although everything is stored: sending it
// again changes nothing but brings the clusters up to date.
func (h *conversationResources) ingest(ctx context.Context, c *Caller, r *ingestConversationRequest) (NoContent, error) {
	rows := make([]store.NewConversation, len(r.Body.Items))
	for i, input := range r.Body.Items {
		row, err := newConversation(input)
		if err != nil {
			return NoContent{}, err
		}
		rows[i] = row
	}
	organization := c.Organization.Organization.ID
	// Tokens that belong to an integration would say which source the conversations are from; users bring what they got.
	ids, err := h.store.IngestConversations(ctx, organization, schema.SourceEmail, c.Now, rows)
	if err != nil {
		return NoContent{}, err
	}
	return NoContent{}, h.store.AnalyzeConversations(ctx, organization, ids, conversations.MaxIssues, analyzeIssues)
}

func newConversation(input conversationInput) (store.NewConversation, error) {
	parts := make([]schema.ConversationPart, len(input.Parts))
	said := conversations.Conversation{Subject: schema.Or(input.Subject, "")}
	for i, part := range input.Parts {
		parts[i] = schema.ConversationPart{Type: schema.Or(part.Type, schema.PartTypes()[0]), Role: *part.Role, Body: *part.Body}
		said.Parts = append(said.Parts, conversations.Part{Role: *part.Role, Body: *part.Body})
	}
	row := store.NewConversation{SourceID: *input.ID, Subject: input.Subject}
	var metadata schema.ConversationMetadata
	if m := input.Metadata; m != nil {
		metadata = schema.ConversationMetadata{URL: m.URL, Attributes: m.Attributes}
		if m.CreatedAt != nil {
			at, err := time.Parse(time.RFC3339, *m.CreatedAt)
			if err != nil {
				return row, schema.Internal(fmt.Errorf("a time that was checked: %w", err))
			}
			at = at.UTC()
			metadata.CreatedAt, row.CreatedAt = &at, &at
		}
		row.URL = m.URL
	}
	highest := schema.Impact("")
	for _, issue := range conversations.Extract(said) {
		details, err := schema.EncodeJSON(paragraphs(issue.Details...))
		if err != nil {
			return row, err
		}
		row.Issues = append(row.Issues, store.NewIssue{
			Title: issue.Title, Details: details, Summary: strings.Join(issue.Details, "\n"), Impact: string(issue.Impact),
			Words: issue.Words,
		})
		if issue.Impact.Rank() > highest.Rank() {
			highest = issue.Impact
			impact := string(highest)
			row.Impact = &impact
		}
	}
	var err error
	if row.Parts, err = schema.EncodeJSON(parts); err != nil {
		return row, err
	}
	row.Metadata, err = schema.EncodeJSON(metadata)
	return row, err
}

type listConversationsRequest struct {
	schema.PageRequest
	Source *string `query:"source"`
}

func (h *conversationResources) list(
	ctx context.Context, c *Caller, r *listConversationsRequest,
) (schema.List[schema.Conversation], error) {
	organization := c.Organization.Organization.ID
	return listPage(ctx, fmt.Sprintf("conversations %s %q", organization, schema.Or(r.Source, "")), r.PageRequest,
		func(after string, size int) (store.Page[store.Conversation], error) {
			return h.store.ListConversations(ctx, organization, r.Source, after, size)
		},
		h.urls.conversationResource, func(c schema.Conversation) string { return c.ID })
}

type getConversationRequest struct {
	ID string `path:"conversationId"`
}

func (h *conversationResources) get(ctx context.Context, c *Caller, r *getConversationRequest) (schema.FullConversation, error) {
	row, content, err := h.store.Conversation(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return schema.FullConversation{}, err
	}
	return schema.FullConversation{
		Conversation: h.urls.conversationResource(row), Parts: decoded[[]schema.ConversationPart](content.Parts),
		Metadata: shownMetadata(content.Metadata),
	}, nil
}

type listIssuesRequest struct {
	schema.PageRequest
	Cluster      *string `query:"cluster"`
	Conversation *string `query:"conversation"`
}

func (h *conversationResources) listIssues(
	ctx context.Context, c *Caller, r *listIssuesRequest,
) (schema.List[schema.IssueInConversation], error) {
	organization := c.Organization.Organization.ID
	name := fmt.Sprintf("issues %s %q %q", organization, schema.Or(r.Cluster, ""), schema.Or(r.Conversation, ""))
	filter := store.IssueFilter{Cluster: r.Cluster, Conversation: r.Conversation}
	return listPage(ctx, name, r.PageRequest,
		func(after string, size int) (store.Page[store.IssueRow], error) {
			return h.store.ListConversationIssues(ctx, organization, filter, after, size)
		},
		h.urls.issueResource, func(i schema.IssueInConversation) string { return i.Issue.ID })
}

type getIssueRequest struct {
	ID string `path:"issueId"`
}

func (h *conversationResources) getIssue(ctx context.Context, c *Caller, r *getIssueRequest) (schema.IssueInConversation, error) {
	row, err := h.store.ConversationIssue(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return schema.IssueInConversation{}, err
	}
	return h.urls.issueResource(row), nil
}

func (l links) conversationResource(row store.Conversation) schema.Conversation {
	c := schema.Conversation{
		Object: "conversation", ID: row.ID, Subject: schema.Or(row.Subject, ""), CreatedAt: row.CreatedAt.UTC(), Source: row.Source,
		Impact: schema.Impact(schema.Or(row.Impact, "")),
		URLs:   schema.ConversationURLs{Location: l.API("orgs", row.OrganizationID, "conversations", row.ID)},
	}
	if row.ProcessedAt != nil {
		at := row.ProcessedAt.UTC()
		c.ProcessedAt = &at
	}
	if row.Url != nil && schema.AbsoluteURL(*row.Url) {
		c.URLs.Source = *row.Url
	}
	return c
}

func shownMetadata(stored []byte) schema.ConversationMetadata {
	metadata := decoded[schema.ConversationMetadata](stored)
	if metadata.URL != nil && !schema.LinkAllowed(*metadata.URL) {
		metadata.URL = nil
	}
	return metadata
}

func (l links) issueResource(row store.IssueRow) schema.IssueInConversation {
	i := row.Issue
	return schema.IssueInConversation{
		Issue: schema.ConversationIssue{
			Object: "conversation-issue", ID: i.ID, Title: i.Title, Details: decoded[schema.Document](i.Details), Summary: i.Summary,
			Impact: schema.Impact(i.Impact), CreatedAt: i.CreatedAt.UTC(), IngestedAt: i.IngestedAt.UTC(),
			Conversation: i.ConversationID, Cluster: schema.Or(i.ClusterID, ""),
			URLs: schema.LocationURLs{Location: l.API("orgs", i.OrganizationID, "conversations-issues", i.ID)},
		},
		Conversation: l.conversationResource(row.Conversation),
	}
}
