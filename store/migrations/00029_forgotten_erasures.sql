-- +goose Up

-- Of each site, what is left of erasures whose tombstones are forgotten. A backup that was made before such an erasure
-- was done may have the erased events, and nobody can tell which events these are.
create table forgotten_erasures (
    site_id      text collate "C" primary key,
    -- Events that were received before erased_until may be erased.
    erased_until timestamptz not null,
    -- The last of the erasures was done at this time.
    done_at      timestamptz not null
);
