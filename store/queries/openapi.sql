-- name: ListOpenAPISpecs :many
-- Index: openapi_specs_organization (organization_id, id).
select * from openapi_specs
where organization_id = sqlc.arg(organization_id) and id > sqlc.arg(after)::text collate "C"
order by id
limit sqlc.arg(page_size);

-- name: CountOpenAPISpecs :one
-- Index: openapi_specs_organization (organization_id, id).
select count(*) from openapi_specs where organization_id = $1;

-- name: OpenAPISpec :one
select * from openapi_specs where organization_id = $1 and slug = $2;

-- name: InsertOpenAPISpec :one
-- No row when the slug is taken.
insert into openapi_specs (id, organization_id, slug, processing_state) values ($1, $2, $3, 'pending')
on conflict (organization_id, slug) do nothing returning *;

-- name: LockOpenAPISpec :one
-- Makes those who set the source of one specification wait for each other.
select * from openapi_specs where organization_id = $1 and slug = $2 for update;

-- name: SetOpenAPISpecSource :one
update openapi_specs set source_url = $2, processing_state = $3, versions = $4, last_version = $5, last_processed_at = $6,
    updated_at = now()
where id = $1 returning *;

-- name: InsertOpenAPISpecVersion :exec
insert into openapi_spec_versions (id, spec_id, number, hash, document) values ($1, $2, $3, $4, $5);

-- name: OpenAPISpecVersionHash :one
select hash from openapi_spec_versions where id = $1;

-- name: ListOpenAPISpecVersions :many
-- Index: openapi_spec_versions_spec_id_number_key (spec_id, number).
select v.id, v.number, v.source_url, v.created_at
from openapi_spec_versions v
where v.spec_id = sqlc.arg(spec_id) and v.number < sqlc.arg(before)
order by v.number desc
limit sqlc.arg(page_size);

-- name: CountOpenAPISpecVersions :one
-- Index: openapi_spec_versions_spec_id_number_key (spec_id, number).
select count(*) from openapi_spec_versions where spec_id = $1;

-- name: OpenAPISpecVersion :one
-- A version of an organization's specification; the newest one if none is named.
select v.id, v.number, v.source_url, v.created_at
from openapi_specs s join openapi_spec_versions v on v.spec_id = s.id
where s.organization_id = sqlc.arg(organization_id) and s.slug = sqlc.arg(slug)
  and v.id = coalesce(sqlc.narg(version)::text, s.last_version);

-- name: OpenAPISpecDocument :one
select document from openapi_spec_versions where id = $1;
