-- name: InsertSiteTokenKeyOnce :exec
-- A key whose tokens have long ended goes when the next one is made.
with ended as (
    delete from site_token_keys where created_at < deletion_time() - interval '30 days'
)
insert into site_token_keys (name, sealed, created_at) values ($1, $2, creation_time()) on conflict (name) do nothing;

-- name: SiteTokenKey :one
select sealed from site_token_keys where name = $1;

-- name: DeleteSiteTokenKeys :exec
delete from site_token_keys;
