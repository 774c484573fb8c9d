-- +goose Up

-- An erasure's moment is known from when it is asked for, and is a whole second, as the events table knows when its rows
-- were received. What is under way begins again with such a moment.
update erasures set
    version      = case when done_at is not null then version end,
    mutated_at   = case when done_at is not null then mutated_at end,
    erased_until = date_trunc('second', coalesce(erased_until, done_at, now())) + interval '1 second';
alter table erasures alter column erased_until set not null;

-- An erasure has no window any more that could be too short.
alter table erasures drop column attempts;
