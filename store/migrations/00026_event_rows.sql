-- +goose Up

-- How many rows the events table should have. It is in another store than the table, so that a loss of rows shows.
-- See store/eventrows and ingest/sink/rows.go.

-- Rows by the log's partition and the month of arrival, such as 202611. Partition -1 has the deleted rows, as negative
-- numbers.
create table event_rows (
    log_partition integer not null,
    month         integer not null,
    rows          bigint  not null,
    -- The earliest time of these events, in milliseconds since 1970.
    first_time    bigint  not null,
    primary key (log_partition, month)
);

-- The offset up to which a partition's rows are counted.
create table event_row_ends (
    log_partition integer primary key,
    next          bigint  not null,
    -- The sum of the message before next. It tells the log from a recreated topic's.
    tail          bigint,
    -- The table also has rows of an earlier log, at offsets from next on.
    mixed         boolean not null default false
);

-- Deletions whose rows event_rows has left out already. The condition selects the rows.
create table event_row_deletions (
    name      text primary key,
    condition text not null,
    begun_at  timestamptz not null default now()
);

-- Rows that the last comparison found missing. The times of their events are from first_time to last_time.
create table event_rows_missing (
    month      integer primary key,
    rows       bigint not null check (rows > 0),
    first_time timestamptz not null,
    last_time  timestamptz not null
);
