-- How sites know the visitors whom their own service vouches for.

-- +goose Up
create table site_visitor_auth (
    site_id      text collate "C" primary key references sites (id) on delete cascade,
    -- What the site's service signs visitors' tokens with; sealed with the installation's key.
    key          bytea       not null,
    -- Where visitors without a good token log in.
    fallback_url text,
    updated_at   timestamptz not null default now()
);

-- +goose Down
drop table site_visitor_auth;
