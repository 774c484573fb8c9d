-- Integrations have versions, events and tokens; installations have scopes, a configuration, and the spaces and sites that they are for.

-- +goose Up

-- What was published under a name, version by version. Of each script there is its hash: the text is that of the newest.
create table integration_versions (
    integration  text collate "C" not null references integrations (name) on delete cascade,
    version      integer     not null,
    title        text        not null,
    runtime      text        not null,
    scopes       text[]      not null,
    -- SHA-256 and size of the script.
    script_hash  bytea       not null,
    script_bytes integer     not null,
    published_by text collate "C" references users (id) on delete set null,
    created_at   timestamptz not null default now(),
    primary key (integration, version)
);

create index integration_versions_publisher on integration_versions (published_by);

-- The versions before this table are not known, except the newest.
insert into integration_versions (integration, version, title, runtime, scopes, script_hash, script_bytes, created_at)
select name, version, title, coalesce(manifest ->> 'runtime', 'v1'), scopes, sha256(convert_to(script, 'UTF8')), octet_length(script), updated_at
from integrations;

-- In development mode, events go to this address: those of the owner's own organization, or of all.
alter table integrations
    add column dev_tunnel text,
    add column dev_all    boolean not null default false;

-- An organization lists its own, private ones too.
drop index integrations_organization;
create index integrations_organization on integrations (organization_id, name);

alter table integration_installations
    -- What the organization allowed, which a later version of the integration cannot widen.
    add column scopes          text[]  not null default '{}',
    add column configuration   jsonb   not null default '{}',
    add column external_ids    text[]  not null default '{}',
    add column paused          boolean not null default false,
    add column space_selection text    not null default 'all' check (space_selection in ('all', 'selected')),
    add column site_selection  text    not null default 'all' check (site_selection in ('all', 'selected')),
    -- The user in whose name its tokens write: it is in no organization and has no e-mail address. Users that wrote something are
    -- never deleted.
    add column user_id         text collate "C" references users (id);

-- Those of before get what new ones get.
insert into users (id, display_name) select n.id, i.title from integration_installations n join integrations i on i.name = n.integration;
update integration_installations n set scopes = i.scopes, user_id = n.id from integrations i where i.name = n.integration;
alter table integration_installations alter column user_id set not null;

create index integration_installations_user on integration_installations (user_id);

drop index integration_installations_organization;
create index integration_installations_organization on integration_installations (organization_id, id);
create index integration_installations_integration on integration_installations (integration, id);

-- The spaces and sites that an installation was put on, with a configuration of their own. If its selection is `all`, it is for the
-- others as well.
create table integration_content_installations (
    installation_id text collate "C" not null references integration_installations (id) on delete cascade,
    space_id        text collate "C" references spaces (id) on delete cascade,
    site_id         text collate "C" references sites (id) on delete cascade,
    configuration   jsonb       not null default '{}',
    external_ids    text[]      not null default '{}',
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    check (num_nonnulls(space_id, site_id) = 1),
    unique (installation_id, space_id),
    unique (installation_id, site_id)
);

create index integration_content_installations_space on integration_content_installations (space_id);
create index integration_content_installations_site on integration_content_installations (site_id);

-- Short-lived: of an integration, or of one of its installations.
create table integration_tokens (
    id              text collate "C" primary key,
    -- SHA-256 of the token.
    hash            bytea       not null unique,
    integration     text collate "C" not null references integrations (name) on delete cascade,
    installation_id text collate "C" references integration_installations (id) on delete cascade,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null
);

create index integration_tokens_integration on integration_tokens (integration, installation_id, id);
create index integration_tokens_installation on integration_tokens (installation_id);

-- What happened to the installations of an integration. Installations that are gone have events.
create table integration_events (
    id              text collate "C" primary key,
    integration     text collate "C" not null references integrations (name) on delete cascade,
    installation_id text collate "C" not null,
    payload         jsonb       not null,
    -- Null while a tunnel has yet to get it.
    status          text check (status in ('success', 'failed')),
    logs            jsonb       not null default '[]',
    created_at      timestamptz not null default now()
);

create index integration_events_integration on integration_events (integration, id);

-- +goose Down
drop table integration_events;
drop table integration_tokens;
drop table integration_content_installations;
drop index integration_installations_integration;
drop index integration_installations_organization;
create index integration_installations_organization on integration_installations (organization_id);
drop index integration_installations_user;
alter table integration_installations
    drop column scopes, drop column configuration, drop column external_ids, drop column paused, drop column space_selection,
    drop column site_selection, drop column user_id;
drop index integrations_organization;
create index integrations_organization on integrations (organization_id);
alter table integrations drop column dev_tunnel, drop column dev_all;
drop table integration_versions;
