package apps

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/conversations"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/issues"
	"github.com/octavo-docs/octavo/store/postgres"
)

// conversationResources has the operations on conversations, their issues and the clusters of those issues.
type conversationResources struct {
	store *store.Store
	view  view.Presenter
}

// conversationsBodyLimit is the body limit of ingestConversation, in bytes. A request may have many conversations.
const conversationsBodyLimit = 4 << 20

func conversationOperations(h *conversationResources) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/conversations", ID: "ingestConversation", Tag: "conversations",
			Doc:   "Ingest one or more conversations and find the issues in them. A conversation with a known id replaces the earlier one.",
			Scope: access.Having(access.RightCreate, access.OnOrganization).OrInstallation(schema.ScopeConversationsIngest), Status: http.StatusNoContent,
			BodyLimit: conversationsBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.ingest),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/conversations", ID: "listConversations", Tag: "conversations",
			Doc:   "List the conversations of an organization.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/conversations/{conversationId}", ID: "getConversationById",
			Tag: "conversations", Doc: "Read a conversation with its messages, by its id or the one that its source gave it.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/conversations-issues", ID: "listConversationsIssues",
			Tag: "conversations", Doc: "List the issues that were found in conversations.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.listIssues),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/conversations-issues/{issueId}", ID: "getConversationIssueById",
			Tag: "conversations", Doc: "Read an issue with its conversation.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.getIssue),
		},
	}
}

// conversationInput is a conversation in the form in which clients send it.
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
	Body rules.OneOrMany[conversationInput] `body:"json" rules:"len=..1000"`
}

// maxAhead is the time by which a source's clock may be ahead of the server's clock. A time in the future within
// maxAhead is replaced by the current time.
const maxAhead = time.Hour

// ingest stores conversations. A job then assigns their issues to clusters. Until then, `processedAt` of the
// conversations is absent.
func (h *conversationResources) ingest(ctx context.Context, c *access.Caller, r *ingestConversationRequest) (frame.NoContent, error) {
	rows := make([]issues.NewConversation, len(r.Body.Items))
	for i, input := range r.Body.Items {
		row, err := newConversation(input, c.Now, r.Body.Field(i, "metadata.createdAt"))
		if err != nil {
			return frame.NoContent{}, err
		}
		rows[i] = row
	}
	organization := c.Organization.Organization.ID
	// A user's token names no installation, so the conversations get the default source.
	source := schema.SourceEmail
	if c.Principal.Kind == schema.TokenInstallation {
		source = schema.SourceOfInstallation(c.Principal.Integration, c.Principal.InstallationID)
	}
	return frame.NoContent{}, h.store.Issues.IngestConversations(ctx, organization, source, c.Now, rows)
}

func newConversation(input conversationInput, now time.Time, dateField string) (issues.NewConversation, error) {
	parts := make([]schema.ConversationPart, len(input.Parts))
	said := conversations.Conversation{Subject: schema.Or(input.Subject, "")}
	for i, part := range input.Parts {
		parts[i] = schema.ConversationPart{Type: schema.Or(part.Type, schema.PartTypes()[0]), Role: *part.Role, Body: *part.Body}
		said.Parts = append(said.Parts, conversations.Part{Role: *part.Role, Body: *part.Body})
	}
	row := issues.NewConversation{SourceID: *input.ID, Subject: input.Subject}
	var metadata schema.ConversationMetadata
	if m := input.Metadata; m != nil {
		metadata = schema.ConversationMetadata{URL: m.URL, Attributes: m.Attributes}
		if m.CreatedAt != nil {
			at, err := time.Parse(time.RFC3339, *m.CreatedAt)
			if err != nil {
				return row, schema.Internal(fmt.Errorf("a time that was checked: %w", err))
			}
			if at = at.UTC(); at.After(now.Add(maxAhead)) {
				return row, schema.Invalid(dateField, "is in the future")
			} else if at.After(now) {
				at = now.UTC()
			}
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
		row.Issues = append(row.Issues, issues.NewIssue{
			Title: issue.Title, Details: details, Summary: strings.Join(issue.Details, "\n"), Impact: string(issue.Impact),
			Language: issue.Language, Words: issue.Words,
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
	ctx context.Context, c *access.Caller, r *listConversationsRequest,
) (schema.List[schema.Conversation], error) {
	organization := c.Organization.Organization.ID
	return frame.ListPage(ctx, fmt.Sprintf("conversations %s %q", organization, schema.Or(r.Source, "")), r.PageRequest,
		func(after string, size int) (postgres.Page[issues.Conversation], error) {
			return h.store.Issues.ListConversations(ctx, organization, r.Source, after, size)
		},
		h.view.Conversation, func(row issues.Conversation) string { return row.ID })
}

type getConversationRequest struct {
	ID string `path:"conversationId"`
}

func (h *conversationResources) get(ctx context.Context, c *access.Caller, r *getConversationRequest) (schema.FullConversation, error) {
	row, content, err := h.store.Issues.Conversation(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return schema.FullConversation{}, err
	}
	parts, err := schema.DecodeJSON[[]schema.ConversationPart](content.Parts)
	if err != nil {
		return schema.FullConversation{}, err
	}
	metadata, err := shownMetadata(content.Metadata)
	return schema.FullConversation{Conversation: h.view.Conversation(row), Parts: parts, Metadata: metadata}, err
}

type listIssuesRequest struct {
	schema.PageRequest
	Cluster      *string `query:"cluster"`
	Conversation *string `query:"conversation"`
}

func (h *conversationResources) listIssues(
	ctx context.Context, c *access.Caller, r *listIssuesRequest,
) (schema.List[schema.IssueInConversation], error) {
	organization := c.Organization.Organization.ID
	name := fmt.Sprintf("issues %s %q %q", organization, schema.Or(r.Cluster, ""), schema.Or(r.Conversation, ""))
	filter := issues.IssueFilter{Cluster: r.Cluster, Conversation: r.Conversation}
	return frame.ListMadePage(ctx, name, r.PageRequest,
		func(after string, size int) (postgres.Page[issues.IssueRow], error) {
			return h.store.Issues.ListConversationIssues(ctx, organization, filter, after, size)
		},
		h.view.Issue, func(row issues.IssueRow) string { return row.Issue.ID })
}

type getIssueRequest struct {
	ID string `path:"issueId"`
}

func (h *conversationResources) getIssue(ctx context.Context, c *access.Caller, r *getIssueRequest) (schema.IssueInConversation, error) {
	row, err := h.store.Issues.ConversationIssue(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return schema.IssueInConversation{}, err
	}
	return h.view.Issue(row)
}

func shownMetadata(stored []byte) (schema.ConversationMetadata, error) {
	metadata, err := schema.DecodeJSON[schema.ConversationMetadata](stored)
	if err == nil && metadata.URL != nil && !schema.LinkAllowed(*metadata.URL) {
		metadata.URL = nil
	}
	return metadata, err
}

// paragraphs builds a document from plain texts.
func paragraphs(texts ...string) schema.Document {
	blocks := make([]schema.Node, len(texts))
	for i, text := range texts {
		blocks[i] = schema.Block("paragraph", schema.Text(text))
	}
	return schema.NewDocument(blocks...)
}
