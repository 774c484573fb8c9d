-- +goose Up

-- A change settles from at, which is the clock's time. It is deleted a week after counts_from. A clock that is behind
-- for a while does not make counts_from look old.
alter table front_end_changes add column counts_from timestamptz not null default now();
drop index front_end_changes_at;
create index front_end_changes_counts on front_end_changes (counts_from);

-- Repairs from copies of the events table (octavo repair --from), for the audit log: a row for each month of which a
-- copy had missing rows.
create table event_rows_restored (
    number      bigint generated always as identity primary key,
    month       integer     not null,
    rows        bigint      not null check (rows > 0),
    -- The folder of the copy, and the copy's parts of the month that are damaged.
    copy        text        not null,
    damaged     text[]      not null,
    restored_at timestamptz not null default now()
);
