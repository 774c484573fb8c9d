package content

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/discussion"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// comments has the operations on discussions of spaces and of change requests. The operations for both differ only in
// their paths.
type comments struct {
	store *store.Store
	view  view.Presenter
}

// discussions has a row for each place with discussions. A row has the prefix of the path, the object of the scope, and
// the suffix of the operations' ids.
var discussions = []struct {
	path, in, of string
	object       *access.Object
}{
	{"/spaces/{spaceId}/comments", "InSpace", "space", access.OnSpace},
	{changeRequestPath + "/comments", "InChangeRequest", "change request", access.OnChangeRequest},
}

func commentOperations(h *comments) []frame.Operation {
	var table []frame.Operation
	for _, place := range discussions {
		row := func(method, path, id, doc string, right access.Rights, status int, handler frame.Handler) {
			op := frame.Operation{
				Method: method, Path: place.path + path, ID: id + place.in, Tag: "comments", Doc: fmt.Sprintf(doc, place.of),
				Scope: access.Having(right, place.object), Status: status, Handler: handler,
			}
			if method == http.MethodPost || method == http.MethodPut {
				op.BodyLimit, op.Accepts = frame.ResourceBodyLimit, frame.MediaJSON
			}
			table = append(table, op)
		}
		const comment, replies, reply = "/{commentId}", "/{commentId}/replies", "/{commentId}/replies/{commentReplyId}"
		row(http.MethodGet, "", "listComments", "List the comments on a %s.", access.RightAccess, http.StatusOK, frame.Handle(h.list))
		row(http.MethodPost, "", "postComment", "Comment on a %s.", access.RightComment, http.StatusOK, frame.Handle(h.post))
		row(http.MethodGet, comment, "getComment", "Read a comment on a %s.", access.RightAccess, http.StatusOK, frame.Handle(h.get))
		row(http.MethodPut, comment, "updateComment", "Edit or resolve a comment on a %s, or react to it.", access.RightComment,
			http.StatusOK, frame.Handle(h.update))
		row(http.MethodDelete, comment, "deleteComment", "Delete a comment on a %s with its replies.", access.RightComment,
			http.StatusNoContent, frame.Handle(h.delete))
		row(http.MethodGet, replies, "listCommentReplies", "List the replies to a comment on a %s.", access.RightAccess,
			http.StatusOK, frame.Handle(h.listReplies))
		row(http.MethodPost, replies, "postCommentReply", "Reply to a comment on a %s.", access.RightComment, http.StatusOK,
			frame.Handle(h.postReply))
		row(http.MethodGet, reply, "getCommentReply", "Read a reply to a comment on a %s.", access.RightAccess, http.StatusOK,
			frame.Handle(h.getReply))
		row(http.MethodPut, reply, "updateCommentReply", "Edit a reply to a comment on a %s, or react to it.", access.RightComment,
			http.StatusOK, frame.Handle(h.updateReply))
		row(http.MethodDelete, reply, "deleteCommentReply", "Delete a reply to a comment on a %s.", access.RightComment,
			http.StatusNoContent, frame.Handle(h.deleteReply))
	}
	return table
}

// placeOf returns the place whose comments the request is about. The place is a space or a change request.
func placeOf(c *access.Caller) store.Place {
	place := store.Place{SpaceID: c.Space.Space.ID}
	if c.ChangeRequest != nil {
		place.ChangeRequestID = &c.ChangeRequest.ID
	}
	return place
}

// bodyFormat has the parameter for the format of bodies in responses. If the parameter is absent, responses have
// Markdown.
type bodyFormat struct {
	Format *string `query:"format" rules:"enum=format,default=markdown"`
}

type listCommentsRequest struct {
	schema.PageRequest
	bodyFormat
	Order      *string  `query:"order" rules:"enum=order,default=desc"`
	Status     *string  `query:"status" rules:"enum=commentFilter,default=all"`
	TargetPage *string  `query:"targetPage"`
	Authors    []string `query:"authors"`
}

func (h *comments) list(
	ctx context.Context, c *access.Caller, r *listCommentsRequest,
) (schema.List[discussion.Comment], error) {
	place := placeOf(c)
	filter := store.CommentFilter{PageID: r.TargetPage, Authors: r.Authors}
	if status := schema.Or(r.Status, "all"); status != "all" {
		filter.Status = &status
	}
	order := schema.Or(r.Order, "desc")
	name := fmt.Sprintf("comments %s %q %s %q %t %q %q", place.SpaceID, schema.Or(place.ChangeRequestID, ""), order,
		schema.Or(filter.Status, ""), r.TargetPage != nil, schema.Or(r.TargetPage, ""), r.Authors)
	return frame.ListMade(ctx, name, r.PageRequest, 2,
		func(after []string, size int) (postgres.Page[store.CommentRow], error) {
			key, err := postgres.ParseCursor[time.Time](after)
			if err != nil {
				return postgres.Page[store.CommentRow]{}, err
			}
			page, err := h.store.ListComments(ctx, place, filter, order == "asc", key, size)
			if err != nil {
				return page, err
			}
			return page, readDocuments(ctx, h.store, page.Rows, ofComment, schema.Or(r.Format, ""))
		},
		func(row store.CommentRow) (discussion.Comment, error) {
			return h.resource(ctx, c, row, schema.Or(r.Format, ""))
		},
		commentKey)
}

// commentKey returns the sort keys of a comment in its list.
func commentKey(row store.CommentRow) []string {
	return postgres.Cursor[time.Time]{Key: row.PostedAt, ID: row.ID}.Keys()
}

type postCommentRequest struct {
	bodyFormat
	Body struct {
		Body      *commentBody `json:"body" rules:"required"`
		Node      *string      `json:"node" rules:"len=1..256"`
		Page      *string      `json:"page" rules:"len=1..256"`
		TableCell *struct {
			Record     *string `json:"record" rules:"required,len=1..256"`
			Definition *string `json:"definition" rules:"required,len=1..256"`
		} `json:"tableCell"`
	} `body:"json"`
}

func (h *comments) post(ctx context.Context, c *access.Caller, r *postCommentRequest) (discussion.Comment, error) {
	body, err := r.Body.Body.words(ctx, "body")
	if err != nil {
		return discussion.Comment{}, err
	}
	comment := store.NewComment{
		Place: placeOf(c), UserID: c.Principal.UserID, Body: body, NodeID: r.Body.Node, PageID: r.Body.Page,
	}
	if err := h.requireTarget(ctx, c, r.Body.Page, r.Body.Node); err != nil {
		return discussion.Comment{}, err
	}
	if cell := r.Body.TableCell; cell != nil {
		comment.TableRecord, comment.TableDefinition = cell.Record, cell.Definition
	}
	row, err := h.store.CreateComment(ctx, comment)
	if err != nil {
		return discussion.Comment{}, err
	}
	return h.resource(ctx, c, row, schema.Or(r.Format, ""))
}

// requireTarget refuses a page that the content does not have, and a node that the page's text does not have. If the
// request names a node and no page, the node is not checked. The node could be in any text, so a cheap request could
// make Octavo search all texts.
func (h *comments) requireTarget(ctx context.Context, c *access.Caller, page, node *string) error {
	if page == nil {
		return nil
	}
	head := c.Space.Space.Revision
	if c.ChangeRequest != nil {
		head = c.ChangeRequest.Revision
	}
	found, err := h.store.Page(ctx, c.Space.Space.ID, head, *page)
	if schema.IsCode(err, schema.CodeNotFound) {
		return schema.Invalid("page", "names no page of the content")
	}
	if err != nil {
		return err
	}
	if node == nil {
		return nil
	}
	if found.Document != "" {
		documents, err := h.store.Documents(ctx, c.Space.Space.ID, []string{found.Document})
		if err != nil {
			return err
		}
		text := documents[found.Document].Document
		showKeys(&text)
		if text.HasKey(*node) {
			return nil
		}
	}
	return schema.Invalid("node", "names no node of the page")
}

// commentPath identifies a comment on the space or change request in the path.
type commentPath struct {
	CommentID string `path:"commentId"`
}

func (p commentPath) ref(c *access.Caller) store.CommentRef {
	return store.CommentRef{Place: placeOf(c), ID: p.CommentID}
}

type getCommentRequest struct {
	commentPath
	bodyFormat
}

func (h *comments) get(ctx context.Context, c *access.Caller, r *getCommentRequest) (discussion.Comment, error) {
	row, err := h.store.Comment(ctx, r.ref(c))
	if err != nil {
		return discussion.Comment{}, err
	}
	return h.resource(ctx, c, row, schema.Or(r.Format, ""))
}

// commentChange is the body of a PUT request. It adds and removes only reactions of the caller.
type commentChange struct {
	Resolved         *bool        `json:"resolved"`
	Body             *commentBody `json:"body"`
	AddedReactions   []string     `json:"addedReactions" rules:"len=..20" each:"len=1..50,pattern=emoji"`
	RemovedReactions []string     `json:"removedReactions" rules:"len=..20" each:"len=1..50"`
}

func (r *commentChange) change(ctx context.Context) (store.CommentChange, error) {
	change := store.CommentChange{Added: r.AddedReactions, Removed: r.RemovedReactions}
	if r.Resolved != nil {
		status := discussion.CommentOpen
		if *r.Resolved {
			status = discussion.CommentResolved
		}
		change.Status = &status
	}
	if r.Body == nil {
		return change, nil
	}
	var err error
	change.Body, err = r.Body.words(ctx, "body")
	return change, err
}

// allow returns a function that checks whether the caller may make the change. Authors and admins may change the text
// of a comment. Users who may edit the content may also resolve the comment.
func (r *commentChange) allow(c *access.Caller) func(store.Comment) error {
	return func(row store.Comment) error {
		switch {
		case r.Body != nil && !mayEdit(c, row):
			return schema.Forbidden("you may not do this: only its author and admins edit it")
		case r.Resolved != nil && !mayEdit(c, row) && !mayResolve(c, row):
			return schema.Forbidden("you may not do this: only its author and those who edit the content resolve it")
		}
		return nil
	}
}

type updateCommentRequest struct {
	commentPath
	bodyFormat
	Body commentChange `body:"json"`
}

func (h *comments) update(ctx context.Context, c *access.Caller, r *updateCommentRequest) (discussion.Comment, error) {
	row, err := h.change(ctx, c, r.ref(c), &r.Body)
	if err != nil {
		return discussion.Comment{}, err
	}
	return h.resource(ctx, c, row, schema.Or(r.Format, ""))
}

func (h *comments) change(
	ctx context.Context, c *access.Caller, ref store.CommentRef, body *commentChange,
) (store.CommentRow, error) {
	change, err := body.change(ctx)
	if err != nil {
		return store.CommentRow{}, err
	}
	return h.store.UpdateComment(ctx, ref, c.Principal.UserID, change, body.allow(c))
}

func (h *comments) delete(ctx context.Context, c *access.Caller, r *commentPath) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.DeleteComment(ctx, r.ref(c), allowDelete(c))
}

func allowDelete(c *access.Caller) func(store.Comment) error {
	return func(row store.Comment) error {
		if mayEdit(c, row) {
			return nil
		}
		return schema.Forbidden("you may not do this: only its author and admins delete it")
	}
}

// mayEdit reports whether the caller may change and delete the comment.
func mayEdit(c *access.Caller, row store.Comment) bool {
	return c.Rights.Has(access.RightComment) && row.AuthorID == c.Principal.UserID || c.Rights.Has(access.RightAdmin)
}

// mayResolve reports whether the caller may resolve another user's comment.
func mayResolve(c *access.Caller, row store.Comment) bool {
	return row.ParentID == nil && c.Rights.Has(access.RightEdit)
}
