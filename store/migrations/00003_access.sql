-- Bearer tokens, and the secrets that the installation makes for itself.

-- +goose Up
create table tokens (
    id           text collate "C" primary key,
    -- SHA-256 of the token: the token itself is shown once and stored nowhere.
    hash         bytea       not null unique,
    kind         text        not null check (kind in ('user', 'site')),
    name         text        not null,
    user_id      text collate "C" references users (id) on delete cascade,
    site_id      text collate "C" references sites (id) on delete cascade,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    check ((kind = 'user') = (user_id is not null)),
    check ((kind = 'site') = (site_id is not null))
);

create index tokens_user on tokens (user_id, id);
create index tokens_site on tokens (site_id, id);

create table secrets (
    name       text primary key,
    value      bytea       not null,
    created_at timestamptz not null default now()
);

-- +goose Down
drop table secrets;
drop table tokens;
