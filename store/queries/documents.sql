-- name: InsertDocuments :exec
-- The hashes come in order, so that two requests with the same documents wait for each other instead of deadlocking.
insert into documents (organization_id, hash, content)
select sqlc.arg(organization_id), d.hash, d.content::jsonb
from (select unnest(sqlc.arg(hashes)::text[]) as hash, unnest(sqlc.arg(contents)::text[]) as content) d
on conflict do nothing;

-- name: DocumentsByHash :many
-- Index: documents_pkey.
select hash, content from documents
where organization_id = sqlc.arg(organization_id) and hash = any(sqlc.arg(hashes)::text[]);

-- name: InsertFile :exec
insert into files (organization_id, hash, content) values ($1, $2, $3) on conflict do nothing;

-- name: FileByHash :one
-- Index: files_pkey.
select content from files where organization_id = $1 and hash = $2;
