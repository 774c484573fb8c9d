-- name: SetPositions :exec
-- Ids are unique among all tables, so each takes those that are its own.
with places as (
    select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(positions)::bigint[]) as position
), of_collections as (
    update collections t set position = p.position from places p where t.id = p.id
), of_spaces as (
    update spaces t set position = p.position from places p where t.id = p.id
), of_groups as (
    update site_section_groups t set position = p.position from places p where t.id = p.id
), of_sections as (
    update site_sections t set position = p.position from places p where t.id = p.id
)
update site_spaces t set position = p.position from places p where t.id = p.id;

-- name: ContentSiblings :many
-- Returns the last collections and spaces in a collection, the last first. A null collection means the top.
-- Collections and spaces share one order. A null limit means no limit.
select c.type, c.id, c.position
from placed_content c
where c.organization_id = sqlc.arg(organization_id)
  and (c.parent_id = sqlc.narg(parent_id) or (sqlc.narg(parent_id)::text is null and c.parent_id is null))
order by c.position desc, c.id desc
limit sqlc.narg(most);

-- name: SectionSiblings :many
-- The sections and groups below a group, or at the root: they share one order.
select s.id, s.position, 'site-section'::text as type
from site_sections s where s.site_id = sqlc.arg(site_id) and s.group_id is not distinct from sqlc.narg(group_id)
union all
select g.id, g.position, 'site-section-group'::text
from site_section_groups g where g.site_id = sqlc.arg(site_id) and g.parent_id is not distinct from sqlc.narg(group_id)
order by position, id;
