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

-- name: SetOpenAPISpecText :one
-- The text has been read: nothing is to be fetched any more.
update openapi_specs set source_url = null, processing_state = 'complete', versions = sqlc.arg(versions), last_version = sqlc.arg(last_version),
    last_processed_at = now(), source_number = source_number + 1, fetch_at = null, fetch_wanted = false, fetch_runs = 0, fetch_failures = 0,
    fetched = '[]', error_code = '', errors = '[]', updated_at = now()
where id = sqlc.arg(id) returning *;

-- name: SetOpenAPISpecURL :one
-- If the URL is unchanged, the results of earlier fetches stay.
update openapi_specs set fetched = case when source_url = sqlc.arg(source_url) then fetched else '[]' end, source_url = sqlc.arg(source_url),
    processing_state = 'pending', source_number = source_number + 1,
    fetch_at = now() + sqlc.arg(lease)::interval, fetch_wanted = true, fetch_runs = 0,
    fetch_failures = 0, error_code = '', errors = '[]', updated_at = now()
where id = sqlc.arg(id) returning *;

-- name: AskAboutOpenAPISpecs :many
-- Marks the specifications whose time has come and gives whose they are. Nodes that ask at the same time share them.
-- Index: openapi_specs_due.
-- Sorts: a batch.
with taken as (
    select n.id from openapi_specs n where n.source_url is not null and n.fetch_at < now() order by n.fetch_at limit sqlc.arg(size)
    for update skip locked
), marked as (
    update openapi_specs s set fetch_wanted = true, fetch_at = now() + sqlc.arg(lease)::interval from taken
    where s.id = taken.id returning s.organization_id
)
select distinct organization_id from marked order by organization_id;

-- name: StartOpenAPISpecFetch :one
-- Returns the organization's next specification to fetch. A specification whose job was stopped, or ended with its
-- process, comes after specifications without an attempt. The row is locked only until the statement ends, so a
-- specification may be fetched twice.
-- Index: openapi_specs_wanted.
update openapi_specs set processing_state = 'progress', fetch_runs = fetch_runs + 1
where id = (
    select w.id from openapi_specs w
    where w.organization_id = sqlc.arg(organization_id) and w.fetch_wanted and w.id <> all(sqlc.arg(begun)::text[])
    order by w.fetch_runs, w.id limit 1
    for update skip locked
)
returning *;

-- name: LockFetchedOpenAPISpec :one
-- No row if the source was set again meanwhile, or the specification deleted.
select * from openapi_specs where id = sqlc.arg(id) and source_number = sqlc.arg(source_number) for update;

-- name: EndOpenAPISpecFetch :exec
update openapi_specs set processing_state = 'complete', versions = sqlc.arg(versions), last_version = sqlc.arg(last_version),
    last_processed_at = now(), fetch_at = now() + sqlc.arg(pause)::interval, fetch_wanted = false,
    fetch_runs = 0, fetch_failures = sqlc.arg(fetch_failures),
    fetched = sqlc.arg(fetched), error_code = sqlc.arg(error_code), errors = sqlc.arg(errors),
    updated_at = case when last_version is distinct from sqlc.arg(last_version) then now() else updated_at end
where id = sqlc.arg(id);

-- name: OpenAPISpecsWanted :one
-- Index: openapi_specs_wanted.
select exists (select from openapi_specs w where w.organization_id = $1 and w.fetch_wanted);

-- name: DeleteOpenAPISpec :exec
delete from openapi_specs where organization_id = $1 and slug = $2;

-- name: InsertOpenAPISpecVersion :exec
insert into openapi_spec_versions (id, spec_id, number, source_url, hash, document) values ($1, $2, $3, $4, $5, $6);

-- name: DeleteOldOpenAPISpecVersions :exec
-- Index: openapi_spec_versions_spec_id_number_key (spec_id, number).
delete from openapi_spec_versions where spec_id = $1 and number <= sqlc.arg(last);

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

-- name: SetOpenAPISpecVisibility :one
update openapi_specs set visibility = sqlc.arg(visibility),
    updated_at = case when visibility = sqlc.arg(visibility) then updated_at else now() end
where organization_id = sqlc.arg(organization_id) and slug = sqlc.arg(slug) returning *;

-- name: PublishedOpenAPISpec :one
select v.id
from openapi_specs s
    join openapi_spec_versions v on v.id = s.last_version
    join organizations o on o.id = s.organization_id
where s.organization_id = sqlc.arg(organization_id) and s.slug = sqlc.arg(slug) and s.visibility = 'public' and o.deleted_at is null;
