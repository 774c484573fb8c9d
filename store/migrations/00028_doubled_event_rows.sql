-- +goose Up

-- Rows that the events table has twice. A month may have such rows, and lack others.
alter table event_rows_missing add column doubled bigint not null default 0 check (doubled >= 0);
alter table event_rows_missing drop constraint event_rows_missing_rows_check;
alter table event_rows_missing add check (rows >= 0 and rows + doubled > 0);

-- Notices of rows that are about to leave the events table, until a comparison knows which rows are missing.
create table event_rows_leaving (
    number bigint generated always as identity primary key,
    rows   bigint not null
);

-- Running nodes, and the last notice that each node has read.
create table event_rows_readers (
    node   text primary key,
    notice bigint not null,
    -- It grows while the node runs.
    beat   bigint not null default 0
);

-- Losses with which an operator let a node start (octavo serve --accept-loss).
create table accepted_losses (
    engine      text primary key,
    loss        text        not null,
    accepted_at timestamptz not null
);
