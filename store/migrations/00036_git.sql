-- Git: operations whose process died on the last attempt.

-- +goose Up

-- Operations that are not over are few, whatever is kept of the others.
create index git_operations_open on git_operations (id) where state in ('queued', 'running');

-- +goose Down
drop index git_operations_open;
