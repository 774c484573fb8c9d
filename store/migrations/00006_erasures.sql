-- +goose Up

-- An erasure has its moment from the request. The moment is a whole second, because the events table has the second in
-- which a row was received. A pending erasure starts again with such a moment.
update erasures set
    version      = case when done_at is not null then version end,
    mutated_at   = case when done_at is not null then mutated_at end,
    erased_until = date_trunc('second', coalesce(erased_until, done_at, now())) + interval '1 second';
alter table erasures alter column erased_until set not null;

-- An erasure needs no attempts with longer windows.
alter table erasures drop column attempts;
