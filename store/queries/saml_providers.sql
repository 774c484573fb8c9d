-- name: InsertSAMLProvider :one
insert into saml_providers
    (id, organization_id, label, entity_id, certificate, certificate_usable, sso_url, default_role, default_team_id)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning *;

-- name: SAMLProviderByID :one
select * from saml_providers where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: UpdateSAMLProvider :one
-- The change is a single statement. So two concurrent changes of different members are both stored.
update saml_providers set
    label = coalesce(sqlc.narg(label), label),
    entity_id = case when sqlc.arg(set_entity_id)::boolean then sqlc.narg(entity_id) else entity_id end,
    certificate = case when sqlc.arg(set_certificate)::boolean then sqlc.narg(certificate) else certificate end,
    certificate_usable = case when sqlc.arg(set_certificate)::boolean then sqlc.arg(certificate_usable) else certificate_usable end,
    sso_url = case when sqlc.arg(set_sso_url)::boolean then sqlc.narg(sso_url) else sso_url end,
    default_role = case when sqlc.arg(set_default_role)::boolean then sqlc.narg(default_role) else default_role end,
    default_team_id = case when sqlc.arg(set_default_team)::boolean then sqlc.narg(default_team) else default_team_id end
where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id)
returning *;

-- name: DeleteSAMLProvider :exec
delete from saml_providers where id = sqlc.arg(id) and organization_id = sqlc.arg(organization_id);

-- name: DeleteSAMLProviders :exec
delete from saml_providers where organization_id = $1;

-- name: ListSAMLProviders :many
-- Index: saml_providers_organization (organization_id, id).
select * from saml_providers
where organization_id = sqlc.arg(organization_id) and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountSAMLProviders :one
-- No index: every index that starts with the organization does as well.
select count(*) from saml_providers where organization_id = $1;

-- name: ActiveSAMLProviders :many
select id, label from saml_providers where organization_id = $1 and active order by id;

-- name: TeamsByID :many
select * from teams where id = any(sqlc.arg(ids)::text[]);
