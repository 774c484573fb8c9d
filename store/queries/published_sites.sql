-- name: PublishedVersion :one
-- Which site a caller names, by its id or by its proved hostname, with the share link that the caller has, by its id or by its key.
-- Each change of what its row and PublishedParts say gives it another version: Postgres writes a new row with the number of the
-- transaction that wrote it.
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
-- What decides which part of a site an address leads to. A section wins over a site space of the default section that has its path;
-- the address of such a site space names the default section too.
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
-- Where readers find each of these spaces: in the published site that has the space and is open to most readers. Of
-- several such sites, a site that shows the space without a condition wins, and then the oldest site.
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
