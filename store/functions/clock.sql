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

-- creation_time is the creation time for rows that have an effect only for a limited time. It is now(), or the latest
-- time that nodes have seen. So if a clock is behind for a while, no rows are created that look old when the clock is
-- right again. The creation time may be far ahead of now(). A statement that needs the time since something happened
-- has another column. store/deletion_columns_test.go lists the columns. Audit triggers call creation_time for each
-- statement. In plpgsql the query's plan is cached, which costs half of what a function in SQL costs
-- (bench/results/2026-11-25-audit-cost.md).
create or replace function creation_time() returns timestamptz language plpgsql stable as $$
begin
    return greatest(now(), (select c.seen_at from clock c));
end
$$;

-- known_time is the present, as far as the installation knows it. It is now(), or the latest time that nodes have seen
-- if the clock is behind that time, or if the clock may be ahead (see deletion_time).
create or replace function known_time() returns timestamptz language sql stable as $$
    select case when deletion_time() = 'epoch' then c.seen_at else greatest(now(), c.seen_at) end from clock c
$$;

-- erasure_reach returns the time up to which an erasure reaches. of_node is the time of the node that received the
-- request. If the clock of the node or of Postgres is wrong, the result is the known time.
create or replace function erasure_reach(of_node timestamptz) returns timestamptz language sql stable as $$
    select case when of_node between k - interval '1 minute' and k + interval '1 minute' then of_node
        else date_trunc('second', k) + interval '1 second' end
    from known_time() k
$$;

-- hasten corrects the times of rows after the clock was set back. If a time is further ahead than a right clock would
-- set it, it becomes the present time. The rows keep their order. Otherwise jobs and deliveries would wait until the
-- clock reaches these times again. hasten also ends a leader's term that is longer than any possible term, because
-- river retries no job without a leader. It returns the number of corrected rows by column.
--
-- job_pause is the longest pause of a job, and fetch_pause the longest time between two fetches of a specification.
-- store/times_ahead_test.go has a list of all columns with times, and says for each column whether hasten corrects it.
create or replace function hasten(job_pause interval, fetch_pause interval) returns jsonb language plpgsql as $$
declare
    -- A statement corrects at most this number of rows. The next call corrects the other rows.
    most     constant integer := 10000;
    hastened jsonb := '{}';
    r        record;
    n        bigint;
begin
    for r in
        select * from (values
            -- These columns have the times of next attempts, and the ends of pauses and leases. A receiver can request
            -- a pause of 24 hours. The last pause of a delivery is 26.4 hours.
            ('openapi_specs', 'fetch_at', fetch_pause, 'source_url is not null'),
            ('river_job', 'scheduled_at', interval '1 second', 'state = ''available'''),
            ('river_job', 'scheduled_at', job_pause, 'state in (''retryable'', ''scheduled'')'),
            ('webhook_deliveries', 'next_attempt_at', interval '27 hours', 'state = ''pending'''),
            ('webhooks', 'due_at', interval '27 hours', 'active and due_at is not null'),
            ('webhooks', 'held_until', interval '25 hours', 'held_until is not null'),
            -- These columns have the times of something that happened. If such a time stayed ahead, the row would be
            -- treated as newer than rows that are created later.
            ('git_operations', 'timestamp', interval '1 minute', 'true'),
            ('git_syncs', 'imported_at', interval '1 minute', 'imported_at is not null'),
            ('git_syncs', 'synced_at', interval '1 minute', 'true'),
            ('job_turns', 'turn', interval '1 minute', 'true'),
            ('pdfs', 'asked_at', interval '1 minute', 'content is null')
        ) as t (name, col, furthest, which)
    loop
        execute format('
            update %1$I t set %2$I = now() - f.place * interval ''1 microsecond''
            from (
                select l.tid, row_number() over (order by l.at desc) - 1 as place from (
                    select c.ctid as tid, c.%2$I as at from %1$I c
                    where %3$s and c.%2$I > now() + $1 order by c.%2$I limit $2 for update skip locked
                ) l
            ) f
            where t.ctid = f.tid', r.name, r.col, r.which) using r.furthest, most;
        get diagnostics n = row_count;
        if n > 0 then
            hastened := hastened || jsonb_build_object(r.name || '.' || r.col,
                n + coalesce((hastened ->> (r.name || '.' || r.col))::bigint, 0));
        end if;
    end loop;
    delete from river_leader where expires_at > now() + interval '10 minutes';
    return hastened;
end
$$;
