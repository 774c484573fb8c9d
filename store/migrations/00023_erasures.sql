-- Visitors that are erased from the insights, and how long sites keep events.
-- +goose Up
create table erasures (
    site_id      text collate "C" not null,
    -- The keyed hash, as the insights store has it.
    visitor      bigint      not null,
    asked_at     timestamptz not null default now(),
    -- When the log and the dead letters have expired; null: never.
    log_until    timestamptz,
    -- Of its last tombstone; null: it has not begun, or begins anew.
    version      bigint,
    erased_until timestamptz,
    attempts     integer     not null default 0,
    -- When no active part of the events table had its rows, by the insights store's clock.
    mutated_at   timestamptz,
    done_at      timestamptz,
    -- No reference to the site: what was erased stays away also after the site is gone.
    primary key (site_id, visitor)
);
create index erasures_pending on erasures (asked_at) where done_at is null;

-- Append-only: a sink that repeats the insert of another one needs the tombstones that the other had.
create table tombstones (
    version bigint      not null,
    site_id text collate "C" not null,
    visitor bigint      not null,
    before  timestamptz not null,
    primary key (version, site_id, visitor)
);
create index tombstones_visitor on tombstones (site_id, visitor);

-- One row. A transaction that adds tombstones locks it, so that versions become visible in their order.
create table tombstone_version (version bigint not null);
insert into tombstone_version values (1);

create table retentions (
    site_id        text collate "C" primary key,
    days           integer check (days between 1 and 3650),
    -- Events of an earlier time are deleted, or were. It never goes back.
    deleted_before timestamptz,
    -- Until when this was last carried out; null: never.
    carried_out    timestamptz
);

-- +goose Down
drop table retentions;
drop table tombstone_version;
drop table tombstones;
drop table erasures;
