-- What organizations have beside content: conversations with their issues and clusters, translations with the glossary,
-- SAML providers, and invite links.
-- +goose Up
create table conversations (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    source          text        not null,
    -- The id that the client gave; ours is opaque like any other.
    source_id       text        not null,
    subject         text,
    url             text,
    -- The highest impact of its issues; null if it has none.
    impact          text check (impact in ('low', 'medium', 'high')),
    -- Counts up with every replacement, so that an analysis of what was there before cannot mark what is there now.
    version         integer     not null default 1,
    created_at      timestamptz not null,
    ingested_at     timestamptz not null,
    -- Null while the clusters do not know of this version.
    processed_at    timestamptz,
    unique (organization_id, source, source_id)
);
create index conversations_organization on conversations (organization_id, id);
create index conversations_source on conversations (organization_id, source, id);
create index conversations_unprocessed on conversations (organization_id, id) where processed_at is null;

-- The long part of a conversation, which lists do not read.
create table conversation_contents (
    conversation_id text collate "C" primary key references conversations (id) on delete cascade,
    parts           jsonb not null,
    metadata        jsonb not null
);

create table issues_clusters (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    label           text        not null,
    icon            text        not null,
    impact          text        not null check (impact in ('low', 'medium', 'high')),
    muted           boolean     not null default false,
    summary         jsonb       not null,
    sources         jsonb       not null,
    issues          integer     not null,
    conversations   integer     not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);
create index issues_clusters_organization on issues_clusters (organization_id, id);
create index issues_clusters_updated on issues_clusters (organization_id, updated_at, id);
create index issues_clusters_issues on issues_clusters (organization_id, issues, id);
create index issues_clusters_conversations on issues_clusters (organization_id, conversations, id);

create table conversation_issues (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    conversation_id text collate "C" not null references conversations (id) on delete cascade,
    position        integer     not null,
    title           text        not null,
    details         jsonb       not null,
    summary         text        not null,
    impact          text        not null check (impact in ('low', 'medium', 'high')),
    -- What it is about, for the next analysis.
    words           text[]      not null,
    cluster_id      text collate "C" references issues_clusters (id) on delete set null,
    created_at      timestamptz not null,
    ingested_at     timestamptz not null,
    unique (conversation_id, position)
);
create index conversation_issues_organization on conversation_issues (organization_id, id);
create index conversation_issues_newest on conversation_issues (organization_id, created_at, id);
create index conversation_issues_cluster on conversation_issues (cluster_id, id);
create index conversation_issues_pulse on conversation_issues (cluster_id, created_at);

create table translations (
    id               text collate "C" primary key,
    organization_id  text collate "C" not null references organizations (id) on delete cascade,
    source_space_id  text collate "C" not null references spaces (id) on delete cascade,
    source_language  text        not null,
    language         text        not null,
    instructions     jsonb       not null,
    -- How often a run was asked for, and when last. Whoever translates takes the runs from here.
    runs             integer     not null default 0,
    run_requested_at timestamptz,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now()
);
create index translations_organization on translations (organization_id, id);
create index translations_space on translations (source_space_id);

create table glossary_entries (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    translations    jsonb       not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);
create index glossary_entries_organization on glossary_entries (organization_id, id);

-- A provider is active once all three of what the service needs to trust it are there.
create table saml_providers (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    label           text        not null,
    entity_id       text,
    certificate     text,
    -- Whether the certificate can be read: what an administrator sent is kept as it is.
    certificate_usable boolean  not null default false,
    sso_url         text,
    -- The team and the role of those who log in by it for the first time.
    default_team_id text collate "C" references teams (id) on delete set null,
    default_role    text check (default_role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    active          boolean     not null generated always as
        (entity_id is not null and certificate_usable and sso_url is not null) stored,
    created_at      timestamptz not null default now()
);
create index saml_providers_organization on saml_providers (organization_id, id);
create index saml_providers_team on saml_providers (default_team_id) where default_team_id is not null;
create index saml_providers_active on saml_providers (organization_id, id) where active;

-- A link that makes whoever follows it a member, or gives access to one space or collection.
create table link_invites (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    -- What it gives: a role in the organization, or a level on one piece of content. Null is a guest's.
    role            text check (role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    space_id        text collate "C" references spaces (id) on delete cascade,
    collection_id   text collate "C" references collections (id) on delete cascade,
    created_by      text collate "C" references users (id) on delete set null,
    created_at      timestamptz not null default now(),
    check (num_nonnulls(space_id, collection_id) <= 1)
);
create index link_invites_organization on link_invites (organization_id, id) where space_id is null and collection_id is null;
create index link_invites_space on link_invites (space_id) where space_id is not null;
create index link_invites_collection on link_invites (collection_id) where collection_id is not null;

-- Links work until an organization turns them off. Nobody could turn them on before.
alter table organizations alter column invite_links set default true;
update organizations set invite_links = true;

-- +goose Down
alter table organizations alter column invite_links set default false;
drop table link_invites;
drop table saml_providers;
drop table glossary_entries;
drop table translations;
drop table conversation_issues;
drop table issues_clusters;
drop table conversation_contents;
drop table conversations;
