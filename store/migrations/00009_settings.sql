-- What sites, spaces and organizations set up beside content: customization, integrations, OpenAPI specifications and git.

-- +goose Up

-- Only what was set. Defaults, and for site spaces the site's settings, are merged in when they are read.
create table site_customizations (
    site_id    text collate "C" primary key references sites (id) on delete cascade,
    settings   jsonb       not null,
    updated_at timestamptz not null default now()
);

create table site_space_customizations (
    site_space_id text collate "C" primary key references site_spaces (id) on delete cascade,
    overrides     jsonb       not null,
    updated_at    timestamptz not null default now()
);

-- A name belongs to the organization that published it first, for good.
create table integrations (
    name                text collate "C" primary key,
    organization_id     text collate "C" not null references organizations (id) on delete cascade,
    -- Counts up with every publishing.
    version             integer     not null default 1,
    visibility          text        not null check (visibility in ('public', 'private', 'unlisted')),
    target              text        not null check (target in ('all', 'site', 'space', 'organization')),
    verified            boolean     not null default false,
    manifest            jsonb       not null,
    script              text        not null,
    -- Sealed with the installation's key; nobody gets them back.
    secrets             bytea,
    -- What lists filter by, taken out of the manifest.
    title               text        not null,
    scopes              text[]      not null,
    categories          text[]      not null,
    block_domains       text[]      not null,
    has_blocks          boolean     not null,
    has_content_sources boolean     not null,
    icon                text,
    preview_images      text[]      not null default '{}',
    created_at          timestamptz not null default now(),
    updated_at          timestamptz not null default now()
);

-- Lists show only these.
create index integrations_public on integrations (name) where visibility = 'public';
create index integrations_organization on integrations (organization_id);

-- The pictures of an integration's current version. Their ids are made of their bytes, so that addresses may be remembered.
create table integration_assets (
    integration  text collate "C" not null references integrations (name) on delete cascade,
    id           text collate "C" not null,
    content_type text  not null,
    content      bytea not null,
    primary key (integration, id)
);

create table integration_installations (
    id              text collate "C" primary key,
    integration     text collate "C" not null references integrations (name) on delete cascade,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    unique (integration, organization_id)
);

create index integration_installations_organization on integration_installations (organization_id);

create table openapi_specs (
    id                text collate "C" primary key,
    organization_id   text collate "C" not null references organizations (id) on delete cascade,
    slug              text collate "C" not null,
    -- Null when the specification was sent as text.
    source_url        text,
    processing_state  text        not null check (processing_state in ('pending', 'progress', 'complete')),
    -- The number of the newest version; 0 while there is none.
    versions          integer     not null default 0,
    last_version      text collate "C",
    last_processed_at timestamptz,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now(),
    unique (organization_id, slug)
);

create index openapi_specs_organization on openapi_specs (organization_id, id);

create table openapi_spec_versions (
    id         text collate "C" primary key,
    spec_id    text collate "C" not null references openapi_specs (id) on delete cascade,
    number     integer     not null,
    -- Where it was fetched from; null when it was sent as text.
    source_url text,
    -- SHA-256 of the text as it was sent.
    hash       bytea       not null,
    -- The document as JSON. Not jsonb, which cannot hold every JSON text and would reorder members.
    document   bytea       not null,
    created_at timestamptz not null default now(),
    unique (spec_id, number)
);

-- Imports and exports in the order in which they are to run: by `timestamp`, and by id among equals.
create table git_operations (
    id          text collate "C" primary key,
    space_id    text collate "C" not null references spaces (id) on delete cascade,
    kind        text        not null check (kind in ('import', 'export')),
    state       text        not null check (state in ('queued', 'running', 'done', 'failed')),
    reason      text        not null,
    -- Without its user and password, which are sealed with the installation's key.
    url         text        not null,
    credentials bytea,
    ref         text        not null,
    parameters  jsonb       not null,
    provider    text check (provider in ('github', 'gitlab')),
    repo_url    text,
    "timestamp" timestamptz not null,
    created_by  text collate "C" references users (id) on delete set null,
    created_at  timestamptz not null default now()
);

create index git_operations_space on git_operations (space_id, "timestamp" desc, id desc);

-- What a space shows of its repository: that of its last operation. A copy, so that reading a space needs no other table.
alter table spaces add column git_sync jsonb;

-- +goose Down
alter table spaces drop column git_sync;
drop table git_operations;
drop table openapi_spec_versions;
drop table openapi_specs;
drop table integration_installations;
drop table integration_assets;
drop table integrations;
drop table site_space_customizations;
drop table site_customizations;
