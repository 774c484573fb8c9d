-- give_job_turns decides which waiting job runs next. Jobs are rows of river_job. A job's metadata has these members:
--   organization  the id of the job's organization
--   user          the id of the user who caused the job, or of the organization's first administrator, or ''
--   space         the id of the space, for a job about a space
--   sequence      jobs with the same sequence run in order
--   yields        while the job waits for its next attempt, later jobs of its sequence may start
--   slow          exists only if the job was found to be slow
--
-- A pending job waits for its turn. An available job has its turn and waits for a worker. An available job has priority
-- 1 if its parties have no other available or running job. It has priority 4 if it got its turn only because no job of
-- other parties was waiting.

-- job_state returns the state that users see.
create or replace function job_state(state river_job_state, attempt smallint)
    returns text language sql immutable parallel safe as $$
    select case
        when state in ('discarded', 'cancelled') then 'failed'
        when state = 'completed' then 'done'
        when state = 'running' then 'running'
        when state = 'retryable' or attempt > 0 then 'retrying'
        else 'waiting'
    end
$$;

-- maker_of returns the user whose turns and limit of mails a change uses. The result is user_id. If no user made the
-- change, the result is the first administrator of the organization. If there is no administrator, the result is ''.
create or replace function maker_of(user_id text, organization text) returns text language sql stable as $$
    select coalesce(nullif(maker_of.user_id, ''), (
        select m.user_id from memberships m
        where m.organization_id = maker_of.organization and m.role = 'admin'
        order by m.joined_at, m.user_id limit 1
    ), '')
$$;

-- job_parties returns the parties of a job: its organization, its user, and the party 'slow' of all slow jobs. When the
-- job gets a turn, each of its parties has used a turn.
create or replace function job_parties(metadata jsonb) returns text[] language sql immutable parallel safe as $$
    select array_remove(array[
        metadata ->> 'organization', nullif(metadata ->> 'user', ''), case when metadata ? 'slow' then 'slow' end
    ], null)
$$;

-- job_waits makes a job that would run again wait for a turn. A job runs again after a failure, after a pause, or if
-- its node has ended. The trigger runs after the update. River reads the job's state from the result of its update, and
-- would not expect the state pending there.
create or replace function job_waits() returns trigger language plpgsql as $$
begin
    update river_job set state = 'pending' where id = new.id and state = 'available';
    return null;
end
$$;

create or replace trigger job_waits after update of state on river_job for each row
    when (new.state = 'available' and old.state <> 'pending') execute function job_waits();

-- job_failed corrects finalized_at of a failed job if the clock that wrote it was behind. Otherwise the job would be
-- deleted too early, and users could not look at it and run it again.
create or replace function job_failed() returns trigger language plpgsql as $$
begin
    new.finalized_at := greatest(new.finalized_at, creation_time());
    return new;
end
$$;

create or replace trigger job_failed before update of finalized_at on river_job for each row
    when (new.state in ('cancelled', 'discarded') and new.finalized_at is distinct from old.finalized_at)
    execute function job_failed();

-- give_job_turns gives turns to pending jobs, and returns the number of turns. For each kind of job, at most as many
-- jobs have a turn and wait as one node has workers. Jobs of the parties whose last turn is longest ago come first. A
-- party with a running or available job gets another turn only if no other party waits. A job of a sequence gets a turn
-- only if every earlier job of the sequence has ended, or `yields` while it waits for its next attempt. The caller
-- holds the advisory lock for promotions.
--
-- The cost grows linearly with the number of waiting parties, because the function reads at most looked_at jobs of each
-- party.
create or replace function give_job_turns(kinds text[], workers integer[]) returns bigint language plpgsql as $$
declare
    -- looked_at is the largest number of pending jobs that are read for a pair of a user and an organization. It is
    -- more than one, because the first jobs may belong to a sequence whose earlier job has not ended.
    looked_at constant integer := 1000;
    k         text;
    room      integer;
    busy      text[];
    waiting   integer; -- number of available jobs
    alone     integer; -- number of available jobs with priority 1
    later     bigint[];
    given     bigint := 0;
    granted   bigint;
    next      bigint;
    c         record;
begin
    for k, room in select * from unnest(kinds, workers) loop
        if not exists (select from river_job j where j.queue = k and j.state = 'pending') then
            continue;
        end if;
        granted := 0;
        -- A job gets priority 1 as soon as its parties have no running job and no available job before it.
        update river_job j set priority = 1
        where j.queue = k and j.state = 'available' and j.priority > 1 and not exists (
            select from river_job o
            where o.queue = k and o.state in ('available', 'running') and o.id <> j.id
              and (o.state = 'running' or (o.priority, o.id) < (j.priority, j.id))
              and job_parties(o.metadata) && job_parties(j.metadata)
        );
        select coalesce(array_agg(p), '{}'), count(distinct j.id) filter (where j.state = 'available'),
            count(distinct j.id) filter (where j.state = 'available' and j.priority = 1)
        into busy, waiting, alone
        from river_job j cross join lateral unnest(job_parties(j.metadata)) p
        where j.queue = k and j.state in ('available', 'running');
        if alone >= room then
            continue;
        end if;
        later := '{}';
        for c in
            with recursive parties as (
                (select coalesce(j.metadata ->> 'user', '') as maker,
                        coalesce(j.metadata ->> 'organization', '') as organization, j.metadata ? 'slow' as slow
                 from river_job j where j.state = 'pending' and j.queue = k
                 order by 1, 2, 3 limit 1)
                union all
                select n.* from parties p cross join lateral (
                    select coalesce(j.metadata ->> 'user', '') as maker,
                        coalesce(j.metadata ->> 'organization', '') as organization, j.metadata ? 'slow' as slow
                    from river_job j
                    where j.state = 'pending' and j.queue = k
                      and (coalesce(j.metadata ->> 'user', ''), coalesce(j.metadata ->> 'organization', ''),
                          j.metadata ? 'slow') > (p.maker, p.organization, p.slow)
                    order by 1, 2, 3 limit 1
                ) n
            )
            select f.id, job_parties(f.metadata) as parties
            from parties p cross join lateral (
                select w.id, w.metadata from (
                    select j.id, j.metadata from river_job j
                    where j.state = 'pending' and j.queue = k and coalesce(j.metadata ->> 'user', '') = p.maker
                      and coalesce(j.metadata ->> 'organization', '') = p.organization
                      and (j.metadata ? 'slow') = p.slow
                    order by j.id limit looked_at
                ) w
                where not exists (
                    select from river_job b
                    where b.metadata ->> 'sequence' = w.metadata ->> 'sequence'
                      and b.state in ('available', 'retryable', 'running', 'scheduled')
                      and not (b.state = 'retryable' and b.metadata ? 'yields')
                ) and not exists (
                    select from river_job b
                    where b.metadata ->> 'sequence' = w.metadata ->> 'sequence' and b.id < w.id
                      and b.state in ('available', 'pending', 'retryable', 'running', 'scheduled')
                      and not (b.state = 'retryable' and b.metadata ? 'yields')
                )
                order by w.id limit room
            ) f
            order by (
                select max(t.turn) from job_turns t where t.kind = k and t.party = any (job_parties(f.metadata))
            ) nulls first, f.id
        loop
            exit when alone >= room;
            if c.parties && busy then
                later := later || c.id;
                continue;
            end if;
            busy := busy || c.parties;
            alone := alone + 1;
            granted := granted + start_job(k, c.id, 1::smallint);
        end loop;
        foreach next in array later[:greatest(0, room - waiting - granted)] loop
            granted := granted + start_job(k, next, 4::smallint);
        end loop;
        if granted > 0 then
            -- River's workers listen to this channel, and look for jobs when they are notified.
            perform pg_notify(current_schema() || '.river_insert', jsonb_build_object('queue', k)::text);
        end if;
        given := given + granted;
    end loop;
    -- Old turns are deleted. A party whose last turn is more than a day ago is treated as a party that never had a
    -- turn.
    delete from job_turns where turn < deletion_time() - interval '1 day';
    return given;
end
$$;

-- start_job gives a pending job its turn. It returns the number of jobs that got a turn: 1, or 0 if the job is not
-- pending.
create or replace function start_job(k text, job bigint, rank smallint) returns bigint language plpgsql as $$
begin
    update river_job set state = 'available', priority = rank where id = job and state = 'pending';
    if not found then
        return 0;
    end if;
    insert into job_turns (kind, party, turn)
    select k, p, clock_timestamp() from river_job j cross join lateral unnest(job_parties(j.metadata)) p
    where j.id = job
    on conflict (kind, party) do update set turn = excluded.turn;
    return 1;
end
$$;
