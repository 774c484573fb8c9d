-- +goose Up

-- The missing rows that a repair did not find in the log.
alter table event_rows_missing add column lost bigint not null default 0;

-- Missing rows of which the site and the day are known. The other rows of event_rows_missing may be of any site.
create table event_rows_missing_days (
    month integer not null,
    site  text    not null,
    day   timestamptz not null, -- its beginning in UTC
    rows  bigint  not null check (rows >= 0),
    primary key (month, site, day)
);

-- Losses that an operator accepted, by the month in which the rows arrived.
create table event_rows_accepted (
    month integer primary key,
    rows  bigint not null check (rows > 0)
);

-- Results of the last verification of each kind of data (octavo verify).
create table verifications (
    kind        text primary key,
    read        bigint not null,
    bytes       bigint not null,
    damaged     bigint not null,
    hint        text   not null,
    verified_at timestamptz not null
);
