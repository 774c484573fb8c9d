-- name: PublishedVersion :one
-- Returns the site that a caller names by its id or its proved hostname. The caller may also have a share link, by
-- the link's id or key. Each change of the site's row or of PublishedParts changes the version. The version is the
-- number of the transaction that wrote the row.
-- Index: sites_pkey.
-- Sorts: the parts of one site.
select s.id, l.id as share_link, l.key as share_key,
       exists (select 1 from site_redirects r where r.site_id = s.id and not r.draft) as has_redirects,
       (s.xmin::text
           || '|' || coalesce((select string_agg(p.xmin::text, ',' order by p.rank) from site_spaces p where p.site_id = s.id), '')
           || '|' || coalesce((select string_agg(c.xmin::text, ',' order by c.rank) from site_sections c where c.site_id = s.id), ''))::text as version
from sites s
    left join share_links l on l.site_id = s.id and l.active
        and (l.id = sqlc.narg(share_link)::text or l.key = sqlc.narg(share_key)::text)
where s.id = coalesce(sqlc.narg(id)::text,
    (select h.id from sites h where h.hostname = sqlc.narg(hostname)::text and h.hostname_proved_at is not null));

-- name: PublishedParts :many
-- Returns the parts of a site that determine the target of an address. A section has precedence over a site space of
-- the default section with its path. The address of such a site space also names the default section.
-- Index: site_spaces_rank (site_id, rank).
-- Sorts: the site spaces of one site.
select l.id, l.space_id, l.path, l.is_default, l.condition, l.section_id, s.path as section_path,
       coalesce(s.is_default, true)::boolean as section_default,
       (o.id is not null)::boolean as section_named, s.condition as section_condition
from site_spaces l left join site_sections s on s.id = l.section_id
    left join site_sections o on o.site_id = l.site_id and o.path = l.path and s.is_default and not l.is_default
where l.site_id = $1
order by l.rank;

-- name: PlacesOfSpaces :many
-- Returns the place where readers find each of these spaces. It is in the published site that has the space and is
-- open to most readers. Of several such sites, a site that shows the space without a condition has precedence, and then
-- the oldest site.
-- Index: site_spaces_once (space_id, site_id).
-- Sorts: the published sites of one page of spaces.
select distinct on (l.space_id) sqlc.embed(s), l.id, l.space_id, l.path, l.is_default, l.condition, l.section_id, c.path as section_path,
       coalesce(c.is_default, true)::boolean as section_default,
       (o.id is not null)::boolean as section_named, c.condition as section_condition
from site_spaces l join sites s on s.id = l.site_id and s.published left join site_sections c on c.id = l.section_id
    left join site_sections o on o.site_id = l.site_id and o.path = l.path and c.is_default and not l.is_default
where l.space_id = any(sqlc.arg(spaces)::text[])
order by l.space_id, array_position(array['public', 'unlisted', 'share-link', 'visitor-auth'], s.visibility),
         (l.condition is not null or c.condition is not null), s.id, l.rank;
