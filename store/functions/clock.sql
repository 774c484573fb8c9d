-- The guard of deletions by age. A clock that is days ahead makes everything look old.

-- deletion_time is the time of every statement that deletes by age, or gives up by age. It is now(), or the beginning
-- of 1970 while the clock may be ahead, so that nothing is old. Nodes look at the clock every minute (store/clock), so
-- a clock that jumps ahead between two of their looks is seen here.
create or replace function deletion_time() returns timestamptz language sql stable as $$
    select case when exists (select from clock c where c.doubt = 'ahead' or now() > c.seen_at + interval '2 days')
        then timestamptz 'epoch' else now() end
$$;
