-- Sites, spaces and the link between them.

-- +goose Up
create table sites (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    type            text        not null,
    title           text        not null,
    visibility      text        not null,
    published       boolean     not null default false,
    agents_context  text        not null default 'included',
    -- Visitor and session ids are stored as keyed hashes; a site may ask for them in clear as well.
    store_clear_ids boolean     not null default false,
    created_at      timestamptz not null default now()
);

create index sites_organization on sites (organization_id, id);

create table spaces (
    id              text collate "C" primary key,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    title           text        not null,
    emoji           text        not null,
    visibility      text        not null default 'private',
    edit_mode       text        not null default 'live',
    language        text,
    -- A role, 'inherit', or null: no access except by a grant.
    default_level   text check (default_level in ('inherit', 'admin', 'create', 'review', 'edit', 'comment', 'read')) default 'inherit',
    revision        text        not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);

create index spaces_organization on spaces (organization_id, id);

create table site_spaces (
    id         text collate "C" primary key,
    site_id    text collate "C" not null references sites (id) on delete cascade,
    space_id   text collate "C" not null references spaces (id) on delete cascade,
    position   integer     not null,
    created_at timestamptz not null default now(),
    unique (site_id, space_id)
);

create index site_spaces_space on site_spaces (space_id, site_id);

-- +goose Down
drop table site_spaces;
drop table spaces;
drop table sites;
