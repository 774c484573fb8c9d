-- name: InsertVisitorAuthOnce :exec
insert into site_visitor_auth (site_id, key) values ($1, $2) on conflict (site_id) do nothing;

-- name: VisitorAuth :one
select * from site_visitor_auth where site_id = $1;

-- name: SetVisitorAuthKey :exec
insert into site_visitor_auth (site_id, key) values ($1, $2)
on conflict (site_id) do update set key = excluded.key, updated_at = now();

-- name: SetVisitorFallback :exec
update site_visitor_auth set fallback_url = sqlc.narg(fallback_url), updated_at = now() where site_id = sqlc.arg(site_id);
