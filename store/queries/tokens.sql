-- name: InsertToken :one
insert into tokens (id, hash, kind, name, user_id, site_id, expires_at) values ($1, $2, $3, $4, $5, $6, $7) returning *;

-- name: TokenByHash :one
-- Index: tokens_hash_key.
select t.*, s.organization_id as site_organization_id
from tokens t left join sites s on s.id = t.site_id
where t.hash = $1;

-- name: ListTokens :many
-- No index: the command line alone reads it, and without a filter it wants every token.
select * from tokens
where (sqlc.narg(user_id)::text is null or user_id = sqlc.narg(user_id))
  and (sqlc.narg(site_id)::text is null or site_id = sqlc.narg(site_id))
order by id;

-- name: RevokeToken :execrows
update tokens set revoked_at = coalesce(revoked_at, now()) where id = $1;

-- name: TouchTokens :exec
-- The condition keeps the promise of one write a minute when several nodes see the same token. A time that is a day
-- ahead is from before the clock was set back.
update tokens set last_used_at = sqlc.arg(used_at)
where id = any(sqlc.arg(ids)::text[])
  and (last_used_at is null or last_used_at < sqlc.arg(used_at)::timestamptz - interval '1 minute'
    or last_used_at > sqlc.arg(used_at)::timestamptz + interval '1 day');

-- name: InsightsTokenByID :one
select * from tokens where id = sqlc.arg(id) and site_id = sqlc.arg(site_id) and kind = 'insights';

-- name: ListInsightsTokens :many
-- Index: tokens_site.
-- Sorts: the tokens of one site.
select * from tokens
where site_id = sqlc.arg(site_id) and kind = 'insights' and revoked_at is null
  and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountInsightsTokens :one
-- Index: tokens_site.
select count(*) from tokens where site_id = $1 and kind = 'insights' and revoked_at is null;

-- name: RevokeInsightsToken :exec
update tokens set revoked_at = now()
where id = sqlc.arg(id) and site_id = sqlc.arg(site_id) and kind = 'insights' and revoked_at is null;
