-- These functions guard deletions by age. If a clock is days ahead, all data looks old, and deletions by age would
-- delete it.

-- deletion_time returns the present time for statements that delete rows by age, or that end attempts by age. Usually
-- this is now(). While the clock may be ahead, it is the beginning of 1970, so that no row is old. Nodes compare the
-- clock with the latest known time every minute (store/clock). This function also detects a clock that jumps ahead
-- between two of these comparisons.
create or replace function deletion_time() returns timestamptz language sql stable as $$
    select case when exists (select from clock c where c.doubt = 'ahead' or now() > c.seen_at + interval '2 days')
        then timestamptz 'epoch' else now() end
$$;

-- creation_time returns the creation time for rows that are deleted at a certain age. It is now() or the latest known
-- time, whichever is later. So while a clock is behind, no row is created that looks old when the clock is right again.
-- The returned time may be far ahead of now(). So a statement that needs the real time of an event uses another column.
-- store/deletion_columns_test.go lists the columns with creation_time.
create or replace function creation_time() returns timestamptz language sql stable as $$
    select greatest(now(), (select c.seen_at from clock c))
$$;
