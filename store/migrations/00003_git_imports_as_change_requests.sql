-- +goose Up

-- The branches of repositories that the space's administrators trust: a list of {url, ref, repoProjectDirectory}.
alter table spaces add column git_trusted jsonb;

alter table git_operations
    drop constraint git_operations_state_check,
    add constraint git_operations_state_check
        check (state in ('queued', 'running', 'waiting', 'done', 'failed', 'skipped')),
    -- The change request that an import made or updated, or for whose end an export waits.
    add column change_request_id text collate "C",
    -- Why an import changed the space although merge rules hold there.
    add column allowed_by text check (allowed_by in ('bypass', 'trusted'));
-- An import opened the change request.
alter table change_requests add column git_import boolean not null default false;
create index git_operations_request on git_operations (change_request_id, "timestamp" desc, id desc)
    where change_request_id is not null;

-- A synchronization with a change request is what an import proposes there. The merge of the request makes it the last
-- synchronization of the space with the branch. Until then, the space has the one before.
alter table git_syncs
    drop constraint git_syncs_space_id_remote_key,
    add column change_request_id text collate "C" references change_requests (id) on delete cascade,
    -- The redirects of the repository, which begin with the merge: a page id by path.
    add column redirects jsonb;
create unique index git_syncs_known on git_syncs (space_id, remote) where change_request_id is null;
create unique index git_syncs_proposed on git_syncs (space_id, remote) where change_request_id is not null;
create unique index git_syncs_request on git_syncs (change_request_id) where change_request_id is not null;
