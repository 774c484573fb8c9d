-- name: LockJobSequence :exec
-- Until the transaction ends, no other asks for a job of the sequence. So the ids of its jobs have the order in which the
-- transactions that asked for them are committed.
select pg_advisory_xact_lock(hashtextextended('jobs ' || sqlc.arg(sequence)::text, 0));

-- name: WaitingJobs :one
-- Whether one of the sequence waits that does for a new one, if there is such a thing, and whether any is not over. River passes
-- over a locked row, so the one that waits does not start before this transaction ends. One that waits after a failure starts
-- without the rest of its pause, which may be an hour, and that attempt does not count: there is news. It keeps its last errors only.
-- Index: jobs_sequence.
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
)
select exists (select from waiting)::boolean as waiting, exists (
    select from river_job
    where metadata ->> 'sequence' = sqlc.arg(sequence)::text
      and state in ('available', 'pending', 'retryable', 'running', 'scheduled')
)::boolean as open;

-- name: LockJobPromotion :one
-- One at a time promotes, and each sees what the one before has done.
select pg_try_advisory_xact_lock(hashtextextended('promotion of jobs', 0));

-- name: PromoteJobs :execrows
-- The first job of each sequence in which none is at work may start.
-- Index: jobs_sequence.
-- Sorts: those that are pending.
with next as (
    select distinct on (p.metadata ->> 'sequence') p.id
    from river_job p
    where p.state = 'pending' and not exists (
        select from river_job a
        where a.metadata ->> 'sequence' = p.metadata ->> 'sequence' and a.state in ('available', 'retryable', 'running', 'scheduled')
    )
    order by p.metadata ->> 'sequence', p.id
)
update river_job set state = 'available' from next where river_job.id = next.id and river_job.state = 'pending';

-- name: LostJobNodes :many
-- The nodes that were running jobs and do not live anymore: a living one holds its lock (see TryLock). Whoever asks at the same
-- time as another may miss one.
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
-- It is promoted like a new one, before those of its sequence that were asked for later.
update river_job set state = 'pending', attempt = 0, finalized_at = null, scheduled_at = now(), metadata = metadata - 'cancel_attempted_at'
where id = sqlc.arg(id)
returning sqlc.embed(river_job), job_state(state, attempt) as shown_state;

-- name: FailedJobs :many
-- Index: jobs_failed.
select id from river_job where state in ('cancelled', 'discarded') and id > sqlc.arg(after)::bigint order by id limit sqlc.arg(page_size);

-- name: JobTotals :many
-- What metrics show, by kind. Jobs that are over and did not fail are left out. The age is that of the oldest job that could
-- run and does not.
select kind,
    count(*) filter (where state not in ('cancelled', 'discarded'))::bigint as open,
    count(*) filter (where state in ('cancelled', 'discarded'))::bigint as failed,
    coalesce(extract(epoch from max(now() - scheduled_at) filter (where state = 'available')), 0)::float8 as oldest_waiting
from river_job
where state in ('available', 'pending', 'retryable', 'running', 'scheduled', 'cancelled', 'discarded')
group by kind;
