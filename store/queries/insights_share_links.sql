-- name: InsertInsightsShareLink :one
insert into insights_share_links (
    id, site_id, name, hash, password, filters, segments, ranges, timezone, expires_at, created_by
) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
returning *;

-- name: InsightsShareLinkByID :one
select * from insights_share_links where id = sqlc.arg(id) and site_id = sqlc.arg(site_id);

-- name: InsightsShareLinkByHash :one
-- Index: insights_share_links_hash_key (hash).
select sqlc.embed(l), s.organization_id
from insights_share_links l join sites s on s.id = l.site_id
where l.hash = $1 and (l.expires_at is null or l.expires_at > now());

-- name: InsightsShareLinkInUse :one
-- Every request of a session reads its link, so that the session ends with the link.
select sqlc.embed(l), s.organization_id, s.store_clear_ids
from insights_share_links l join sites s on s.id = l.site_id
where l.id = $1 and (l.expires_at is null or l.expires_at > now());

-- name: UpdateInsightsShareLink :one
update insights_share_links set
    name = coalesce(sqlc.narg(name), name), filters = coalesce(sqlc.narg(filters), filters),
    segments = coalesce(sqlc.narg(segments)::text[], segments), ranges = coalesce(sqlc.narg(ranges), ranges),
    timezone = coalesce(sqlc.narg(timezone), timezone),
    expires_at = case when sqlc.arg(sets_expiry)::boolean then sqlc.narg(expires_at) else expires_at end,
    password = case when sqlc.arg(sets_password)::boolean then sqlc.narg(password) else password end,
    generation = generation + sqlc.arg(sets_password)::boolean::integer,
    updated_at = now()
where id = sqlc.arg(id) and site_id = sqlc.arg(site_id)
returning *;

-- name: DeleteInsightsShareLink :exec
delete from insights_share_links where id = sqlc.arg(id) and site_id = sqlc.arg(site_id);

-- name: ListInsightsShareLinks :many
-- Index: insights_share_links_site (site_id, id).
select * from insights_share_links
where site_id = sqlc.arg(site_id) and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountInsightsShareLinks :one
-- Index: insights_share_links_site.
select count(*) from insights_share_links where site_id = $1;
