-- name: LockJobSequence :exec
-- Until the transaction ends, no other transaction enqueues a job of the sequence. So the order of the ids is the order
-- in which the transactions are committed.
select pg_advisory_xact_lock(hashtextextended('jobs ' || sqlc.arg(sequence)::text, 0));

-- name: WaitingJobs :one
-- Reads two facts about a sequence: whether a waiting job can replace a new job, and whether the sequence has an
-- unfinished job. River skips a locked row, so the waiting job does not start before this transaction ends. If a job
-- waits after a failure, its pause, which may be an hour, ends at once. This attempt does not count, because there is
-- new work. The job keeps only its last errors. A new job counts for its maker: the user, or the first administrator of
-- the organization. The query also returns whether the maker has no other running job, and whether the job must wait
-- for its turn.
-- Index: jobs_sequence, jobs_turns, memberships_joined, river_job_prioritized_fetching_index.
with waiting as (
    select id from river_job
    where sqlc.arg(newest)::boolean and metadata ->> 'sequence' = sqlc.arg(sequence)::text
      and state in ('available', 'pending', 'retryable', 'scheduled')
    limit 1
    for update
), hastened as (
    update river_job j set scheduled_at = now(), attempt = greatest(j.attempt - 1, 0),
        errors = j.errors[greatest(1, cardinality(j.errors) - 19):] from waiting
    where j.id = waiting.id and j.state = 'retryable' and j.scheduled_at > now()
), maker as (
    select maker_of(sqlc.arg(user_id)::text, sqlc.arg(organization)::text)::text as id
), work as (
    select count(*) filter (where j.state = 'available') as waiting,
        count(*) filter (where j.state = 'available' and j.priority = 1) as first,
        count(*) filter (
            where job_parties(j.metadata)
                && array_remove(array[sqlc.arg(organization)::text, nullif(maker.id, '')], null)
        ) = 0 as alone
    from maker left join river_job j on j.queue = sqlc.arg(kind)::text and j.state in ('available', 'running')
)
select exists (select from waiting)::boolean as waiting, exists (
    select from river_job
    where metadata ->> 'sequence' = sqlc.arg(sequence)::text
      and state in ('available', 'pending', 'retryable', 'running', 'scheduled')
)::boolean as open, maker.id as maker, work.alone::boolean as alone, (
    (case when work.alone then work.first else work.waiting end) >= sqlc.arg(workers)::integer
    or exists (
        select from river_job j
        where j.state = 'pending' and j.queue = sqlc.arg(kind)::text and coalesce(j.metadata ->> 'user', '') = maker.id
          and coalesce(j.metadata ->> 'organization', '') = sqlc.arg(organization)::text
    )
)::boolean as crowded
from maker, work;

-- name: LockJobPromotion :one
-- Nodes promote jobs in turns, and each sees the promotions before its own.
select pg_try_advisory_xact_lock(hashtextextended('promotion of jobs', 0));

-- name: GiveJobTurns :one
select give_job_turns(sqlc.arg(kinds)::text[], sqlc.arg(workers)::integer[]);

-- name: JobIsSlow :exec
update river_job set metadata = metadata || '{"slow": true}' where id = sqlc.arg(id) and state = 'running';

-- name: JobsWithoutWorker :many
-- Returns the oldest job of each kind that has a turn and no worker.
-- Index: river_job_prioritized_fetching_index.
select queue, min(id)::bigint as id from river_job
where state = 'available' and priority = 1 and queue = any(sqlc.arg(kinds)::text[])
group by queue;

-- name: JobsToGiveWay :many
-- Of each kind, the node's newest job that shares its organization, its maker or its slowness with an older job.
-- Index: river_job_prioritized_fetching_index.
-- Sorts: the jobs that run.
select distinct on (j.queue) j.id from river_job j
where j.state = 'running' and j.queue = any(sqlc.arg(kinds)::text[])
  and j.attempted_by[array_upper(j.attempted_by, 1)] = sqlc.arg(node)::text
  and exists (
      select from river_job o
      where o.queue = j.queue and o.state = 'running' and (o.attempted_at, o.id) < (j.attempted_at, j.id)
        and job_parties(o.metadata) && job_parties(j.metadata)
  )
order by j.queue, j.attempted_at desc, j.id desc;

-- name: LostJobNodes :many
-- Returns dead nodes with running jobs. A living node holds its lock (TryLock). Two concurrent callers may each miss
-- a node.
with nodes as materialized (
    select distinct attempted_by[array_upper(attempted_by, 1)]::text as node from river_job where state = 'running'
)
select node from nodes where pg_try_advisory_xact_lock(hashtextextended('lock jobs node ' || node, 0));

-- name: RescueJobs :many
-- The attempt counts: a job that kills its process fails in the end.
update river_job set
    state = (case when attempt >= max_attempts then 'discarded' else 'available' end)::river_job_state,
    finalized_at = case when attempt >= max_attempts then now() end,
    scheduled_at = now(),
    errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', sqlc.arg(reason)::text, 'trace', ''))
where state = 'running' and attempted_by[array_upper(attempted_by, 1)] = any(sqlc.arg(nodes)::text[])
returning id;

-- name: ListJobs :many
-- Index: jobs_organization.
select sqlc.embed(river_job), job_state(state, attempt) as shown_state
from river_job
where metadata ->> 'organization' = sqlc.arg(organization)::text
  and id < sqlc.arg(before)::bigint
  and (sqlc.narg(kind)::text is null or kind = sqlc.narg(kind))
  and (sqlc.narg(space)::text is null or metadata ->> 'space' = sqlc.narg(space))
  and (sqlc.narg(state)::text is null or job_state(state, attempt) = sqlc.narg(state))
order by id desc
limit sqlc.arg(page_size);

-- name: CountJobs :one
-- Index: jobs_organization.
select count(*)
from river_job
where metadata ->> 'organization' = sqlc.arg(organization)::text
  and (sqlc.narg(kind)::text is null or kind = sqlc.narg(kind))
  and (sqlc.narg(space)::text is null or metadata ->> 'space' = sqlc.narg(space))
  and (sqlc.narg(state)::text is null or job_state(state, attempt) = sqlc.narg(state));

-- name: ListAllJobs :many
-- For the operator.
-- Index: river_job_pkey.
select sqlc.embed(river_job), job_state(state, attempt) as shown_state
from river_job
where id < sqlc.arg(before)::bigint
  and (sqlc.narg(kind)::text is null or kind = sqlc.narg(kind))
  and (sqlc.narg(state)::text is null or job_state(state, attempt) = sqlc.narg(state))
order by id desc
limit sqlc.arg(page_size);

-- name: JobByID :one
select sqlc.embed(river_job), job_state(state, attempt) as shown_state
from river_job
where id = sqlc.arg(id);

-- name: LockJob :one
select sqlc.embed(river_job), job_state(state, attempt) as shown_state
from river_job
where id = sqlc.arg(id)
for update;

-- name: RetryJob :one
-- Gets its turn like a new job, before later jobs of its sequence.
update river_job set state = 'pending', attempt = 0, finalized_at = null, scheduled_at = now(),
    metadata = metadata - 'cancel_attempted_at' - 'slow'
where id = sqlc.arg(id)
returning sqlc.embed(river_job), job_state(state, attempt) as shown_state;

-- name: FailedJobs :many
-- Index: jobs_failed.
select id from river_job where state in ('cancelled', 'discarded') and id > sqlc.arg(after)::bigint order by id limit sqlc.arg(page_size);

-- name: JobTotals :many
-- Returns the numbers for metrics, by kind. Jobs that ended without a failure are left out. The age is the age of
-- the oldest job that could run but does not run. Such a job has a turn or waits for a turn, and it is the first job of
-- its sequence.
with behind as materialized (
    select distinct metadata ->> 'sequence' as sequence from river_job
    where state in ('available', 'retryable', 'running', 'scheduled')
)
select kind,
    count(*) filter (where state not in ('cancelled', 'discarded'))::bigint as open,
    count(*) filter (where state in ('cancelled', 'discarded'))::bigint as failed,
    coalesce(extract(epoch from max(now() - scheduled_at) filter (
        where state = 'available' or state = 'pending' and behind.sequence is null
    )), 0)::float8 as oldest_waiting
from river_job left join behind on state = 'pending' and behind.sequence = metadata ->> 'sequence'
where state in ('available', 'pending', 'retryable', 'running', 'scheduled', 'cancelled', 'discarded')
group by kind;

-- name: DeleteOldJobs :execrows
-- Deletes with river's index of states and ends. River itself would delete by its node's clock, which may be wrong.
delete from river_job where id = any(array(
    select j.id from river_job j
    where j.state = any(sqlc.arg(states)::text[]::river_job_state[])
      and j.finalized_at < deletion_time() - sqlc.arg(kept)::interval
    limit sqlc.arg(most)
));
