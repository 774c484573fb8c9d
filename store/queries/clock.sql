-- name: LockClock :one
select *, clock_timestamp()::timestamptz as now from clock for update;

-- name: SetClock :exec
update clock set seen_at = sqlc.narg(seen_at), doubt = sqlc.narg(doubt), doubted_at = sqlc.narg(doubted_at),
    ran = sqlc.arg(ran), counted_by = sqlc.narg(counted_by);

-- name: ConfirmClock :exec
update clock set seen_at = now(), doubt = null, doubted_at = null, ran = 0, counted_by = null, confirmed_at = now();

-- name: Clock :one
select *, clock_timestamp()::timestamptz as now from clock;

-- name: DeletionTime :one
select deletion_time()::timestamptz;

-- name: Hasten :one
select hasten(sqlc.arg(job_pause)::interval, sqlc.arg(fetch_pause)::interval)::jsonb;
