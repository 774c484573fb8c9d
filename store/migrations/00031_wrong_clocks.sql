-- +goose Up

-- The function hasten (functions/clock.sql) finds times that lie far ahead by these indexes. It replaces hasten_jobs.
create index git_operations_ahead on git_operations ("timestamp");
create index git_syncs_imported on git_syncs (imported_at) where imported_at is not null;
create index git_syncs_synced on git_syncs (synced_at);
create index webhook_deliveries_next on webhook_deliveries (next_attempt_at) where state = 'pending';
create index webhooks_held on webhooks (held_until) where held_until is not null;
drop function if exists hasten_jobs(interval);

-- Events of an erased visitor that were received by a clock which was ahead. An erasure reaches to erased_until, and
-- from ahead_from to ahead_until.
alter table erasures add column ahead_from timestamptz, add column ahead_until timestamptz;
alter table tombstones add column ahead_from timestamptz, add column ahead_until timestamptz;
