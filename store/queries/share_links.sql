-- name: InsertShareLink :one
insert into share_links (id, site_id, name, key) values ($1, $2, $3, $4) returning *;

-- name: UpdateShareLink :one
update share_links set name = coalesce(sqlc.narg(name), name), active = coalesce(sqlc.narg(active), active)
where site_id = sqlc.arg(site_id) and id = sqlc.arg(id)
returning *;

-- name: DeleteShareLink :exec
delete from share_links where site_id = $1 and id = $2;

-- name: ActiveShareKey :one
-- Index: share_links_key_key (key).
select exists (select from share_links where key = $2 and site_id = $1 and active);

-- name: ListShareLinks :many
-- Index: share_links_site (site_id, id).
select * from share_links
where site_id = sqlc.arg(site_id)
  and id > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(search)::text is null
       or strpos(lower(name), lower(sqlc.narg(search))) > 0 or strpos(key, lower(sqlc.narg(key))) > 0)
order by id
limit sqlc.arg(page_size);

-- name: CountShareLinks :one
-- Index: share_links_site.
select count(*) from share_links
where site_id = sqlc.arg(site_id)
  and (sqlc.narg(search)::text is null
       or strpos(lower(name), lower(sqlc.narg(search))) > 0 or strpos(key, lower(sqlc.narg(key))) > 0);
