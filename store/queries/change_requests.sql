-- name: NumberChangeRequest :one
-- Takes the space's next number and its current head; the row's lock makes the numbers distinct.
update spaces set
    change_request_number = change_request_number + 1, change_requests = change_requests + 1,
    change_requests_draft = change_requests_draft + 1
where id = $1
returning change_request_number, revision, organization_id;

-- name: InsertChangeRequest :one
insert into change_requests (id, space_id, organization_id, number, status, subject, created_by, revision, revision_initial)
values ($1, $2, $3, $4, 'draft', $5, $6, $7, $7) returning *;

-- name: ChangeRequest :one
-- By its id or by its number in the space.
-- Index: change_requests_pkey, change_requests_space_id_number_key.
select * from change_requests
where space_id = sqlc.arg(space_id) and (id = sqlc.arg(id) or number = sqlc.arg(number));
