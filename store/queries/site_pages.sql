-- The pages of a site's spaces, for lists of what is read.

-- name: SpaceIDsOfSite :many
-- Index: site_spaces_rank (site_id, rank).
select distinct l.space_id from site_spaces l where l.site_id = $1;

-- name: PagesOfSpaces :many
-- Returns the newest pages of spaces with links and groups, up to a limit. The owner is the user who changed the
-- page last: the author of the merged change request, or otherwise the author of the revision.
-- No index: both begin with the branch.
select p.space_id, p.page_id, p.parent_id, p.slug, (p.page ->> 'type')::text as kind,
       (p.page ->> 'title')::text as title, (p.page ->> 'updatedAt')::timestamptz as edited_at,
       coalesce(u.id, '')::text as owner_id,
       coalesce(u.display_name, '')::text as owner_name,
       case when p.page ->> 'document' is null then 0 else coalesce(d.words, -1) end::integer as words
from (
    select b.branch as space_id, b.page_id, b.parent_id, b.slug, b.page, b.since
    from branch_pages b
    where b.branch = any(sqlc.arg(spaces)::text[]) and b.until = 2147483647
    limit sqlc.arg(most)
) p
    left join revisions r on r.branch = p.space_id and r.seq = p.since
    left join change_requests c on c.id = r.change_request_id
    left join users u on u.id = coalesce(c.created_by, r.created_by)
    left join documents d on d.space_id = p.space_id and d.hash = p.page ->> 'document';
