-- name: InsertInstallation :one
insert into integration_installations (id, integration, organization_id, scopes, user_id) values ($1, $2, $3, $4, $5) returning *;

-- name: InstallationByID :one
-- An installation of an integration with the manifest that its configuration must fit.
select sqlc.embed(n), i.manifest
from integration_installations n join integrations i on i.name = n.integration
where n.id = sqlc.arg(id) and n.integration = sqlc.arg(integration);

-- name: InstallationForUser :one
-- An installation in an organization that the user is in.
select sqlc.embed(n), i.manifest, m.role
from integration_installations n
join integrations i on i.name = n.integration
join memberships m on m.organization_id = n.organization_id and m.user_id = sqlc.arg(user_id)
where n.id = sqlc.arg(id) and n.integration = sqlc.arg(integration);

-- name: LockInstallation :one
-- Every change of an installation holds this lock until its transaction ends, so that its events are in order.
select * from integration_installations where id = $1 for update;

-- name: UpdateInstallation :one
-- Null leaves a member as it is.
update integration_installations set
    configuration = coalesce(sqlc.narg(configuration), configuration),
    external_ids = coalesce(sqlc.narg(external_ids)::text[], external_ids),
    scopes = coalesce(sqlc.narg(scopes)::text[], scopes),
    paused = coalesce(sqlc.narg(paused), paused),
    space_selection = coalesce(sqlc.narg(space_selection), space_selection),
    site_selection = coalesce(sqlc.narg(site_selection), site_selection),
    updated_at = now()
where id = sqlc.arg(id)
returning *;

-- name: DeleteInstallation :exec
delete from integration_installations where id = $1;

-- name: DeleteInstallations :exec
-- Installations of all integrations in an organization.
delete from integration_installations where organization_id = $1;

-- name: ListInstallationsOfIntegration :many
-- Index: integration_installations_integration (integration, id).
select n.*
from integration_installations n
where n.integration = sqlc.arg(integration) and n.id > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(external_id)::text is null or sqlc.narg(external_id) = any(n.external_ids))
order by n.id
limit sqlc.arg(page_size);

-- name: CountInstallationsOfIntegration :one
-- Index: integration_installations_integration.
select count(*) from integration_installations n
where n.integration = sqlc.arg(integration)
  and (sqlc.narg(external_id)::text is null or sqlc.narg(external_id) = any(n.external_ids));

-- name: ListInstallationsInOrganization :many
-- Index: integration_installations_organization (organization_id, id).
select sqlc.embed(n), i.name, i.version, i.verified, i.manifest, i.icon, i.preview_images, sqlc.embed(o),
    (m.user_id is not null)::boolean as is_member, m.role
from integration_installations n
join integrations i on i.name = n.integration
join organizations o on o.id = i.organization_id
left join memberships m on m.organization_id = o.id and m.user_id = sqlc.arg(user_id)
where n.organization_id = sqlc.arg(organization_id) and n.id > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(search)::text is null or strpos(lower(i.name), lower(sqlc.narg(search))) > 0
       or strpos(lower(i.title), lower(sqlc.narg(search))) > 0)
order by n.id
limit sqlc.arg(page_size);

-- name: CountInstallationsInOrganization :one
-- Index: integration_installations_organization.
select count(*)
from integration_installations n join integrations i on i.name = n.integration
where n.organization_id = sqlc.arg(organization_id)
  and (sqlc.narg(search)::text is null or strpos(lower(i.name), lower(sqlc.narg(search))) > 0
       or strpos(lower(i.title), lower(sqlc.narg(search))) > 0);

-- name: InstallationInOrganization :one
select sqlc.embed(n), i.manifest
from integration_installations n join integrations i on i.name = n.integration
where n.organization_id = sqlc.arg(organization_id) and n.integration = sqlc.arg(integration);

-- name: CountInstalledSpaces :many
-- Index: spaces_organization.
-- How many spaces each of these installations is for.
select n.id, case n.space_selection
    when 'all' then (select count(*) from spaces s where s.organization_id = n.organization_id)
    else (select count(*) from integration_content_installations c where c.installation_id = n.id and c.space_id is not null)
    end::bigint as spaces
from integration_installations n where n.id = any(sqlc.arg(ids)::text[]);

-- name: SpaceOfInstallation :one
-- Returns a space of an installation. A paused installation has no spaces.
select sqlc.embed(s)
from spaces s join integration_installations n on n.organization_id = s.organization_id
where s.id = sqlc.arg(space_id) and n.id = sqlc.arg(installation_id) and not n.paused
  and (n.space_selection = 'all' or exists (
       select 1 from integration_content_installations c where c.installation_id = n.id and c.space_id = s.id));

-- name: SiteOfInstallation :one
select sqlc.embed(s), (select count(*) from site_spaces l where l.site_id = s.id) as site_spaces
from sites s join integration_installations n on n.organization_id = s.organization_id
where s.id = sqlc.arg(site_id) and s.organization_id = sqlc.arg(organization_id) and n.id = sqlc.arg(installation_id) and not n.paused
  and (n.site_selection = 'all' or exists (
       select 1 from integration_content_installations c where c.installation_id = n.id and c.site_id = s.id));

-- name: OrganizationOfInstallation :one
select sqlc.embed(o)
from organizations o join integration_installations n on n.organization_id = o.id
where n.id = sqlc.arg(installation_id) and o.id = sqlc.arg(organization_id) and not n.paused;

-- name: InsertContentInstallation :one
-- On a space or a site of the organization; no row if it is not there.
insert into integration_content_installations (installation_id, space_id, site_id)
select n.id, s.id, t.id
from integration_installations n
left join spaces s on s.organization_id = n.organization_id and s.id = sqlc.narg(space_id)::text
left join sites t on t.organization_id = n.organization_id and t.id = sqlc.narg(site_id)::text
where n.id = sqlc.arg(installation_id) and num_nonnulls(s.id, t.id) = 1
returning *;

-- name: ContentInstallation :one
select * from integration_content_installations
where installation_id = sqlc.arg(installation_id)
  and (space_id = sqlc.narg(space_id)::text or site_id = sqlc.narg(site_id)::text);

-- name: UpdateContentInstallation :one
-- Null leaves a member as it is.
update integration_content_installations set
    configuration = coalesce(sqlc.narg(configuration), configuration),
    external_ids = coalesce(sqlc.narg(external_ids)::text[], external_ids),
    updated_at = now()
where installation_id = sqlc.arg(installation_id)
  and (space_id = sqlc.narg(space_id)::text or site_id = sqlc.narg(site_id)::text)
returning *;

-- name: DeleteContentInstallation :exec
delete from integration_content_installations
where installation_id = sqlc.arg(installation_id)
  and (space_id = sqlc.narg(space_id)::text or site_id = sqlc.narg(site_id)::text);

-- name: ListInstallationSpaces :many
-- Index: integration_content_installations_installation_id_space_id_key (installation_id, space_id).
select * from integration_content_installations
where installation_id = sqlc.arg(installation_id) and space_id > sqlc.arg(after)::text collate "C"
order by space_id
limit sqlc.arg(page_size);

-- name: CountInstallationSpaces :one
-- Index: integration_content_installations_installation_id_space_id_key.
select count(*) from integration_content_installations where installation_id = $1 and space_id is not null;

-- name: ListInstallationSites :many
-- Index: integration_content_installations_installation_id_site_id_key (installation_id, site_id).
select * from integration_content_installations
where installation_id = sqlc.arg(installation_id) and site_id > sqlc.arg(after)::text collate "C"
order by site_id
limit sqlc.arg(page_size);

-- name: CountInstallationSites :one
-- Index: integration_content_installations_installation_id_site_id_key.
select count(*) from integration_content_installations where installation_id = $1 and site_id is not null;

-- name: InsertIntegrationToken :exec
insert into integration_tokens (id, hash, integration, installation_id, expires_at) values ($1, $2, $3, $4, $5);

-- name: DeleteOldIntegrationTokens :exec
-- Deletes tokens that have ended, and the oldest tokens beyond the holder's limit.
delete from integration_tokens t
where t.integration = sqlc.arg(integration) and t.installation_id is not distinct from sqlc.narg(installation_id)::text
  and (t.expires_at <= deletion_time() or t.id <= (
       select k.id from integration_tokens k
       where k.integration = sqlc.arg(integration) and k.installation_id is not distinct from sqlc.narg(installation_id)::text
       order by k.id desc offset sqlc.arg(kept) limit 1));

-- name: IntegrationTokenByHash :one
-- Scopes are the scopes that the integration requests now and that the organization has allowed.
select t.id, t.integration, t.installation_id, t.expires_at, i.organization_id as owner, n.organization_id, n.user_id,
    array(select unnest(n.scopes) intersect select unnest(i.scopes))::text[] as scopes
from integration_tokens t
join integrations i on i.name = t.integration
left join integration_installations n on n.id = t.installation_id
where t.hash = $1 and t.expires_at > now() and (t.installation_id is null or not n.paused);

-- name: InsertIntegrationEvent :exec
insert into integration_events (id, integration, installation_id, payload, status, logs) values ($1, $2, $3, $4, $5, $6);

-- name: DeleteOldIntegrationEvents :exec
delete from integration_events e
where e.integration = sqlc.arg(integration) and e.id <= (
    select k.id from integration_events k where k.integration = sqlc.arg(integration) order by k.id desc offset sqlc.arg(kept) limit 1);

-- name: ListIntegrationEvents :many
-- Index: integration_events_integration (integration, id).
-- The newest first. Those that a tunnel has yet to get are left out.
select * from integration_events
where integration = sqlc.arg(integration) and (sqlc.arg(before)::text = '' or id < sqlc.arg(before)::text collate "C") and status is not null
order by id desc
limit sqlc.arg(page_size);

-- name: CountIntegrationEvents :one
-- Index: integration_events_integration.
select count(*) from integration_events where integration = $1 and status is not null;

-- name: IntegrationEvent :one
select * from integration_events where integration = sqlc.arg(integration) and id = sqlc.arg(id);

-- name: IntegrationEventByID :one
select * from integration_events where id = $1;

-- name: FinishIntegrationEvent :exec
-- Every attempt adds to the log; a success stays one.
update integration_events set status = case status when 'success' then status else sqlc.arg(status) end, logs = logs || sqlc.arg(logs)::jsonb
where id = sqlc.arg(id);
