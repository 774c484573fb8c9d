-- Specifications are fetched from their URLs, by jobs, again and again.

-- +goose Up
alter table openapi_specs
    -- Counts the sources that were set, so that what a job fetched does not end up under another source.
    add column source_number  integer     not null default 0,
    -- When to fetch it, or to ask again for a job that does; null when it was sent as text.
    add column fetch_at       timestamptz,
    -- Whether a job was asked for, and how often one has begun to fetch it since.
    add column fetch_wanted   boolean     not null default false,
    add column fetch_runs     integer     not null default 0,
    -- How often in a row it could not be fetched.
    add column fetch_failures integer     not null default 0,
    -- The documents as they were last read: schema.OpenAPISourceState.
    add column fetched        jsonb       not null default '[]',
    -- What was wrong the last time: schema.OpenAPISpecError.
    add column error_code     text        not null default '' check (error_code in ('', 'FETCH_TIMEOUT', 'FETCH_ERROR', 'PARSE_ERROR')),
    add column errors         jsonb       not null default '[]';

update openapi_specs set fetch_at = now() where source_url is not null;

create index openapi_specs_due on openapi_specs (fetch_at) where source_url is not null;
create index openapi_specs_wanted on openapi_specs (organization_id, fetch_runs, id) where fetch_wanted;

-- Front ends show versions and where they come from: that a specification was fetched once more is no news.
drop trigger front_ends_hear on openapi_specs;
create trigger front_ends_hear after delete on openapi_specs for each row execute function openapi_specs_changed();
create trigger front_ends_hear_update after update on openapi_specs for each row
    when ((old.last_version, old.source_url) is distinct from (new.last_version, new.source_url))
    execute function openapi_specs_changed();

-- +goose Down
drop trigger front_ends_hear_update on openapi_specs;
drop trigger front_ends_hear on openapi_specs;
create trigger front_ends_hear after update or delete on openapi_specs for each row execute function openapi_specs_changed();
drop index openapi_specs_wanted;
drop index openapi_specs_due;
alter table openapi_specs drop column source_number, drop column fetch_at, drop column fetch_wanted, drop column fetch_runs,
    drop column fetch_failures, drop column fetched, drop column error_code, drop column errors;
