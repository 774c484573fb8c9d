-- +goose Up

-- The repository and the folder of a synchronization, and its last import: an import starts from the last state of the
-- repository that came into the space, from whatever branch or folder. An export leaves the last import as it is.
alter table git_syncs
    add column url text not null default '',
    add column folder text not null default '',
    add column imported_revision text collate "C",
    add column imported_at timestamptz;

-- The name of a synchronization (remote) is a hash of its address, branch and folder.
update git_syncs s set url = o.url, folder = o.folder,
    imported_revision = case when o.imported then s.revision end,
    imported_at = case when o.imported then s.synced_at end
from (
    select space_id, url, folder, bool_or(kind = 'import') as imported,
        encode(sha256(convert_to(format('"%s" "%s" "%s"', url, ref, folder), 'UTF8')), 'hex') as remote
    from (
        select space_id, url, ref, kind,
            trim(both '/' from coalesce(parameters ->> 'repoProjectDirectory', '')) as folder
        from git_operations
        where state = 'done' and not coalesce((parameters ->> 'standalone')::boolean, false)
    ) done
    group by space_id, url, ref, folder
) o
where o.space_id = s.space_id and o.remote = s.remote;

alter table git_operations
    drop constraint git_operations_state_check,
    add constraint git_operations_state_check check (state in (
        'queued', 'running', 'retrying', 'waiting', 'done', 'failed', 'skipped', 'superseded', 'cancelled'
    )),
    -- How far the operation is: {step, done, total}.
    add column progress jsonb;
drop index git_operations_open;
-- The table has many finished operations and few unfinished operations.
create index git_operations_open on git_operations (id) where state in ('queued', 'running', 'retrying');
