package issues

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Conversation, ConversationContent and ConversationIssue are rows of the tables about conversations.
type (
	Conversation        = db.Conversation
	ConversationContent = db.ConversationContent
	ConversationIssue   = db.ConversationIssue
)

// NewConversation has the values of a new conversation. Parts and Metadata are JSON.
type NewConversation struct {
	// SourceID is the conversation's id in its source, for example a support system.
	SourceID  string
	Subject   *string
	URL       *string
	CreatedAt *time.Time
	Parts     []byte
	Metadata  []byte
	// Impact is the highest impact of the issues. It is nil if there are no issues.
	Impact *string
	Issues []NewIssue
}

// NewIssue has the values of a new issue of a conversation. Details is JSON.
type NewIssue struct {
	Title   string
	Details []byte
	Summary string
	Impact  string
	// Language and Words are used by the Analysis.
	Language string
	Words    []string
}

// fingerprint returns a hash of the issue's words. Issues with the same fingerprint are always in the same cluster.
func (i NewIssue) fingerprint() string {
	sum := sha256.Sum256([]byte(i.Language + "\x00" + strings.Join(i.Words, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// IngestConversations stores conversations of one source. It stores either all conversations or none. If a conversation
// with the same SourceID is stored, the new one replaces it under the same id. If the number of issues is unchanged,
// the issues have the same ids as before. A job later updates the clusters.
func (s *Store) IngestConversations(
	ctx context.Context, organizationID, source string, now time.Time, conversations []NewConversation,
) error {
	// The conversations are sorted, so that concurrent calls with the same conversations do not deadlock. If several
	// conversations have the same SourceID, only the last one is stored.
	ordered := slices.Clone(conversations)
	slices.SortStableFunc(ordered, func(a, b NewConversation) int { return strings.Compare(a.SourceID, b.SourceID) })
	last := ordered[:0]
	for i, c := range ordered {
		if i+1 == len(ordered) || ordered[i+1].SourceID != c.SourceID {
			last = append(last, c)
		}
	}
	return s.db.InTx(ctx, func(tx pgx.Tx, q *db.Queries) error {
		if err := shareAnalysis(ctx, tx, organizationID); err != nil {
			return err
		}
		rows, err := upsertConversations(ctx, q, organizationID, source, now, last)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(rows, func(row Conversation) bool { return row.Version == 1 }) {
			if err := s.db.Within(ctx, q, postgres.QuotaConversations, organizationID); err != nil {
				return err
			}
		}
		if len(rows) == 0 {
			return nil
		}
		return postgres.Enqueue(ctx, q, schema.ClusterConversations{Organization: organizationID})
	})
}

// upsertConversations stores conversations in one batch, and their issues in another.
func upsertConversations(
	ctx context.Context, q *db.Queries, organizationID, source string, now time.Time, conversations []NewConversation,
) ([]Conversation, error) {
	heads := make([]db.UpsertConversationsParams, len(conversations))
	for i, c := range conversations {
		heads[i] = db.UpsertConversationsParams{
			ID: schema.NewID(), OrganizationID: organizationID, Source: source, SourceID: c.SourceID, Subject: c.Subject, Url: c.URL,
			Impact: c.Impact, CreatedAt: c.CreatedAt, Now: now,
		}
	}
	rows := make([]Conversation, len(conversations))
	err := postgres.Batch(q.UpsertConversations(ctx, heads).QueryRow, func(i int, row Conversation) { rows[i] = row })
	if err != nil {
		return nil, postgres.Interpret(err, "conversation")
	}
	contents := make([]db.UpsertConversationContentsParams, len(rows))
	ends := make([]db.DeleteConversationIssuesFromParams, len(rows))
	var issues []db.UpsertConversationIssuesParams
	leave := db.LeaveClustersParams{OrganizationID: organizationID, Prefix: schema.NewID() + "-", Now: now}
	for i, c := range conversations {
		row := rows[i]
		contents[i] = db.UpsertConversationContentsParams{ConversationID: row.ID, Parts: c.Parts, Metadata: c.Metadata}
		ends[i] = db.DeleteConversationIssuesFromParams{ConversationID: row.ID, Position: int32(len(c.Issues))}
		if row.Version > 1 {
			leave.Replaced = append(leave.Replaced, row.ID)
		}
		for n, issue := range c.Issues {
			leave.Conversations = append(leave.Conversations, row.ID)
			leave.Positions = append(leave.Positions, int32(n))
			leave.Fingerprints = append(leave.Fingerprints, issue.fingerprint())
			issues = append(issues, db.UpsertConversationIssuesParams{
				ID: schema.NewID(), OrganizationID: organizationID, ConversationID: row.ID, Position: int32(n),
				Title: issue.Title, Details: issue.Details, Summary: issue.Summary, Impact: issue.Impact,
				Words: append([]string{}, issue.Words...), Language: issue.Language, Fingerprint: issue.fingerprint(), CreatedAt: row.CreatedAt, IngestedAt: now,
			})
		}
	}
	err = postgres.BatchExec(q.UpsertConversationContents(ctx, contents).Exec)
	if err == nil && len(leave.Replaced) > 0 {
		err = q.LeaveClusters(ctx, leave)
	}
	if err == nil && len(issues) > 0 {
		err = postgres.BatchExec(q.UpsertConversationIssues(ctx, issues).Exec)
	}
	if err == nil {
		err = postgres.BatchExec(q.DeleteConversationIssuesFrom(ctx, ends).Exec)
	}
	if err != nil {
		return nil, postgres.Interpret(err, "conversation")
	}
	return rows, nil
}

// ListConversations lists an organization's conversations in the order of their first arrival. The list begins after
// the id `after`. If `source` is nil, it has the conversations of all sources.
func (s *Store) ListConversations(
	ctx context.Context, organizationID string, source *string, after string, size int,
) (postgres.Page[Conversation], error) {
	total, err := s.db.Planned.CountConversations(ctx, db.CountConversationsParams{
		OrganizationID: organizationID, Source: source,
	})
	if err != nil {
		return postgres.Page[Conversation]{}, postgres.Interpret(err, "conversations")
	}
	rows, err := s.db.Planned.ListConversations(ctx, db.ListConversationsParams{
		OrganizationID: organizationID, Source: source, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Conversation]{}, postgres.Interpret(err, "conversations")
	}
	return postgres.PageOf(rows, size, total), nil
}

// Conversation reads a conversation of an organization with its content. `id` is the conversation's id in Octavo, or
// its id in its source.
func (s *Store) Conversation(ctx context.Context, organizationID, id string) (Conversation, ConversationContent, error) {
	row, err := s.db.Queries.ConversationByID(ctx, db.ConversationByIDParams{ID: id, OrganizationID: organizationID})
	return row.Conversation, row.ConversationContent, postgres.Interpret(err, "conversation")
}

// IssueRow is an issue with its conversation.
type IssueRow struct {
	Issue        ConversationIssue
	Conversation Conversation
}

// IssueFilter narrows a list of issues. A nil field does not filter.
type IssueFilter struct {
	Cluster      *string
	Conversation *string
}

// ListConversationIssues lists an organization's issues in the order in which they were found. The list begins after
// the id `after`.
func (s *Store) ListConversationIssues(
	ctx context.Context, organizationID string, filter IssueFilter, after string, size int,
) (postgres.Page[IssueRow], error) {
	total, err := s.db.Planned.CountConversationIssues(ctx, db.CountConversationIssuesParams{
		OrganizationID: organizationID, Cluster: filter.Cluster, Conversation: filter.Conversation,
	})
	if err != nil {
		return postgres.Page[IssueRow]{}, postgres.Interpret(err, "issues")
	}
	rows, err := s.db.Planned.ListConversationIssues(ctx, db.ListConversationIssuesParams{
		OrganizationID: organizationID, Cluster: filter.Cluster, Conversation: filter.Conversation,
		After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[IssueRow]{}, postgres.Interpret(err, "issues")
	}
	issues := make([]IssueRow, len(rows))
	for i, row := range rows {
		issues[i] = IssueRow{Issue: row.ConversationIssue, Conversation: row.Conversation}
	}
	return postgres.PageOf(issues, size, total), nil
}

// ConversationIssue reads an issue of an organization.
func (s *Store) ConversationIssue(ctx context.Context, organizationID, id string) (IssueRow, error) {
	row, err := s.db.Queries.ConversationIssueByID(ctx, db.ConversationIssueByIDParams{
		ID: id, OrganizationID: organizationID,
	})
	if err != nil {
		return IssueRow{}, postgres.Interpret(err, "issue")
	}
	return IssueRow{Issue: row.ConversationIssue, Conversation: row.Conversation}, nil
}
