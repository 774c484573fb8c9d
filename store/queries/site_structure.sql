-- name: RankSite :exec
-- Ranks are the positions from the root down, so that they sort like the structure. Each rank begins with the parent's
-- rank.
with recursive tree as (
    select r.id, lpad(to_hex(r.position), 16, '0') as rank
    from site_section_groups r where r.site_id = sqlc.arg(site_id) and r.parent_id is null
    union all
    select g.id, t.rank || lpad(to_hex(g.position), 16, '0')
    from site_section_groups g join tree t on g.parent_id = t.id
), sections as (
    select s.id, coalesce(t.rank, '') || lpad(to_hex(s.position), 16, '0') as rank
    from site_sections s left join tree t on t.id = s.group_id
    where s.site_id = sqlc.arg(site_id)
), spaces as (
    select l.id, coalesce(s.rank, '') || lpad(to_hex(l.position), 16, '0') as rank
    from site_spaces l left join sections s on s.id = l.section_id
    where l.site_id = sqlc.arg(site_id)
), groups_ranked as (
    update site_section_groups g set rank = t.rank from tree t where g.id = t.id and g.rank <> t.rank
), sections_ranked as (
    update site_sections s set rank = r.rank from sections r where s.id = r.id and s.rank <> r.rank
)
update site_spaces l set rank = r.rank from spaces r where l.id = r.id and l.rank <> r.rank;

-- name: SiteSpaceSiblings :many
select * from site_spaces
where site_id = sqlc.arg(site_id) and section_id is not distinct from sqlc.narg(section_id)
order by position, id;

-- name: AllSections :many
-- Index: site_sections_rank (site_id, rank).
select * from site_sections where site_id = $1 order by rank;

-- name: AllSectionGroups :many
-- Index: site_section_groups_rank (site_id, rank).
-- Sorts: the groups of one site.
select * from site_section_groups where site_id = $1 order by rank;

-- name: AllSiteSpaces :many
-- Index: site_spaces_rank (site_id, rank).
select sqlc.embed(l), sqlc.embed(sp), s.path as section_path, coalesce(s.is_default, true)::boolean as section_default,
       (o.id is not null)::boolean as section_named
from site_spaces l join spaces sp on sp.id = l.space_id left join site_sections s on s.id = l.section_id
    left join site_sections o on o.site_id = l.site_id and o.path = l.path and s.is_default and not l.is_default
where l.site_id = $1
order by l.rank;
