-- name: InsertSection :one
insert into site_sections (id, site_id, title, path, icon, is_default, position)
values ($1, $2, $3, $4, $5, $6, $7) returning *;

-- name: Section :one
select * from site_sections where site_id = $1 and id = $2;

-- name: DefaultSection :one
-- Index: site_sections_default (site_id).
select * from site_sections where site_id = $1 and is_default;

-- name: SectionPaths :many
-- Index: site_sections_path (site_id, path).
select path from site_sections where site_id = $1;

-- name: UpdateSection :one
-- A null argument leaves a member unchanged. For some members null is a value; these have a set_ argument.
update site_sections set
    title = coalesce(sqlc.narg(title), title),
    path = coalesce(sqlc.narg(path), path),
    condition = case when sqlc.arg(set_condition)::boolean then sqlc.narg(condition) else condition end,
    icon = case when sqlc.arg(set_icon)::boolean then sqlc.narg(icon) else icon end,
    description = case when sqlc.arg(set_description)::boolean then sqlc.narg(description) else description end
where id = sqlc.arg(id)
returning *;

-- name: DeleteSection :exec
delete from site_sections where id = $1;

-- name: ClearDefaultSection :exec
update site_sections set is_default = false where site_id = $1 and is_default;

-- name: SetDefaultSection :exec
update site_sections set is_default = true where id = $1;

-- name: PromoteSection :exec
-- When the default is deleted, the next in order becomes the default; after the last, the first.
update site_sections set is_default = true
where id = (select s.id from site_sections s where s.site_id = sqlc.arg(site_id) order by s.rank < sqlc.arg(after), s.rank limit 1);

-- name: PlaceSections :exec
update site_sections s set group_id = sqlc.narg(group_id), position = x.position
from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(positions)::bigint[]) as position) x
where s.id = x.id;

-- name: SectionsAmong :many
select id from site_sections where site_id = sqlc.arg(site_id) and id = any(sqlc.arg(ids)::text[]);

-- name: ListSections :many
-- Index: site_sections_rank (site_id, rank).
select * from site_sections
where site_id = sqlc.arg(site_id) and rank > sqlc.arg(after)::text collate "C"
order by rank
limit sqlc.arg(page_size);

-- name: CountSections :one
-- Index: site_sections_rank.
select count(*) from site_sections where site_id = sqlc.arg(site_id);
