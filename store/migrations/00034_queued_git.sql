-- Git operations that were queued while there was nothing to run them get their jobs, in their order.

-- +goose Up

insert into river_job (state, queue, kind, max_attempts, args, metadata)
select 'pending', 'sync_git', 'sync_git', 6,
    jsonb_build_object('organization', s.organization_id, 'space', s.id, 'operation', o.id),
    jsonb_build_object('organization', s.organization_id, 'space', s.id, 'sequence', 'sync_git ' || s.id)
from git_operations o join spaces s on s.id = o.space_id
where o.state = 'queued'
order by o."timestamp", o.id;

update git_operations set reason = '' where state = 'queued';

-- +goose Down
delete from river_job where kind = 'sync_git';
