-- name: InsertSectionGroup :one
insert into site_section_groups (id, site_id, parent_id, title, icon, position) values ($1, $2, $3, $4, $5, $6) returning *;

-- name: SectionGroup :one
select * from site_section_groups where site_id = $1 and id = $2;

-- name: UpdateSectionGroup :exec
update site_section_groups set
    title = coalesce(sqlc.narg(title), title),
    icon = case when sqlc.arg(set_icon)::boolean then sqlc.narg(icon) else icon end
where id = sqlc.arg(id);

-- name: DeleteSectionGroup :exec
delete from site_section_groups where id = $1;

-- name: PlaceSectionGroups :exec
update site_section_groups g set parent_id = sqlc.narg(parent_id), position = x.position
from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(positions)::bigint[]) as position) x
where g.id = x.id;

-- name: ListSectionGroups :many
-- Index: site_section_groups_rank (site_id, rank).
select * from site_section_groups
where site_id = sqlc.arg(site_id) and rank > sqlc.arg(after)::text collate "C"
order by rank
limit sqlc.arg(page_size);

-- name: CountSectionGroups :one
-- Index: site_section_groups_rank.
select count(*) from site_section_groups where site_id = sqlc.arg(site_id);
