-- +goose Up

-- A change settles from at, which is the clock's time. It is deleted a week after counts_from. A clock that is behind
-- for a while does not make counts_from look old.
alter table front_end_changes add column counts_from timestamptz not null default now();
drop index front_end_changes_at;
create index front_end_changes_counts on front_end_changes (counts_from);
