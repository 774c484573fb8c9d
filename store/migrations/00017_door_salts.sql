-- +goose Up

-- The salts of the visitors of browsers, one for each day in UTC. A salt is destroyed 48 hours after its day began.
-- The table is unlogged, so that neither the write-ahead log nor a backup made from it has a salt. A crash empties the
-- table, and the nodes put back the salts that they have.
create unlogged table door_salts (
    day     date        primary key,
    salt    bytea       not null check (octet_length(salt) = 32),
    made_at timestamptz not null default clock_timestamp()
);
