-- name: InsertPublishableKey :one
insert into publishable_keys (id, site_id, name, hosts, daily_cap, respect_gpc) values ($1, $2, $3, $4, $5, $6)
returning *;

-- name: PublishableKeyByID :one
select * from publishable_keys where id = sqlc.arg(id) and site_id = sqlc.arg(site_id);

-- name: PublishableKeyWithSite :one
-- Returns a key that a browser sends, with the facts about its site that the intake needs.
select sqlc.embed(k), s.organization_id, s.store_clear_ids
from publishable_keys k join sites s on s.id = k.site_id
where k.id = sqlc.arg(id);

-- name: UpdatePublishableKey :one
update publishable_keys set
    name = coalesce(sqlc.narg(name), name), hosts = coalesce(sqlc.narg(hosts)::text[], hosts),
    daily_cap = coalesce(sqlc.narg(daily_cap), daily_cap), respect_gpc = coalesce(sqlc.narg(respect_gpc), respect_gpc)
where id = sqlc.arg(id) and site_id = sqlc.arg(site_id)
returning *;

-- name: RotatePublishableKey :one
update publishable_keys set generation = generation + 1, previous_ends_at = sqlc.arg(previous_ends_at)::timestamptz
where id = sqlc.arg(id) and site_id = sqlc.arg(site_id) and generation < sqlc.arg(most)::integer
returning *;

-- name: DeletePublishableKey :exec
delete from publishable_keys where id = sqlc.arg(id) and site_id = sqlc.arg(site_id);

-- name: ListPublishableKeys :many
-- Index: publishable_keys_site (site_id, id).
select * from publishable_keys
where site_id = sqlc.arg(site_id) and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountPublishableKeys :one
-- Index: publishable_keys_site.
select count(*) from publishable_keys where site_id = $1;
