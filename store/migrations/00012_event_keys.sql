-- Idempotency keys of event posts, for a day each.
-- +goose Up
create table event_keys (
    site_id       text collate "C" not null,
    key           text collate "C" not null,
    -- SHA-256 of the body without its Content-Encoding.
    body_hash     bytea       not null,
    -- The log message that the request becomes, however often it is tried.
    message_id    bytea       not null,
    log_partition integer     not null,
    -- The message is nowhere before this offset of the partition.
    log_offset    bigint      not null,
    done          boolean     not null default false,
    -- Who has the last attempt may append until then; it is counted to be told from the others.
    attempt       integer     not null default 1,
    leased_until  timestamptz not null,
    created_at    timestamptz not null default now(),
    -- No reference to the site: a key outlives it for a day at most, and posting must not lock its row.
    primary key (site_id, key)
);
create index event_keys_created on event_keys (created_at);

-- +goose Down
drop table event_keys;
