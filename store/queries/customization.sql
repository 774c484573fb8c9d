-- name: SiteCustomization :one
select settings from site_customizations where site_id = $1;

-- name: SaveSiteCustomization :exec
insert into site_customizations (site_id, settings) values ($1, $2)
on conflict (site_id) do update set settings = excluded.settings, updated_at = now();

-- name: LockSiteSpace :one
-- This lock lets changes of one site space's overrides wait for each other. The first change has no row of overrides to
-- lock, so it locks the site space.
select id from site_spaces where id = sqlc.arg(site_space_id) and site_id = sqlc.arg(site_id) for update;

-- name: SiteSpaceCustomization :one
-- Returns the settings of the site and the overrides of the site space. Unset ones are null. There is no row for
-- another site's site space.
select c.settings, o.overrides
from site_spaces l
left join site_customizations c on c.site_id = l.site_id
left join site_space_customizations o on o.site_space_id = l.id
where l.id = sqlc.arg(site_space_id) and l.site_id = sqlc.arg(site_id);

-- name: SaveSiteSpaceCustomization :exec
insert into site_space_customizations (site_space_id, overrides) values ($1, $2)
on conflict (site_space_id) do update set overrides = excluded.overrides, updated_at = now();

-- name: DeleteSiteSpaceCustomization :exec
delete from site_space_customizations o using site_spaces l
where o.site_space_id = l.id and l.id = sqlc.arg(site_space_id) and l.site_id = sqlc.arg(site_id);

-- name: CustomizationsOfSite :many
-- Returns the settings of the site, and the overrides of each of its site spaces. The site's own row has no id.
-- Index: site_spaces_rank (site_id, rank).
select ''::text as site_space_id, c.settings from site_customizations c where c.site_id = sqlc.arg(site_id)
union all
select l.id::text, o.overrides
from site_spaces l left join site_space_customizations o on o.site_space_id = l.id
where l.site_id = sqlc.arg(site_id);
