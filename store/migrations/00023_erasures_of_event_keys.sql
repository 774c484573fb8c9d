-- +goose Up

-- An erasure of the events of a publishable key's generation, as the column eventKey has it. Its visitor is a hash of
-- the key, and no visitor's. Null for visitors.
alter table erasures add column event_key text collate "C";
alter table tombstones add column event_key text collate "C";
