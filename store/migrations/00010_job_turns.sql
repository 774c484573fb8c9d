-- +goose Up

-- When a party had its last turn with jobs of a kind. give_job_turns reads and writes these rows.
create table job_turns (
    kind  text        collate "C" not null,
    party text        collate "C" not null,
    turn  timestamptz not null,
    primary key (kind, party)
);
create index job_turns_turn on job_turns (turn);

-- give_job_turns steps from one maker, organization and lane to the next.
create index jobs_turns on river_job
    (queue, coalesce(metadata ->> 'user', ''), coalesce(metadata ->> 'organization', ''), (metadata ? 'slow'), id)
    where state = 'pending';
create index jobs_sequence_busy on river_job ((metadata ->> 'sequence'))
    where state in ('available', 'retryable', 'running', 'scheduled');

-- Jobs from before count for the first administrator of their organization.
update river_job j set metadata = j.metadata || jsonb_build_object('user', coalesce((
    select m.user_id from memberships m
    where m.organization_id = j.metadata ->> 'organization' and m.role = 'admin'
    order by m.joined_at, m.user_id limit 1
), ''))
where j.state in ('available', 'pending', 'retryable', 'running', 'scheduled') and not j.metadata ? 'user';
