-- name: InsertSite :one
insert into sites (id, organization_id, type, title, visibility) values ($1, $2, $3, $4, $5) returning *;

-- name: LockSite :one
-- Every change of a site's structure holds this lock until its transaction ends. Others may still insert references to the site.
select * from sites where id = $1 for no key update;

-- name: UpdateSite :one
-- Null arguments leave a member as it is; the proxy can be removed.
update sites set
    title = coalesce(sqlc.narg(title), title),
    visibility = coalesce(sqlc.narg(visibility), visibility),
    basename = coalesce(sqlc.narg(basename), basename),
    adaptive_content = coalesce(sqlc.narg(adaptive_content), adaptive_content),
    agents_context = coalesce(sqlc.narg(agents_context), agents_context),
    anonymous_events = coalesce(sqlc.narg(anonymous_events), anonymous_events),
    proxy = case when sqlc.arg(set_proxy)::boolean then sqlc.narg(proxy) else proxy end,
    hostname = case when sqlc.arg(set_hostname)::boolean then sqlc.narg(hostname) else hostname end,
    -- Another name must be proved as well.
    hostname_proved_by = case when sqlc.arg(set_hostname)::boolean and hostname is distinct from sqlc.narg(hostname) then null else hostname_proved_by end,
    hostname_proved_at = case when sqlc.arg(set_hostname)::boolean and hostname is distinct from sqlc.narg(hostname) then null else hostname_proved_at end
where id = sqlc.arg(id)
returning *;

-- name: SetSitePublished :one
update sites set published = $2 where id = $1 returning *;

-- name: DeleteSite :exec
delete from sites where id = $1;

-- name: SiteForUser :one
-- The site with the user's role in its organization; no row if it is unknown or in another organization.
select sqlc.embed(s), m.role, (select count(*) from site_spaces l where l.site_id = s.id) as site_spaces
from sites s join memberships m on m.organization_id = s.organization_id
where s.id = sqlc.arg(site_id) and s.organization_id = sqlc.arg(organization_id) and m.user_id = sqlc.arg(user_id);

-- name: SiteByID :one
select * from sites where id = $1;

-- name: ListSites :many
-- Index: sites_organization (organization_id, id).
select sqlc.embed(s), (select count(*) from site_spaces l where l.site_id = s.id) as site_spaces
from sites s
where s.organization_id = sqlc.arg(organization_id)
  and s.id > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(title)::text is null or strpos(lower(s.title), lower(sqlc.narg(title))) > 0)
  and (sqlc.narg(published)::boolean is null or s.published = sqlc.narg(published))
  and (sqlc.narg(types)::text[] is null or s.type = any(sqlc.narg(types)))
  and (sqlc.narg(space)::text is null
       or exists (select 1 from site_spaces l where l.site_id = s.id and l.space_id = sqlc.narg(space)))
order by s.id
limit sqlc.arg(page_size);

-- name: CountSites :one
-- Index: sites_organization.
select count(*)
from sites s
where s.organization_id = sqlc.arg(organization_id)
  and (sqlc.narg(title)::text is null or strpos(lower(s.title), lower(sqlc.narg(title))) > 0)
  and (sqlc.narg(published)::boolean is null or s.published = sqlc.narg(published))
  and (sqlc.narg(types)::text[] is null or s.type = any(sqlc.narg(types)))
  and (sqlc.narg(space)::text is null
       or exists (select 1 from site_spaces l where l.site_id = s.id and l.space_id = sqlc.narg(space)));

-- name: SiteOfHostname :one
-- Index: sites_hostname.
select id from sites where hostname = $1 and hostname_proved_at is not null;

-- name: ProveHostname :one
-- An existing proof stays unchanged. There is no row if the site has another name now.
update sites set hostname_proved_by = coalesce(hostname_proved_by, sqlc.arg(proved_by)), hostname_proved_at = coalesce(hostname_proved_at, now())
where id = sqlc.arg(id) and hostname = sqlc.arg(hostname)::text
returning *;
