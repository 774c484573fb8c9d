-- What makes Git import and export possible: what was synchronized last, and what became of each operation.

-- +goose Up

-- An operation is skipped if a later one, by their order, was done before.
alter table git_operations drop constraint git_operations_state_check;
alter table git_operations add constraint git_operations_state_check check (state in ('queued', 'running', 'done', 'failed', 'skipped'));
alter table git_operations
    -- What a done one imported or pushed, and the revision that it made or exported.
    add column commit_hash text,
    add column revision text collate "C",
    -- What was left or not taken over as it is: a list of {path, text}.
    add column notes jsonb,
    add column finished_at timestamptz;
-- Credentials that are to be forgotten are few.
create index git_operations_credentials on git_operations (finished_at) where credentials is not null and finished_at is not null;

-- The last synchronization of a space with a branch of a repository. Its id is also the name of the branch (see branch_pages) with the
-- states of Git that never were the main content.
create table git_syncs (
    id        text collate "C" primary key,
    space_id  text collate "C" not null references spaces (id) on delete cascade,
    -- A hash of the address, the ref and the project directory, which are too long for an index.
    remote    text collate "C" not null,
    commit_hash text           not null,
    -- The revision with the pages as the commit has them.
    revision  text collate "C" not null,
    synced_at timestamptz      not null default now(),
    unique (space_id, remote)
);

-- The files of the commit that pages, the table of contents and files of the space come from. The path of an entry of the table of
-- contents that has no file begins with two slashes; its blob is empty.
create table git_sync_files (
    sync_id text collate "C" not null references git_syncs (id) on delete cascade,
    path    text collate "C" not null,
    blob    text             not null,
    page_id text collate "C" not null,
    file_id text collate "C" not null,
    primary key (sync_id, path)
);

-- +goose Down
drop table git_sync_files;
drop table git_syncs;
drop index git_operations_credentials;
alter table git_operations drop column commit_hash, drop column revision, drop column notes, drop column finished_at;
update git_operations set state = 'failed' where state = 'skipped';
alter table git_operations drop constraint git_operations_state_check;
alter table git_operations add constraint git_operations_state_check check (state in ('queued', 'running', 'done', 'failed'));
