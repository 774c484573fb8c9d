package store

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// ChangeRequest is a row of its table.
type ChangeRequest = db.ChangeRequest

// ChangeRequestRow is a change request with the head of its space, which tells whether it is outdated.
type ChangeRequestRow struct {
	ChangeRequest ChangeRequest
	Head          string
}

// Outdated says whether the main content went on without the request.
func (r ChangeRequestRow) Outdated() bool {
	return r.ChangeRequest.Status != schema.ChangeRequestMerged && baseOf(r.ChangeRequest) != r.Head
}

// baseOf is the revision of the main content that a request's own changes start from.
func baseOf(request ChangeRequest) string {
	if request.RevisionMergedAncestor != nil {
		return *request.RevisionMergedAncestor
	}
	return request.RevisionInitial
}

// NewChangeRequest is what a change request is made of.
type NewChangeRequest struct {
	SpaceID string
	Subject string
	UserID  string
}

// CreateChangeRequest opens a draft on the space's current content.
func (s *Store) CreateChangeRequest(ctx context.Context, request NewChangeRequest) (ChangeRequest, error) {
	var row ChangeRequest
	err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		space, err := q.NumberChangeRequest(ctx, request.SpaceID)
		if err != nil {
			return interpret(err, "space")
		}
		row, err = q.InsertChangeRequest(ctx, db.InsertChangeRequestParams{
			ID: schema.NewID(), SpaceID: request.SpaceID, OrganizationID: space.OrganizationID, Number: space.ChangeRequestNumber,
			Subject: request.Subject, CreatedBy: request.UserID, Revision: space.Revision,
		})
		if err != nil {
			return interpret(err, "change request")
		}
		if err := s.within(ctx, q, quotaChangeRequests, request.SpaceID); err != nil {
			return err
		}
		return addContributor(ctx, q, row.ID, request.UserID)
	})
	return row, err
}

func addContributor(ctx context.Context, q *db.Queries, requestID, userID string) error {
	err := q.InsertContributor(ctx, db.InsertContributorParams{ChangeRequestID: requestID, UserID: userID})
	return interpret(err, "contributor")
}

// ChangeRequest reads a change request of a space by its id or its number.
func (s *Store) ChangeRequest(ctx context.Context, spaceID, idOrNumber string) (ChangeRequest, error) {
	// No change request has number 0, so what is no number finds nothing by it.
	number, err := strconv.ParseInt(idOrNumber, 10, 32)
	if idOrNumber != strconv.FormatInt(number, 10) {
		number = 0 // 01 and +1 are other texts.
	}
	if err != nil {
		number = 0
	}
	row, err := s.queries.ChangeRequest(ctx, db.ChangeRequestParams{
		SpaceID: spaceID, ID: idOrNumber, Number: int32(number),
	})
	return row, interpret(err, "change request")
}

// ChangeRequestEdit says what of a change request is to be another; nil leaves as it is.
type ChangeRequestEdit struct {
	Subject *string
	// Description is JSON; with a value of null inside, the description goes.
	Description schema.Opt[[]byte]
	Status      *string
}

// EditChangeRequest changes what people say of a change request. A merged one keeps its status.
func (s *Store) EditChangeRequest(ctx context.Context, request ChangeRequest, edit ChangeRequestEdit) (ChangeRequestRow, error) {
	return s.changeRequest(ctx, request, func(q *db.Queries, _ Space, row *ChangeRequest) error {
		if edit.Subject == nil && !edit.Description.Set && edit.Status == nil {
			return errUnchanged
		}
		if edit.Status != nil {
			if row.Status == schema.ChangeRequestMerged {
				return schema.Conflict("the change request is merged: its status cannot change")
			}
			if err := setStatus(ctx, q, row, *edit.Status); err != nil {
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

// setStatus changes a locked request's status and its space's counters with it.
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
	return interpret(err, "space")
}

// errUnchanged is what a change answers that has nothing to do: the row stays as it is, its time too.
var errUnchanged = errors.New("there is nothing to change")

// changeRequest locks a request and its space, lets change set what is to be another, and stores the row.
func (s *Store) changeRequest(
	ctx context.Context, request ChangeRequest, change func(q *db.Queries, space Space, row *ChangeRequest) error,
) (ChangeRequestRow, error) {
	var changed ChangeRequestRow
	err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		space, err := q.LockSpace(ctx, request.SpaceID)
		if err != nil {
			return interpret(err, "space")
		}
		row, err := q.LockChangeRequest(ctx, request.ID)
		if err != nil {
			return interpret(err, "change request")
		}
		changed = ChangeRequestRow{ChangeRequest: row, Head: space.Revision}
		if err := change(q, space, &row); err != nil {
			if errors.Is(err, errUnchanged) {
				return nil
			}
			return err
		}
		changed.ChangeRequest, err = q.SetChangeRequest(ctx, db.SetChangeRequestParams{
			ID: row.ID, Subject: row.Subject, Description: row.Description, Status: row.Status, Revision: row.Revision,
			RevisionMergedAncestor: row.RevisionMergedAncestor, RevisionMerged: row.RevisionMerged,
		})
		return interpret(err, "change request")
	})
	return changed, err
}

// ChangeRequestFilter narrows a list of change requests; nil members let everything through.
type ChangeRequestFilter struct {
	Statuses    []string
	Creator     *string
	Contributor *string
	// Reviewer is who was asked to review.
	Reviewer *string
	Cluster  *string
	// ByCreation sorts by the time of creation instead of that of the last change; the latest come first.
	ByCreation bool
}

// ChangeRequestPosition is a place in a list of change requests: the time it is sorted by, and the id.
type ChangeRequestPosition struct {
	Time time.Time
	ID   string
}

// FirstChangeRequest is the place before all others.
func FirstChangeRequest() ChangeRequestPosition {
	return ChangeRequestPosition{Time: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// PositionOf is the place of a row in a list with this filter.
func (f ChangeRequestFilter) PositionOf(row ChangeRequestRow) ChangeRequestPosition {
	if f.ByCreation {
		return ChangeRequestPosition{row.ChangeRequest.CreatedAt, row.ChangeRequest.ID}
	}
	return ChangeRequestPosition{row.ChangeRequest.UpdatedAt, row.ChangeRequest.ID}
}

// Keys writes a position for a page token.
func (p ChangeRequestPosition) Keys() []string {
	return []string{strconv.FormatInt(p.Time.UnixMicro(), 10), p.ID}
}

// ReadChangeRequestPosition reads a position back; nil keys are the first place.
func ReadChangeRequestPosition(keys []string) (ChangeRequestPosition, error) {
	if keys == nil {
		return FirstChangeRequest(), nil
	}
	// Beyond this Postgres has no times.
	const furthest = math.MaxInt64 / 100
	micros, err := strconv.ParseInt(keys[0], 10, 64)
	if err != nil || micros < 0 || micros > furthest || !schema.ValidID(keys[1]) {
		return ChangeRequestPosition{}, schema.Invalid("page", "is not a page of this list")
	}
	return ChangeRequestPosition{Time: time.UnixMicro(micros), ID: keys[1]}, nil
}

// ListChangeRequestsInSpace lists the requests of a space that follow a position.
func (s *Store) ListChangeRequestsInSpace(
	ctx context.Context, spaceID string, filter ChangeRequestFilter, after ChangeRequestPosition, size int,
) (Page[ChangeRequestRow], error) {
	total, err := s.queries.CountChangeRequestsInSpace(ctx, db.CountChangeRequestsInSpaceParams{
		SpaceID: spaceID, Statuses: filter.Statuses, Creator: filter.Creator, Cluster: filter.Cluster, Contributor: filter.Contributor, Reviewer: filter.Reviewer,
	})
	if err != nil {
		return Page[ChangeRequestRow]{}, interpret(err, "change requests")
	}
	params := db.ListChangeRequestsInSpaceByUpdateParams{
		SpaceID: spaceID, Before: after.Time, BeforeID: after.ID, Statuses: filter.Statuses, Creator: filter.Creator,
		Cluster: filter.Cluster, Contributor: filter.Contributor, Reviewer: filter.Reviewer, PageSize: pageSize(size),
	}
	if filter.ByCreation {
		rows, err := s.queries.ListChangeRequestsInSpaceByCreation(ctx, db.ListChangeRequestsInSpaceByCreationParams(params))
		return changeRequestPage(rows, err, size, total)
	}
	rows, err := s.queries.ListChangeRequestsInSpaceByUpdate(ctx, params)
	return changeRequestPage(rows, err, size, total)
}

// ListChangeRequestsInOrganization lists the requests of those of an organization's spaces that the viewer may see, after a
// position.
func (s *Store) ListChangeRequestsInOrganization(
	ctx context.Context, viewer Viewer, organizationID string, filter ChangeRequestFilter, after ChangeRequestPosition, size int,
) (Page[ChangeRequestRow], error) {
	role := viewer.Role.Nullable()
	total, err := s.queries.CountChangeRequestsInOrganization(ctx, db.CountChangeRequestsInOrganizationParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role, Statuses: filter.Statuses, Creator: filter.Creator,
		Cluster: filter.Cluster, Contributor: filter.Contributor, Reviewer: filter.Reviewer,
	})
	if err != nil {
		return Page[ChangeRequestRow]{}, interpret(err, "change requests")
	}
	params := db.ListChangeRequestsInOrganizationByUpdateParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role, Before: after.Time, BeforeID: after.ID,
		Statuses: filter.Statuses, Creator: filter.Creator, Cluster: filter.Cluster, Contributor: filter.Contributor, Reviewer: filter.Reviewer, PageSize: pageSize(size),
	}
	if filter.ByCreation {
		rows, err := s.queries.ListChangeRequestsInOrganizationByCreation(
			ctx, db.ListChangeRequestsInOrganizationByCreationParams(params))
		return changeRequestPage(rows, err, size, total)
	}
	rows, err := s.queries.ListChangeRequestsInOrganizationByUpdate(ctx, params)
	return changeRequestPage(rows, err, size, total)
}

// changeRequestPage takes the rows of any of the four lists, which have the same columns.
func changeRequestPage[Row db.ListChangeRequestsInSpaceByUpdateRow | db.ListChangeRequestsInSpaceByCreationRow |
	db.ListChangeRequestsInOrganizationByUpdateRow | db.ListChangeRequestsInOrganizationByCreationRow](
	rows []Row, err error, size int, total int64,
) (Page[ChangeRequestRow], error) {
	if err != nil {
		return Page[ChangeRequestRow]{}, interpret(err, "change requests")
	}
	requests := make([]ChangeRequestRow, len(rows))
	for i, row := range rows {
		requests[i] = ChangeRequestRow(row)
	}
	return pageOf(requests, size, total), nil
}
