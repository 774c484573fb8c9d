-- name: InsertRevision :exec
insert into revisions (id, space_id, branch, seq, base, base_seq, page_count, type, parents, change_request_id, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: RevisionByID :one
-- Index: revisions_space (space_id, id).
select * from revisions where space_id = $1 and id = $2;

-- name: RevisionsByID :many
-- Index: revisions_space (space_id, id).
select * from revisions where space_id = sqlc.arg(space_id) and id = any(sqlc.arg(ids)::text[]);

-- name: LastOfBranch :one
-- Index: revisions_branch (branch, seq).
select coalesce(max(seq), 0)::integer from revisions where branch = $1;
