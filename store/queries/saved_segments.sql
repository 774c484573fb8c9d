-- name: InsertSavedSegment :one
insert into saved_segments (id, site_id, owner_id, name, filters, created_by) values ($1, $2, $3, $4, $5, $6)
returning *;

-- name: SavedSegmentByID :one
-- Index: saved_segments_site (site_id, id).
select * from saved_segments
where id = sqlc.arg(id) and site_id = sqlc.arg(site_id)
  and (owner_id is null or owner_id = sqlc.arg(user_id)::text);

-- name: UpdateSavedSegment :one
update saved_segments set
    name = coalesce(sqlc.narg(name), name), filters = coalesce(sqlc.narg(filters), filters), updated_at = now()
where id = sqlc.arg(id) and site_id = sqlc.arg(site_id)
returning *;

-- name: DeleteSavedSegment :exec
delete from saved_segments where id = sqlc.arg(id) and site_id = sqlc.arg(site_id);

-- name: ListSavedSegments :many
-- Index: saved_segments_site (site_id, id).
select * from saved_segments
where site_id = sqlc.arg(site_id) and id > sqlc.arg(after)::text collate "C"
  and (owner_id is null or owner_id = sqlc.arg(user_id)::text)
order by id
limit sqlc.arg(page_size);

-- name: CountSavedSegments :one
-- Index: saved_segments_site.
select count(*) from saved_segments
where site_id = sqlc.arg(site_id) and (owner_id is null or owner_id = sqlc.arg(user_id)::text);
