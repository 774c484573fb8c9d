-- name: AskPDF :one
-- The row is locked until the transaction ends, so that one job is asked for.
insert into pdfs as p (space_id, key, revision, page, alone)
values (sqlc.arg(space_id), sqlc.arg(key), sqlc.arg(revision), sqlc.arg(page), sqlc.arg(alone))
on conflict (space_id, key) do update set used_at = now()
returning p.content, p.size, p.job_id;

-- name: OpenPDFs :one
-- Index: pdfs_open.
select count(*) from pdfs where space_id = sqlc.arg(space_id) and content is null and asked_at > now() - interval '10 minutes';

-- name: SetPDFJob :exec
update pdfs set job_id = sqlc.arg(job_id)::bigint, asked_at = now() where space_id = sqlc.arg(space_id) and key = sqlc.arg(key);

-- name: PDFByKey :one
-- Index: pdfs_pkey.
select * from pdfs where space_id = $1 and key = $2;

-- name: BeginPDFContent :exec
insert into pdf_contents (content, begun_at) values ($1, creation_time());

-- name: AddPDFChunk :exec
insert into pdf_chunks (content, number, bytes) values ($1, $2, $3);

-- name: PDFPiece :one
-- Some of the bytes of a chunk. The first has the position 1.
-- Index: pdf_chunks_pkey.
select substring(bytes from sqlc.arg(position)::int for sqlc.arg(most)::int)::bytea as piece
from pdf_chunks where content = sqlc.arg(content) and number = sqlc.arg(number);

-- name: FinishPDF :execrows
update pdfs set content = sqlc.arg(content)::text, size = sqlc.arg(size)::bigint, used_at = now()
where space_id = sqlc.arg(space_id) and key = sqlc.arg(key) and content is null;

-- name: DropPDFContent :exec
delete from pdf_contents where content = $1;

-- name: DeleteOldPDFs :execrows
-- Index: pdfs_used.
delete from pdfs where ctid = any(array(
    select o.ctid from pdfs o where o.used_at < deletion_time() - sqlc.arg(kept)::interval
    order by o.used_at limit sqlc.arg(size)
));

-- name: DeleteOldPDFContents :execrows
-- Contents without a PDF. Contents that an attempt is still writing are younger.
-- Index: pdf_contents_begun.
delete from pdf_contents where content = any(array(
    select c.content from pdf_contents c
    where c.begun_at < deletion_time() - sqlc.arg(kept)::interval
      and not exists (select from pdfs p where p.content = c.content)
    order by c.begun_at limit sqlc.arg(size)
));
