-- name: InsertBrowserSession :one
insert into browser_sessions (id, hash, opened, token_id, session_id, expires_at, link_expires_at)
values ($1, $2, $3, $4, $5, $6, $7) returning *;

-- name: OpenBrowserLink :one
-- Index: browser_sessions_hash_key. The link's secret is gone with this: it opens one session once.
update browser_sessions
set hash = sqlc.arg(hash), opened = true, link_expires_at = null, expires_at = sqlc.arg(expires_at)
where hash = sqlc.arg(link) and not opened and link_expires_at > now()
returning *;

-- name: TokenOfBrowserSession :one
-- Index: browser_sessions_hash_key. A revoked or expired token gives no row.
with b as materialized (select x.* from browser_sessions x where x.hash = $1)
select b.expires_at as ends_at, sqlc.embed(t)
from b join tokens t on t.id = b.token_id
where b.opened and b.expires_at > now()
  and t.revoked_at is null and (t.expires_at is null or t.expires_at > now());

-- name: SessionOfBrowserSession :one
-- Index: browser_sessions_hash_key.
with b as materialized (select x.* from browser_sessions x where x.hash = $1)
select b.expires_at as ends_at, sqlc.embed(s)
from b join sessions s on s.id = b.session_id
where b.opened and b.expires_at > now() and s.opened and s.expires_at > now();

-- name: DeleteBrowserSession :exec
-- Index: browser_sessions_hash_key.
delete from browser_sessions where hash = $1;

-- name: DeleteEndedBrowserSessions :exec
-- No index need be used: Postgres uses browser_sessions_end, except if most sessions have ended.
delete from browser_sessions where expires_at < deletion_time();
