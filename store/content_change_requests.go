package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// ChangeRequest is a row of the table change_requests.
type ChangeRequest = db.ChangeRequest

// ChangeRequestRow is a change request with the newest revision of its space, Head. Head determines whether the request
// is outdated.
type ChangeRequestRow struct {
	ChangeRequest ChangeRequest
	Head          string
}

// Outdated reports whether the main content has changes that the request's content lacks.
func (r ChangeRequestRow) Outdated() bool {
	return r.ChangeRequest.Status != schema.ChangeRequestMerged && baseOf(r.ChangeRequest) != r.Head
}

// baseOf returns the revision of the main content on which a request's changes are based.
func baseOf(request ChangeRequest) string {
	if request.RevisionMergedAncestor != nil {
		return *request.RevisionMergedAncestor
	}
	return request.RevisionInitial
}

// NewChangeRequest has the values of a new change request.
type NewChangeRequest struct {
	SpaceID string
	Subject string
	UserID  string
	// Description is JSON. nil means that there is no description.
	Description []byte
	// Content is the first change of the request's content. nil means that the content is unchanged.
	Content *ContentChange
	// ClusterID is the cluster of issues that the request solves. nil means that there is no such cluster.
	ClusterID *string
}

// CreateChangeRequest creates a draft that starts from the space's current content.
func (s *Store) CreateChangeRequest(ctx context.Context, request NewChangeRequest) (ChangeRequest, error) {
	var row ChangeRequest
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		space, err := q.NumberChangeRequest(ctx, request.SpaceID)
		if err != nil {
			return postgres.Interpret(err, "space")
		}
		if err := unmutedCluster(ctx, q, space.OrganizationID, request.ClusterID); err != nil {
			return err
		}
		row, err = q.InsertChangeRequest(ctx, db.InsertChangeRequestParams{
			ID: schema.NewID(), SpaceID: request.SpaceID, OrganizationID: space.OrganizationID, Number: space.ChangeRequestNumber,
			Subject: request.Subject, CreatedBy: request.UserID, Revision: space.Revision,
			Description: request.Description, ClusterID: request.ClusterID,
		})
		if err != nil {
			return postgres.Interpret(err, "change request")
		}
		if request.Content != nil {
			if row, err = s.filled(ctx, q, row, *request.Content); err != nil {
				return err
			}
		}
		if err := s.db.Within(ctx, q, postgres.QuotaChangeRequests, request.SpaceID); err != nil {
			return err
		}
		return addContributor(ctx, q, row.ID, request.UserID)
	})
	return row, err
}

// clusterField is the name of the request body's field that names a cluster.
const clusterField = "conversationsIssuesCluster"

// unmutedCluster returns an error if the organization does not have the cluster, or if the cluster is muted.
func unmutedCluster(ctx context.Context, q *db.Queries, organizationID string, id *string) error {
	if id == nil {
		return nil
	}
	muted, err := q.ClusterForRequest(ctx, db.ClusterForRequestParams{ID: *id, OrganizationID: organizationID})
	if err = postgres.Interpret(err, "cluster"); schema.IsCode(err, schema.CodeNotFound) {
		return schema.Invalid(clusterField, "names no cluster of the space's organization")
	}
	if err == nil && muted {
		return schema.Conflict("the cluster is muted: no change requests are created for it")
	}
	return err
}

// filled applies the first content change of a new change request. The caller has locked the request's space.
func (s *Store) filled(ctx context.Context, q *db.Queries, row ChangeRequest, content ContentChange) (ChangeRequest, error) {
	if err := s.changeContent(ctx, q, &row, content); err != nil {
		return row, err
	}
	return saveChangeRequest(ctx, q, row)
}

// saveChangeRequest stores the current values of a change request.
func saveChangeRequest(ctx context.Context, q *db.Queries, row ChangeRequest) (ChangeRequest, error) {
	saved, err := q.SetChangeRequest(ctx, db.SetChangeRequestParams{
		ID: row.ID, Subject: row.Subject, Description: row.Description, Status: row.Status, Revision: row.Revision,
		RevisionMergedAncestor: row.RevisionMergedAncestor, RevisionMerged: row.RevisionMerged,
	})
	return saved, postgres.Interpret(err, "change request")
}

func addContributor(ctx context.Context, q *db.Queries, requestID, userID string) error {
	err := q.InsertContributor(ctx, db.InsertContributorParams{ChangeRequestID: requestID, UserID: userID})
	return postgres.Interpret(err, "contributor")
}

// ChangeRequest reads a change request of a space by its id or its number.
func (s *Store) ChangeRequest(ctx context.Context, spaceID, idOrNumber string) (ChangeRequest, error) {
	// Numbers begin at 1. So a text that is not a number becomes 0, and no change request has the number 0.
	number, err := strconv.ParseInt(idOrNumber, 10, 32)
	if idOrNumber != strconv.FormatInt(number, 10) {
		number = 0 // 01 and +1 are not numbers of change requests
	}
	if err != nil {
		number = 0
	}
	row, err := s.db.Queries.ChangeRequest(ctx, db.ChangeRequestParams{
		SpaceID: spaceID, ID: idOrNumber, Number: int32(number),
	})
	return row, postgres.Interpret(err, "change request")
}

// ChangeRequestEdit has the new values of a change request. Nil and unset fields leave the value unchanged.
type ChangeRequestEdit struct {
	Subject *string
	// Description is JSON. A null value removes the description.
	Description schema.Opt[[]byte]
	Status      *string
}

// EditChangeRequest changes the subject, the description or the status of a change request. A merged request keeps
// its status.
func (s *Store) EditChangeRequest(ctx context.Context, request ChangeRequest, edit ChangeRequestEdit) (ChangeRequestRow, error) {
	return s.changeRequest(ctx, request, func(q *db.Queries, space Space, row *ChangeRequest) error {
		if edit.Subject == nil && !edit.Description.Set && edit.Status == nil {
			return errUnchanged
		}
		if edit.Status != nil {
			if row.Status == schema.ChangeRequestMerged {
				return schema.Conflict("the change request is merged: its status cannot change")
			}
			was := row.Status
			if err := setStatus(ctx, q, row, *edit.Status); err != nil {
				return err
			}
			if err := settleGit(ctx, q, space, *row, was); err != nil {
				return err
			}
		}
		if edit.Subject != nil {
			row.Subject = *edit.Subject
		}
		if edit.Description.Set {
			row.Description = nil
			if edit.Description.Value != nil {
				row.Description = *edit.Description.Value
			}
		}
		return nil
	})
}

// setStatus changes the status of a locked request, and updates the counters of its space.
func setStatus(ctx context.Context, q *db.Queries, row *ChangeRequest, status string) error {
	counted := func(status, counter string) int32 {
		if status == counter {
			return 1
		}
		return 0
	}
	err := q.AddToSpaceCounters(ctx, db.AddToSpaceCountersParams{
		ID:    row.SpaceID,
		Open:  counted(status, schema.ChangeRequestOpen) - counted(row.Status, schema.ChangeRequestOpen),
		Draft: counted(status, schema.ChangeRequestDraft) - counted(row.Status, schema.ChangeRequestDraft),
	})
	row.Status = status
	return postgres.Interpret(err, "space")
}

// errUnchanged is the error of a change that changes no value. Then changeRequest leaves the row unchanged, including
// updated_at.
var errUnchanged = errors.New("there is nothing to change")

// changeRequest locks a request and its space, calls `change` to edit the row, and stores the row.
func (s *Store) changeRequest(
	ctx context.Context, request ChangeRequest, change func(q *db.Queries, space Space, row *ChangeRequest) error,
) (ChangeRequestRow, error) {
	var changed ChangeRequestRow
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		space, err := q.LockSpace(ctx, request.SpaceID)
		if err != nil {
			return postgres.Interpret(err, "space")
		}
		row, err := q.LockChangeRequest(ctx, request.ID)
		if err != nil {
			return postgres.Interpret(err, "change request")
		}
		changed = ChangeRequestRow{ChangeRequest: row, Head: space.Revision}
		if err := change(q, space, &row); err != nil {
			if errors.Is(err, errUnchanged) {
				return nil
			}
			return err
		}
		changed.ChangeRequest, err = saveChangeRequest(ctx, q, row)
		return err
	})
	return changed, err
}

// ChangeRequestFilter narrows a list of change requests. A nil field does not filter.
type ChangeRequestFilter struct {
	Statuses    []string
	Creator     *string
	Contributor *string
	// Reviewer is a user who was asked to review.
	Reviewer *string
	Cluster  *string
	// ByCreation sorts the list by the time of creation instead of the time of the last change. In both orders, the
	// latest request is first.
	ByCreation bool
}

// Cursor returns the cursor of a row in a list with this filter. The next page of the list begins after the cursor.
func (f ChangeRequestFilter) Cursor(row ChangeRequestRow) postgres.Cursor[time.Time] {
	if f.ByCreation {
		return postgres.Cursor[time.Time]{Key: row.ChangeRequest.CreatedAt, ID: row.ChangeRequest.ID}
	}
	return postgres.Cursor[time.Time]{Key: row.ChangeRequest.UpdatedAt, ID: row.ChangeRequest.ID}
}

// ListChangeRequestsInSpace lists the change requests of a space. If `after` is set, the list continues after this
// cursor.
func (s *Store) ListChangeRequestsInSpace(
	ctx context.Context, spaceID string, f ChangeRequestFilter, after *postgres.Cursor[time.Time], size int,
) (postgres.Page[ChangeRequestRow], error) {
	total, err := s.db.Planned.CountChangeRequestsInSpace(ctx, db.CountChangeRequestsInSpaceParams{
		SpaceID: spaceID, Statuses: f.Statuses, Creator: f.Creator, Cluster: f.Cluster, Contributor: f.Contributor, Reviewer: f.Reviewer,
	})
	if err != nil {
		return postgres.Page[ChangeRequestRow]{}, postgres.Interpret(err, "change requests")
	}
	from := after.OrFirst(postgres.EndOfTime)
	rows, err := s.db.Planned.ListChangeRequestsInSpace(ctx, db.ListChangeRequestsInSpaceParams{
		SpaceID: spaceID, Statuses: f.Statuses, Creator: f.Creator, Cluster: f.Cluster, Contributor: f.Contributor, Reviewer: f.Reviewer,
		ByCreation: f.ByCreation, Before: from.Key, BeforeID: from.ID, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[ChangeRequestRow]{}, postgres.Interpret(err, "change requests")
	}
	requests := make([]ChangeRequestRow, len(rows))
	for i, row := range rows {
		requests[i] = ChangeRequestRow(row)
	}
	return postgres.PageOf(requests, size, total), nil
}

// ListChangeRequestsInOrganization lists the change requests of an organization's spaces that the viewer may see. If
// `after` is set, the list continues after this cursor.
func (s *Store) ListChangeRequestsInOrganization(
	ctx context.Context, viewer postgres.Viewer, organizationID string, f ChangeRequestFilter,
	after *postgres.Cursor[time.Time], size int,
) (postgres.Page[ChangeRequestRow], error) {
	role := viewer.Role.Nullable()
	total, err := s.db.Planned.CountChangeRequestsInOrganization(ctx, db.CountChangeRequestsInOrganizationParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role,
		Statuses: f.Statuses, Creator: f.Creator, Cluster: f.Cluster, Contributor: f.Contributor, Reviewer: f.Reviewer,
	})
	if err != nil {
		return postgres.Page[ChangeRequestRow]{}, postgres.Interpret(err, "change requests")
	}
	from := after.OrFirst(postgres.EndOfTime)
	rows, err := s.db.Planned.ListChangeRequestsInOrganization(ctx, db.ListChangeRequestsInOrganizationParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role,
		Statuses: f.Statuses, Creator: f.Creator, Cluster: f.Cluster, Contributor: f.Contributor, Reviewer: f.Reviewer,
		ByCreation: f.ByCreation, Before: from.Key, BeforeID: from.ID, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[ChangeRequestRow]{}, postgres.Interpret(err, "change requests")
	}
	requests := make([]ChangeRequestRow, len(rows))
	for i, row := range rows {
		requests[i] = ChangeRequestRow(row)
	}
	return postgres.PageOf(requests, size, total), nil
}
