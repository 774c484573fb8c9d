package content

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/discussion"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// reviews has the operations on the reviewers and the reviews of a change request.
type reviews struct {
	store *store.Store
	view  view.Presenter
}

func reviewOperations(h *reviews) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: changeRequestPath + "/requested-reviewers", ID: "getRequestedReviewersByChangeRequestId",
			Tag: "change-requests", Doc: "List who is asked to review a change request.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest), Status: http.StatusOK, Handler: frame.Handle(h.listReviewers),
		},
		{
			Method: http.MethodPost, Path: changeRequestPath + "/requested-reviewers", ID: "requestReviewersForChangeRequest",
			Tag: "change-requests", Doc: "Ask users to review a change request.",
			Scope: access.Having(access.RightEdit, access.OnChangeRequest), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.requestReviewers),
		},
		{
			Method: http.MethodDelete, Path: changeRequestPath + "/requested-reviewers/{userId}", ID: "removeRequestedReviewerFromChangeRequest",
			Tag: "change-requests", Doc: "Take the request for a user's review back.",
			Scope: access.Having(access.RightEdit, access.OnChangeRequest), Status: http.StatusNoContent, Handler: frame.Handle(h.removeReviewer),
		},
		{
			Method: http.MethodGet, Path: changeRequestPath + "/reviews", ID: "getReviewsByChangeRequestId", Tag: "change-requests",
			Doc:   "List the reviews of a change request.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: changeRequestPath + "/reviews", ID: "submitChangeRequestReview", Tag: "change-requests",
			Doc: "Review a change request, with a comment or without. `revision`, an addition to the " +
				"published contract, is what the reviewer saw: if it is not the current one any more, the " +
				"answer is 409.",
			Scope: access.Having(access.RightReview, access.OnChangeRequest), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.submit),
		},
		{
			Method: http.MethodGet, Path: changeRequestPath + "/reviews/{reviewId}", ID: "getChangeRequestReviewById", Tag: "change-requests",
			Doc:   "Read a review of a change request.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
	}
}

func (h *reviews) listReviewers(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[discussion.RequestedReviewer], error) {
	request := c.ChangeRequest.ID
	return frame.ListPage(ctx, "reviewers "+request, *r,
		func(after string, size int) (postgres.Page[store.ReviewerRow], error) {
			return h.store.ListRequestedReviewers(ctx, request, after, size)
		},
		h.view.Reviewer, func(row store.ReviewerRow) string { return row.User.ID })
}

type requestReviewersRequest struct {
	Body struct {
		Users       []string      `json:"users" rules:"required,len=..100" each:"len=1..64"`
		Subject     *string       `json:"subject" rules:"len=..100"`
		Description *richDocument `json:"description"`
	} `body:"json"`
}

// requestReviewers does not change the status of the change request. In the contract, a draft is opened only by a
// separate operation.
func (h *reviews) requestReviewers(
	ctx context.Context, c *access.Caller, r *requestReviewersRequest,
) (discussion.RequestedReviewers, error) {
	asked := store.ReviewRequest{
		ChangeRequestID: c.ChangeRequest.ID, RequestedBy: c.Principal.UserID, UserIDs: unique(r.Body.Users), Subject: r.Body.Subject,
	}
	levels, err := h.store.AccessToSpace(ctx, c.Space.Space.ID, asked.UserIDs)
	if err != nil {
		return discussion.RequestedReviewers{}, err
	}
	var bad rules.Checker
	for i, user := range r.Body.Users {
		found, member := levels[user]
		rights := access.ContentRights(found)
		switch {
		case !member || !rights.Has(access.RightAccess):
			bad.Add(fmt.Sprintf("users[%d]", i), "names no user who may read the space")
		case user == c.ChangeRequest.CreatedBy:
			bad.Add(fmt.Sprintf("users[%d]", i), "is the author of the change request")
		case !rights.Has(access.RightReview):
			bad.Add(fmt.Sprintf("users[%d]", i), "may not review changes of the space")
		}
	}
	if bad.Details != nil {
		return discussion.RequestedReviewers{}, schema.InvalidAll(bad.Details)
	}
	if r.Body.Description != nil {
		description, err := schema.EncodeJSON(r.Body.Description.Document)
		if err != nil {
			return discussion.RequestedReviewers{}, err
		}
		asked.Description = description
	}
	rows, err := h.store.RequestReviewers(ctx, asked)
	if err != nil {
		return discussion.RequestedReviewers{}, err
	}
	answer := discussion.RequestedReviewers{Users: make([]discussion.RequestedReviewer, len(rows))}
	for i, row := range rows {
		answer.Users[i] = h.view.Reviewer(row)
	}
	return answer, nil
}

// unique returns the values without duplicates, in the same order.
func unique(values []string) []string {
	kept := make([]string, 0, len(values))
	seen := map[string]bool{}
	for _, value := range values {
		if !seen[value] {
			seen[value] = true
			kept = append(kept, value)
		}
	}
	return kept
}

type removeReviewerRequest struct {
	UserID string `path:"userId"`
}

func (h *reviews) removeReviewer(ctx context.Context, c *access.Caller, r *removeReviewerRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.RemoveRequestedReviewer(ctx, c.ChangeRequest.ID, r.UserID)
}

type listReviewsRequest struct {
	schema.PageRequest
	bodyFormat
	Outdated *bool `query:"outdated"`
}

func (h *reviews) list(
	ctx context.Context, c *access.Caller, r *listReviewsRequest,
) (schema.List[discussion.Review], error) {
	request, outdated := c.ChangeRequest, "any"
	if r.Outdated != nil {
		outdated = strconv.FormatBool(*r.Outdated)
	}
	return frame.ListMadePage(ctx, "reviews "+request.ID+" "+outdated, r.PageRequest,
		func(after string, size int) (postgres.Page[store.ReviewRow], error) {
			page, err := h.store.ListReviews(ctx, request.ID, request.Revision, r.Outdated, after, size)
			if err != nil {
				return page, err
			}
			return page, readDocuments(ctx, h.store, page.Rows, ofReview, schema.Or(r.Format, ""))
		},
		func(row store.ReviewRow) (discussion.Review, error) {
			return h.resource(ctx, c, row, schema.Or(r.Format, ""))
		},
		func(row store.ReviewRow) string { return row.ID })
}

type submitReviewRequest struct {
	bodyFormat
	Body struct {
		Status  *string   `json:"status" rules:"required,enum=reviewStatus"`
		Comment *richBody `json:"comment"`
		// Revision is the revision that the reviewer has seen. If the change request has a newer revision, the review
		// is refused.
		Revision *string `json:"revision" rules:"len=1..64"`
	} `body:"json"`
}

func (h *reviews) submit(ctx context.Context, c *access.Caller, r *submitReviewRequest) (discussion.Review, error) {
	review := store.NewReview{
		Place: placeOf(c), UserID: c.Principal.UserID, Status: *r.Body.Status, Seen: r.Body.Revision,
	}
	// An empty comment is not added to the discussion.
	if r.Body.Comment != nil && !content.Blank(r.Body.Comment.Body) {
		comment, err := r.Body.Comment.said(ctx, "comment")
		if err != nil {
			return discussion.Review{}, err
		}
		review.Comment = comment
	}
	row, err := h.store.CreateReview(ctx, review)
	if err != nil {
		return discussion.Review{}, err
	}
	return h.resource(ctx, c, row, schema.Or(r.Format, ""))
}

type getReviewRequest struct {
	bodyFormat
	ReviewID string `path:"reviewId"`
}

func (h *reviews) get(ctx context.Context, c *access.Caller, r *getReviewRequest) (discussion.Review, error) {
	row, err := h.store.Review(ctx, c.ChangeRequest.ID, r.ReviewID, c.ChangeRequest.Revision)
	if err != nil {
		return discussion.Review{}, err
	}
	return h.resource(ctx, c, row, schema.Or(r.Format, ""))
}

func (h *reviews) resource(
	ctx context.Context, c *access.Caller, row store.ReviewRow, format string,
) (discussion.Review, error) {
	l := h.view
	review := discussion.Review{
		Object: "change-request-review", ID: row.ID, Revision: row.Revision, Reviewer: l.User(row.Reviewer),
		Status: row.Status, Outdated: row.Outdated, CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
		URLs: discussion.ReviewURLs{
			Location: l.API("spaces", c.Space.Space.ID, "change-requests", row.ChangeRequestID, "reviews", row.ID),
		},
	}
	if row.RequestedBy != nil {
		user := l.User(*row.RequestedBy)
		review.RequestedBy = &user
	}
	if row.Comment != nil {
		comment, err := commentResource(ctx, h.store, l, c, *row.Comment, format)
		if err != nil {
			return discussion.Review{}, err
		}
		review.Comment = &comment
	}
	return review, nil
}

// checkMergeRules refuses a merge that the rules of the space forbid. If the space has no rules, the rules of the
// organization apply. `locked` is true while the space is locked. No expression may run during this time, so
// checkMergeRules then returns ErrCostly if the rules have expressions.
func checkMergeRules(ctx context.Context, actor string, f store.MergeFacts, locked bool) error {
	rules, err := f.Rules()
	if err != nil {
		return err
	}
	if rules.Type != "rules" {
		return nil
	}
	if locked && rules.Custom() {
		return store.ErrCostly
	}
	request := f.ChangeRequest
	facts := schema.MergeFacts{
		Actor: actor, Author: request.CreatedBy, Number: request.Number, Status: request.Status,
		Subject: request.Subject, Outdated: f.Outdated(),
	}
	judgePeople(f, rules, &facts)
	if request.Description != nil {
		description, err := schema.DecodeJSON[schema.Document](request.Description)
		if err != nil {
			return err
		}
		facts.Description = content.Plain(description)
	}
	problems := rules.Problems(ctx, facts)
	if err := context.Cause(ctx); err != nil {
		return err // the client has disconnected or the time has run out, so results are missing
	}
	if problems != nil {
		return schema.NotMergeable(problems)
	}
	return nil
}

// judgePeople adds the reviews of people who may still review to `facts`. Reviews of all other people neither approve
// nor block.
func judgePeople(f store.MergeFacts, rules schema.MergeRules, facts *schema.MergeFacts) {
	rights := func(user string) access.Rights {
		if person := f.People[user]; person.Member {
			return access.ContentRights(person.Access)
		}
		return 0
	}
	for _, review := range f.Reviews {
		if now := rights(review.User); now.Has(access.RightReview) {
			review.Admin = now.Has(access.RightAdmin)
			facts.Reviews = append(facts.Reviews, review)
		}
	}
	facts.Gone, facts.Names = map[string]bool{}, map[string]string{}
	for _, user := range rules.People() {
		facts.Gone[user] = !rights(user).Has(access.RightReview)
		facts.Names[user] = f.People[user].Name
	}
}
