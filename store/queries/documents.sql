-- name: InsertDocuments :exec
-- The hashes come in order, so that two requests with the same documents wait for each other instead of deadlocking.
insert into documents (space_id, hash, content)
select sqlc.arg(space_id), d.hash, d.content
from (select unnest(sqlc.arg(hashes)::text[]) as hash, unnest(sqlc.arg(contents)::bytea[]) as content) d
on conflict do nothing;

-- name: DocumentsByHash :many
-- Index: documents_pkey.
select hash, content from documents
where space_id = sqlc.arg(space_id) and hash = any(sqlc.arg(hashes)::text[]);

-- name: InsertFileContent :exec
insert into files (space_id, hash, content) values ($1, $2, $3) on conflict do nothing;

-- name: DropUnnamedFiles :exec
-- Of some contents those that no file of the space has. The offset lets each be looked for by its hash.
-- Index: files_pkey.
delete from files f where f.space_id = sqlc.arg(space_id) and f.hash = any(sqlc.arg(hashes)::text[]) and not exists (
    select from branch_files b
    where b.hash = f.hash and exists (select from revisions r where r.branch = b.branch and r.space_id = sqlc.arg(space_id))
    offset 0
);

-- name: FileByHash :one
-- Index: files_pkey.
select content from files where space_id = $1 and hash = $2;

-- name: FilePiece :one
-- Some of a file's bytes. The first has the position 1.
-- Index: files_pkey.
select substring(content from sqlc.arg(position)::int for sqlc.arg(most)::int)::bytea as piece
from files where space_id = sqlc.arg(space_id) and hash = sqlc.arg(hash);

-- name: SpecDocuments :many
-- The documents of spaces that name a specification, with the newest revision of each space. Not every one is a page's there.
-- Index: document_specs_slug (slug, space_id).
-- Sorts: the documents that name one specification.
select s.id as space_id, s.revision, array_agg(d.hash order by d.hash)::text[] as hashes
from document_specs d join spaces s on s.id = d.space_id
where d.slug = sqlc.arg(slug) and d.space_id = any(sqlc.arg(spaces)::text[])
group by s.id;
