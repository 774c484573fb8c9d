package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/discussion"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Comment is a row of the table comments: a comment, or a reply if it has a parent.
type Comment = db.Comment

// Place is the place of a discussion: a change request, or the space itself if ChangeRequestID is nil. The space's list
// and counters do not include comments on change requests.
type Place struct {
	SpaceID         string
	ChangeRequestID *string
}

// thread returns the id of this place's list of comments: the id of the change request or of the space.
func (p Place) thread() string {
	if p.ChangeRequestID != nil {
		return *p.ChangeRequestID
	}
	return p.SpaceID
}

// quota returns the quota for the comments of the place.
func (p Place) quota() postgres.Quota {
	if p.ChangeRequestID != nil {
		return postgres.QuotaRequestComments
	}
	return postgres.QuotaSpaceComments
}

// CommentRef names a comment of a place. If Parent is set, it names a reply to the comment Parent.
type CommentRef struct {
	Place
	ID     string
	Parent *string
}

// what returns the word for the object in error messages: "comment" or "reply".
func (r CommentRef) what() string {
	if r.Parent != nil {
		return "reply"
	}
	return "comment"
}

// CommentBody is the text of a comment as JSON. Sent is the text as the client sent it. If the client sent Markdown,
// Made is the document that was made from the Markdown.
type CommentBody struct {
	Sent []byte
	Made []byte
}

// NewComment has the values of a new comment.
type NewComment struct {
	Place
	UserID          string
	Body            CommentBody
	NodeID          *string
	PageID          *string
	TableRecord     *string
	TableDefinition *string
}

// CreateComment posts a comment on the newest revision of the content.
func (s *Store) CreateComment(ctx context.Context, comment NewComment) (CommentRow, error) {
	var row Comment
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		row, err = s.insertComment(ctx, q, comment, nil)
		return err
	})
	if err != nil {
		return CommentRow{}, err
	}
	return s.commentRow(ctx, row)
}

func (s *Store) insertComment(ctx context.Context, q *db.Queries, comment NewComment, review *string) (Comment, error) {
	row, err := q.InsertComment(ctx, db.InsertCommentParams{
		ID: schema.NewID(), SpaceID: comment.SpaceID, ChangeRequestID: comment.ChangeRequestID, AuthorID: comment.UserID,
		Body: comment.Body.Sent, NodeID: comment.NodeID, PageID: comment.PageID, TableRecord: comment.TableRecord,
		TableDefinition: comment.TableDefinition, ReviewID: review, Bound: s.db.Bound(comment.quota()),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = s.db.Full(ctx, q, comment.quota(), comment.thread())
	}
	if err != nil {
		return Comment{}, postgres.Interpret(err, "place of the comment")
	}
	return row, keepMade(ctx, q, row.ID, comment.Body)
}

func keepMade(ctx context.Context, q *db.Queries, id string, body CommentBody) error {
	if body.Made == nil {
		return nil
	}
	err := q.PutCommentDocument(ctx, db.PutCommentDocumentParams{ID: id, Body: body.Sent, Document: body.Made})
	return postgres.Interpret(err, "comment")
}

// CommentDocument returns the document made from the Markdown of a comment. Comments from earlier versions of Octavo
// have no stored document. For such a comment, CommentDocument makes the document and stores it.
func (s *Store) CommentDocument(ctx context.Context, row CommentRow, make func(sent []byte) ([]byte, error)) ([]byte, error) {
	if row.Made == nil {
		if err := s.ReadDocuments(ctx, []*CommentRow{&row}); err != nil {
			return nil, err
		}
	}
	if row.Made != nil {
		return row.Made, nil
	}
	made, err := make(row.Body)
	if err != nil {
		return nil, err
	}
	return made, keepMade(ctx, s.db.Queries, row.ID, CommentBody{Sent: row.Body, Made: made})
}

// CreateReply adds a reply to a comment.
func (s *Store) CreateReply(ctx context.Context, place Place, commentID, userID string, body CommentBody) (CommentRow, error) {
	var row Comment
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		row, err = q.InsertReply(ctx, db.InsertReplyParams{
			ID: schema.NewID(), AuthorID: userID, Body: body.Sent, ParentID: commentID, SpaceID: place.SpaceID,
			ChangeRequestID: place.ChangeRequestID, Bound: s.db.Bound(postgres.QuotaReplies),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			err = s.db.Full(ctx, q, postgres.QuotaReplies, commentID)
		}
		if err != nil {
			return postgres.Interpret(err, "comment")
		}
		return keepMade(ctx, q, row.ID, body)
	})
	if err != nil {
		return CommentRow{}, err
	}
	return s.commentRow(ctx, row)
}

// Comment reads a comment or a reply, with the related data that is shown with it.
func (s *Store) Comment(ctx context.Context, ref CommentRef) (CommentRow, error) {
	row, err := s.db.Queries.Comment(ctx, db.CommentParams{
		ID: ref.ID, SpaceID: ref.SpaceID, ChangeRequestID: ref.ChangeRequestID, ParentID: ref.Parent,
	})
	if err != nil {
		return CommentRow{}, postgres.Interpret(err, ref.what())
	}
	return s.commentRow(ctx, row)
}

// CommentFilter narrows a list of comments. A nil field does not filter.
type CommentFilter struct {
	Status  *string
	PageID  *string
	Authors []string
}

// ListComments lists the comments of a place, sorted by the time of posting. If `after` is set, the list continues
// after this cursor.
func (s *Store) ListComments(
	ctx context.Context, place Place, filter CommentFilter, ascending bool, after *postgres.Cursor[time.Time], size int,
) (postgres.Page[CommentRow], error) {
	total, err := s.countComments(ctx, place.thread(), filter)
	if err != nil {
		return postgres.Page[CommentRow]{}, err
	}
	return s.listThread(ctx, place.thread(), filter, ascending, after, size, total)
}

// ListReplies lists the replies to a comment, the oldest first.
func (s *Store) ListReplies(
	ctx context.Context, place Place, commentID string, after *postgres.Cursor[time.Time], size int,
) (postgres.Page[CommentRow], error) {
	parent, err := s.db.Queries.Comment(ctx, db.CommentParams{
		ID: commentID, SpaceID: place.SpaceID, ChangeRequestID: place.ChangeRequestID,
	})
	if err != nil {
		return postgres.Page[CommentRow]{}, postgres.Interpret(err, "comment")
	}
	return s.listThread(ctx, parent.ID, CommentFilter{}, true, after, size, parent.Replies)
}

// countComments returns the number of comments in a list. If possible, it reads the list's counters, because counting
// the rows of a long list takes as long as reading them.
func (s *Store) countComments(ctx context.Context, thread string, filter CommentFilter) (int64, error) {
	if filter.PageID != nil || filter.Authors != nil {
		total, err := s.db.Planned.CountComments(ctx, db.CountCommentsParams{
			ThreadID: thread, Status: filter.Status, PageID: filter.PageID, Authors: filter.Authors,
		})
		return total, postgres.Interpret(err, "comments")
	}
	counts, err := s.db.Queries.ThreadCounts(ctx, thread)
	if err != nil {
		return 0, postgres.Interpret(err, "comments")
	}
	switch {
	case filter.Status == nil:
		return counts.OpenComments + counts.ResolvedComments, nil
	case *filter.Status == discussion.CommentOpen:
		return counts.OpenComments, nil
	}
	return counts.ResolvedComments, nil
}

func (s *Store) listThread(
	ctx context.Context, thread string, filter CommentFilter, ascending bool, after *postgres.Cursor[time.Time],
	size int, total int64,
) (postgres.Page[CommentRow], error) {
	params := db.ListCommentsParams{
		ThreadID: thread, Ascending: ascending, Status: filter.Status, PageID: filter.PageID, Authors: filter.Authors,
		PageSize: postgres.PageSize(size),
	}
	if after != nil {
		params.AfterAt, params.AfterID = &after.Key, after.ID
	}
	rows, err := s.db.Planned.ListComments(ctx, params)
	if err != nil {
		return postgres.Page[CommentRow]{}, postgres.Interpret(err, "comments")
	}
	page := postgres.PageOf(rows, size, total)
	shown, err := s.commentRows(ctx, page.Rows)
	if err != nil {
		return postgres.Page[CommentRow]{}, err
	}
	return postgres.Page[CommentRow]{Rows: shown, Total: page.Total, More: page.More}, nil
}

// CommentChange is a change of a comment. Nil fields leave the value unchanged. Added and Removed are reactions of the
// user. UpdateComment removes the reactions in Removed before it adds the reactions in Added.
type CommentChange struct {
	Status  *string
	Body    CommentBody
	Added   []string
	Removed []string
}

// UpdateComment changes a comment or a reply for a user. It calls `allow` with the locked row. If `allow` returns an
// error, nothing changes.
func (s *Store) UpdateComment(
	ctx context.Context, ref CommentRef, userID string, change CommentChange, allow func(Comment) error,
) (CommentRow, error) {
	var row Comment
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		before, err := lockComment(ctx, q, ref)
		if err != nil {
			return err
		}
		if err := allow(before); err != nil {
			return err
		}
		row = before
		if change.Status != nil || change.Body.Sent != nil {
			row, err = q.UpdateComment(ctx, db.UpdateCommentParams{
				ID: ref.ID, UserID: userID, Status: change.Status, Body: change.Body.Sent,
			})
			if err != nil {
				return postgres.Interpret(err, ref.what())
			}
			if err := keepMade(ctx, q, row.ID, change.Body); err != nil {
				return err
			}
		}
		if err := react(ctx, q, ref.ID, userID, change); err != nil {
			return err
		}
		return moveCounts(ctx, q, row.ThreadID, openness(row).minus(openness(before)))
	})
	if err != nil {
		return CommentRow{}, err
	}
	return s.commentRow(ctx, row)
}

// DeleteComment deletes a reply, or a comment with its replies. If the comment does not exist, DeleteComment succeeds.
// It calls `allow` with the locked row. If `allow` returns an error, nothing changes.
func (s *Store) DeleteComment(ctx context.Context, ref CommentRef, allow func(Comment) error) error {
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err := lockComment(ctx, q, ref)
		if err != nil {
			return err
		}
		if err := allow(row); err != nil {
			return err
		}
		if err := q.DeleteComment(ctx, row.ID); err != nil {
			return postgres.Interpret(err, ref.what())
		}
		return moveCounts(ctx, q, row.ThreadID, commentCounts{}.minus(openness(row)))
	})
	if schema.IsCode(err, schema.CodeNotFound) {
		return nil
	}
	return err
}

// lockComment locks a comment or a reply. For a reply, it locks the parent first. The deletion of a comment locks in
// the same order, so that no deadlock occurs.
func lockComment(ctx context.Context, q *db.Queries, ref CommentRef) (Comment, error) {
	if ref.Parent != nil {
		if _, err := lockComment(ctx, q, CommentRef{Place: ref.Place, ID: *ref.Parent}); err != nil {
			return Comment{}, err
		}
	}
	row, err := q.LockComment(ctx, db.LockCommentParams{
		ID: ref.ID, SpaceID: ref.SpaceID, ChangeRequestID: ref.ChangeRequestID, ParentID: ref.Parent,
	})
	return row, postgres.Interpret(err, ref.what())
}

func react(ctx context.Context, q *db.Queries, commentID, userID string, change CommentChange) error {
	if len(change.Removed) > 0 {
		err := q.RemoveReactions(ctx, db.RemoveReactionsParams{CommentID: commentID, UserID: userID, Emoji: change.Removed})
		if err != nil {
			return postgres.Interpret(err, "reaction")
		}
	}
	if len(change.Added) > 0 {
		err := q.AddReactions(ctx, db.AddReactionsParams{CommentID: commentID, UserID: userID, Emoji: change.Added})
		return postgres.Interpret(err, "reaction")
	}
	return nil
}

// commentCounts is the amount that a comment adds to the counters of its list. Replies are counted as open, because
// replies are never resolved.
type commentCounts struct{ open, resolved int64 }

func openness(c Comment) commentCounts {
	if c.Status == discussion.CommentResolved {
		return commentCounts{resolved: 1}
	}
	return commentCounts{open: 1}
}

func (c commentCounts) minus(other commentCounts) commentCounts {
	return commentCounts{c.open - other.open, c.resolved - other.resolved}
}

func moveCounts(ctx context.Context, q *db.Queries, thread string, by commentCounts) error {
	if by == (commentCounts{}) {
		return nil
	}
	err := q.MoveThreadCounts(ctx, db.MoveThreadCountsParams{ThreadID: thread, Opened: by.open, Resolved: by.resolved})
	return postgres.Interpret(err, "comments")
}
