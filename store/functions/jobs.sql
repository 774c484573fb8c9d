-- Jobs are rows of river_job. A job's metadata has these members:
--   organization  the organization of the job
--   space         the space, for jobs about a space
--   sequence      jobs with the same sequence run in order

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
