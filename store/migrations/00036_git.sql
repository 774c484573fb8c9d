-- Git: operations whose process died on the last attempt, and the redirects of repositories.

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

-- +goose Down
drop table git_redirects;
drop index git_operations_open;
