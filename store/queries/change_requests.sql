-- name: NumberChangeRequest :one
-- Takes the space's next number and its current head; the row's lock makes the numbers distinct.
update spaces set
    change_request_number = change_request_number + 1, change_requests = change_requests + 1,
    change_requests_draft = change_requests_draft + 1
where id = $1
returning change_request_number, revision, organization_id;

-- name: InsertChangeRequest :one
insert into change_requests (
    id, space_id, organization_id, number, status, subject, created_by, revision, revision_initial, description,
    cluster_id, git_import
)
values ($1, $2, $3, $4, 'draft', $5, $6, $7, $7, $8, $9, $10) returning *;

-- name: InsertContributor :exec
insert into change_request_contributors (change_request_id, user_id) values ($1, $2) on conflict do nothing;

-- name: ChangeRequest :one
-- By its id or by its number in the space.
-- Index: change_requests_pkey, change_requests_space_id_number_key.
select * from change_requests
where space_id = sqlc.arg(space_id) and (id = sqlc.arg(id) or number = sqlc.arg(number));

-- name: LockSpace :one
-- The space is locked before any of its change requests, so that writers do not deadlock.
select * from spaces where id = $1 for no key update;

-- name: LockChangeRequest :one
select * from change_requests where id = $1 for no key update;

-- name: SetChangeRequest :one
update change_requests set
    subject = sqlc.arg(subject), description = sqlc.arg(description), status = sqlc.arg(status), revision = sqlc.arg(revision),
    revision_merged_ancestor = sqlc.arg(revision_merged_ancestor), revision_merged = sqlc.arg(revision_merged),
    updated_at = clock_timestamp()
where id = sqlc.arg(id) returning *;

-- name: AddToSpaceCounters :exec
update spaces set
    change_requests_open = change_requests_open + sqlc.arg(open)::integer,
    change_requests_draft = change_requests_draft + sqlc.arg(draft)::integer
where id = sqlc.arg(id);

-- name: SetSpaceHead :one
-- Returns the translations that follow the space. They have a copy of the space, or their first run may already have
-- read it.
-- Index: translations_space (source_space_id).
-- Sorts: the translations of one space.
update spaces s set revision = $2, updated_at = now() where s.id = $1
returning array(
    select t.id from translations t
    where t.source_space_id = s.id and (t.result_space_id is not null or exists (
        select from translation_runs r where r.translation_id = t.id and r.state in ('queued', 'running')
    ))
    order by t.id
)::text[];

-- name: ListChangeRequestsInSpace :many
-- Index: change_requests_space_updated (space_id, updated_at desc, id desc), or change_requests_space_created.
-- Planned for its values: see planned.
select sqlc.embed(c), s.revision as head
from change_requests_like(
        sqlc.narg(statuses)::text[], sqlc.narg(creator), sqlc.narg(cluster), sqlc.narg(contributor), sqlc.narg(reviewer)) f
    join change_requests c on c.id = f.id
    join spaces s on s.id = f.space_id
where f.space_id = sqlc.arg(space_id)::text
  and (case when sqlc.arg(by_creation)::boolean then f.created_at else f.updated_at end, f.id)
      < (sqlc.arg(before)::timestamptz, sqlc.arg(before_id)::text collate "C")
order by case when sqlc.arg(by_creation)::boolean then f.created_at else f.updated_at end desc, f.id desc
limit sqlc.arg(page_size);

-- name: CountChangeRequestsInSpace :one
-- No index: of those that begin with the space, any does.
select count(*)
from change_requests_like(
        sqlc.narg(statuses)::text[], sqlc.narg(creator), sqlc.narg(cluster), sqlc.narg(contributor), sqlc.narg(reviewer)) f
where f.space_id = sqlc.arg(space_id)::text;

-- name: ListChangeRequestsInOrganization :many
-- Index: change_requests_organization_updated (organization_id, updated_at desc, id desc), or change_requests_organization_created.
-- Change requests of the spaces that the user may see. The limit makes Postgres look each space up on its own, which
-- keeps the order of the index. Planned for its values: see planned.
select sqlc.embed(c), s.revision as head
from change_requests_like(
        sqlc.narg(statuses)::text[], sqlc.narg(creator), sqlc.narg(cluster), sqlc.narg(contributor), sqlc.narg(reviewer)) f
    join change_requests c on c.id = f.id
    cross join lateral (
        select seen.revision from spaces_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id)) seen
        where seen.id = f.space_id limit 1
    ) s
where f.organization_id = sqlc.arg(organization_id)::text
  and (case when sqlc.arg(by_creation)::boolean then f.created_at else f.updated_at end, f.id)
      < (sqlc.arg(before)::timestamptz, sqlc.arg(before_id)::text collate "C")
order by case when sqlc.arg(by_creation)::boolean then f.created_at else f.updated_at end desc, f.id desc
limit sqlc.arg(page_size);

-- name: CountChangeRequestsInOrganization :one
-- No index: of those that begin with the organization, any does.
select count(*)
from change_requests_like(
        sqlc.narg(statuses)::text[], sqlc.narg(creator), sqlc.narg(cluster), sqlc.narg(contributor), sqlc.narg(reviewer)) f
    join spaces_seen(sqlc.arg(user_id), sqlc.narg(role), sqlc.arg(organization_id)) s on s.id = f.space_id
where f.organization_id = sqlc.arg(organization_id)::text;
