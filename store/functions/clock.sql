-- These functions guard deletions by age. If a clock is days ahead, all data looks old.

-- deletion_time is the time of every statement that deletes by age, or gives up by age. It is now(). While the clock
-- may be ahead, it is the beginning of 1970, so that no row is old. Nodes look at the clock every minute (store/clock).
-- This function also detects a clock that jumps ahead between two looks.
create or replace function deletion_time() returns timestamptz language sql stable as $$
    select case when exists (select from clock c where c.doubt = 'ahead' or now() > c.seen_at + interval '2 days')
        then timestamptz 'epoch' else now() end
$$;

-- creation_time is the creation time for rows that count for a limited time. It is now(), or the furthest time that
-- nodes have seen. So if a clock is behind for a while, it creates no rows that look old when the clock is right again.
-- Such a time may be far ahead of now(). A statement that needs the time since something happened has another column.
-- store/deletion_columns_test.go lists the columns.
create or replace function creation_time() returns timestamptz language sql stable as $$
    select greatest(now(), (select c.seen_at from clock c))
$$;
