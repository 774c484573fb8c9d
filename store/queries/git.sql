-- name: InsertGitOperation :one
insert into git_operations (id, space_id, kind, state, reason, url, credentials, ref, parameters, provider, repo_url, "timestamp", created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) returning *;

-- name: ListGitOperations :many
-- Index: git_operations_space (space_id, timestamp desc, id desc).
select * from git_operations
where space_id = sqlc.arg(space_id)
  and ("timestamp", id) < (sqlc.arg(before)::timestamptz, sqlc.arg(before_id)::text collate "C")
order by "timestamp" desc, id desc
limit sqlc.arg(page_size);

-- name: CountGitOperations :one
-- Index: git_operations_space (space_id, timestamp desc, id desc).
select count(*) from git_operations where space_id = $1;

-- name: GitCredentials :one
select credentials from git_operations where id = $1;

-- name: GitOperation :one
select * from git_operations where id = $1;

-- name: LockGitOperation :one
select * from git_operations where id = $1 for update;

-- name: NewerGitOperation :one
-- Whether a later operation of the space is done. Standalone imports do not count. An export writes the present content
-- of the space, so only later operations on its branch replace it. An import that became a change request has not
-- changed the space.
-- Index: git_operations_space (space_id, timestamp desc, id desc).
select exists (
    select from git_operations
    where space_id = sqlc.arg(space_id) and state = 'done'
      and ("timestamp", id) > (sqlc.arg(after)::timestamptz, sqlc.arg(id)::text collate "C")
      and not coalesce((parameters ->> 'standalone')::boolean, false)
      and (sqlc.arg(kind)::text = 'import'
           or change_request_id is null and url = sqlc.arg(url)::text and ref = sqlc.arg(ref)::text)
);

-- name: SetGitOperation :exec
-- An operation that is done needs no credentials anymore. A failed one keeps them, sealed, to be retried. A cancelled
-- operation stays cancelled, unless it was done already. An operation whose author lost the right to it forgets them.
update git_operations set
    state = sqlc.arg(state), reason = sqlc.arg(reason), notes = sqlc.narg(notes), commit_hash = sqlc.narg(commit_hash), revision = sqlc.narg(revision),
    change_request_id = sqlc.narg(change_request_id), allowed_by = sqlc.narg(allowed_by),
    finished_at = case
        when sqlc.arg(state)::text in ('done', 'failed', 'skipped', 'superseded', 'cancelled') then creation_time()
    end,
    credentials = case
        when sqlc.arg(state)::text not in ('done', 'skipped', 'superseded', 'cancelled')
            and not sqlc.arg(forget)::boolean then credentials
    end
where id = sqlc.arg(id) and (state <> 'cancelled' or sqlc.arg(state)::text = 'done');

-- name: CancelGitOperationsOf :exec
-- Cancels the operations of some spaces that are not over. Their jobs find them over, and do nothing. A failed
-- operation could be retried, so it is cancelled as well. Its reason still names the failure.
-- Index: git_operations_space.
update git_operations set
    state = 'cancelled', credentials = null,
    reason = case when state = 'failed' then sqlc.arg(reason)::text || '; it had failed: ' || reason
        else sqlc.arg(reason)::text end,
    finished_at = case when state = 'failed' then finished_at else creation_time() end
where space_id = any(sqlc.arg(spaces)::text[]) and state in ('queued', 'running', 'retrying', 'waiting', 'failed');

-- name: ScopesOnSpace :many
-- Returns the scopes on a space of the installation whose tokens write in a user's name. They are none if the
-- installation is gone, is paused or is not for the space.
-- Index: integration_installations_user.
-- No order: they are a set.
select x.scope::text as scope
from spaces s
    join integration_installations n on n.organization_id = s.organization_id and n.user_id = sqlc.arg(user_id)::text
    join integrations i on i.name = n.integration
    cross join unnest(n.scopes) x (scope)
where s.id = sqlc.arg(space_id)::text and not n.paused and x.scope = any(i.scopes)
  and (n.space_selection = 'all' or exists (
       select 1 from integration_content_installations c where c.installation_id = n.id and c.space_id = s.id));

-- name: GitProgress :one
-- Notes how far an operation is, if that is given, and returns its state.
update git_operations set progress = coalesce(sqlc.narg(progress)::jsonb, progress) where id = sqlc.arg(id)
returning state;

-- name: EndGitJobs :exec
-- Ends the operation's jobs that do not run. If the operation waits for its next attempt, its last attempt is over.
-- Its job may still have the state running; River then does not retry the job.
-- Index: jobs_sequence.
update river_job set
    state = case when state = 'running' then state else 'completed' end,
    finalized_at = case when state = 'running' then finalized_at else now() end,
    metadata = case
        when state = 'running' then jsonb_set(metadata, '{cancel_attempted_at}', to_jsonb(now()))
        else metadata
    end
where metadata ->> 'sequence' = 'sync_git ' || sqlc.arg(space_id)::text
  and args ->> 'operation' = sqlc.arg(operation)::text
  and (state in ('available', 'pending', 'retryable', 'scheduled')
    or state = 'running' and sqlc.arg(attempted)::boolean);

-- name: GitRetries :many
-- When the operations of a space that failed are tried again.
-- Index: jobs_sequence.
select (args ->> 'operation')::text as operation, scheduled_at from river_job
where metadata ->> 'sequence' = 'sync_git ' || sqlc.arg(space_id)::text
  and state in ('available', 'pending', 'retryable', 'scheduled') and attempt > 0;

-- name: FailLostGitOperations :exec
-- Fails open operations whose job is over: the process of its last attempt ended, or could not reach the database. An
-- operation gets the reason of its job, if the job is still there.
-- Index: git_operations_open.
-- Sorts: the jobs of an operation.
update git_operations o set state = 'failed', finished_at = creation_time(), reason = coalesce((
    select j.errors[array_upper(j.errors, 1)] ->> 'error' from river_job j
    where j.state in ('cancelled', 'discarded') and j.kind = 'sync_git' and j.args ->> 'operation' = o.id
    order by j.id desc limit 1
), sqlc.arg(reason)::text)
where o.state in ('queued', 'running', 'retrying') and not exists (
    select from river_job j
    where j.metadata ->> 'sequence' = 'sync_git ' || o.space_id and j.args ->> 'operation' = o.id
      and j.state in ('available', 'pending', 'retryable', 'running', 'scheduled')
);

-- name: ForgetGitCredentials :exec
-- Removes credentials of operations that ended so long ago that their jobs are gone.
-- Index: git_operations_credentials.
update git_operations set credentials = null
where credentials is not null and finished_at is not null and finished_at < deletion_time() - sqlc.arg(kept)::interval;

-- name: GitOperationAtWork :one
-- Returns the operation of a space whose job is the first of all unfinished jobs.
-- Index: jobs_sequence.
-- Sorts: the jobs of a space.
select o.* from river_job j join git_operations o on o.id = j.args ->> 'operation'
where j.metadata ->> 'sequence' = 'sync_git ' || sqlc.arg(space_id)::text
  and j.state in ('available', 'pending', 'running', 'scheduled')
order by j.state = 'pending', j.id
limit 1;

-- name: LastGitImportOf :one
-- The last import that a change request has.
-- Index: git_operations_request (change_request_id, timestamp desc, id desc).
select * from git_operations where change_request_id = $1 and kind = 'import'
order by "timestamp" desc, id desc limit 1;

-- name: WakeGitExports :many
-- The exports that wait for a change request run again.
-- Index: git_operations_request.
-- Sorts: the exports that wait for one change request.
with woken as (
    update git_operations set state = 'queued', reason = '', change_request_id = null
    where change_request_id = $1 and state = 'waiting' returning id, "timestamp"
)
select id from woken order by "timestamp", id;

-- name: GitSync :one
-- Index: git_syncs_known.
select * from git_syncs where space_id = $1 and remote = $2 and change_request_id is null;

-- name: ProposedGitSync :one
-- The synchronization of a branch that an open or archived change request has.
-- Index: git_syncs_proposed.
select * from git_syncs where space_id = $1 and remote = $2 and change_request_id is not null;

-- name: GitSyncOfRequest :one
-- Index: git_syncs_request.
select * from git_syncs where change_request_id = $1;

-- name: DeleteGitSync :exec
delete from git_syncs where id = $1;

-- name: ConfirmGitSync :exec
update git_syncs set
    change_request_id = null, redirects = null, synced_at = clock_timestamp(), imported_at = clock_timestamp()
where id = $1;

-- name: FilesOnlyInGitSync :many
-- The files of a space that one synchronization has, and another one does not have.
-- No index: all of two synchronizations, by the first column of the primary key.
select file_id from git_sync_files where sync_id = sqlc.arg(sync_id)::text and file_id <> ''
except
select file_id from git_sync_files where sync_id = sqlc.arg(but_not)::text;

-- name: GitSyncs :many
-- The synchronizations of a space, the last first.
-- Index: git_syncs_known.
-- Sorts: the branches with which a space was synchronized.
select * from git_syncs where space_id = $1 and change_request_id is null order by synced_at desc, id desc;

-- name: GitFilesOfSyncs :many
-- The pages and the files of synchronizations, by their paths. If two have the same path, the synchronization that is
-- named first wins. Entries without a file belong to the synchronizations with keys.
-- No index: all of some synchronizations, by the first column of the primary key.
-- Sorts: the files of some synchronizations.
select distinct on (f.path) f.path, f.blob, f.page_id, f.file_id
from git_sync_files f
where f.sync_id = any(sqlc.arg(ids)::text[]) and (f.page_id <> '' or f.file_id <> '')
  and (not starts_with(f.path, '//') or f.sync_id = any(sqlc.arg(keyed)::text[]))
order by f.path, array_position(sqlc.arg(ids)::text[], f.sync_id);

-- name: GitSyncFiles :many
-- No index: all of a synchronization, by the first column of the primary key.
select path, blob, page_id, file_id from git_sync_files where sync_id = $1;

-- name: PutGitSync :exec
-- An export leaves the last import as it is.
insert into git_syncs as s (
    id, space_id, remote, url, folder, commit_hash, revision, change_request_id, redirects, synced_at,
    imported_revision, imported_at
)
values (
    sqlc.arg(id), sqlc.arg(space_id), sqlc.arg(remote), sqlc.arg(url), sqlc.arg(folder), sqlc.arg(commit_hash),
    sqlc.arg(revision), sqlc.narg(change_request_id), sqlc.narg(redirects), clock_timestamp(),
    case when sqlc.arg(imported)::boolean then sqlc.arg(revision) end,
    case when sqlc.arg(imported)::boolean then clock_timestamp() end
)
on conflict (id) do update set
    url = excluded.url, folder = excluded.folder, commit_hash = excluded.commit_hash, revision = excluded.revision,
    redirects = excluded.redirects, synced_at = excluded.synced_at,
    imported_revision = coalesce(excluded.imported_revision, s.imported_revision),
    imported_at = coalesce(excluded.imported_at, s.imported_at);

-- name: PutGitSyncFiles :exec
insert into git_sync_files (sync_id, path, blob, page_id, file_id)
select sqlc.arg(sync_id), unnest(sqlc.arg(paths)::text[]), unnest(sqlc.arg(blobs)::text[]), unnest(sqlc.arg(pages)::text[]), unnest(sqlc.arg(files)::text[])
on conflict (sync_id, path) do update set blob = excluded.blob, page_id = excluded.page_id, file_id = excluded.file_id;

-- name: DeleteGitSyncFiles :exec
delete from git_sync_files where sync_id = sqlc.arg(sync_id) and path = any(sqlc.arg(paths)::text[]);

-- name: SetGitInfo :exec
update spaces set git_sync = $2 where id = $1;

-- name: GitRedirect :one
-- Index: git_redirects_pkey.
select page_id from git_redirects where space_id = $1 and source = $2;

-- name: DeleteGitRedirects :exec
delete from git_redirects where space_id = sqlc.arg(space_id) and source <> all(sqlc.arg(sources)::text[]);

-- name: PutGitRedirects :exec
insert into git_redirects as r (space_id, source, page_id)
select sqlc.arg(space_id), unnest(sqlc.arg(sources)::text[]), unnest(sqlc.arg(pages)::text[])
on conflict (space_id, source) do update set page_id = excluded.page_id where r.page_id <> excluded.page_id;

-- name: LastGitSync :one
-- Returns the synchronization with the places of a space's pages in a repository. It is the synchronization that a
-- change request imported, or otherwise the last one.
-- Index: git_syncs_known, git_syncs_request.
-- Sorts: the synchronizations of a space.
select id from (
    select id, synced_at, 0 as rank from git_syncs where change_request_id = sqlc.arg(change_request_id)::text
    union all
    select id, synced_at, 1 from git_syncs where space_id = sqlc.arg(space_id)::text and change_request_id is null
) s
order by rank, synced_at desc, id
limit 1;

-- name: GitPathsOfPages :many
-- Entries of the table of contents without a file have no path.
-- Index: git_sync_files_page.
select path, page_id from git_sync_files
where sync_id = sqlc.arg(sync_id) and page_id = any(sqlc.arg(pages)::text[]) and page_id <> '' and path not like '//%';

-- name: GitEntriesAt :many
-- The pages and files of a revision that stand at the paths.
-- Index: git_sync_files_pkey.
select g.path, g.page_id, g.file_id from git_sync_files g
where g.sync_id = sqlc.arg(sync_id) and g.path = any(sqlc.arg(paths)::text[]) and (
    g.page_id <> '' and exists (
        select from pages_of(sqlc.arg(space_id), sqlc.arg(revision)) p where p.page_id = g.page_id)
    or g.file_id <> '' and exists (
        select from revisions r
            join branch_files f on f.branch in (r.branch, r.base) and f.file_id = g.file_id
                and case when f.branch = r.branch then r.seq else r.base_seq end between f.since and f.until - 1
        where r.space_id = sqlc.arg(space_id) and r.id = sqlc.arg(revision))
);
