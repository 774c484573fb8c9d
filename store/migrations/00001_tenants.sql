-- Organizations, the people in them, and the tokens that people and sites present.
--
-- Ids are text in the collation "C", so that their order here is the byte order that page tokens rely on.

-- +goose Up
create table users (
    id           text collate "C" primary key,
    display_name text        not null,
    email        text,
    photo_url    text,
    created_at   timestamptz not null default now()
);

-- One person has one account, however the address is capitalised.
create unique index users_email on users (lower(email));

create table organizations (
    id            text collate "C" primary key,
    title         text        not null,
    type          text        not null default 'business',
    plan          text        not null default 'internal',
    email_domains text[]      not null default '{}',
    invite_links  boolean     not null default false,
    default_role  text check (default_role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    created_at    timestamptz not null default now()
);

-- A membership without a role is a guest's.
create table memberships (
    user_id         text collate "C" not null references users (id) on delete cascade,
    organization_id text collate "C" not null references organizations (id) on delete cascade,
    role            text check (role in ('admin', 'create', 'review', 'edit', 'comment', 'read')),
    joined_at       timestamptz not null default now(),
    primary key (user_id, organization_id)
);

create index memberships_organization on memberships (organization_id, user_id);

-- +goose Down
drop table memberships;
drop table organizations;
drop table users;
