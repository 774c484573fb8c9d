-- name: LockReviewedRequest :one
select * from change_requests where id = $1 for no key update;

-- name: DescribeChangeRequest :exec
-- Null leaves a member as it is. A review counts as a change of the request, too.
update change_requests set
    subject = coalesce(sqlc.narg(subject)::text, subject), description = coalesce(sqlc.narg(description)::jsonb, description),
    updated_at = clock_timestamp()
where id = sqlc.arg(id);

-- name: RequestReviewers :exec
-- The request of a user who has not answered stays unchanged. A user who has answered gets a new request.
insert into change_request_reviewers (change_request_id, user_id, revision, requested_by)
select sqlc.arg(change_request_id), unnest(sqlc.arg(user_ids)::text[]), sqlc.arg(revision), sqlc.arg(requested_by)
on conflict (change_request_id, user_id) do update set
    revision = excluded.revision, requested_by = excluded.requested_by, created_at = excluded.created_at
where exists (
    select 1 from change_request_reviews v
    where v.change_request_id = excluded.change_request_id and v.user_id = excluded.user_id and not v.superseded);

-- name: SupersedeReviews :exec
-- Index: change_request_reviews_newest (change_request_id, user_id).
update change_request_reviews set superseded = true, updated_at = now()
where change_request_id = sqlc.arg(change_request_id) and user_id = any(sqlc.arg(user_ids)::text[]) and not superseded;

-- name: SupersedeAllReviews :exec
-- Index: change_request_reviews_newest (change_request_id, user_id).
update change_request_reviews set superseded = true, updated_at = now()
where change_request_id = $1 and not superseded;

-- name: ListRequestedReviewers :many
-- Reviewers who have not answered since the last request.
-- Index: change_request_reviewers_pkey (change_request_id, user_id).
select * from change_request_reviewers
where change_request_reviewers.change_request_id = sqlc.arg(change_request_id) and change_request_reviewers.user_id > sqlc.arg(after)::text collate "C"
  and not exists (
    select 1 from change_request_reviews v
    where v.change_request_id = change_request_reviewers.change_request_id and v.user_id = change_request_reviewers.user_id
      and not v.superseded)
order by user_id
limit sqlc.arg(page_size);

-- name: CountRequestedReviewers :one
-- Index: change_request_reviewers_pkey (change_request_id, user_id).
select count(*) from change_request_reviewers
where change_request_reviewers.change_request_id = $1 and not exists (
    select 1 from change_request_reviews v
    where v.change_request_id = change_request_reviewers.change_request_id and v.user_id = change_request_reviewers.user_id
      and not v.superseded);

-- name: RequestedReviewers :many
-- By either index of the two columns.
select * from change_request_reviewers
where change_request_id = sqlc.arg(change_request_id) and user_id = any(sqlc.arg(user_ids)::text[]);

-- name: DeleteRequestedReviewer :exec
delete from change_request_reviewers where change_request_id = $1 and user_id = $2;

-- name: InsertReview :one
insert into change_request_reviews (id, change_request_id, user_id, revision, status, requested_by)
values (sqlc.arg(id), sqlc.arg(change_request_id), sqlc.arg(user_id), sqlc.arg(revision), sqlc.arg(status), (
    select r.requested_by from change_request_reviewers r
    where r.change_request_id = sqlc.arg(change_request_id) and r.user_id = sqlc.arg(user_id)))
returning *;

-- name: Review :one
-- Index: change_request_reviews_request (change_request_id, id).
select * from change_request_reviews where id = sqlc.arg(id) and change_request_id = sqlc.arg(change_request_id);

-- name: ListReviews :many
-- Index: change_request_reviews_request (change_request_id, id).
select * from change_request_reviews
where change_request_id = sqlc.arg(change_request_id) and id > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(outdated)::boolean is null or case when superseded then true else revision <> sqlc.arg(revision) end = sqlc.narg(outdated))
order by id
limit sqlc.arg(page_size);

-- name: CountReviews :one
-- Index: change_request_reviews_request (change_request_id, id).
select count(*) from change_request_reviews
where change_request_id = sqlc.arg(change_request_id)
  and (sqlc.narg(outdated)::boolean is null or case when superseded then true else revision <> sqlc.arg(revision) end = sqlc.narg(outdated));

-- name: ReviewState :many
-- All who are asked to review or have reviewed, with the review that counts; for merge rules.
-- Index: change_request_reviewers_pkey, change_request_reviews_newest, change_request_contributors_pkey.
-- Sorts: the people of one change request.
select coalesce(r.user_id, v.user_id)::text as user_id, (r.user_id is not null)::boolean as requested,
    coalesce(v.status, '')::text as status, coalesce(v.revision, '')::text as revision,
    exists (select 1 from change_request_contributors c
            where c.change_request_id = sqlc.arg(change_request_id) and c.user_id = coalesce(r.user_id, v.user_id)) as contributor
from (select * from change_request_reviewers where change_request_reviewers.change_request_id = sqlc.arg(change_request_id)) r
full join (select * from change_request_reviews
           where change_request_reviews.change_request_id = sqlc.arg(change_request_id) and not change_request_reviews.superseded) v
    on v.user_id = r.user_id
order by 1;
