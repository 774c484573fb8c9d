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
