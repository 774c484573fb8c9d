-- Git: operations whose process died on the last attempt, the redirects of repositories, and files that are gone.

-- +goose Up

-- Operations that are not over are few, whatever is kept of the others.
create index git_operations_open on git_operations (id) where state in ('queued', 'running');

-- The redirects of the repository that was imported last: paths, without slashes around them, that lead to pages. They are of the space
-- and not of a revision, as is the page that they lead to.
create table git_redirects (
    space_id text collate "C" not null references spaces (id) on delete cascade,
    source   text collate "C" not null,
    page_id  text collate "C" not null,
    primary key (space_id, source)
);

-- A file that a repository no longer has, and no page names, is part of the revisions before `until`.
alter table branch_files add column until integer not null default 2147483647;
create index branch_files_hash on branch_files (hash);

-- +goose Down
drop index branch_files_hash;
alter table branch_files drop column until;
drop table git_redirects;
drop index git_operations_open;
