-- name: EventRowsEnd :one
-- Index: event_row_ends_pkey.
select next, tail, mixed from event_row_ends where log_partition = $1;

-- name: EventRowsEnds :many
-- A row for each partition of the log.
select log_partition, next from event_row_ends order by log_partition;

-- name: OpenEventRows :one
-- Index: event_row_ends_pkey.
with opened as (
    insert into event_row_ends (log_partition, next, tail, mixed)
    values (sqlc.arg(log_partition), sqlc.arg(next), sqlc.narg(tail), sqlc.arg(mixed))
    on conflict (log_partition) do nothing returning log_partition
), added as (
    insert into event_rows (log_partition, month, rows, first_time)
    select o.log_partition, unnest(sqlc.arg(months)::integer[]), unnest(sqlc.arg(rows)::bigint[]),
        unnest(sqlc.arg(first_times)::bigint[]) from opened o
    on conflict (log_partition, month) do update
    set rows = event_rows.rows + excluded.rows, first_time = least(event_rows.first_time, excluded.first_time)
)
select count(*) from opened;

-- name: AdvanceEventRows :one
-- Index: event_row_ends_pkey.
with moved as (
    update event_row_ends e set next = sqlc.arg(next), tail = sqlc.narg(tail), mixed = sqlc.arg(mixed)
    where e.log_partition = sqlc.arg(log_partition) and e.next = sqlc.arg(was)
    returning e.log_partition
), added as (
    insert into event_rows (log_partition, month, rows, first_time)
    select m.log_partition, unnest(sqlc.arg(months)::integer[]), unnest(sqlc.arg(rows)::bigint[]),
        unnest(sqlc.arg(first_times)::bigint[]) from moved m
    on conflict (log_partition, month) do update
    set rows = event_rows.rows + excluded.rows, first_time = least(event_rows.first_time, excluded.first_time)
)
select count(*) from moved;

-- name: EventRows :many
-- A few rows a month. The deleted rows have partition -1.
select month, sum(rows)::bigint as rows, min(first_time)::bigint as first_time,
    coalesce(sum(rows) filter (where log_partition = -1), 0)::bigint as deleted
from event_rows group by month order by month;

-- name: NoteEventRowDeletion :one
-- Index: event_row_deletions_pkey.
with noted as (
    insert into event_row_deletions (name, condition) values (sqlc.arg(name), sqlc.arg(condition))
    on conflict (name) do nothing returning name
), taken as (
    insert into event_rows (log_partition, month, rows, first_time)
    select -1, unnest(sqlc.arg(months)::integer[]), - unnest(sqlc.arg(rows)::bigint[]),
        9223372036854775807 from noted
    on conflict (log_partition, month) do update set rows = event_rows.rows + excluded.rows
)
select count(*) from noted;

-- name: EventRowDeletions :many
-- Deletions under way.
select name, condition from event_row_deletions order by begun_at, name;

-- name: EndEventRowDeletion :exec
-- Index: event_row_deletions_pkey.
delete from event_row_deletions where name = $1;

-- name: MissingEventRows :many
-- A row for each month that lacks rows.
select month, rows, first_time, last_time from event_rows_missing order by month;

-- name: ForgetMissingEventRows :exec
delete from event_rows_missing;

-- name: NoteMissingEventRows :exec
-- Index: event_rows_missing_pkey.
insert into event_rows_missing (month, rows, first_time, last_time) values ($1, $2, $3, $4)
on conflict (month) do update
set rows = excluded.rows, first_time = excluded.first_time, last_time = excluded.last_time;
