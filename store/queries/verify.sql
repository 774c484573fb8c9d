-- name: VerifyDocuments :many
-- Index: documents_pkey. Postgres reads the contents of all rows of the page.
select space_id, hash, length(content)::bigint as bytes, (encode(sha256(content), 'hex') = hash)::boolean as same
from documents where (space_id, hash) > (sqlc.arg(after_space)::text, sqlc.arg(after_hash)::text)
order by space_id, hash limit 50;

-- name: VerifyFiles :many
-- Index: files_pkey. Postgres reads the contents of all rows of the page.
select space_id, hash, length(content)::bigint as bytes, (encode(sha256(content), 'hex') = hash)::boolean as same
from files where (space_id, hash) > (sqlc.arg(after_space)::text, sqlc.arg(after_hash)::text)
order by space_id, hash limit 50;

-- name: Verifications :many
-- A row for each kind of data.
select * from verifications order by kind;

-- name: NoteVerification :exec
-- Index: verifications_pkey.
insert into verifications (kind, read, bytes, damaged, hint, verified_at) values ($1, $2, $3, $4, $5, now())
on conflict (kind) do update set read = excluded.read, bytes = excluded.bytes, damaged = excluded.damaged,
    hint = excluded.hint, verified_at = excluded.verified_at;
