package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Review is a row of the table change_request_reviews.
type Review = db.ChangeRequestReview

// ReviewerRow is a requested reviewer, with the reviewer's user and the user who requested the review.
type ReviewerRow struct {
	db.ChangeRequestReviewer
	User        orgs.User
	RequestedBy orgs.User
}

// ReviewRow is a review with the related data that is shown with it.
type ReviewRow struct {
	Review
	Reviewer    orgs.User
	RequestedBy *orgs.User
	// Outdated is true if the review no longer applies: the content has changed, the reviewer has reviewed again, or
	// the review was requested again.
	Outdated bool
	// Comment is nil if the review never had a comment, or if the comment was deleted.
	Comment *CommentRow
}

// ReviewRequest requests reviews of a change request from users. Subject and Description are new values of the change
// request. If they are nil, the values stay unchanged.
type ReviewRequest struct {
	ChangeRequestID string
	UserIDs         []string
	RequestedBy     string
	Subject         *string
	// Description is JSON.
	Description []byte
}

// RequestReviewers requests reviews. Pending requests stay unchanged. Users who have already reviewed get a new
// request, and their earlier review becomes outdated. The status of the change request does not change.
func (s *Store) RequestReviewers(ctx context.Context, request ReviewRequest) ([]ReviewerRow, error) {
	var rows []db.ChangeRequestReviewer
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		head, err := lockForReview(ctx, q, request.ChangeRequestID)
		if err != nil {
			return err
		}
		// The users are sorted, so that two concurrent calls for the same users do not deadlock.
		err = q.RequestReviewers(ctx, db.RequestReviewersParams{
			ChangeRequestID: head.ID, UserIds: slices.Compact(slices.Sorted(slices.Values(request.UserIDs))), Revision: head.Revision,
			RequestedBy: request.RequestedBy,
		})
		if err != nil {
			return postgres.Interpret(err, "reviewer")
		}
		err = q.SupersedeReviews(ctx, db.SupersedeReviewsParams{ChangeRequestID: head.ID, UserIds: request.UserIDs})
		if err != nil {
			return postgres.Interpret(err, "review")
		}
		err = q.DescribeChangeRequest(ctx, db.DescribeChangeRequestParams{
			ID: head.ID, Subject: request.Subject, Description: request.Description,
		})
		if err != nil {
			return postgres.Interpret(err, "change request")
		}
		rows, err = q.RequestedReviewers(ctx, db.RequestedReviewersParams{ChangeRequestID: head.ID, UserIds: request.UserIDs})
		return postgres.Interpret(err, "reviewers")
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b db.ChangeRequestReviewer) int {
		return slices.Index(request.UserIDs, a.UserID) - slices.Index(request.UserIDs, b.UserID)
	})
	return s.reviewerRows(ctx, rows)
}

// lockForReview locks a change request until the transaction ends. It returns an error if the request is merged or
// archived.
func lockForReview(ctx context.Context, q *db.Queries, id string) (ChangeRequest, error) {
	request, err := q.LockReviewedRequest(ctx, id)
	if err != nil {
		return ChangeRequest{}, postgres.Interpret(err, "change request")
	}
	if request.Status != "draft" && request.Status != "open" {
		return ChangeRequest{}, schema.Conflict("the change request is " + request.Status + ": only drafts and open requests can be reviewed")
	}
	return request, nil
}

// ListRequestedReviewers lists the requested reviewers of a change request, sorted by the user's id. The list begins
// after the id `after`.
func (s *Store) ListRequestedReviewers(
	ctx context.Context, changeRequestID, after string, size int,
) (postgres.Page[ReviewerRow], error) {
	total, err := s.db.Queries.CountRequestedReviewers(ctx, changeRequestID)
	if err != nil {
		return postgres.Page[ReviewerRow]{}, postgres.Interpret(err, "reviewers")
	}
	rows, err := s.db.Queries.ListRequestedReviewers(ctx, db.ListRequestedReviewersParams{
		ChangeRequestID: changeRequestID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[ReviewerRow]{}, postgres.Interpret(err, "reviewers")
	}
	page := postgres.PageOf(rows, size, total)
	shown, err := s.reviewerRows(ctx, page.Rows)
	if err != nil {
		return postgres.Page[ReviewerRow]{}, err
	}
	return postgres.Page[ReviewerRow]{Rows: shown, Total: page.Total, More: page.More}, nil
}

func (s *Store) reviewerRows(ctx context.Context, rows []db.ChangeRequestReviewer) ([]ReviewerRow, error) {
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.UserID, row.RequestedBy)
	}
	users, err := s.Orgs.UsersByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	shown := make([]ReviewerRow, len(rows))
	for i, row := range rows {
		shown[i] = ReviewerRow{ChangeRequestReviewer: row, User: users[row.UserID], RequestedBy: users[row.RequestedBy]}
	}
	return shown, nil
}

// RemoveRequestedReviewer withdraws a request for a review, if there is one. If the user has already reviewed, the
// review stays.
func (s *Store) RemoveRequestedReviewer(ctx context.Context, changeRequestID, userID string) error {
	err := s.db.Queries.DeleteRequestedReviewer(ctx, db.DeleteRequestedReviewerParams{
		ChangeRequestID: changeRequestID, UserID: userID,
	})
	return postgres.Interpret(err, "reviewer")
}

// NewReview has the values of a new review. Comment is empty if the review has no comment.
type NewReview struct {
	Place
	UserID  string
	Status  string
	Comment CommentBody
	// Seen is the revision that the reviewer has seen. It is nil if the client did not send it.
	Seen *string
}

// CreateReview stores a review of the current revision of a change request. The reviewer's earlier review becomes
// outdated.
func (s *Store) CreateReview(ctx context.Context, review NewReview) (ReviewRow, error) {
	var row Review
	var head ChangeRequest
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		if head, err = lockForReview(ctx, q, *review.ChangeRequestID); err != nil {
			return err
		}
		if err := StillAt(head, review.Seen); err != nil {
			return err
		}
		err = q.SupersedeReviews(ctx, db.SupersedeReviewsParams{ChangeRequestID: head.ID, UserIds: []string{review.UserID}})
		if err != nil {
			return postgres.Interpret(err, "review")
		}
		row, err = q.InsertReview(ctx, db.InsertReviewParams{
			ID: schema.NewID(), ChangeRequestID: head.ID, UserID: review.UserID, Revision: head.Revision, Status: review.Status,
		})
		if err != nil {
			return postgres.Interpret(err, "review")
		}
		if err = q.DescribeChangeRequest(ctx, db.DescribeChangeRequestParams{ID: head.ID}); err != nil {
			return postgres.Interpret(err, "change request")
		}
		if review.Comment.Sent != nil {
			comment := NewComment{Place: review.Place, UserID: review.UserID, Body: review.Comment}
			_, err = s.insertComment(ctx, q, comment, &row.ID)
		}
		return err
	})
	if err != nil {
		return ReviewRow{}, err
	}
	return s.reviewRow(ctx, row, head.Revision)
}

// StillAt returns an error if the user has seen another revision than the current revision of a locked change request.
// `seen` is the revision that the user has seen. It is nil if the client did not send it.
func StillAt(request ChangeRequest, seen *string) error {
	if seen == nil || *seen == request.Revision {
		return nil
	}
	return schema.Conflict("revision is not the current one of the change request, which is " + request.Revision +
		": read this one, and repeat the request with it")
}

// Review reads a review of a change request. `revision` is the request's current revision, by which Review decides
// whether the review is outdated.
func (s *Store) Review(ctx context.Context, changeRequestID, id, revision string) (ReviewRow, error) {
	row, err := s.db.Queries.Review(ctx, db.ReviewParams{ID: id, ChangeRequestID: changeRequestID})
	if err != nil {
		return ReviewRow{}, postgres.Interpret(err, "review")
	}
	return s.reviewRow(ctx, row, revision)
}

// ListReviews lists the reviews of a change request, after the id `after`. `revision` is the request's current
// revision. If `outdated` is set, the list has only outdated reviews (true) or only current reviews (false).
func (s *Store) ListReviews(
	ctx context.Context, changeRequestID, revision string, outdated *bool, after string, size int,
) (postgres.Page[ReviewRow], error) {
	total, err := s.db.Planned.CountReviews(ctx, db.CountReviewsParams{
		ChangeRequestID: changeRequestID, Outdated: outdated, Revision: revision,
	})
	if err != nil {
		return postgres.Page[ReviewRow]{}, postgres.Interpret(err, "reviews")
	}
	rows, err := s.db.Planned.ListReviews(ctx, db.ListReviewsParams{
		ChangeRequestID: changeRequestID, Outdated: outdated, Revision: revision, After: after,
		PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[ReviewRow]{}, postgres.Interpret(err, "reviews")
	}
	page := postgres.PageOf(rows, size, total)
	shown, err := s.reviewRows(ctx, page.Rows, revision)
	if err != nil {
		return postgres.Page[ReviewRow]{}, err
	}
	return postgres.Page[ReviewRow]{Rows: shown, Total: page.Total, More: page.More}, nil
}

func (s *Store) reviewRow(ctx context.Context, row Review, revision string) (ReviewRow, error) {
	rows, err := s.reviewRows(ctx, []Review{row}, revision)
	if err != nil {
		return ReviewRow{}, err
	}
	return rows[0], nil
}

// reviewRows reads the related rows of a page of reviews. The number of statements does not depend on the number of
// reviews.
func (s *Store) reviewRows(ctx context.Context, rows []Review, revision string) ([]ReviewRow, error) {
	var ids, users []string
	for _, row := range rows {
		ids, users = append(ids, row.ID), append(users, row.UserID)
		if row.RequestedBy != nil {
			users = append(users, *row.RequestedBy)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.Orgs.UsersByID(ctx, users)
	if err != nil {
		return nil, err
	}
	written, err := s.db.Queries.CommentsOfReviews(ctx, ids)
	if err != nil {
		return nil, postgres.Interpret(err, "comments")
	}
	comments, err := s.commentRows(ctx, written)
	if err != nil {
		return nil, err
	}
	shown := make([]ReviewRow, len(rows))
	for i, row := range rows {
		shown[i] = ReviewRow{Review: row, Reviewer: found[row.UserID], Outdated: row.Superseded || row.Revision != revision}
		if row.RequestedBy != nil {
			user := found[*row.RequestedBy]
			shown[i].RequestedBy = &user
		}
		of := func(c CommentRow) bool { return c.ReviewID != nil && *c.ReviewID == row.ID }
		if at := slices.IndexFunc(comments, of); at >= 0 {
			shown[i].Comment = &comments[at]
		}
	}
	return shown, nil
}

// reviewStates returns the requested reviewers of a change request, and the users who have reviewed it. Each state has
// the user's last verdict about the request's current revision, if there is one.
func reviewStates(ctx context.Context, q *db.Queries, request ChangeRequest) ([]schema.ReviewState, error) {
	rows, err := q.ReviewState(ctx, request.ID)
	if err != nil {
		return nil, postgres.Interpret(err, "reviews")
	}
	states := make([]schema.ReviewState, len(rows))
	for i, row := range rows {
		states[i] = schema.ReviewState{User: row.UserID, Requested: row.Requested, Contributor: row.Contributor}
		if row.Revision == request.Revision {
			states[i].Status = row.Status
		}
	}
	return states, nil
}
