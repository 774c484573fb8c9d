-- name: InsertSiteSpaces :many
insert into site_spaces (id, site_id, section_id, space_id, path, is_default, position)
select x.id, sqlc.arg(site_id), sqlc.narg(section_id), x.space_id, x.path, x.id = sqlc.narg(default_id)::text is true, x.position
from (select unnest(sqlc.arg(ids)::text[]) as id, unnest(sqlc.arg(spaces)::text[]) as space_id, unnest(sqlc.arg(paths)::text[]) as path,
             unnest(sqlc.arg(positions)::bigint[]) as position) x
returning *;

-- name: SiteSpace :one
select * from site_spaces where site_id = $1 and id = $2;

-- name: SiteSpaceView :one
-- The site space with what its resource shows of its space and its section.
select sqlc.embed(l), sqlc.embed(sp), s.path as section_path, coalesce(s.is_default, true)::boolean as section_default,
       (o.id is not null)::boolean as section_named
from site_spaces l join spaces sp on sp.id = l.space_id left join site_sections s on s.id = l.section_id
    left join site_sections o on o.site_id = l.site_id and o.path = l.path and s.is_default and not l.is_default
where l.site_id = sqlc.arg(site_id) and l.id = sqlc.arg(id);

-- name: AccessToSiteSpaces :many
-- What decides about a user's access to the spaces of a site.
select s.id, coalesce(a.level, '')::text as level, a.grant_rank
from spaces s cross join access_to(sqlc.arg(user_id), s.id, s.default_level, s.parent_id) a
where s.id in (select l.space_id from site_spaces l where l.site_id = sqlc.arg(site_id));

-- name: SiteSpacesOfSections :many
-- Index: site_spaces_section (section_id, rank).
-- Sorts: the site spaces of one page of sections.
select sqlc.embed(l), sqlc.embed(sp), s.path as section_path, coalesce(s.is_default, true)::boolean as section_default,
       (o.id is not null)::boolean as section_named
from site_spaces l join spaces sp on sp.id = l.space_id left join site_sections s on s.id = l.section_id
    left join site_sections o on o.site_id = l.site_id and o.path = l.path and s.is_default and not l.is_default
where l.section_id = any(sqlc.arg(section_ids)::text[])
order by l.rank;

-- name: UpdateSiteSpace :exec
-- Null arguments leave a member as it is; the condition can be removed.
update site_spaces set
    path = coalesce(sqlc.narg(path), path),
    space_id = coalesce(sqlc.narg(space_id), space_id),
    hidden = coalesce(sqlc.narg(hidden), hidden),
    condition = case when sqlc.arg(set_condition)::boolean then sqlc.narg(condition) else condition end
where id = sqlc.arg(id);

-- name: DeleteSiteSpace :exec
-- A trigger makes another one the default where the default goes.
delete from site_spaces where site_id = $1 and id = $2;

-- name: ClearDefaultSiteSpace :exec
update site_spaces set is_default = false
where site_id = sqlc.arg(site_id) and section_id is not distinct from sqlc.narg(section_id) and is_default;

-- name: SetDefaultSiteSpace :exec
update site_spaces set is_default = true where id = $1;

-- name: PromoteSiteSpace :exec
select promote_site_space(sqlc.arg(site_id)::text, sqlc.narg(section_id)::text, sqlc.arg(after)::text);

-- name: PlaceSiteSpace :exec
update site_spaces set section_id = sqlc.narg(section_id), position = sqlc.arg(position), path = sqlc.arg(path) where id = sqlc.arg(id);

-- name: SectionTheRoot :exec
-- Moves the site spaces at the root of a site into its first section; the default stays it.
update site_spaces set section_id = sqlc.arg(section_id)
where site_id = sqlc.arg(site_id) and section_id is null;

-- name: ListSiteSpaces :many
-- Index: site_spaces_rank (site_id, rank).
select sqlc.embed(l), sqlc.embed(sp), s.path as section_path, coalesce(s.is_default, true)::boolean as section_default,
       (o.id is not null)::boolean as section_named
from site_spaces l join spaces sp on sp.id = l.space_id left join site_sections s on s.id = l.section_id
    left join site_sections o on o.site_id = l.site_id and o.path = l.path and s.is_default and not l.is_default
where l.site_id = sqlc.arg(site_id) and l.rank > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(is_default)::boolean is null or l.is_default = sqlc.narg(is_default))
order by l.rank
limit sqlc.arg(page_size);

-- name: CountSiteSpaces :one
-- Index: site_spaces_rank.
select count(*) from site_spaces
where site_id = sqlc.arg(site_id) and (sqlc.narg(is_default)::boolean is null or is_default = sqlc.narg(is_default));
