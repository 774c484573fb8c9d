-- The keys that sign site tokens, and the tokens of front ends.

-- +goose Up
create table site_token_keys (
    -- The week for which the key signs: nodes choose the same key without asking each other.
    name       text collate "C" primary key,
    -- Sealed with the installation's key.
    sealed     bytea       not null,
    created_at timestamptz not null default now()
);

-- A front end's token is for every published site: it has no owner.
alter table tokens drop constraint tokens_kind_check;
alter table tokens add constraint tokens_kind_check check (kind in ('user', 'site', 'front-end'));

-- +goose Down
delete from tokens where kind = 'front-end';
alter table tokens drop constraint tokens_kind_check;
alter table tokens add constraint tokens_kind_check check (kind in ('user', 'site'));
drop table site_token_keys;
