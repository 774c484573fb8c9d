-- +goose Up
-- Jobs are in river's table, which is there before these migrations run. What a job is about is in its metadata:
--   organization  whose job it is
--   space         the space that it is about, if it is about one
--   sequence      jobs with the same sequence run one after the other

-- job_state is the state that users see.
-- +goose StatementBegin
create function job_state(state river_job_state, attempt smallint) returns text language sql immutable parallel safe as $$
    select case
        when state in ('discarded', 'cancelled') then 'failed'
        when state = 'completed' then 'done'
        when state = 'running' then 'running'
        when state = 'retryable' or attempt > 0 then 'retrying'
        else 'waiting'
    end
$$;
-- +goose StatementEnd

create index jobs_organization on river_job ((metadata ->> 'organization'), id);
-- The jobs that are not over are few, whatever is kept of the others.
create index jobs_sequence on river_job ((metadata ->> 'sequence'), id)
    where state in ('available', 'pending', 'retryable', 'running', 'scheduled');
create index jobs_failed on river_job (id) where state in ('cancelled', 'discarded');

-- The revision of a space that its search finds. A space without a row was indexed before there were jobs.
create table search_spaces (
    space_id text collate "C" primary key references spaces (id) on delete cascade,
    revision text collate "C" not null
);

-- +goose Down
drop table search_spaces;
drop index jobs_failed;
drop index jobs_sequence;
drop index jobs_organization;
drop function job_state(river_job_state, smallint);
