-- +goose Up

-- The keys with which browsers post the events of a site. A key's text is made of its row and of a secret, so no row
-- has it.
create table publishable_keys (
    id               text collate "C" primary key,
    site_id          text collate "C" not null references sites (id) on delete cascade,
    name             text        not null,
    -- Names in lower case, or *. and a domain for all hosts below it.
    hosts            text[]      not null,
    daily_cap        bigint      not null,
    respect_gpc      boolean     not null,
    -- Counts the texts of the key from 1.
    generation       integer     not null default 1,
    -- Until then, the text of the previous generation works as well.
    previous_ends_at timestamptz,
    created_at       timestamptz not null default now()
);
create index publishable_keys_site on publishable_keys (site_id, id);
