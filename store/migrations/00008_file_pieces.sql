-- +goose Up

-- Files are sent piece by piece. Postgres reads a piece of a compressed value by decompressing all bytes before it.
-- Stored files stay as they are.
alter table files alter column content set storage external;
