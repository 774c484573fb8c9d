-- The table of river, for sqlc alone: rivermigrate creates it (store/migrate_river.go). TestRiverJobIsAsDescribed compares
-- these columns with the columns of a migrated database.
create type river_job_state as enum (
    'available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled'
);

create table river_job (
    id bigserial primary key,
    state river_job_state not null default 'available',
    attempt smallint not null default 0,
    max_attempts smallint not null default 25,
    attempted_at timestamptz,
    created_at timestamptz not null default now(),
    finalized_at timestamptz,
    scheduled_at timestamptz not null default now(),
    priority smallint not null default 1,
    args jsonb not null,
    attempted_by text[],
    errors jsonb[],
    kind text not null,
    metadata jsonb not null default '{}',
    queue text not null default 'default',
    tags varchar(255)[] not null default '{}',
    unique_key bytea,
    unique_states bit(8)
);
