-- name: PublishedSite :one
-- The site with the share link that a caller has: by its id, or by its key.
-- Index: sites_pkey.
select sqlc.embed(s), l.id as share_link, l.key as share_key
from sites s
    left join share_links l on l.site_id = s.id and l.active
        and (l.id = sqlc.narg(share_link)::text or l.key = sqlc.narg(share_key)::text)
where s.id = sqlc.arg(id);

-- name: PublishedParts :many
-- What decides which part of a site an address leads to.
-- Index: site_spaces_rank (site_id, rank).
-- Sorts: the site spaces of one site.
select l.id, l.space_id, l.path, l.is_default, l.condition, l.section_id, s.path as section_path,
       coalesce(s.is_default, true)::boolean as section_default, s.condition as section_condition
from site_spaces l left join site_sections s on s.id = l.section_id
where l.site_id = $1
order by l.rank;
