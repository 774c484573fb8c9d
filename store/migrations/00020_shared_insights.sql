-- +goose Up

-- Filters of insights that people keep under a name.
create table saved_segments (
    id         text collate "C" primary key,
    site_id    text collate "C" not null references sites (id) on delete cascade,
    -- The user to whom a personal segment belongs. Null for the site's own segments.
    owner_id   text collate "C" references users (id) on delete cascade,
    name       text        not null,
    -- The where of a query: JSON as text, because jsonb would change numbers.
    filters    text        not null,
    created_by text collate "C" references users (id) on delete set null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);
create index saved_segments_site on saved_segments (site_id, id);
create unique index saved_segments_name on saved_segments (site_id, coalesce(owner_id, ''), name);
create index saved_segments_owner on saved_segments (owner_id) where owner_id is not null;
create index saved_segments_creator on saved_segments (created_by) where created_by is not null;

-- A token of the kind insights reads the insights of one site.
alter table tokens drop constraint tokens_kind_check, drop constraint tokens_check1;
alter table tokens
    add constraint tokens_kind_check check (kind in ('user', 'site', 'front-end', 'insights')),
    add constraint tokens_check1 check ((kind in ('site', 'insights')) = (site_id is not null));

-- Links that show a part of a site's insights to whoever has their secret.
create table insights_share_links (
    id         text collate "C" primary key,
    site_id    text collate "C" not null references sites (id) on delete cascade,
    name       text        not null,
    -- SHA-256 of the secret. The secret itself is shown once and stored nowhere.
    hash       bytea       not null unique,
    -- Argon2id of the password with its salt and parameters. Null: the secret alone opens the link.
    password   text,
    -- The where of every query through the link, and a list of ranges: JSON as text. Empty: no filter, all time.
    filters    text        not null,
    segments   text[]      not null,
    ranges     text        not null,
    -- The zone of the ranges' days.
    timezone   text        not null,
    -- Counts the changes of the password. Sessions of an earlier generation have ended.
    generation integer     not null default 1,
    expires_at timestamptz,
    created_by text collate "C" references users (id) on delete set null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);
create index insights_share_links_site on insights_share_links (site_id, id);
create index insights_share_links_creator on insights_share_links (created_by) where created_by is not null;
