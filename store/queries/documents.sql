-- name: InsertDocuments :exec
-- The hashes come in order, so that two requests with the same documents wait for each other instead of deadlocking.
insert into documents (space_id, hash, content, file_refs, words)
select sqlc.arg(space_id), d.hash, d.content, nullif(d.file_refs, '')::jsonb, d.words
from (
    select unnest(sqlc.arg(hashes)::text[]) as hash, unnest(sqlc.arg(contents)::bytea[]) as content,
           unnest(sqlc.arg(file_refs)::text[]) as file_refs, unnest(sqlc.arg(words)::integer[]) as words
) d
on conflict do nothing;

-- name: DocumentsByHash :many
-- Index: documents_pkey.
select hash, content from documents
where space_id = sqlc.arg(space_id) and hash = any(sqlc.arg(hashes)::text[]);

-- name: InsertFileContent :exec
insert into files (space_id, hash, content, file_refs, width, height) values (
    $1, $2, $3, $4, nullif(sqlc.arg(width)::integer, 0), nullif(sqlc.arg(height)::integer, 0)
) on conflict do nothing;

-- name: DocumentFileRefs :many
-- The files that documents name, without the documents that name none. Null is for documents not yet read.
-- Index: documents_pkey.
select hash, file_refs from documents
where space_id = sqlc.arg(space_id) and hash = any(sqlc.arg(hashes)::text[]) and file_refs is distinct from '{}';

-- name: IncludeFileRefs :many
-- The files that reusable contents of a revision name, as DocumentFileRefs gives them.
-- Index: branch_files_pkey.
select f.file_id, c.file_refs
from revisions r
    join branch_files f on f.branch in (r.branch, r.base) and f.file_id = any(sqlc.arg(file_ids)::text[])
        and case when f.branch = r.branch then r.seq else r.base_seq end between f.since and f.until - 1
    join files c on c.space_id = r.space_id and c.hash = f.hash and c.file_refs is distinct from '{}'
where r.space_id = sqlc.arg(space_id) and r.id = sqlc.arg(revision);

-- name: SpacesNamingFilesElsewhere :many
-- Returns the given spaces with a document or a reusable content, of any revision, that names a file with its space.
-- Index: documents_elsewhere (space_id) where file_refs names spaces.
select s.id, s.revision from spaces s
where s.id = any(sqlc.arg(spaces)::text[]) and (
    exists (select from documents d where d.space_id = s.id and d.file_refs @? '$.files[*].space')
    or exists (select from files f where f.space_id = s.id and f.file_refs @? '$.files[*].space')
);

-- name: UnreadDocuments :many
-- Returns some documents whose file_refs or words were not read: at least one, and more up to a number of bytes.
-- Index: documents_unread (space_id, hash) where file_refs is null or words is null.
select u.space_id, u.hash, u.content
from (
    select d.space_id, d.hash, d.content,
           sum(octet_length(d.content)) over (order by d.space_id, d.hash) - octet_length(d.content) as before
    from (select * from documents where file_refs is null or words is null order by space_id, hash limit 1000) d
) u
where u.before < sqlc.arg(bytes)::bigint;

-- name: UnreadFiles :many
-- Some files whose file_refs were not read, as UnreadDocuments.
-- Index: files_unread (space_id, hash) where file_refs is null.
select u.space_id, u.hash, u.content
from (
    select d.space_id, d.hash, d.content,
           sum(octet_length(d.content)) over (order by d.space_id, d.hash) - octet_length(d.content) as before
    from (select * from files where file_refs is null order by space_id, hash limit 1000) d
) u
where u.before < sqlc.arg(bytes)::bigint;

-- name: SetDocumentFacts :exec
-- Index: documents_pkey.
update documents d set file_refs = n.file_refs::jsonb, words = n.words
from (
    select unnest(sqlc.arg(spaces)::text[]) as space_id, unnest(sqlc.arg(hashes)::text[]) as hash,
           unnest(sqlc.arg(file_refs)::text[]) as file_refs, unnest(sqlc.arg(words)::integer[]) as words
) n
where d.space_id = n.space_id and d.hash = n.hash;

-- name: SetFileFileRefs :exec
-- Index: files_pkey.
update files d set file_refs = n.file_refs::jsonb
from (
    select unnest(sqlc.arg(spaces)::text[]) as space_id, unnest(sqlc.arg(hashes)::text[]) as hash,
           unnest(sqlc.arg(file_refs)::text[]) as file_refs
) n
where d.space_id = n.space_id and d.hash = n.hash;

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
