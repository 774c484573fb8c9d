-- name: PublishedVersion :one
-- Which site a caller names, by its id or by its proved hostname, with the share link that the caller has, by its id or by its key.
-- Each change of what its row and PublishedParts say gives it another version: Postgres writes a new row with the number of the
-- transaction that wrote it.
-- Index: sites_pkey.
-- Sorts: the parts of one site.
select s.id, l.id as share_link, l.key as share_key,
       exists (select 1 from site_redirects r where r.site_id = s.id) as has_redirects,
       (s.xmin::text
           || '|' || coalesce((select string_agg(p.xmin::text, ',' order by p.rank) from site_spaces p where p.site_id = s.id), '')
           || '|' || coalesce((select string_agg(c.xmin::text, ',' order by c.rank) from site_sections c where c.site_id = s.id), ''))::text as version
from sites s
    left join share_links l on l.site_id = s.id and l.active
        and (l.id = sqlc.narg(share_link)::text or l.key = sqlc.narg(share_key)::text)
where s.id = coalesce(sqlc.narg(id)::text,
    (select h.id from sites h where h.hostname = sqlc.narg(hostname)::text and h.hostname_proved_at is not null));

-- name: PublishedParts :many
-- What decides which part of a site an address leads to.
-- Index: site_spaces_rank (site_id, rank).
-- Sorts: the site spaces of one site.
select l.id, l.space_id, l.path, l.is_default, l.condition, l.section_id, s.path as section_path,
       coalesce(s.is_default, true)::boolean as section_default, s.condition as section_condition
from site_spaces l left join site_sections s on s.id = l.section_id
where l.site_id = $1
order by l.rank;
