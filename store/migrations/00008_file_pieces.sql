-- +goose Up

-- Files are sent piece by piece. Postgres reads a piece of a compressed value by decompressing all that is before it. Files
-- that are stored already stay as they are.
alter table files alter column content set storage external;
