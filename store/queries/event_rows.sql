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
-- A row for each month that lacks rows, or has rows twice.
select m.month, m.rows, m.lost, m.doubled, coalesce(a.rows, 0)::bigint as accepted, m.first_time, m.last_time
from event_rows_missing m left join event_rows_accepted a on a.month = m.month order by m.month;

-- name: MissingEventRowDays :many
-- At most some hundred rows for each damaged part.
select month, site, day, rows from event_rows_missing_days where rows > 0 order by month, site, day;

-- name: ForgetMissingEventRows :exec
delete from event_rows_missing;

-- name: NoteMissingEventRows :exec
-- Index: event_rows_missing_pkey.
insert into event_rows_missing (month, rows, lost, doubled, first_time, last_time) values ($1, $2, $3, $4, $5, $6)
on conflict (month) do update
set rows = excluded.rows, lost = excluded.lost, doubled = excluded.doubled,
    first_time = excluded.first_time, last_time = excluded.last_time;

-- name: SettleMissingEventRowDays :exec
-- The days of a month are wrong if they have more rows than the month lacks.
delete from event_rows_missing_days d
where d.rows = 0
    or (select sum(o.rows) from event_rows_missing_days o where o.month = d.month)
        > coalesce((select m.rows from event_rows_missing m where m.month = d.month), 0);

-- name: SettleAcceptedEventRows :exec
-- Rows that are not missing any more are not lost.
update event_rows_accepted a set rows = m.rows from event_rows_missing m
where m.month = a.month and m.rows < a.rows and m.rows > 0;

-- name: ForgetAcceptedEventRows :exec
delete from event_rows_accepted a
where not exists (select from event_rows_missing m where m.month = a.month and m.rows > 0);

-- name: NoteMissingEventRowDays :exec
-- Index: event_rows_missing_days_pkey.
insert into event_rows_missing_days (month, site, day, rows)
select unnest(sqlc.arg(months)::integer[]), unnest(sqlc.arg(sites)::text[]), unnest(sqlc.arg(days)::timestamptz[]),
    unnest(sqlc.arg(rows)::bigint[])
on conflict (month, site, day) do update set rows = event_rows_missing_days.rows + excluded.rows;

-- name: RestoreMissingEventRowDay :exec
-- Index: event_rows_missing_days_pkey.
update event_rows_missing_days set rows = greatest(0, rows - sqlc.arg(restored)::bigint)
where month = sqlc.arg(month) and site = sqlc.arg(site) and day = sqlc.arg(day);

-- name: AcceptMissingEventRows :many
-- A row for each month that lacks rows.
insert into event_rows_accepted (month, rows) select month, rows from event_rows_missing where rows > 0
on conflict (month) do update set rows = excluded.rows where event_rows_accepted.rows <> excluded.rows
returning month, rows;

-- name: NoteRestoredEventRows :exec
insert into event_rows_restored (month, rows, copy, damaged) values ($1, $2, $3, sqlc.arg(damaged)::text[]);

-- name: NoteLeavingEventRows :one
insert into event_rows_leaving (rows) values ($1) returning number;

-- name: LeavingEventRows :one
-- A row for each part that is being set aside.
select coalesce(sum(rows), 0)::bigint as rows, coalesce(max(number), 0)::bigint as notice from event_rows_leaving;

-- name: ForgetLeavingEventRows :exec
delete from event_rows_leaving;

-- name: NoteEventRowsReader :exec
-- Index: event_rows_readers_pkey.
insert into event_rows_readers (node, notice) values ($1, $2)
on conflict (node) do update
set notice = greatest(event_rows_readers.notice, excluded.notice), beat = event_rows_readers.beat + 1;

-- name: ForgetEventRowsReader :exec
-- Index: event_rows_readers_pkey.
delete from event_rows_readers where node = $1;

-- name: EventRowsReadersBefore :many
-- A row for each node.
select node, beat from event_rows_readers where notice < $1 order by node;
