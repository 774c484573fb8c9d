-- name: InsertRevision :exec
insert into revisions (id, space_id, type, parents, pages, files, change_request_id, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: RevisionByID :one
-- Index: revisions_space (space_id, id).
select * from revisions where space_id = $1 and id = $2;

-- name: RevisionsByID :many
-- Index: revisions_space (space_id, id).
select * from revisions where space_id = sqlc.arg(space_id) and id = any(sqlc.arg(ids)::text[]);
