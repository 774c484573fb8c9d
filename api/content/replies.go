package content

import (
	"context"
	"fmt"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/discussion"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

type listRepliesRequest struct {
	schema.PageRequest
	commentPath
	bodyFormat
}

func (h *comments) listReplies(
	ctx context.Context, c *access.Caller, r *listRepliesRequest,
) (schema.List[discussion.CommentReply], error) {
	place := placeOf(c)
	name := fmt.Sprintf("replies %s %q %q", place.SpaceID, schema.Or(place.ChangeRequestID, ""), r.CommentID)
	return frame.ListMade(ctx, name, r.PageRequest, 2,
		func(after []string, size int) (postgres.Page[store.CommentRow], error) {
			key, err := postgres.ParseCursor[time.Time](after)
			if err != nil {
				return postgres.Page[store.CommentRow]{}, err
			}
			page, err := h.store.ListReplies(ctx, place, r.CommentID, key, size)
			if err != nil {
				return page, err
			}
			return page, readDocuments(ctx, h.store, page.Rows, ofComment, schema.Or(r.Format, ""))
		},
		func(row store.CommentRow) (discussion.CommentReply, error) {
			return h.reply(ctx, c, row, schema.Or(r.Format, ""))
		},
		commentKey)
}

type postReplyRequest struct {
	commentPath
	bodyFormat
	Body struct {
		Body *commentBody `json:"body" rules:"required"`
	} `body:"json"`
}

func (h *comments) postReply(
	ctx context.Context, c *access.Caller, r *postReplyRequest,
) (discussion.CommentReply, error) {
	body, err := r.Body.Body.words(ctx, "body")
	if err != nil {
		return discussion.CommentReply{}, err
	}
	row, err := h.store.CreateReply(ctx, placeOf(c), r.CommentID, c.Principal.UserID, body)
	if err != nil {
		return discussion.CommentReply{}, err
	}
	return h.reply(ctx, c, row, schema.Or(r.Format, ""))
}

// replyPath identifies a reply to a comment on the space or change request in the path.
type replyPath struct {
	commentPath
	ReplyID string `path:"commentReplyId"`
}

func (p *replyPath) ref(c *access.Caller) store.CommentRef {
	return store.CommentRef{Place: placeOf(c), ID: p.ReplyID, Parent: &p.CommentID}
}

type getReplyRequest struct {
	replyPath
	bodyFormat
}

func (h *comments) getReply(
	ctx context.Context, c *access.Caller, r *getReplyRequest,
) (discussion.CommentReply, error) {
	row, err := h.store.Comment(ctx, r.ref(c))
	if err != nil {
		return discussion.CommentReply{}, err
	}
	return h.reply(ctx, c, row, schema.Or(r.Format, ""))
}

type updateReplyRequest struct {
	replyPath
	bodyFormat
	Body commentChange `body:"json"`
}

// Validate refuses a request to resolve a reply. The contract allows `resolved` in a change of a reply, but only
// comments have a status. The value false is accepted, because replies are never resolved.
func (r *updateReplyRequest) Validate() []schema.Detail {
	var c rules.Checker
	if schema.Or(r.Body.Resolved, false) {
		c.Add("resolved", "cannot be true for a reply: resolve the comment that it replies to")
	}
	return c.Details
}

func (h *comments) updateReply(
	ctx context.Context, c *access.Caller, r *updateReplyRequest,
) (discussion.CommentReply, error) {
	r.Body.Resolved = nil
	row, err := h.change(ctx, c, r.ref(c), &r.Body)
	if err != nil {
		return discussion.CommentReply{}, err
	}
	return h.reply(ctx, c, row, schema.Or(r.Format, ""))
}

func (h *comments) deleteReply(ctx context.Context, c *access.Caller, r *replyPath) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.DeleteComment(ctx, r.ref(c), allowDelete(c))
}

func (h *comments) resource(
	ctx context.Context, c *access.Caller, row store.CommentRow, format string,
) (discussion.Comment, error) {
	return commentResource(ctx, h.store, h.view, c, row, format)
}

// commentResource returns a comment in the form in which the caller sees it.
func commentResource(
	ctx context.Context, st *store.Store, l view.Presenter, c *access.Caller, row store.CommentRow, format string,
) (discussion.Comment, error) {
	body, err := shownBody(ctx, st, row, format)
	if err != nil {
		return discussion.Comment{}, err
	}
	comment := discussion.Comment{
		Object: "comment", ID: row.ID, PostedBy: l.User(row.Author), PostedAt: row.PostedAt.UTC(), EditedAt: schema.UTC(row.EditedAt),
		Reactions: l.Reactions(row.Reactions), Replies: row.Replies,
		Repliers: make([]discussion.UserContributor, len(row.Repliers)),
		Body:     body, Target: targetOf(row.Comment), URLs: l.CommentURLs(row.Comment),
		Permissions: commentPermissions(c, row.Comment), Status: row.Status, ResolvedAt: schema.UTC(row.ResolvedAt),
	}
	for i, r := range row.Repliers {
		comment.Repliers[i] = discussion.UserContributor{
			UpdatedAt: r.UpdatedAt.UTC(), Count: r.Replies, User: l.User(r.User),
		}
	}
	if row.ResolvedBy != nil {
		user := l.User(*row.ResolvedBy)
		comment.ResolvedBy = &user
	}
	return comment, nil
}

// reply returns a reply in the form in which the caller sees it.
func (h *comments) reply(
	ctx context.Context, c *access.Caller, row store.CommentRow, format string,
) (discussion.CommentReply, error) {
	body, err := shownBody(ctx, h.store, row, format)
	if err != nil {
		return discussion.CommentReply{}, err
	}
	return discussion.CommentReply{
		Object: "comment-reply", ID: row.ID, PostedBy: h.view.User(row.Author), PostedAt: row.PostedAt.UTC(),
		EditedAt: schema.UTC(row.EditedAt), Reactions: h.view.Reactions(row.Reactions), Body: body,
		URLs: h.view.CommentURLs(row.Comment), Permissions: commentPermissions(c, row.Comment),
	}, nil
}

func targetOf(row store.Comment) discussion.CommentTarget {
	target := discussion.CommentTarget{
		Space: row.SpaceID, Revision: row.Revision, ChangeRequest: schema.Or(row.ChangeRequestID, ""), Review: schema.Or(row.ReviewID, ""),
	}
	if row.NodeID != nil {
		target.Node = &discussion.TargetID{ID: *row.NodeID}
	}
	if row.PageID != nil {
		target.Page = &discussion.TargetID{ID: *row.PageID}
	}
	if row.TableRecord != nil {
		target.TableCell = &discussion.TableCell{
			Record: *row.TableRecord, Definition: schema.Or(row.TableDefinition, ""),
		}
	}
	return target
}

// commentPermissions returns the caller's rights on a comment. It must agree with the checks in the operations.
func commentPermissions(c *access.Caller, row store.Comment) discussion.CommentPermissions {
	return discussion.CommentPermissions{
		View: c.Rights.Has(access.RightAccess), Edit: mayEdit(c, row), Reply: c.Rights.Has(access.RightComment),
		Delete: mayEdit(c, row),
	}
}
