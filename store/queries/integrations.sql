-- name: PublishIntegration :one
-- A name belongs to the organization that published it first; another one gets no row. Concurrent publishers wait for each other on
-- the row, so that each gets a version of its own.
insert into integrations (name, organization_id, visibility, target, manifest, script, secrets, title, scopes, categories,
    block_domains, has_blocks, has_content_sources, icon, preview_images)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
on conflict (name) do update set
    version = integrations.version + 1, visibility = excluded.visibility, target = excluded.target, manifest = excluded.manifest,
    script = excluded.script, secrets = excluded.secrets, title = excluded.title, scopes = excluded.scopes,
    categories = excluded.categories, block_domains = excluded.block_domains, has_blocks = excluded.has_blocks,
    has_content_sources = excluded.has_content_sources, icon = excluded.icon, preview_images = excluded.preview_images,
    updated_at = now()
where integrations.organization_id = excluded.organization_id
returning *;

-- name: DeleteOtherIntegrationAssets :exec
delete from integration_assets where integration = sqlc.arg(integration) and id <> all(sqlc.arg(keep)::text[]);

-- name: InsertIntegrationAsset :exec
insert into integration_assets (integration, id, content_type, content) values ($1, $2, $3, $4) on conflict do nothing;

-- name: IntegrationAsset :one
select content_type, content from integration_assets where integration = $1 and id = $2;

-- name: IntegrationSecrets :one
select secrets from integrations where name = $1;

-- name: IntegrationForUser :one
-- Returns an integration that the user may see. The integration is not private, or it belongs to an organization of
-- the user.
select i.name, i.version, i.verified, i.manifest, i.icon, i.preview_images, sqlc.embed(o),
    (m.user_id is not null)::boolean as is_member, m.role
from integrations i
join organizations o on o.id = i.organization_id
left join memberships m on m.organization_id = o.id and m.user_id = sqlc.arg(user_id)
where i.name = sqlc.arg(name) and (i.visibility <> 'private' or m.user_id is not null);

-- name: ListIntegrations :many
-- Index: integrations_public (name) of public ones. ListOwnIntegrations lists an organization's own integrations,
-- including private ones.
select i.name, i.version, i.verified, i.manifest, i.icon, i.preview_images, sqlc.embed(o),
    (m.user_id is not null)::boolean as is_member, m.role
from integrations i
join organizations o on o.id = i.organization_id
left join memberships m on m.organization_id = o.id and m.user_id = sqlc.arg(user_id)
where i.visibility = 'public'
  and i.name > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(search)::text is null or strpos(lower(i.name), lower(sqlc.narg(search))) > 0
       or strpos(lower(i.title), lower(sqlc.narg(search))) > 0)
  and (sqlc.narg(category)::text is null or sqlc.narg(category) = any(i.categories))
  and (sqlc.narg(scope)::text is null or sqlc.narg(scope) = any(i.scopes))
  and (sqlc.narg(target)::text is null or i.target = sqlc.narg(target))
  and (sqlc.narg(owner)::text is null or i.organization_id = sqlc.narg(owner))
  and (sqlc.narg(blocks)::boolean is null or i.has_blocks = sqlc.narg(blocks))
  and (sqlc.narg(content_sources)::boolean is null or i.has_content_sources = sqlc.narg(content_sources))
  and (sqlc.narg(block_domain)::text is null or exists (
       select 1 from unnest(i.block_domains) d
       where d = lower(sqlc.narg(block_domain)) or (starts_with(d, '*.') and right(lower(sqlc.narg(block_domain)), length(d) - 1) = substr(d, 2))))
order by i.name
limit sqlc.arg(page_size);

-- name: CountIntegrations :one
-- Index: integrations_public (name) of public ones.
select count(*)
from integrations i
where i.visibility = 'public'
  and (sqlc.narg(search)::text is null or strpos(lower(i.name), lower(sqlc.narg(search))) > 0
       or strpos(lower(i.title), lower(sqlc.narg(search))) > 0)
  and (sqlc.narg(category)::text is null or sqlc.narg(category) = any(i.categories))
  and (sqlc.narg(scope)::text is null or sqlc.narg(scope) = any(i.scopes))
  and (sqlc.narg(target)::text is null or i.target = sqlc.narg(target))
  and (sqlc.narg(owner)::text is null or i.organization_id = sqlc.narg(owner))
  and (sqlc.narg(blocks)::boolean is null or i.has_blocks = sqlc.narg(blocks))
  and (sqlc.narg(content_sources)::boolean is null or i.has_content_sources = sqlc.narg(content_sources))
  and (sqlc.narg(block_domain)::text is null or exists (
       select 1 from unnest(i.block_domains) d
       where d = lower(sqlc.narg(block_domain)) or (starts_with(d, '*.') and right(lower(sqlc.narg(block_domain)), length(d) - 1) = substr(d, 2))));

-- name: ListOwnIntegrations :many
-- Index: integrations_organization (organization_id, name).
-- Integrations of an organization. Members see private integrations, too.
select i.name, i.version, i.verified, i.manifest, i.icon, i.preview_images, sqlc.embed(o),
    (m.user_id is not null)::boolean as is_member, m.role
from integrations i
join organizations o on o.id = i.organization_id
left join memberships m on m.organization_id = o.id and m.user_id = sqlc.arg(user_id)
where i.organization_id = sqlc.arg(owner)
  and i.name > sqlc.arg(after)::text collate "C"
  and (sqlc.narg(search)::text is null or strpos(lower(i.name), lower(sqlc.narg(search))) > 0
       or strpos(lower(i.title), lower(sqlc.narg(search))) > 0)
  and (sqlc.narg(category)::text is null or sqlc.narg(category) = any(i.categories))
  and (sqlc.narg(scope)::text is null or sqlc.narg(scope) = any(i.scopes))
  and (sqlc.narg(target)::text is null or i.target = sqlc.narg(target))
  and (sqlc.narg(blocks)::boolean is null or i.has_blocks = sqlc.narg(blocks))
  and (sqlc.narg(content_sources)::boolean is null or i.has_content_sources = sqlc.narg(content_sources))
  and (sqlc.narg(block_domain)::text is null or exists (
       select 1 from unnest(i.block_domains) d
       where d = lower(sqlc.narg(block_domain)) or (starts_with(d, '*.') and right(lower(sqlc.narg(block_domain)), length(d) - 1) = substr(d, 2))))
order by i.name
limit sqlc.arg(page_size);

-- name: CountOwnIntegrations :one
-- Index: integrations_organization.
select count(*)
from integrations i
where i.organization_id = sqlc.arg(owner)
  and (sqlc.narg(search)::text is null or strpos(lower(i.name), lower(sqlc.narg(search))) > 0
       or strpos(lower(i.title), lower(sqlc.narg(search))) > 0)
  and (sqlc.narg(category)::text is null or sqlc.narg(category) = any(i.categories))
  and (sqlc.narg(scope)::text is null or sqlc.narg(scope) = any(i.scopes))
  and (sqlc.narg(target)::text is null or i.target = sqlc.narg(target))
  and (sqlc.narg(blocks)::boolean is null or i.has_blocks = sqlc.narg(blocks))
  and (sqlc.narg(content_sources)::boolean is null or i.has_content_sources = sqlc.narg(content_sources))
  and (sqlc.narg(block_domain)::text is null or exists (
       select 1 from unnest(i.block_domains) d
       where d = lower(sqlc.narg(block_domain)) or (starts_with(d, '*.') and right(lower(sqlc.narg(block_domain)), length(d) - 1) = substr(d, 2))));

-- name: OrganizationByIDOrHostname :one
-- The organization that the user names by its id or its hostname, with the user's role there.
select sqlc.embed(o), m.role
from memberships m join organizations o on o.id = m.organization_id
where m.user_id = sqlc.arg(user_id)
  and (o.id = sqlc.arg(name) or (to_jsonb(o) ->> 'hostname') = sqlc.arg(name)::text)
order by o.id = sqlc.arg(name) desc
limit 1;

-- name: IntegrationByName :one
select i.name, i.version, i.verified, i.manifest, i.icon, i.preview_images, sqlc.embed(o)
from integrations i join organizations o on o.id = i.organization_id
where i.name = $1;

-- name: DeleteIntegration :execrows
-- Its installations, in other organizations too, go with it, and so do the tokens of both.
delete from integrations where name = $1;

-- name: InsertIntegrationVersion :exec
insert into integration_versions (integration, version, title, runtime, scopes, script_hash, script_bytes, published_by)
values ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: DeleteOldIntegrationScripts :exec
delete from integration_scripts where integration = $1 and version <= sqlc.arg(newest)::integer - sqlc.arg(kept)::integer;

-- name: IntegrationVersion :one
-- A version with its script. Old versions have lost their scripts.
select sqlc.embed(v), coalesce(s.script, case when i.version = v.version then i.script end, '')::text as script
from integration_versions v
    join integrations i on i.name = v.integration
    left join integration_scripts s on s.integration = v.integration and s.version = v.version
where v.integration = $1 and v.version = $2;

-- name: DeleteOldIntegrationVersions :exec
delete from integration_versions where integration = $1 and version <= sqlc.arg(newest)::integer - sqlc.arg(kept)::integer;

-- name: ListIntegrationVersions :many
-- Index: integration_versions_pkey (integration, version).
select * from integration_versions
where integration = $1 and version < sqlc.arg(before)
order by version desc
limit sqlc.arg(page_size);

-- name: CountIntegrationVersions :one
-- Index: integration_versions_pkey.
select count(*) from integration_versions where integration = $1;

-- name: IntegrationAssets :many
-- Index: integration_assets_pkey.
-- Sorts: an integration has at most four pictures.
select id, content_type from integration_assets where integration = $1 order by id;

-- name: IntegrationTunnel :one
select organization_id, dev_tunnel, dev_all from integrations where name = $1;

-- name: SetIntegrationTunnel :exec
update integrations set dev_tunnel = sqlc.narg(tunnel), dev_all = sqlc.arg(everybody) where name = sqlc.arg(name);
