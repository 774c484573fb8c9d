-- name: InsertSiteRedirect :one
insert into site_redirects (id, site_id, source, source_key, kind, site_section_id, site_space_id, page_id, url, draft)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning *;

-- name: UpdateSiteRedirect :one
-- A destination is replaced as a whole; a null kind leaves it as it is.
update site_redirects set
    source = coalesce(sqlc.narg(source), source),
    source_key = coalesce(sqlc.narg(source_key), source_key),
    draft = coalesce(sqlc.narg(draft), draft),
    kind = coalesce(sqlc.narg(kind), kind),
    site_section_id = case when sqlc.narg(kind)::text is null then site_section_id else sqlc.narg(site_section_id) end,
    site_space_id = case when sqlc.narg(kind)::text is null then site_space_id else sqlc.narg(site_space_id) end,
    page_id = case when sqlc.narg(kind)::text is null then page_id else sqlc.narg(page_id) end,
    url = case when sqlc.narg(kind)::text is null then url else sqlc.narg(url) end
where site_id = sqlc.arg(site_id) and id = sqlc.arg(id)
returning *;

-- name: LockSiteRedirect :one
select * from site_redirects where site_id = $1 and id = $2 for update;

-- name: DeleteSiteRedirect :exec
delete from site_redirects where site_id = $1 and id = $2;

-- name: SiteRedirectBySource :one
-- A draft leads nowhere.
-- Index: site_redirects_source (source_key, site_id).
select * from site_redirects where site_id = $1 and source_key = $2 and not draft;

-- name: ListSiteRedirects :many
-- Index: site_redirects_site (site_id, id).
select * from site_redirects
where site_id = sqlc.arg(site_id)
  and id > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(search)::text is null or strpos(lower(source), lower(sqlc.narg(search))) > 0)
order by id
limit sqlc.arg(page_size);

-- name: CountSiteRedirects :one
-- Index: site_redirects_site.
select count(*) from site_redirects
where site_id = sqlc.arg(site_id)
  and (sqlc.narg(search)::text is null or strpos(lower(source), lower(sqlc.narg(search))) > 0);
